//! Round trips, cuts at every byte, flipped bits.

use std::path::{Path, PathBuf};

use howdah_proto::v1;
use proptest::prelude::*;

use super::frame::Layout;
use super::paths::segment_path;
use super::{JournalError, JournalReader, JournalWriter};

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
        writer.append(&mut frame.clone());
        writer.sync().unwrap();
    }
}

/// A frame as it was added, without its place in the journal.
fn bare(frame: v1::JournalFrame) -> v1::JournalFrame {
    v1::JournalFrame { sequence: 0, previous: Vec::new(), synced: 0, ..frame }
}

fn read(dir: &Path) -> Result<(Vec<v1::JournalFrame>, bool), JournalError> {
    let mut reader = JournalReader::open(dir)?;
    let mut frames = Vec::new();
    while let Some(frame) = reader.next_frame()? {
        frames.push(bare(frame));
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
        writer.append(&mut frame.clone());
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
    bytes[16] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let error = read(dir.path()).unwrap_err().to_string();
    assert!(error.contains("00000001.seg") && error.contains("offset 0"), "{error}");
}

#[test]
fn a_missing_run_and_a_foreign_version_are_typed_errors() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(super::find_run(dir.path()), Err(JournalError::NoRun { .. })));
    assert!(matches!(JournalReader::open(dir.path()), Err(JournalError::Io { .. })));
}

#[test]
fn a_journal_of_another_version_is_refused_with_both_versions_and_what_to_do() {
    for version in [0, super::VERSION + 1, 9] {
        let dir = tempfile::tempdir().unwrap();
        let foreign = v1::JournalHeader { version, ..header() };
        JournalWriter::create(dir.path(), &foreign, SEGMENT).unwrap();
        let error = JournalReader::open(dir.path()).expect_err("another version");
        let text = error.to_string();
        assert!(matches!(error, JournalError::Version { found, .. } if found == version), "{text}");
        for part in [format!("version {version} of"), format!("1 to {}", super::VERSION), "header".to_owned()] {
            assert!(text.contains(&part), "no `{part}` in {text}");
        }
        assert!(error.advice().is_some_and(|advice| advice.contains("--new-cluster")), "{text}");
    }
}

/// Whoever changes the layout so that this does not read any more has made another version of it.
#[test]
fn the_recorded_journal_is_of_this_version_and_whole() {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/recorded");
    let found = super::check(&recorded).unwrap();
    assert_eq!((found.version, found.ended, found.batches), (super::VERSION, true, 64), "{found:?}");
    assert!(found.damage.is_none() && found.torn.is_none(), "{found:?}");
}

/// Where each frame of the first segment begins, and where the last one ends.
fn starts(path: &Path) -> Vec<usize> {
    let bytes = std::fs::read(path).unwrap();
    let mut at = 0;
    let mut starts = vec![0];
    while let Ok(Some(payload)) = Layout::Two.frame_at(&bytes, at) {
        at += Layout::Two.prefix() + payload.len();
        starts.push(at);
    }
    starts
}

#[test]
fn a_whole_frame_that_is_missing_is_noticed() {
    let (dir, path, _) = three_frames();
    let starts = starts(&path);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.drain(starts[1]..starts[2]);
    std::fs::write(&path, &bytes).unwrap();
    let error = read(dir.path()).unwrap_err();
    assert!(matches!(&error, JournalError::Missing { offset, .. } if *offset == starts[1] as u64), "{error}");
    assert!(error.to_string().contains("has number 3, expected 2"), "{error}");
}

#[test]
fn a_frame_of_another_journal_is_noticed() {
    let (dir, path, _) = three_frames();
    let other = tempfile::tempdir().unwrap();
    write(other.path(), &[frame(5, 3), frame(6, 0), frame(7, 40)]);
    let (starts, theirs) = (starts(&path), starts(&segment_path(other.path(), 1)));
    let mut bytes = std::fs::read(&path).unwrap();
    let other_bytes = std::fs::read(segment_path(other.path(), 1)).unwrap();
    bytes.splice(starts[1]..starts[2], other_bytes[theirs[1]..theirs[2]].iter().copied());
    std::fs::write(&path, &bytes).unwrap();
    let error = read(dir.path()).unwrap_err();
    assert!(error.to_string().contains("does not continue the frame before it"), "{error}");
}

#[test]
fn a_kind_stop_leaves_an_end_mark_and_a_kill_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = JournalWriter::create(dir.path(), &header(), SEGMENT).unwrap();
    writer.append(&mut frame(1, 1));
    writer.sync().unwrap();
    assert!(!super::check(dir.path()).unwrap().ended);
    writer.close().unwrap();
    let check = super::check(dir.path()).unwrap();
    assert!(check.ended && check.batches == 1 && check.torn.is_none() && check.damage.is_none());
}

