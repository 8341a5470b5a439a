//! Runs that a master goes on with, and runs that it must not touch.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use howdah_core::cluster::Vitals;
use howdah_core::job::{
    AttemptId, AttemptState, JobConf, JobFile, JobId, JobSpec, Phase, Progress, TaskId, TaskKind, WorkerId,
};
use howdah_core::tracker::{AttemptReport, ClusterConfig, Registration, Report};
use howdah_proto::v1;

use super::*;
use crate::journal::check;
use crate::recorder::Origin;
use crate::spool::Spool;
use crate::testing::sleep_job;

fn registration(worker: u32) -> Input {
    Input::Register(Box::new(Registration {
        worker: WorkerId(worker),
        incarnation: 7,
        starts: false,
        name: format!("w{worker}"),
        host: format!("h{worker}"),
        rack: "/r".to_owned(),
        map_slots: 2,
        reduce_slots: 1,
        attributes: Vec::new(),
        kept: Vec::new(),
    }))
}

/// Records batches of one input each, a second apart from `from`, and stops as a crash does.
fn record(recorder: &mut Recorder, from: u64, inputs: &[Input]) {
    for (n, input) in inputs.iter().enumerate() {
        let mut recorded = vec![v1::JournalInput::from(input)];
        let time = Time::from_ms(1_000 * (from + n as u64));
        recorder.apply(time, std::slice::from_ref(input), &mut recorded, &mut Vec::new());
        recorder.sync().unwrap();
    }
}

fn new_run(dir: &Path) -> Recorder {
    let origin = Origin {
        cluster_id: 202_611_201_200,
        cluster: ClusterConfig::default(),
        scheduler: "fifo".to_owned(),
        scheduler_params: BTreeMap::new(),
        seed: 0,
        nonce: 0,
    };
    let scheduler = policies::make("fifo", &BTreeMap::new()).unwrap();
    Recorder::create(dir, &origin, scheduler, 1 << 16).unwrap()
}

#[test]
fn a_run_goes_on_where_it_was_cut_off_any_number_of_times() {
    let dir = tempfile::tempdir().unwrap();
    let config = MasterConfig::default();
    record(&mut new_run(dir.path()), 1, &[registration(0), registration(1)]);
    for start in 1..4_u32 {
        // The last write of the master before was torn.
        let segment = dir.path().join("journal").join(format!("{start:08}.seg"));
        let mut bytes = std::fs::read(&segment).unwrap();
        let used = bytes.iter().rposition(|&byte| byte != 0).unwrap();
        bytes[used - 5] ^= 1;
        std::fs::write(&segment, &bytes).unwrap();
        let mut recovered = recover(dir.path(), &config).unwrap();
        assert!(recovered.torn, "start {start}");
        // What is not torn is there: one worker of the two, then what each start added but for its last batch.
        assert_eq!(recovered.recorder.tracker().state().workers().len(), start as usize);
        assert_eq!(recovered.tables.workers.len(), start as usize);
        assert_eq!(recovered.recorder.tracker().state().epoch(), start - 1);
        let from = 10 * u64::from(start);
        record(&mut recovered.recorder, from, &[Input::Recovered, registration(start), registration(start + 1)]);
    }
    let check = check(dir.path()).unwrap();
    assert_eq!((check.starts, check.damage.is_none()), (4, true));
}

#[test]
fn a_build_that_decides_otherwise_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let recorder = new_run(dir.path());
    drop(recorder);
    let mut reader = JournalReader::open(dir.path()).unwrap();
    assert!(reader.next_frame().unwrap().is_none());
    let mut journal = JournalWriter::resume(dir.path(), &reader.tail(), 1 << 16).unwrap();
    journal.append(&mut v1::JournalFrame {
        time_us: 5,
        inputs: vec![(&registration(0)).into()],
        n_effects: 1,
        digest: vec![3; 32],
        ..v1::JournalFrame::default()
    });
    journal.sync().unwrap();
    let error = recover(dir.path(), &MasterConfig::default()).err().expect("the digest is another one");
    assert!(matches!(error, RecoveryError::Differs { batch: 1, .. }), "{error}");
    assert!(error.to_string().contains("--new-cluster"), "{error}");
}

