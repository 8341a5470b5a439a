//! Snapshots in a journal: where reading begins, what a kill leaves, what is removed and what a repair does.

use std::path::{Path, PathBuf};

use howdah_proto::v1;

use super::paths::segment_path;
use super::remove::remove_before_newest;
use super::{JournalError, JournalReader, JournalWriter, check, leave_only_newest, repair};

const SEGMENT: u64 = 4_096;

fn header() -> v1::JournalHeader {
    v1::JournalHeader { version: super::VERSION, cluster_id: 202_611_201_200, ..Default::default() }
}

fn frame(time_us: u64) -> v1::JournalFrame {
    v1::JournalFrame { time_us, n_effects: 1, digest: vec![7; 32], ..Default::default() }
}

/// After so many batches, the last of which was at this time.
fn snapshot(batches: u64, bytes: usize) -> v1::JournalFrame {
    let snapshot = v1::JournalSnapshot { batches, core_json: vec![b' '; bytes], ..Default::default() };
    v1::JournalFrame { snapshot: Some(snapshot), ..frame(batches) }
}

struct Written {
    dir: tempfile::TempDir,
    writer: JournalWriter,
    batches: u64,
}

impl Written {
    fn new() -> Written {
        let dir = tempfile::tempdir().unwrap();
        let writer = JournalWriter::create(dir.path(), &header(), SEGMENT).unwrap();
        Written { dir, writer, batches: 0 }
    }

    fn batches(&mut self, n: u64) {
        for _ in 0..n {
            self.batches += 1;
            self.writer.append(&mut frame(self.batches));
            self.writer.sync().unwrap();
        }
    }

    fn snapshot(&mut self, bytes: usize) {
        self.writer.append_snapshot(&mut snapshot(self.batches, bytes)).unwrap();
        self.writer.sync().unwrap();
    }

    fn run(&self) -> &Path {
        self.dir.path()
    }
}

/// The times of the batches, and after how many batches reading began.
fn read(mut reader: JournalReader) -> Result<(Vec<u64>, u64), JournalError> {
    let began = reader.began().map_or(0, |since| since.snapshot.batches);
    let mut times = Vec::new();
    while let Some(frame) = reader.next_frame()? {
        times.push(frame.time_us);
    }
    Ok((times, began))
}

fn latest(run: &Path) -> Result<(Vec<u64>, u64), JournalError> {
    JournalReader::open_latest(run).and_then(read)
}

fn all(run: &Path) -> Result<(Vec<u64>, u64), JournalError> {
    JournalReader::open(run).and_then(read)
}

