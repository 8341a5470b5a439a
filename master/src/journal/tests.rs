//! Round trips, cuts at every byte, flipped bits.

use std::path::{Path, PathBuf};

use howdah_proto::v1;
use proptest::prelude::*;

use super::{JournalError, JournalReader, JournalWriter, segment_path};

const SEGMENT: u64 = 4_096;

fn header() -> v1::JournalHeader {
    v1::JournalHeader { version: super::VERSION, cluster_id: 202_611_201_200, ..Default::default() }
}

fn frame(time_us: u64, kills: usize) -> v1::JournalFrame {
    let input = |job| v1::JournalInput { kind: Some(v1::journal_input::Kind::KillJob(job)) };
    v1::JournalFrame {
        time_us,
        inputs: (0..kills as u32).map(input).collect(),
        n_effects: 1,
        digest: vec![7; 32],
        ..Default::default()
    }
}

fn write(dir: &Path, frames: &[v1::JournalFrame]) {
    let mut writer = JournalWriter::create(dir, &header(), SEGMENT).unwrap();
    for frame in frames {
        writer.append(frame).unwrap();
        writer.sync().unwrap();
    }
}

fn read(dir: &Path) -> Result<(Vec<v1::JournalFrame>, bool), JournalError> {
    let mut reader = JournalReader::open(dir)?;
    let mut frames = Vec::new();
    while let Some(frame) = reader.next_frame()? {
        frames.push(frame);
    }
    Ok((frames, reader.truncation().is_some()))
}

fn three_frames() -> (tempfile::TempDir, PathBuf, Vec<v1::JournalFrame>) {
    let dir = tempfile::tempdir().unwrap();
    let frames = vec![frame(1, 3), frame(2, 0), frame(300, 40)];
    write(dir.path(), &frames);
    let path = segment_path(dir.path(), 1);
    (dir, path, frames)
}

fn used_bytes(path: &Path) -> usize {
    let bytes = std::fs::read(path).unwrap();
    bytes.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1)
}

#[test]
fn a_closed_journal_reads_back_over_many_segments() {
    let dir = tempfile::tempdir().unwrap();
    // One frame is larger than a segment.
    let frames: Vec<_> = (0..300).map(|i| frame(i + 1, if i == 17 { 3_000 } else { i as usize % 9 })).collect();
    let mut writer = JournalWriter::create(dir.path(), &header(), SEGMENT).unwrap();
    for (i, frame) in frames.iter().enumerate() {
        writer.append(frame).unwrap();
        if i % 7 == 0 {
            writer.sync().unwrap();
        }
    }
    writer.close().unwrap();
    assert!(segment_path(dir.path(), 3).exists());
    assert_eq!(read(dir.path()).unwrap(), (frames, false));
}

#[test]
fn a_cut_at_any_byte_loses_only_the_torn_frame() {
    let (dir, path, frames) = three_frames();
    let bytes = std::fs::read(&path).unwrap();
    for cut in 0..used_bytes(&path) {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let (found, _) = read(dir.path()).unwrap_or_else(|e| panic!("cut at {cut}: {e}"));
        assert!(found.len() < frames.len(), "cut at {cut}");
        assert_eq!(found, frames[..found.len()], "cut at {cut}");
    }
}

#[test]
fn a_torn_tail_before_zeros_is_reported() {
    let (dir, path, frames) = three_frames();
    let mut bytes = std::fs::read(&path).unwrap();
    let used = used_bytes(&path);
    bytes[used - 20..].fill(0);
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(read(dir.path()).unwrap(), (frames[..2].to_vec(), true));
}

#[test]
fn a_flipped_bit_never_gives_other_frames() {
    let (dir, path, frames) = three_frames();
    let bytes = std::fs::read(&path).unwrap();
    let used = used_bytes(&path);
    let mut errors = 0;
    for at in 0..used * 8 {
        let mut damaged = bytes.clone();
        damaged[at / 8] ^= 1 << (at % 8);
        std::fs::write(&path, &damaged).unwrap();
        match read(dir.path()) {
            Ok((found, torn)) => {
                // Only damage to the last frame looks like a torn end.
                assert_eq!(found, frames[..found.len()], "bit {at}");
                assert!(torn && found.len() == frames.len() - 1, "bit {at}");
            }
            Err(JournalError::Corrupt { .. }) => errors += 1,
            Err(other) => panic!("bit {at}: {other}"),
        }
    }
    assert!(errors > 0);
}

#[test]
fn damage_in_the_middle_names_file_and_offset() {
    let (dir, path, _) = three_frames();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[12] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let error = read(dir.path()).unwrap_err().to_string();
    assert!(error.contains("00000001.seg") && error.contains("offset 0"), "{error}");
}

#[test]
fn a_missing_run_and_a_foreign_version_are_typed_errors() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(super::find_run(dir.path()), Err(JournalError::NoRun { .. })));
    assert!(matches!(JournalReader::open(dir.path()), Err(JournalError::Io { .. })));
    let foreign = v1::JournalHeader { version: 9, ..header() };
    JournalWriter::create(dir.path(), &foreign, SEGMENT).unwrap();
    assert!(matches!(JournalReader::open(dir.path()), Err(JournalError::Version { found: 9, .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn random_segments_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &[]);
        std::fs::write(segment_path(dir.path(), 1), bytes).unwrap();
        let _ = read(dir.path());
    }
}
