//! Starts on snapshots: they find what the whole journal leads to, whenever the master was killed.

use std::fs;
use std::path::Path;

use howdah_core::job::AttemptState;
use howdah_core::schedulers::registry;
use howdah_proto::v1;

use super::long_history::History;
use super::*;
use crate::journal::{check, leave_only_newest};
use crate::replay::replay_decisions;

/// Small, as tests copy them.
const SEGMENT: u64 = 1 << 18;

/// Three jobs that are over, a snapshot, then some that run and one that ends.
fn recorded(run: &Path, policy: &str) -> History {
    let mut history = History::new(run, policy, SEGMENT);
    (0..3).for_each(|_| history.finish_a_job());
    history.take_snapshot(v1::JournalSnapshot::default());
    history.finish_a_job();
    (0..3).for_each(|_| history.submit());
    history.report();
    history.report();
    history.recorder.sync().unwrap();
    history
}

/// The policy decides everything again, on a copy; nothing is taken from the record.
fn again(run: &Path) -> Recovered {
    let place = tempfile::tempdir().unwrap();
    copy(run, place.path());
    go_through(place.path(), &MasterConfig::default(), policies::make, Decided::Again, &Spooled::default()).unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// With an empty directory each, under the policies that need no parameters.
fn for_every_policy(holds: impl Fn(&str, &Path)) {
    let usable = || registry::names().filter(|policy| policies::make(policy, &Params::new()).is_ok());
    assert!(usable().count() >= 5);
    for policy in usable() {
        let dir = tempfile::tempdir().unwrap();
        holds(policy, dir.path());
    }
}

#[test]
fn every_policy_decides_after_a_snapshot_as_the_whole_journal_does() {
    for_every_policy(|policy, run| {
        let mut live = recorded(run, policy);
        let whole = replay_decisions(run).unwrap();
        assert_eq!((whole.beginning, whole.first_difference), (None, None), "{policy}");
        // A digest that differs would be an error.
        let recovered = again(run);
        assert!(recovered.batches == whole.batches && recovered.last_job == 7, "{policy}");
        assert!(recovered.tables.running(howdah_core::job::TaskKind::Map) > 0, "{policy}");
        let state = |recorder: &Recorder| {
            let tracker = recorder.tracker();
            let attempts: Vec<_> = tracker.state().attempts().iter().map(|(_, attempt)| attempt.id()).collect();
            (tracker.next_deadline(), attempts, recorder.position.in_force.clone())
        };
        assert_eq!(state(&recovered.recorder), state(&live.recorder), "{policy}");
        drop(recovered);
        // What it decides from here on is the same as well, also where nothing but the snapshot is left.
        live.finish_all();
        live.recorder.sync().unwrap();
        again(run);
        assert!(leave_only_newest(run).segments > 0);
        let last = again(run);
        assert_eq!(state(&last.recorder), state(&live.recorder), "{policy}");
        let rest = replay_decisions(run).unwrap();
        assert_eq!(rest.first_difference, None, "{policy}");
        assert_eq!(rest.beginning.map(|beginning| beginning.batches + rest.batches), Some(last.batches), "{policy}");
    });
}

#[test]
fn a_kill_at_any_moment_of_a_compaction_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut history = History::new(dir.path(), "fifo", SEGMENT);
    (0..30).for_each(|_| history.finish_a_job());
    history.take_snapshot(v1::JournalSnapshot::default());
    (0..2).for_each(|_| history.finish_a_job());
    history.take_snapshot(v1::JournalSnapshot::default());
    let recorder = &history.recorder;
    let (snapshot, at) = (recorder.tracker().snapshot(), recorder.position.batches);
    drop(history);
    let mut segments: Vec<_> = fs::read_dir(dir.path().join("journal")).unwrap().map(|e| e.unwrap().path()).collect();
    segments.sort();
    assert_eq!(segments.len(), 3);
    let last = fs::read(&segments[2]).unwrap();
    let used = last.iter().rposition(|&byte| byte != 0).unwrap() + 1;
    // While the snapshot was written: its batch is there, and the master's state is the snapshot's.
    for cut in (0..used).step_by(97).chain([used - 1]) {
        let place = tempfile::tempdir().unwrap();
        copy(dir.path(), place.path());
        let segment = place.path().join("journal").join(segments[2].file_name().unwrap());
        let mut torn = last[..cut].to_vec();
        torn.resize(last.len(), 0);
        fs::write(&segment, torn).unwrap();
        let mut recovered = recover(place.path(), &MasterConfig::default()).unwrap();
        assert_eq!(
            (recovered.recorder.tracker().snapshot(), recovered.batches),
            (snapshot.clone(), at),
            "cut at {cut}"
        );
        // And it goes on, to a snapshot at the same place.
        recovered.recorder.keep_snapshot(v1::JournalSnapshot::default()).unwrap();
        drop(recovered);
        assert!(leave_only_newest(place.path()).segments > 0);
        let recovered = recover(place.path(), &MasterConfig::default()).unwrap();
        assert_eq!(recovered.recorder.tracker().snapshot(), snapshot, "after a cut at {cut}");
    }
    // While segments were removed, oldest first.
    for removed in 0..3 {
        let place = tempfile::tempdir().unwrap();
        copy(dir.path(), place.path());
        for segment in &segments[..removed] {
            fs::remove_file(place.path().join("journal").join(segment.file_name().unwrap())).unwrap();
        }
        let recovered = recover(place.path(), &MasterConfig::default()).unwrap();
        assert_eq!((recovered.recorder.tracker().snapshot(), recovered.batches), (snapshot.clone(), at));
        assert_eq!((recovered.last_job, recovered.tables.workers.len()), (32, 1), "{removed} removed");
        drop(recovered);
        assert!(check(place.path()).unwrap().damage.is_none());
    }
}

