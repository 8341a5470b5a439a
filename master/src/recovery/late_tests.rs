//! How an attempt ended that nobody needed any more, said when its job was over: a history from before that is written again.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use howdah_core::cluster::Vitals;
use howdah_core::job::{AttemptId, AttemptState, JobConf, JobSpec, Phase, Progress, TaskId, TaskKind, WorkerId};
use howdah_core::tracker::{AttemptReport, ClusterConfig, Effect, Registration, Report};
use howdah_proto::v1::journal_input::Kind;

use super::*;
use crate::history::{DIRECTORY, JobHistory};
use crate::recorder::Origin;
use crate::testing::sleep_job;

const CLUSTER: ClusterId = ClusterId(202_611_201_200);
const JOB: JobId = JobId(1);

/// A recording in the making, whose workers are reported for by hand.
struct Run {
    recorder: Recorder,
    now: u64,
    /// Of the last answer to each worker.
    answered: [u32; 2],
}

impl Run {
    fn start(dir: &Path) -> Run {
        for folder in ["jobs", DIRECTORY] {
            std::fs::create_dir(dir.join(folder)).unwrap();
        }
        let origin = Origin {
            cluster_id: CLUSTER.0,
            cluster: ClusterConfig::default(),
            scheduler: "fifo".to_owned(),
            scheduler_params: BTreeMap::new(),
            seed: 0,
            nonce: 0,
        };
        let fifo = policies::make("fifo", &BTreeMap::new()).unwrap();
        Run { recorder: Recorder::create(dir, &origin, fifo, 1 << 16).unwrap(), now: 0, answered: [0; 2] }
    }

    /// One batch, of which the journal keeps `wire`; what it launched.
    fn record(&mut self, input: &Input, wire: v1::JournalInput) -> Vec<AttemptId> {
        let (mut recorded, mut effects) = (vec![wire], Vec::new());
        self.now += 1_000;
        self.recorder.apply(Time::from_ms(self.now), std::slice::from_ref(input), &mut recorded, &mut effects);
        self.recorder.sync().unwrap();
        let mut launched = Vec::new();
        for effect in effects {
            match effect {
                Effect::Answer { worker, response_id, .. } => self.answered[worker.0 as usize] = response_id,
                Effect::Launch { attempt, .. } => launched.push(attempt),
                _ => {}
            }
        }
        launched
    }

    fn apply(&mut self, input: &Input) -> Vec<AttemptId> {
        self.record(input, input.into())
    }

    fn register(&mut self, worker: u32, reduce_slots: u16) {
        self.apply(&Input::Register(Box::new(Registration {
            worker: WorkerId(worker),
            incarnation: 7,
            starts: false,
            name: format!("w{worker}"),
            host: format!("h{worker}"),
            rack: "/r".to_owned(),
            map_slots: 1,
            reduce_slots,
            attributes: Vec::new(),
            kept: Vec::new(),
        })));
    }

    fn says(&self, worker: u32, attempts: &[(AttemptId, AttemptState)]) -> Input {
        let status = |&(attempt, state): &(AttemptId, AttemptState)| AttemptReport {
            attempt,
            state,
            phase: Phase::Map,
            progress: Progress::ZERO,
            fetch_failures: Vec::new(),
            fatal: false,
        };
        let runs = |kind| attempts.iter().any(|(id, state)| id.kind == kind && !state.is_final());
        Input::Report(Box::new(Report {
            worker: WorkerId(worker),
            incarnation: 7,
            response_id: self.answered[worker as usize],
            free_maps: u16::from(!runs(TaskKind::Map)),
            free_reduces: worker as u16 * u16::from(!runs(TaskKind::Reduce)),
            accepts_tasks: true,
            may_park: false,
            attempts: attempts.iter().map(status).collect(),
            vitals: Vitals::default(),
            attributes: None,
        }))
    }

    fn report(&mut self, worker: u32, attempts: &[(AttemptId, AttemptState)]) -> Vec<AttemptId> {
        let input = self.says(worker, attempts);
        self.apply(&input)
    }
}