/// What the header calls FIFO is another policy in this build.
fn changed(name: &str, params: &Params) -> Result<Box<dyn Scheduler>, SchedulerError> {
    policies::make(if name == "fifo" { "shortest" } else { name }, params)
}

fn report(response_id: u32, attempts: Vec<AttemptReport>) -> Input {
    let free_maps = 2 - attempts.iter().filter(|status| !status.state.is_final()).count() as u16;
    Input::Report(Box::new(Report {
        worker: WorkerId(0),
        incarnation: 7,
        response_id,
        free_maps,
        free_reduces: 1,
        accepts_tasks: true,
        may_park: false,
        attempts,
        vitals: Vitals::default(),
        attributes: None,
    }))
}

fn map_of(job: u32, index: u32, state: AttemptState) -> AttemptReport {
    AttemptReport {
        attempt: TaskId { job: JobId(job), kind: TaskKind::Map, index }.attempt(0),
        state,
        phase: Phase::Map,
        progress: Progress::ZERO,
        fetch_failures: Vec::new(),
        fatal: false,
    }
}

#[test]
fn a_policy_that_has_changed_leaves_what_was_decided_before_it() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("jobs")).unwrap();
    let mut recorder = new_run(dir.path());
    let submit = |job, n_maps| {
        let conf = JobConf { commits_output: false, ..JobConf::default() };
        let spec = JobSpec { n_maps, conf, ..JobSpec::default() };
        let file = sleep_job(ClusterId(202_611_201_200).job(JobId(job)), spec);
        let path = dir.path().join("jobs").join(format!("{}.json", file.id));
        std::fs::write(path, serde_json::to_vec(&file).unwrap()).unwrap();
        Input::Submit { job: JobId(job), spec: Arc::new(file.spec) }
    };
    let runs = |index| map_of(1, index, AttemptState::Running);
    // FIFO fills the worker with the long job; the shortest first would have been the other.
    let inputs =
        [submit(1, 50), submit(2, 1), registration(0), report(0, Vec::new()), report(1, vec![runs(0), runs(1)])];
    record(&mut recorder, 1, &inputs);
    drop(recorder);
    let running = |recovered: &Recovered| -> Vec<AttemptId> {
        let attempts = recovered.recorder.tracker().state().attempts().iter();
        attempts.map(|(_, attempt)| attempt.id()).collect()
    };
    let config = MasterConfig::default();
    let again = go_through(dir.path(), &config, changed, Decided::Again, &Spooled::default())
        .err()
        .expect("it decides otherwise");
    assert!(matches!(again, RecoveryError::Differs { batch: 4, .. }), "{again}");

    let mut recovered = recover_with(dir.path(), &config, changed).unwrap();
    let before = [runs(0).attempt, runs(1).attempt];
    assert_eq!(running(&recovered), before, "what ran runs");
    assert_eq!(recovered.tables.running(TaskKind::Map), 2);
    assert_eq!(recovered.recorder.tracker().scheduler().name(), "shortest");
    // From now on the changed policy decides.
    let done = map_of(1, 0, AttemptState::Succeeded);
    record(&mut recovered.recorder, 20, &[Input::Recovered, report(2, vec![done, runs(1)])]);
    let other = TaskId { job: JobId(2), kind: TaskKind::Map, index: 0 };
    let after = running(&recovered);
    assert!(after.contains(&before[1]) && after.iter().any(|id| id.task() == other), "{after:?}");
    drop(recovered);
    let recovered = recover_with(dir.path(), &config, changed).unwrap();
    assert_eq!(running(&recovered), after, "the next start finds the decisions of both");
    // The build that began it finds them, too, and so would any other.
    drop(recovered);
    assert_eq!(running(&recover(dir.path(), &config).unwrap()), after);
}