#[test]
fn a_policy_that_has_changed_leaves_what_was_decided_after_a_snapshot() {
    fn changed(name: &str, params: &Params) -> Result<Box<dyn Scheduler>, SchedulerError> {
        policies::make(if name == "fifo" { "fair" } else { name }, params)
    }
    let dir = tempfile::tempdir().unwrap();
    let live = recorded(dir.path(), "fifo");
    let recovered = recover_with(dir.path(), &MasterConfig::default(), changed).unwrap();
    let attempts = |recorder: &Recorder| -> Vec<_> {
        recorder.tracker().state().attempts().iter().map(|(_, attempt)| attempt.id()).collect()
    };
    assert_eq!(attempts(&recovered.recorder), attempts(&live.recorder));
}

#[test]
fn what_a_worker_and_a_job_were_is_known_after_a_snapshot() {
    let dir = tempfile::tempdir().unwrap();
    let mut history = History::new(dir.path(), "fifo", SEGMENT);
    history.finish_a_job();
    history.recorder.sync().unwrap();
    let Recovered { recorder, tables, .. } = recover(dir.path(), &MasterConfig::default()).unwrap();
    history.recorder = recorder;
    history.apply(&Input::Drain { worker: howdah_core::job::WorkerId(0), drain: true });
    let mut tables = tables;
    tables.workers[0].presence.drained = true;
    tables.workers[0].failures = 3;
    let (before, listed) = (tables.workers[0].info(0, &[]), tables.statuses());
    history.take_snapshot(tables.remembered(history.recorder.tracker().state()));
    drop(history);
    leave_only_newest(dir.path());
    let after = recover(dir.path(), &MasterConfig::default()).unwrap().tables;
    let info = after.workers[0].info(0, &[]);
    assert!(after.workers[0].presence.drained);
    assert_eq!((info.name, info.host, info.rack, info.failures), (before.name, before.host, before.rack, 3));
    assert_eq!((info.map_slots, info.version), (before.map_slots, before.version));
    assert_eq!((after.statuses(), after.jobs_done, after.live_jobs()), (listed, 1, 0));
}

#[test]
fn a_snapshot_that_no_master_can_be_made_of_is_refused_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let mut history = History::new(dir.path(), "fifo", SEGMENT);
    history.finish_a_job();
    let mut core = serde_json::to_value(history.recorder.tracker().snapshot()).unwrap();
    core["version"] = 99.into();
    history.recorder.sync().unwrap();
    let mut reader = JournalReader::open(dir.path()).unwrap();
    while reader.next_frame().unwrap().is_some() {}
    let mut journal = JournalWriter::resume(dir.path(), &reader.tail(), 1 << 16).unwrap();
    let snapshot =
        v1::JournalSnapshot { core_json: serde_json::to_vec(&core).unwrap(), batches: 9, ..Default::default() };
    journal.append_snapshot(&mut v1::JournalFrame { snapshot: Some(snapshot), ..Default::default() }).unwrap();
    journal.sync().unwrap();
    let error = recover(dir.path(), &MasterConfig::default()).err().expect("it is of a later version").to_string();
    for part in ["after batch 9", "version 99", "at most 3"] {
        assert!(error.contains(part), "no `{part}` in {error}");
    }
    // Who reads on from before it says that it is not what the inputs lead to.
    let report = replay_decisions(dir.path()).unwrap();
    assert!(report.compared > report.identical);
    let difference = report.first_difference.expect("the snapshot is another one");
    assert_eq!((difference.batch, &*difference.expected), (report.batches, "a snapshot after it"));
}