/// Starts on the run, and writes the history of the job as it is known then where it is missing or lacks something; whether
/// it was.
fn start_and_write(dir: &Path) -> (Recovered, bool) {
    let recovered = recover(dir, &MasterConfig::default()).unwrap();
    let wanted = recovered.unfinished.histories == [JOB];
    assert!(wanted || recovered.unfinished.histories.is_empty());
    if wanted {
        let snapshot = recovered.tables.jobs[&JOB].snapshot(CLUSTER);
        JobHistory::streamed(&snapshot, CLUSTER).write(dir).unwrap();
    }
    (recovered, wanted)
}

fn history(dir: &Path) -> JobHistory {
    JobHistory::read(&find_history(dir, CLUSTER, JOB).expect("it was written")).unwrap()
}

#[test]
fn a_history_that_lacks_what_was_said_after_the_jobs_end_is_written_again_once() {
    use AttemptState::{Killed, Running, Succeeded};
    let dir = tempfile::tempdir().unwrap();
    let mut run = Run::start(dir.path());
    run.register(0, 0);
    let conf = JobConf { commits_output: false, ..JobConf::default() };
    let spec = JobSpec { n_maps: 1, n_reduces: 1, conf, ..JobSpec::default() };
    let file = sleep_job(CLUSTER.job(JOB), spec);
    std::fs::write(job_file_path(dir.path(), CLUSTER, JOB), serde_json::to_vec(&file).unwrap()).unwrap();
    run.apply(&Input::Submit { job: JOB, spec: Arc::new(file.spec) });
    let of = |kind, number| TaskId { job: JOB, kind, index: 0 }.attempt(number);
    let (first, second, reduce) = (of(TaskKind::Map, 0), of(TaskKind::Map, 1), of(TaskKind::Reduce, 0));
    assert_eq!(run.report(0, &[]), [first]);
    run.report(0, &[(first, Succeeded)]);
    run.register(1, 1);
    assert_eq!(run.report(1, &[]), [reduce]);
    // The map's output is lost, and the map runs again, but the reduce had it already.
    run.apply(&Input::Goodbye { worker: WorkerId(0), incarnation: 7 });
    assert_eq!(run.report(1, &[(reduce, Running)]), [second]);
    run.report(1, &[(second, Running), (reduce, Succeeded)]);
    run.apply(&Input::JobCommitted { job: JOB, ok: true });

    let (recovered, written) = start_and_write(dir.path());
    assert!(written);
    run.recorder = recovered.recorder;
    run.apply(&Input::Recovered);
    let before = history(dir.path());
    let last = before.attempts.iter().find(|attempt| attempt.number == 1).expect("the second map");
    assert_eq!((before.state, last.state, last.signal), (JobState::Succeeded, Killed, None));
    // The worker says how it ended, and the master is killed before the history is written again.
    let input = run.says(1, &[(second, Killed)]);
    let mut wire = v1::JournalInput::from(&input);
    let Some(Kind::Report(report)) = &mut wire.kind else { panic!("a report") };
    report.attempts[0].end =
        Some(v1::AttemptEnd { signal: Some(9), finished_ms_epoch: 5, ..v1::AttemptEnd::default() });
    report.attempts[0].message = "half way".to_owned();
    run.record(&input, wire);
    drop(run);

    let (Recovered { mut tables, unfinished, .. }, written) = start_and_write(dir.path());
    assert!(written, "what is on disk lacks it");
    // Until the engine has written it, the job stays.
    tables.histories_found(&unfinished.histories);
    assert_eq!(tables.unwritten().jobs, 1);
    let after = history(dir.path());
    let last = after.attempts.iter().find(|attempt| attempt.number == 1).expect("the second map");
    assert_eq!((last.state, last.signal, last.message.as_str()), (Killed, Some(9), "half way"));
    assert!(!start_and_write(dir.path()).1, "now it says all");
    // One that does not read is none.
    std::fs::write(find_history(dir.path(), CLUSTER, JOB).unwrap(), "torn").unwrap();
    assert!(start_and_write(dir.path()).1);
}