fn segments(run: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(run.join("journal")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn reading_begins_with_the_newest_snapshot_or_with_all_there_is() {
    let mut journal = Written::new();
    assert_eq!(latest(journal.run()).unwrap(), (vec![], 0));
    journal.batches(3);
    // One is larger than a segment.
    journal.snapshot(3 * SEGMENT as usize);
    journal.batches(2);
    journal.snapshot(10);
    assert_eq!(journal.writer.bytes_since_snapshot(), 0);
    journal.batches(1);
    assert!(journal.writer.bytes_since_snapshot() > 0);
    assert_eq!(latest(journal.run()).unwrap(), (vec![6], 5));
    assert_eq!(all(journal.run()).unwrap(), ((1..=6).collect(), 0));
    let found = check(journal.run()).unwrap();
    assert_eq!((found.batches, found.gone, found.snapshots, found.damage.is_none()), (6, 0, 2, true));
    let mut reader = JournalReader::open(journal.run()).unwrap();
    for _ in 0..4 {
        reader.next_frame().unwrap();
    }
    assert_eq!(reader.take_passed().map(|passed| passed.batches), Some(3));
    assert_eq!(reader.take_passed(), None);
}

#[test]
fn what_is_kept_before_a_snapshot_begins_with_another_one_and_the_newest_two_stay() {
    let mut journal = Written::new();
    for _ in 0..4 {
        journal.batches(10);
        journal.snapshot(100);
    }
    journal.batches(2);
    let run = journal.run();
    let sizes: Vec<u64> = segments(run).iter().map(|path| path.metadata().unwrap().len()).collect();
    assert_eq!(sizes.len(), 5);
    let everything = sizes[..4].iter().sum::<u64>();
    assert_eq!(remove_before_newest(run, everything).unwrap().segments, 0, "all of it fits");
    assert_eq!(remove_before_newest(run, everything - 1).unwrap().segments, 1);
    assert_eq!(all(run).unwrap(), ((11..=42).collect(), 10));
    let removed = remove_before_newest(run, sizes[3]).unwrap();
    assert_eq!((removed.segments, removed.bytes), (2, sizes[1] + sizes[2]));
    assert_eq!(all(run).unwrap(), ((31..=42).collect(), 30));
    assert_eq!(remove_before_newest(run, 1).unwrap().segments, 0, "the snapshot before the newest stays");
    assert_eq!(all(run).unwrap(), ((31..=42).collect(), 30));
    let found = check(run).unwrap();
    assert_eq!((found.batches, found.gone, found.snapshots, found.damage.is_none()), (12, 30, 2, true));
    // It goes on behind what is left.
    let mut reader = JournalReader::open_latest(run).unwrap();
    while reader.next_frame().unwrap().is_some() {}
    let mut writer = JournalWriter::resume(run, &reader.tail(), SEGMENT).unwrap();
    writer.append(&mut frame(43));
    writer.close().unwrap();
    assert_eq!(all(run).unwrap(), ((31..=43).collect(), 30));
}

#[test]
fn a_snapshot_cut_at_any_byte_is_none_and_the_journal_goes_on_without_it() {
    let mut journal = Written::new();
    journal.batches(4);
    journal.snapshot(60);
    let run = journal.run();
    let path = segment_path(run, 2);
    let bytes = std::fs::read(&path).unwrap();
    let used = bytes.iter().rposition(|&byte| byte != 0).unwrap() + 1;
    for cut in 0..used {
        for size in [cut, SEGMENT as usize] {
            let mut torn = bytes[..cut].to_vec();
            torn.resize(size, 0);
            std::fs::write(&path, &torn).unwrap();
            for found in [latest(run), all(run)] {
                assert_eq!(found.unwrap(), (vec![1, 2, 3, 4], 0), "cut at {cut}");
            }
            let mut reader = JournalReader::open_latest(run).unwrap();
            while reader.next_frame().unwrap().is_some() {}
            let mut writer = JournalWriter::resume(run, &reader.tail(), SEGMENT).unwrap();
            writer.append(&mut frame(5));
            writer.sync().unwrap();
            assert_eq!(latest(run).unwrap(), (vec![1, 2, 3, 4, 5], 0), "after a cut at {cut}");
            segments(run).iter().filter(|path| !path.ends_with("00000001.seg")).for_each(|path| {
                std::fs::remove_file(path).unwrap();
            });
        }
    }
}

#[test]
fn a_kill_between_two_removals_leaves_a_journal_that_reads() {
    for removed in 0..=4 {
        let mut journal = Written::new();
        for _ in 0..2 {
            // Two segments and more each, as one of them holds some 50 frames.
            journal.batches(100);
            journal.snapshot(10);
        }
        journal.batches(1);
        let run = journal.run();
        let paths = segments(run);
        for path in &paths[..removed] {
            std::fs::remove_file(path).unwrap();
        }
        assert_eq!(latest(run).unwrap(), (vec![201], 200), "{removed} of {paths:?} removed");
        let (times, began) = all(run).unwrap();
        assert_eq!(times, (began + 1..=201).collect::<Vec<_>>(), "{removed} removed");
        assert!(check(run).unwrap().damage.is_none());
        // The next time the rest goes, up to the snapshot before the newest.
        remove_before_newest(run, 1).unwrap();
        let (times, began) = all(run).unwrap();
        assert_eq!((times[0], times.last()), (began + 1, Some(&201)));
        let left = if removed < 3 { 100 } else { 200 };
        assert_eq!((began, remove_before_newest(run, 1).unwrap().segments), (left, 0), "{removed} removed");
    }
}

#[test]
fn a_reader_whose_segments_a_master_removes_meanwhile_says_so_and_sees_no_damage() {
    let mut journal = Written::new();
    journal.batches(150);
    (0..2).for_each(|_| {
        journal.snapshot(10);
        journal.batches(1);
    });
    let mut reader = JournalReader::open(journal.run()).unwrap();
    reader.next_frame().unwrap();
    assert!(remove_before_newest(journal.run(), 1).unwrap().segments > 2);
    let error = loop {
        match reader.next_frame() {
            Ok(frame) => assert!(frame.is_some(), "it ends as if nothing had been removed"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, JournalError::Removed { .. }) && !error.is_damage(), "{error}");
    assert_eq!(all(journal.run()).unwrap(), (vec![151, 152], 150));
}

#[test]
fn a_gap_of_any_length_that_no_snapshot_follows_is_reported() {
    for missing in 1..4 {
        let mut journal = Written::new();
        journal.batches(300);
        let paths = segments(journal.run());
        assert!(paths.len() > 4);
        for path in &paths[1..=missing] {
            std::fs::remove_file(path).unwrap();
        }
        for error in [latest(journal.run()), all(journal.run())].map(|found| found.expect_err("segments are missing")) {
            assert!(matches!(&error, JournalError::MissingSegment { path } if *path == paths[1]), "{error}");
        }
    }
}

/// Four batches, a snapshot, three more, another snapshot of so many bytes, two more; and where the latter lies.
fn two_snapshots(bytes: usize) -> (Written, PathBuf) {
    let mut journal = Written::new();
    journal.batches(4);
    journal.snapshot(60);
    journal.batches(3);
    journal.snapshot(bytes);
    journal.batches(2);
    let path = segment_path(journal.run(), 3);
    (journal, path)
}

#[test]
fn a_damaged_snapshot_is_done_without_whichever_of_its_bytes_is_wrong() {
    let (journal, path) = two_snapshots(60);
    let run = journal.run();
    let bytes = std::fs::read(&path).unwrap();
    let used = super::frame::Layout::Two.frame_at(&bytes, 0).unwrap().unwrap().len() + 12;
    let flips = (0..used).map(|at| {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        damaged
    });
    let holes = (1..used).map(|end| [vec![0; end], bytes[end..].to_vec()].concat());
    for (n, damaged) in flips.chain(holes).enumerate() {
        std::fs::write(&path, damaged).unwrap();
        assert_eq!(latest(run).unwrap(), ((5..=9).collect(), 4), "{n}");
        assert_eq!(all(run).unwrap(), ((1..=9).collect(), 0), "{n}");
        let found = check(run).unwrap();
        assert!(found.damage.is_none() && found.torn.is_none(), "{n}: {found:?}");
        assert_eq!((found.batches, found.snapshots, &found.damaged_snapshots[0].path), (9, 1, &path), "{n}");
    }
    // Without what came before the other one as well; and it goes on behind what is left.
    std::fs::remove_file(segment_path(run, 1)).unwrap();
    assert_eq!(all(run).unwrap(), ((5..=9).collect(), 4));
    let mut reader = JournalReader::open_latest(run).unwrap();
    while reader.next_frame().unwrap().is_some() {}
    let mut writer = JournalWriter::resume(run, &reader.tail(), SEGMENT).unwrap();
    writer.append(&mut frame(10));
    writer.close().unwrap();
    assert_eq!(latest(run).unwrap(), ((5..=10).collect(), 4));
    assert_eq!(repair(run).unwrap().cut, None, "there is nothing to cut");
}

#[test]
fn a_damaged_snapshot_that_fills_segments_of_its_own_is_done_without() {
    let (journal, path) = two_snapshots(3 * SEGMENT as usize);
    let run = journal.run();
    let bytes = std::fs::read(&path).unwrap();
    for at in (0..3 * SEGMENT as usize).step_by(911) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        std::fs::write(&path, damaged).unwrap();
        assert_eq!(latest(run).unwrap(), ((5..=9).collect(), 4), "{at}");
    }
}

#[test]
fn a_master_killed_right_after_a_snapshot_goes_on_so_that_the_snapshot_can_be_done_without() {
    for began_with_it in [false, true] {
        let mut journal = Written::new();
        journal.batches(4);
        journal.snapshot(60);
        journal.batches(1);
        journal.snapshot(60);
        let run = journal.run();
        let open = if began_with_it { JournalReader::open_latest } else { JournalReader::open };
        let mut reader = open(run).unwrap();
        while reader.next_frame().unwrap().is_some() {}
        let mut writer = JournalWriter::resume(run, &reader.tail(), SEGMENT).unwrap();
        writer.append(&mut frame(6));
        writer.append(&mut frame(7));
        writer.sync().unwrap();
        assert_eq!(latest(run).unwrap(), (vec![6, 7], 5));
        let path = segment_path(run, 3);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[30] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(latest(run).unwrap(), (vec![5, 6, 7], 4), "{began_with_it}");
    }
}

#[test]
fn nothing_but_a_damaged_snapshot_is_done_without() {
    let (journal, path) = two_snapshots(60);
    let run = journal.run();
    let bytes = std::fs::read(&path).unwrap();
    let used = super::frame::Layout::Two.frame_at(&bytes, 0).unwrap().unwrap().len() + 12;
    // The batch behind it is damaged, too: nobody says any more what was there.
    let mut damaged = bytes.clone();
    (damaged[40], damaged[used + 40]) = (!bytes[40], !bytes[used + 40]);
    std::fs::write(&path, &damaged).unwrap();
    let is_there =
        |error: &JournalError| matches!(error, JournalError::Corrupt { path: at, offset: 0, .. } if *at == path);
    for error in [latest(run), all(run)].map(|found| found.expect_err("a batch is missing")) {
        assert!(is_there(&error), "{error}");
    }
    assert_eq!(repair(run).unwrap().batches, 7);
    // A batch that begins a segment.
    let mut journal = Written::new();
    journal.batches(100);
    let path = segment_path(journal.run(), 2);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    assert!(matches!(all(journal.run()), Err(JournalError::Corrupt { offset: 0, .. })));
    // A batch is gone before the snapshot.
    let (journal, path) = two_snapshots(60);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let before = segment_path(journal.run(), 2);
    let kept = std::fs::read(&before).unwrap();
    let last = kept.windows(4).rposition(|window| window == b"hwF2").unwrap();
    std::fs::write(&before, &kept[..last]).unwrap();
    assert!(latest(journal.run()).is_err(), "the last batch before the snapshot is missing");
}

#[test]
fn without_a_snapshot_before_it_a_damaged_one_is_refused_with_its_place_and_what_to_do() {
    let (journal, path) = two_snapshots(60);
    let run = journal.run();
    leave_only_newest(run);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    for error in [latest(run), all(run)].map(|found| found.expect_err("nothing is left to begin with")) {
        let text = error.to_string();
        for part in ["00000003.seg", "offset 0", "no whole snapshot (its checksum is wrong)"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(error.is_damage() && error.advice().is_some_and(|advice| advice.contains("--new-cluster")));
    }
}

#[test]
fn a_snapshot_of_another_journal_is_refused() {
    let mut journal = Written::new();
    journal.batches(4);
    journal.snapshot(60);
    let run = journal.run();
    std::fs::remove_file(segment_path(run, 1)).unwrap();
    assert_eq!(all(run).unwrap(), (vec![], 4));
    let other = tempfile::tempdir().unwrap();
    let header = v1::JournalHeader { cluster_id: 202_611_201_201, ..header() };
    JournalWriter::create(other.path(), &header, SEGMENT).unwrap().close().unwrap();
    std::fs::copy(other.path().join("header"), run.join("header")).unwrap();
    for error in [latest(run), all(run)].map(|found| found.expect_err("it has another header")) {
        assert!(error.is_damage() && error.to_string().contains("of another journal"), "{error}");
    }
}

#[test]
fn damage_before_a_snapshot_keeps_nobody_from_starting_and_a_repair_lets_go_of_it() {
    let mut journal = Written::new();
    journal.batches(4);
    journal.snapshot(60);
    journal.batches(2);
    let run = journal.run();
    let path = segment_path(run, 1);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[30] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(latest(run).unwrap(), (vec![5, 6], 4));
    assert!(check(run).unwrap().damage.is_some());
    let done = repair(run).unwrap();
    assert_eq!((done.batches, done.cut), (2, Some((path, 0))));
    assert_eq!(std::fs::read(done.kept.unwrap().join("00000001.seg")).unwrap(), bytes);
    assert_eq!(all(run).unwrap(), (vec![5, 6], 4));
    assert!(check(run).unwrap().damage.is_none());
}

#[test]
fn a_snapshot_that_could_not_be_written_is_written_when_the_trouble_is_over() {
    let mut journal = Written::new();
    journal.batches(4);
    let (folder, away) = (journal.run().join("journal"), journal.run().join("away"));
    std::fs::rename(&folder, &away).unwrap();
    journal.writer.append_snapshot(&mut snapshot(4, 10)).unwrap();
    assert!(journal.writer.sync().is_err(), "no segment can be made");
    journal.writer.append(&mut frame(5));
    assert!(journal.writer.sync().is_err());
    std::fs::rename(&away, &folder).unwrap();
    journal.writer.sync().unwrap();
    assert_eq!(latest(journal.run()).unwrap(), (vec![5], 4));
    assert_eq!(all(journal.run()).unwrap(), ((1..=5).collect(), 0));
}