#[test]
fn pages_of_the_last_write_may_be_missing_in_any_order() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = JournalWriter::create(dir.path(), &header(), SEGMENT).unwrap();
    writer.append(&mut frame(1, 1));
    writer.sync().unwrap();
    for n in 2..6 {
        writer.append(&mut frame(n, 3));
    }
    writer.write().unwrap();
    drop(writer);
    let path = segment_path(dir.path(), 1);
    let starts = starts(&path);
    let mut bytes = std::fs::read(&path).unwrap();
    // The third frame did not reach the disk, those of the same write behind it did.
    bytes[starts[2]..starts[3]].fill(0);
    std::fs::write(&path, &bytes).unwrap();
    let (frames, torn) = read(dir.path()).unwrap();
    assert_eq!((frames.len(), torn), (2, true));
    // The second one is another matter when a later frame knows that it was on disk.
    bytes[starts[0] + 20] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    assert!(matches!(read(dir.path()), Err(JournalError::Corrupt { offset: 0, .. })));
}

/// For how long this thread has had a core: other tests take theirs meanwhile.
fn computed() -> std::time::Duration {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID).expect("the kernel counts").into()
}

#[test]
fn a_torn_end_of_a_large_segment_is_found_in_one_pass() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = JournalWriter::create(dir.path(), &header(), 16 << 20).unwrap();
    writer.append(&mut frame(1, 1));
    writer.sync().unwrap();
    drop(writer);
    let path = segment_path(dir.path(), 1);
    let start = starts(&path)[1];
    let mut bytes = std::fs::read(&path).unwrap();
    // The worst that a torn write can hold: at every place where there is room for it, what looks like a large frame. The
    // lengths are those whose sums take longest.
    for length in [1_000_000_u32, (1 << 20) - 1, (1 << 23) - 1] {
        let lure = [&b"hwF2"[..], &length.to_le_bytes()].concat();
        for (at, byte) in bytes[start..].iter_mut().enumerate() {
            *byte = lure[at % lure.len()];
        }
        std::fs::write(&path, &bytes).unwrap();
        let began = computed();
        assert!(read(dir.path()).unwrap().1, "the rest of a write is a torn end");
        let took = computed() - began;
        eprintln!("16 MiB of what looks like frames of {length} bytes were looked through in {took:?}");
        // Trying each of these places in full would be a trillion bytes.
        assert!(took < std::time::Duration::from_secs(if cfg!(debug_assertions) { 15 } else { 3 }), "{took:?}");
    }
    for (at, byte) in bytes[start..].iter_mut().enumerate() {
        *byte = (at * 7 % 251) as u8;
    }
    std::fs::write(&path, &bytes).unwrap();
    assert!(read(dir.path()).unwrap().1, "the rest of a write is a torn end");
}

/// A heartbeat with what a task wrote to its standard error: 4 KiB of what looks like frames of so many bytes.
fn report_with_lures(length: u32) -> v1::JournalFrame {
    let lure = [&b"hwF2"[..], &length.to_le_bytes()].concat();
    let stderr_tail = String::from_utf8(lure.repeat(512)).expect("a task may write it");
    let end = v1::AttemptEnd { exit_code: Some(1), stderr_tail, ..Default::default() };
    let attempts = vec![v1::AttemptStatus { end: Some(end), ..Default::default() }];
    let report = v1::HeartbeatRequest { attempts, ..Default::default() };
    let inputs = vec![v1::JournalInput { kind: Some(v1::journal_input::Kind::Report(report)) }];
    v1::JournalFrame { time_us: 2, inputs, digest: vec![7; 32], ..Default::default() }
}

/// Tears the last frame, which holds such a report, at each place of it that `step` leads to.
#[track_caller]
fn expect_torn_ends(segment: u64, length: u32, step: usize) {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = JournalWriter::create(dir.path(), &header(), segment).unwrap();
    writer.append(&mut frame(1, 1));
    writer.sync().unwrap();
    writer.append(&mut report_with_lures(length));
    writer.sync().unwrap();
    drop(writer);
    let path = segment_path(dir.path(), 1);
    let [_, start, end] = starts(&path)[..] else { panic!("two frames") };
    let whole = std::fs::read(&path).unwrap();
    assert!(end - start > 4_096);
    assert_eq!(read(dir.path()).unwrap().0.len(), 2);
    for torn in (start + 1..end).step_by(step) {
        let mut bytes = whole.clone();
        bytes[torn..].fill(0);
        // A last byte that is zero anyway.
        if bytes == whole {
            continue;
        }
        std::fs::write(&path, &bytes).unwrap();
        let (frames, is_torn) = read(dir.path()).unwrap_or_else(|error| panic!("torn at {torn}: {error}"));
        assert_eq!((frames.len(), is_torn), (1, true), "torn at {torn}");
        // A sector that did not come, and what is behind it did.
        bytes.copy_from_slice(&whole);
        bytes[torn..(torn + 512).min(end)].fill(0);
        if bytes == whole || (step == 1 && torn % 64 > 0) {
            continue;
        }
        std::fs::write(&path, &bytes).unwrap();
        let (frames, is_torn) = read(dir.path()).unwrap_or_else(|error| panic!("a hole at {torn}: {error}"));
        assert_eq!((frames.len(), is_torn), (1, true), "a hole at {torn}");
    }
}