#[test]
fn a_start_goes_around_a_damaged_snapshot_to_the_same_state_and_says_what_to_do_where_it_cannot() {
    let dir = tempfile::tempdir().unwrap();
    let mut history = recorded(dir.path(), "fair");
    history.finish_all();
    history.take_snapshot(v1::JournalSnapshot::default());
    history.finish_a_job();
    history.submit();
    history.report();
    history.recorder.sync().unwrap();
    let attempts = |recorder: &Recorder| -> Vec<_> {
        recorder.tracker().state().attempts().iter().map(|(_, attempt)| attempt.id()).collect()
    };
    let (batches, running) = (history.recorder.position.batches, attempts(&history.recorder));
    drop(history);
    let segments = || {
        let mut paths: Vec<_> = fs::read_dir(dir.path().join("journal")).unwrap().map(|e| e.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let newest = segments().pop().unwrap();
    let bytes = fs::read(&newest).unwrap();
    let first = bytes.windows(4).skip(1).position(|window| window == b"hwF2").unwrap();
    for at in (0..first).step_by(61) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        fs::write(&newest, damaged).unwrap();
        // An error if a digest differs.
        let recovered = again(dir.path());
        assert_eq!((recovered.batches, attempts(&recovered.recorder)), (batches, running.clone()), "flipped at {at}");
    }
    segments().iter().filter(|path| **path != newest).for_each(|path| fs::remove_file(path).unwrap());
    let error = recover(dir.path(), &MasterConfig::default()).err().expect("nothing is left").to_string();
    for part in [newest.to_str().unwrap(), "offset 0", "\nhelp: ", "--new-cluster"] {
        assert!(error.contains(part), "no `{part}` in {error}");
    }
}

/// All that people see of jobs and workers.
fn seen(tables: &Tables) -> Vec<String> {
    let cluster = tables.cluster;
    let of_job = |row: &crate::tables::JobRow| {
        let snapshot = row.snapshot(cluster);
        let attempts: Vec<_> = snapshot.attempts.iter().collect();
        format!("{:?} {:?} {attempts:?} {:?}", snapshot.tally, snapshot.winners, row.events.read(0, usize::MAX))
    };
    let statuses = tables.statuses().into_iter().map(|status| format!("{status:?}"));
    let live = tables.jobs.values().filter(|row| !row.state.is_final()).map(of_job);
    let workers = tables.workers.iter().map(|row| format!("{:?} {:?} {:?}", row.running, row.failures, row.directives));
    statuses.chain(live).chain(workers).collect()
}

#[test]
fn a_master_at_work_is_the_same_after_its_snapshot_as_after_its_whole_journal_under_every_policy() {
    for_every_policy(|policy, run| {
        let mut history = History::new(run, policy, SEGMENT);
        history.finish_a_job();
        history.n_reduces = 2;
        (0..3).for_each(|_| history.submit());
        history.report();
        history.report();
        history.some_end(AttemptState::Failed);
        history.report();
        history.some_end(AttemptState::Succeeded);
        history.recorder.sync().unwrap();
        history.go_on_with_a_snapshot();
        assert_eq!(history.recorder.tracker().snapshot().unwrap().live_jobs().count(), 3, "{policy}");
        history.submit();
        history.report();
        history.some_end(AttemptState::Succeeded);
        history.report();
        history.recorder.sync().unwrap();
        // Each snapshot is held against the state that the inputs lead to.
        let whole = replay_decisions(run).unwrap();
        assert_eq!((whole.beginning, whole.first_difference), (None, None), "{policy}");
        let found = |recovered: &Recovered| {
            let tracker = recovered.recorder.tracker();
            tracker.check_invariants().unwrap();
            (tracker.snapshot(), tracker.next_deadline(), seen(&recovered.tables))
        };
        let (core, deadline, tables) = found(&again(run));
        let live = history.recorder.tracker();
        assert!(core == live.snapshot() && deadline == live.next_deadline(), "{policy}");
        assert!(tables.iter().any(|row| row.contains("MapEvent")), "{tables:?}");
        // With the snapshot damaged a start goes through all of the journal.
        let journal = run.join("journal");
        let mut segments: Vec<_> = fs::read_dir(&journal).unwrap().map(|entry| entry.unwrap().path()).collect();
        segments.sort();
        let newest = segments.pop().unwrap();
        let bytes = fs::read(&newest).unwrap();
        let mut damaged = bytes.clone();
        damaged[99] ^= 1;
        fs::write(&newest, damaged).unwrap();
        let (from_all, deadline_of_all, tables_of_all) = found(&again(run));
        assert!(from_all == core && deadline_of_all == deadline, "{policy}");
        assert_eq!(tables_of_all, tables, "{policy}");
        // And what it decides from here on, where nothing but the snapshot is left.
        fs::write(&newest, bytes).unwrap();
        history.finish_all();
        history.recorder.sync().unwrap();
        assert!(leave_only_newest(run).segments > 0);
        assert!(found(&again(run)).0 == history.recorder.tracker().snapshot(), "{policy}");
        let rest = replay_decisions(run).unwrap();
        assert!(rest.first_difference.is_none() && rest.batches > 5, "{policy}");
        fs::create_dir(run.join("history")).unwrap();
        let trace = crate::trace::record(run).unwrap();
        assert_eq!(trace.cluster.unwrap().workers.len(), 1);
    });
}