#[test]
fn a_job_that_is_not_over_needs_its_file_and_one_that_is_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let spec = Arc::new(JobSpec { n_maps: 1, ..JobSpec::default() });
    let submit = Input::Submit { job: JobId(1), spec };
    record(&mut new_run(dir.path()), 1, &[submit]);
    let error = recover(dir.path(), &MasterConfig::default()).err().expect("the job's file is missing");
    assert!(matches!(error, RecoveryError::JobFile { .. }), "{error}");
    let mut reader = JournalReader::open(dir.path()).unwrap();
    assert!(reader.next_frame().unwrap().is_some());

    let dir = tempfile::tempdir().unwrap();
    let spec = Arc::new(JobSpec { n_maps: 1, ..JobSpec::default() });
    let inputs = [Input::Submit { job: JobId(1), spec }, Input::KillJob { job: JobId(1) }];
    record(&mut new_run(dir.path()), 1, &inputs);
    let recovered = recover(dir.path(), &MasterConfig::default()).unwrap();
    assert_eq!((recovered.last_job, recovered.tables.live_jobs()), (1, 0));
    assert_eq!(recovered.unfinished.histories, [], "without its file it was let go");
    std::fs::create_dir(dir.path().join("jobs")).unwrap();
    std::fs::write(job_file_path(dir.path(), ClusterId(202_611_201_200), JobId(1)), "{").unwrap();
    let recovered = recover(dir.path(), &MasterConfig::default()).unwrap();
    assert_eq!(recovered.unfinished.histories, [JobId(1)], "its history was not written");
}

#[test]
fn after_a_power_failure_acknowledged_jobs_have_the_files_that_were_spooled_and_no_others_come() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("jobs")).unwrap();
    let file = |job: u32| {
        let spec = JobSpec { n_maps: 1, ..JobSpec::default() };
        let id = ClusterId(202_611_201_200).job(JobId(job));
        JobFile { token: format!("token {job}"), ..sleep_job(id, spec) }
    };
    let spooled: Vec<_> = (1..=3).map(|job| (JobId(job), serde_json::to_vec(&file(job)).unwrap())).collect();
    Spool::of_another_boot(dir.path()).append(&spooled).unwrap();
    // The third was on its way when the power failed; the files of all three were not on disk, or only in part.
    let own = |job| job_file_path(dir.path(), ClusterId(202_611_201_200), JobId(job));
    std::fs::write(own(2), &spooled[1].1[..10]).unwrap();
    let submit = |job| Input::Submit { job: JobId(job), spec: Arc::new(file(job).spec) };
    record(&mut new_run(dir.path()), 1, &[submit(1), submit(2)]);
    let recovered = recover(dir.path(), &MasterConfig::default()).unwrap();
    assert_eq!((recovered.last_job, recovered.tables.live_jobs()), (2, 2));
    for (job, bytes) in &spooled[..2] {
        assert_eq!(recovered.tables.jobs[job].meta.file, JobFile { splits: Vec::new(), ..file(job.0) });
        assert_eq!(&std::fs::read(own(job.0)).unwrap(), bytes);
    }
    assert!(!own(3).exists());
    assert_eq!(recovered.unfinished.spools.len(), 1);
}

#[test]
fn damage_in_the_middle_is_refused_with_the_way_out() {
    let dir = tempfile::tempdir().unwrap();
    record(&mut new_run(dir.path()), 1, &[registration(0), registration(1), registration(2)]);
    let segment = dir.path().join("journal/00000001.seg");
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[30] ^= 1;
    std::fs::write(&segment, &bytes).unwrap();
    let error = recover(dir.path(), &MasterConfig::default()).err().expect("the first frame is damaged").to_string();
    for part in ["offset 0", "00000001.seg", "howdah journal repair"] {
        assert!(error.contains(part), "no `{part}` in {error}");
    }
}

#[test]
fn a_run_in_an_older_layout_is_refused_with_both_versions_and_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let header = v1::JournalHeader { version: journal::VERSION - 1, ..Default::default() };
    JournalWriter::create(dir.path(), &header, 4_096).unwrap().close().unwrap();
    let error = header_of(dir.path()).expect_err("it is only to be read").to_string();
    for part in ["header", "version 1 of", "expected 2", "\nhelp: ", "start that one", "--new-cluster"] {
        assert!(error.contains(part), "no `{part}` in {error}");
    }
    let header = v1::JournalHeader { version: journal::VERSION + 1, ..Default::default() };
    let later = tempfile::tempdir().unwrap();
    JournalWriter::create(later.path(), &header, 4_096).unwrap().close().unwrap();
    let error = header_of(later.path()).expect_err("nobody knows it").to_string();
    for part in ["version 3 of", "expected 1 to 2", "\nhelp: ", "--new-cluster"] {
        assert!(error.contains(part), "no `{part}` in {error}");
    }
}