#[test]
fn what_a_task_said_never_makes_damage_of_a_torn_end() {
    // Each claims a quarter of a small segment.
    expect_torn_ends(8 << 10, u32::from_le_bytes(*b"\x01\x08\0\0"), 1);
    // Each claims megabytes of one of the usual size.
    expect_torn_ends(16 << 20, u32::from_le_bytes(*b"\x01\x01\x70\0"), 2_000);
}

#[test]
fn a_journal_is_continued_after_a_torn_end_and_after_an_end_mark() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[frame(1, 1), frame(2, 2)]);
    let path = segment_path(dir.path(), 1);
    let mut bytes = std::fs::read(&path).unwrap();
    let used = used_bytes(&path);
    bytes[used - 3..].fill(9);
    std::fs::write(&path, &bytes).unwrap();
    let tail = |dir: &Path| {
        let mut reader = JournalReader::open(dir).unwrap();
        while reader.next_frame().unwrap().is_some() {}
        reader.tail()
    };
    // A segment that was prepared and not used is in the way; one that was used must not be overwritten.
    std::fs::write(segment_path(dir.path(), 2), [0; 64]).unwrap();
    let mut writer = JournalWriter::resume(dir.path(), &tail(dir.path()), SEGMENT).unwrap();
    writer.append(&mut frame(3, 3));
    writer.close().unwrap();
    let mut writer = JournalWriter::resume(dir.path(), &tail(dir.path()), SEGMENT).unwrap();
    writer.append(&mut frame(4, 4));
    writer.sync().unwrap();
    let (frames, torn) = read(dir.path()).unwrap();
    assert_eq!(frames, [frame(1, 1), frame(3, 3), frame(4, 4)]);
    assert!(!torn);
    assert!(super::writer::prepare(dir.path(), 3, SEGMENT).is_err(), "segment 3 holds data");
}

#[test]
fn what_could_not_be_written_is_written_when_the_trouble_is_over() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = JournalWriter::create(dir.path(), &header(), SEGMENT).unwrap();
    writer.append(&mut frame(1, 1));
    writer.sync().unwrap();
    let (journal, away) = (dir.path().join("journal"), dir.path().join("away"));
    std::fs::rename(&journal, &away).unwrap();
    let mut frames = vec![frame(1, 1)];
    for n in 2..400 {
        frames.push(frame(n, 20));
        writer.append(&mut frame(n, 20));
    }
    // No second segment can be made.
    assert!(matches!(writer.sync(), Err(JournalError::Io { .. })));
    assert!(matches!(writer.sync(), Err(JournalError::Io { .. })));
    std::fs::rename(&away, &journal).unwrap();
    writer.sync().unwrap();
    assert_eq!(read(dir.path()).unwrap(), (frames, false));
}

#[test]
fn a_repair_cuts_behind_the_last_good_frame_and_keeps_what_it_cut() {
    let (dir, path, frames) = three_frames();
    let whole = super::repair(dir.path()).unwrap();
    assert!(whole.cut.is_none() && whole.kept.is_none());
    let starts = starts(&path);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[starts[1] + 15] ^= 4;
    std::fs::write(&path, &bytes).unwrap();
    let check = super::check(dir.path()).unwrap();
    assert!(check.damage.is_some() && check.batches == 1);
    let done = super::repair(dir.path()).unwrap();
    assert_eq!((done.batches, done.cut), (1, Some((path, starts[1] as u64))));
    assert_eq!(read(dir.path()).unwrap(), (frames[..1].to_vec(), false));
    let kept = std::fs::read(done.kept.unwrap().join("00000001.seg")).unwrap();
    assert!(kept == bytes, "as it was");
}

/// As a build before frames were numbered wrote it.
fn write_in_layout_one(dir: &Path, frames: &[v1::JournalFrame]) {
    std::fs::create_dir(dir.join("journal")).unwrap();
    let mut out = Vec::new();
    Layout::One.append(&mut out, &v1::JournalHeader { version: 1, ..header() });
    std::fs::write(dir.join("header"), &out).unwrap();
    out.clear();
    frames.iter().for_each(|frame| Layout::One.append(&mut out, frame));
    out.resize(SEGMENT as usize, 0);
    std::fs::write(segment_path(dir, 1), out).unwrap();
}

#[test]
fn a_journal_of_the_first_layout_still_reads() {
    let dir = tempfile::tempdir().unwrap();
    let frames = [frame(1, 3), frame(2, 0), frame(300, 40)];
    write_in_layout_one(dir.path(), &frames);
    assert_eq!(read(dir.path()).unwrap(), (frames.to_vec(), false));
    let path = segment_path(dir.path(), 1);
    let mut bytes = std::fs::read(&path).unwrap();
    let used = used_bytes(&path);
    bytes[used - 20..].fill(0);
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(read(dir.path()).unwrap(), (frames[..2].to_vec(), true));
    bytes[12] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    assert!(matches!(read(dir.path()), Err(JournalError::Corrupt { offset: 0, .. })));
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
