//! No bytes make a reader panic or eat memory, and whatever reads can be written and read again.
//!
//! Two kinds of bytes: arbitrary ones, and small traces of our own making of which bits are flipped, pieces are cut,
//! doubled or taken out, and numbers are replaced by extreme ones. PROPTEST_CASES sets how many (`xtask soak` sets
//! thousands).

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use howdah_core::job::profile::Trace;
use howdah_traces::{
    CostModel, Format, ImportNotes, ImportOptions, csv, howdah, jhist, read_any, rumen, swim, topology,
};
use proptest::prelude::*;

/// Counts what is held and the most that ever was.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[expect(unsafe_code, reason = "an allocator is unsafe by trade; this one only counts around the system's")]
// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What all tests of this file together may hold at once. Inputs are a few kilobytes, but counts in an SLS file may
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

/// Numbers at which arithmetic or parsing might stumble.
const EXTREMES: &[&str] = &[
    "0",
    "-1",
    "",
    "0.5",
    "1e308",
    "NaN",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999",
];

/// Reads, and checks all that must hold of what was read.
fn check(bytes: &[u8], format: Option<Format>, options: &ImportOptions) {
    let mut notes = ImportNotes::default();
    if let Ok(trace) = read_any(bytes, format, options, &mut notes) {
        writes_and_reads_again(&trace);
    }
    let most = MOST.load(Ordering::Relaxed);
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

/// One change of a text.
#[derive(Clone, Debug)]
enum Change {
    Flip(usize, u8),
    Cut(usize),
    Remove(usize, usize),
    Double(usize, usize, usize),
    Insert(usize, u8),
    Number(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        1 => (any::<usize>(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        1 => any::<usize>().prop_map(Change::Cut),
        1 => (any::<usize>(), 1..200_usize).prop_map(|(at, n)| Change::Remove(at, n)),
        1 => (any::<usize>(), 1..400_usize, any::<usize>()).prop_map(|(at, n, to)| Change::Double(at, n, to)),
        1 => (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Change::Insert(at, byte)),
        4 => (any::<usize>(), 0..EXTREMES.len()).prop_map(|(which, extreme)| Change::Number(which, extreme)),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    if bytes.is_empty() {
        return;
    }
    let n = bytes.len();
    match *change {
        Change::Flip(at, bit) => bytes[at % n] ^= 1 << bit,
        Change::Cut(at) => bytes.truncate(at % n),
        Change::Remove(at, count) => drop(bytes.drain(at % n..(at % n + count).min(n))),
        Change::Double(at, count, to) => {
            let piece = bytes[at % n..(at % n + count).min(n)].to_vec();
            let to = to % n;
            bytes.splice(to..to, piece);
        }
        Change::Insert(at, byte) => bytes.insert(at % n, byte),
        Change::Number(which, extreme) => {
            let digit = |at: &usize| bytes[*at].is_ascii_digit() && (*at == 0 || !bytes[*at - 1].is_ascii_digit());
            let starts: Vec<usize> = (0..n).filter(digit).collect();
            if let Some(&start) = starts.get(which % starts.len().max(1)) {
                let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                bytes.splice(start..start + length, EXTREMES[extreme].bytes());
            }
        }
    }
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
        changes in proptest::collection::vec(change(), 1..8),
        tiny: bool,
        other in 0..Format::ALL.len(),
    ) {
        let (name, text) = FIXTURES[which];
        let mut bytes = text.as_bytes().to_vec();
        changes.iter().for_each(|change| apply(&mut bytes, change));
        check(&bytes, Format::named(name), &options(tiny));
        check(&bytes, Some(Format::ALL[other]), &options(tiny));
        check(&bytes, None, &options(tiny));
        let _ = topology::read(&bytes[..], &mut ImportNotes::default());
    }

    #[test]
    fn changed_gzip_is_read_or_refused(
        which in 0..FIXTURES.len(),
        changes in proptest::collection::vec(change(), 0..4),
    ) {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(FIXTURES[which].1.as_bytes()).expect("memory takes all");
        let mut bytes = gzip.finish().expect("memory takes all");
        changes.iter().for_each(|change| apply(&mut bytes, change));
        check(&bytes, None, &options(false));
    }
}
