//! A run that the first build with snapshots of a master at work left: every later build goes on with it.
//!
//! `at-work/` is kept as it was written: `History` of `long_history.rs` under FIFO, a job that is over, two that run with
//! attempts that failed, succeeded and run, a snapshot, and a report behind it; what came before the snapshot is removed.

use std::fs;
use std::path::Path;

use howdah_core::job::counters::FRAMEWORK;
use howdah_core::job::{AttemptState, TaskKind};
use howdah_proto::v1;
use prost::Message;

use super::*;
use crate::journal::check;
use crate::replay::replay_decisions;

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/recovery/at-work");

/// A copy, as a start goes on in the run itself.
fn kept() -> tempfile::TempDir {
    fn copy(from: &Path, to: &Path) {
        for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            if source.is_dir() {
                fs::create_dir(&target).unwrap();
                copy(&source, &target);
            } else {
                fs::copy(source, target).unwrap();
            }
        }
    }
    let dir = tempfile::tempdir().unwrap();
    copy(Path::new(KEPT), dir.path());
    dir
}

#[test]
fn a_later_build_finds_all_that_was_stored_of_a_master_at_work() {
    let run = kept();
    let whole = check(run.path()).unwrap();
    assert!(whole.damage.is_none() && whole.torn.is_none() && whole.ended, "{whole:?}");
    let decided = replay_decisions(run.path()).unwrap();
    assert!(decided.first_difference.is_none() && decided.compared > 0, "{decided:?}");
    let recovered = recover(run.path(), &MasterConfig::default()).unwrap();
    let Recovered { recorder, tables, batches, last_job, .. } = recovered;
    recorder.tracker().check_invariants().unwrap();
    assert_eq!((batches, last_job, tables.live_jobs()), (15, 3, 2));
    let listed: Vec<_> = tables.statuses().into_iter().map(|status| (status.job, status.state)).collect();
    let job = |n: u32, state: &str| (format!("job_202611201200_000{n}"), state.to_owned());
    assert_eq!(listed, [job(1, "SUCCEEDED"), job(2, "RUNNING"), job(3, "RUNNING")]);
    let worker = tables.workers[0].info(0, &[]);
    assert_eq!((worker.name.as_str(), worker.failures, tables.workers[0].running), ("w", 10, [10, 1]));
    let row = &tables.jobs[&JobId(2)];
    let status = row.status(tables.cluster);
    assert_eq!((status.maps_done, status.maps_running, status.reduces_running), (5, 5, 1));
    assert_eq!((status.failed_attempts, status.master_restarts, status.launch_ms_epoch), (5, 1, 801));
    assert_eq!(row.meta.file.token, "0".repeat(32), "of its file");
    let attempts: Vec<_> = row.snapshot(tables.cluster).attempts.iter().collect();
    let count = |state| attempts.iter().filter(|attempt| attempt.state == state).count();
    let [failed, succeeded] = [AttemptState::Failed, AttemptState::Succeeded].map(count);
    assert_eq!((failed, succeeded, attempts.len()), (5, 5, 16));
    let end = attempts[0].end.as_ref().expect("its worker said how it ended");
    assert_eq!((end.exit_code, end.diagnostics.as_str(), end.cpu_us), (Some(1), "no such luck", 1_000));
    let last = &attempts[13];
    assert_eq!((last.id.index, last.id.number, last.message.as_str()), (8, 1, "line 8"));
    assert_eq!(last.counters.unpack().get(FRAMEWORK, "Map input records"), 9);
    let outputs: Vec<_> = row.events.read(0, 99).into_iter().map(|event| (event.map, event.address)).collect();
    assert_eq!(outputs, [0, 2, 4, 6, 8].map(|map| (map, "h:1".to_owned())));
}

#[test]
fn whatever_is_stored_of_a_job_its_row_has_no_more_than_the_job_has() {
    let run = kept();
    let reader = JournalReader::open_latest(run.path()).unwrap();
    let Begun { tracker, .. } = begin(run.path(), &reader, policies::make).unwrap();
    let stored = reader.began().expect("a snapshot").snapshot.live_jobs[0].clone();
    let good = stored.encode_to_vec();
    let (mut read, mut kinds) = (0, [0; 2]);
    for at in 0..good.len() {
        for other in [0, 1, 0x7f, 0x80, 0xff] {
            let mut bytes = good.clone();
            bytes[at] = other;
            let Ok(changed) = v1::SnapshotJob::decode(&bytes[..]) else { continue };
            let cluster = ClusterId(202_611_201_200);
            let config = MasterConfig::default();
            let spooled = Spooled::default();
            let mut books = Books::new(cluster, run.path(), &config.limits, false, &spooled);
            let snapshot = v1::JournalSnapshot { live_jobs: vec![changed], ..v1::JournalSnapshot::default() };
            books.remember(snapshot, tracker.state());
            let Ok((tables, _)) = books.close() else { continue };
            read += 1;
            for row in tables.jobs.values() {
                let attempts: Vec<_> = row.snapshot(cluster).attempts.iter().collect();
                assert!(attempts.iter().all(|attempt| attempt.id.index < [10, 2][attempt.id.kind]));
                attempts.iter().for_each(|attempt| kinds[attempt.id.kind] += 1);
                row.status(cluster);
                row.events.read(0, usize::MAX);
            }
        }
    }
    assert!(read > 1_000 && kinds[TaskKind::Map] > kinds[TaskKind::Reduce], "{read} read");
}
