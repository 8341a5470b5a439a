//! No bytes of an input make a map panic: text and records of a fixed length, plain and compressed, are whatever users have.
//!
//! What a changed file gives are records or an error with its name, and never more memory than twice its longest line, the
//! buffers, and what the codec keeps.

use std::io::Write;
use std::path::Path;
use std::sync::LazyLock;

use howdah_fuzz::{Readings, cases, changed, changes, most_held};
use proptest::prelude::*;

use super::{FixedRecords, LineRecords, Records};

static READINGS: Readings = Readings::of("inputs");

const RECORD: u32 = 9;

fn text() -> Vec<u8> {
    (0..600).flat_map(|n| format!("{n:04} line\r\n").into_bytes()).collect()
}

/// By the suffix of the file's name.
static GOOD: LazyLock<[(&str, Vec<u8>); 4]> = LazyLock::new(|| {
    let (text, level) = (text(), flate2::Compression::fast());
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), level);
    gz.write_all(&text).expect("compress");
    let mut bz2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bz2.write_all(&text).expect("compress");
    let (gz, bz2) = (gz.finish().expect("compress"), bz2.finish().expect("compress"));
    let zst = zstd::bulk::compress(&text, 1).expect("compress");
    [("txt", text), ("gz", gz), ("bz2", bz2), ("zst", zst)]
});

/// All records of a part, or what is wrong; how many bytes they have.
fn read(records: Result<impl Records, crate::TaskError>) -> Result<usize, String> {
    let mut records = records.map_err(|error| error.to_string())?;
    let mut bytes = 0;
    while let Some(record) = records.next_record().map_err(|error| error.to_string())? {
        assert!(record.value.len() as u64 <= record.consumed, "a line and its end");
        bytes += record.value.len();
    }
    assert!(records.progress().is_finite(), "{}", records.progress());
    Ok(bytes)
}

/// Bytes of a line at most, as without a property that says so.
const LINE: usize = 1 << 30;

fn check(path: &Path, (offset, length): (u64, u64), size: usize) -> Result<usize, String> {
    let name = path.to_str().expect("a plain path");
    let (found, held) = most_held(|| {
        let _ = read(FixedRecords::open(&name.into(), offset, length, RECORD));
        read(LineRecords::open(&name.into(), offset, length, LINE))
    });
    // What a few bytes of a compressed file stand for may be a line that does not end before they do.
    let made = *found.as_ref().unwrap_or(&(64 << 20));
    assert!(held < 4 * (size + made) + (4 << 20), "{held} bytes were held for {size}, of which {made} came");
    READINGS.add(2);
    found.inspect_err(|said| assert!(said.contains(name) && !said.contains('\n'), "{said}"))
}

#[test]
fn good_inputs_are_read() {
    let dir = tempfile::tempdir().expect("a folder");
    for (suffix, bytes) in &*GOOD {
        let path = dir.path().join(format!("input.{suffix}"));
        std::fs::write(&path, bytes).expect("write");
        assert_eq!(check(&path, (0, bytes.len() as u64), bytes.len()), Ok(600 * RECORD as usize), "{suffix}");
    }
}

proptest! {
    #![proptest_config(cases(1))]

    #[test]
    fn changed_inputs_are_read_or_refused_with_their_name(
        which in 0..GOOD.len(),
        changes in changes(),
        begins in prop_oneof![2 => Just(0_u64), 1 => 0..9_000_u64],
        length in prop_oneof![2 => Just(1 << 20), 1 => 0..9_000_u64, 1 => Just(u64::MAX)],
    ) {
        let (suffix, good) = &GOOD[which];
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join(format!("input.{suffix}"));
        let bytes = changed(good, &changes);
        std::fs::write(&path, &bytes).expect("write");
        let _ = check(&path, (begins, length), bytes.len());
    }
}
