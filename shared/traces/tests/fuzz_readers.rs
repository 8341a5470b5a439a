//! No bytes make a reader panic or eat memory, and whatever reads can be written and read again.
//!
//! Two kinds of bytes: arbitrary ones, and small traces of our own making of which bits are flipped, pieces are cut,
//! doubled or taken out, and numbers are replaced by extreme ones. PROPTEST_CASES sets how many (`xtask soak` sets
//! thousands).

use std::io::Write;

use howdah_core::job::profile::Trace;
use howdah_fuzz::{Counting, Readings, changed, changes, most_held};
use howdah_traces::{
    CostModel, Format, ImportNotes, ImportOptions, csv, howdah, jhist, read_any, rumen, swim, topology,
};
use proptest::prelude::*;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static READINGS: Readings = Readings::of("traces");

/// What a reading may hold at once. Inputs are a few kilobytes, but counts in an SLS file may
/// stand for ten million tasks by design, which are written and read again here. A number of a file that were
/// believed as it stands would ask for tens of gigabytes.
const MOST_BYTES: usize = 1 << 30;

/// Small traces of our own, in every format and variant.
const FIXTURES: &[(&str, &str)] = &[
    ("howdah", include_str!("fixtures/small.jsonl")),
    ("rumen", include_str!("fixtures/rumen-small.json")),
    ("hadoop1", include_str!("fixtures/hadoop1-1x.log")),
    ("hadoop1", include_str!("fixtures/hadoop1-018.log")),
    ("jhist", include_str!("fixtures/small.jhist")),
    ("sls", include_str!("fixtures/sls-small.json")),
    ("sls", include_str!("fixtures/sls-synthetic.json")),
    ("swim", include_str!("fixtures/swim-six.tsv")),
    ("swim", include_str!("fixtures/swim-ten.tsv")),
    ("swf", include_str!("fixtures/small.swf")),
    ("coflow", include_str!("fixtures/coflow-small.txt")),
];

/// Reads, and checks all that must hold of what was read.
fn check(bytes: &[u8], format: Option<Format>, options: &ImportOptions) {
    READINGS.add(1);
    let ((), most) = most_held(|| {
        if let Ok(trace) = read_any(bytes, format, options, &mut ImportNotes::default()) {
            writes_and_reads_again(&trace);
        }
    });
    assert!(most < MOST_BYTES, "{most} bytes were held at once for {} of input", bytes.len());
}

fn writes_and_reads_again(trace: &Trace) {
    let mut own = Vec::new();
    howdah::write(trace, &mut own).expect("memory takes all");
    let mut notes = ImportNotes::default();
    let again = howdah::read(&own[..], &mut notes).unwrap_or_else(|error| panic!("{error} in what was written"));
    assert!(again == *trace, "another trace comes back: {notes:?}");
    let silent = trace.jobs.iter().map(|job| {
        let reduces = [&job.first_shuffle_ms, &job.typical_shuffle_ms, &job.reduce_ms];
        u64::from(job.n_maps > 0 && job.map_ms.is_empty())
            + u64::from(job.n_reduces > 0 && reduces.iter().all(|list| list.is_empty()))
    });
    let noted: u64 = notes.iter().map(|(_, note)| note.count).sum();
    assert_eq!(noted, silent.sum::<u64>(), "only jobs that tell no durations are noted: {notes:?}");
    swim::write(trace, &mut std::io::sink(), &mut notes).expect("a sink takes all");
    csv::write(trace, "fuzz", &mut std::io::sink()).expect("a sink takes all");
    // A line per task: jobs of a few bytes may have millions.
    let tasks: u64 = trace.jobs.iter().map(|job| u64::from(job.n_maps) + u64::from(job.n_reduces)).sum();
    if tasks < 1_000 {
        rumen::write(trace, &mut std::io::sink()).expect("a sink takes all");
        jhist::write(trace, &mut std::io::sink()).expect("a sink takes all");
    }
}

/// A tiny split makes the most tasks of bytes.
fn options(tiny: bool) -> ImportOptions {
    let model = if tiny {
        CostModel {
            split_bytes: 1,
            reduce_bytes: 1,
            map_rate: 1,
            shuffle_rate: 1,
            reduce_rate: 1,
            ..CostModel::default()
        }
    } else {
        CostModel { overlap_ppm: 500_000, ..CostModel::default() }
    };
    ImportOptions { swim: model.clone(), coflow: model }
}

#[test]
fn every_fixture_reads_in_its_format_by_name_and_by_its_beginning() {
    for (name, text) in FIXTURES {
        let format = Format::named(name);
        assert!(format.is_some(), "{name}");
        assert_eq!(Format::detect(text.as_bytes()), format);
        let read = |format| {
            read_any(text.as_bytes(), format, &ImportOptions::default(), &mut ImportNotes::default())
                .unwrap_or_else(|error| panic!("{name}: {error}"))
        };
        assert_eq!(read(format), read(None));
        writes_and_reads_again(&read(None));
    }
    for format in Format::ALL {
        assert!(FIXTURES.iter().any(|(name, _)| *name == format.name()), "no fixture of {}", format.name());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        for format in Format::ALL {
            check(&bytes, Some(format), &options(false));
        }
        check(&bytes, None, &options(false));
        let _ = topology::read(&bytes[..], &mut ImportNotes::default());
    }

    #[test]
    fn changed_traces_are_read_or_refused(
        which in 0..FIXTURES.len(),
        changes in changes(),
        tiny: bool,
        other in 0..Format::ALL.len(),
    ) {
        let (name, text) = FIXTURES[which];
        let bytes = changed(text.as_bytes(), &changes);
        check(&bytes, Format::named(name), &options(tiny));
        check(&bytes, Some(Format::ALL[other]), &options(tiny));
        check(&bytes, None, &options(tiny));
        let _ = topology::read(&bytes[..], &mut ImportNotes::default());
    }

    #[test]
    fn changed_gzip_is_read_or_refused(
        which in 0..FIXTURES.len(),
        changes in changes(),
    ) {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(FIXTURES[which].1.as_bytes()).expect("memory takes all");
        let bytes = changed(&gzip.finish().expect("memory takes all"), &changes);
        check(&bytes, None, &options(false));
    }
}
