//! A recorded run as forecasts see it: its state at chosen moments, what had been learnt by then, and what came of it.
//!
//! The run is replayed from its journal. A moment's state is the one after the first batch from that moment on; what
//! was learnt is what the run itself had finished by then, after whatever the caller had learnt before. Of a run whose
//! first inputs are gone there are no moments before what is left, and nothing is learnt of what ended there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use howdah_core::job::{AttemptId, ClusterId, JobFile, JobId, JobState, WorkerId};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::{Effect, JobTracker};
use howdah_planning::prediction::{Class, EndWatch, Forecast, Learned, Learner, Sample, TaskHistory};

use super::application_name;
use crate::history::job_file_path;
use crate::journal::{JournalReader, find_run};
use crate::policies;
use crate::replay::{ReplayError, replay_seen};

/// One moment of a run.
pub struct Moment<'a> {
    /// The state.
    pub tracker: &'a JobTracker,
    /// What had been learnt.
    pub history: &'a TaskHistory,
    /// What jobs run.
    pub application: &'a dyn Fn(JobId) -> String,
    /// The run's cluster, for printed ids.
    pub cluster: ClusterId,
    /// When the run's first job was submitted, from which moments count.
    pub start: Time,
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct RecordedRun {
    /// When its first job was submitted; `None` if none was.
    pub start: Option<Time>,
    /// Moments before this are gone with the inputs that led to them; `None` where all are there.
    pub gone_until: Option<Time>,
    /// Its last batch.
    pub end: Time,
    /// When its jobs were over, and how each ended.
    pub finishes: BTreeMap<JobId, (Time, JobState)>,
    /// All launches, in order.
    pub launches: Vec<(Time, AttemptId, WorkerId)>,
    /// All tasks that finished: when, what, and what had been remembered before is the caller's business.
    pub tasks: Vec<(Class, Sample)>,
    /// What had been learnt in the end.
    pub history: TaskHistory,
    /// Batches.
    pub batches: u64,
}

/// Reads the run in `dir` (a run, a master's directory or a cluster's: the latest run). `history` is what was learnt
/// before. `at` tells after each moment when the next one is, counted from the first submission; `see` looks at it, and a
/// forecast of its present course that it returns is held against what comes, as a live master does; `learning` looks at each
/// finished task before it is learnt, and is told how long after the first submission it ended.
///
/// # Errors
/// When the run does not read.
pub fn read_run(
    dir: &Path,
    history: TaskHistory,
    mut at: impl FnMut(Option<Span>) -> Option<Span>,
    mut see: impl FnMut(&Moment<'_>) -> Option<Forecast>,
    mut learning: impl FnMut(Span, &TaskHistory, &Class, &Sample),
) -> Result<RecordedRun, ReplayError> {
    let run_dir = find_run(dir)?;
    let mut run = RecordedRun { history, ..RecordedRun::default() };
    let (mut learner, mut watch) = (Learner::default(), EndWatch::default());
    let mut next = at(None);
    if let Some(since) = JournalReader::open(&run_dir)?.began() {
        let until = Time::from_us(since.time_us);
        run.gone_until = Some(until);
        run.start = (since.snapshot.first_submission_us > 0).then(|| Time::from_us(since.snapshot.first_submission_us));
        while let Some((start, due)) = run.start.zip(next).filter(|&(start, due)| start + due <= until) {
            debug_assert!(start <= until, "a snapshot is taken after the first submission that it tells of");
            next = at(Some(due));
        }
    }
    replay_seen(dir, policies::make, |cluster, now, effects, tracker| {
        run.batches += 1;
        run.end = now;
        if run.start.is_none() && tracker.state().last_job() > 0 {
            run.start = Some(now);
        }
        let application = |job| application_of(&run_dir, cluster, job);
        let since_start = run.start.map_or(Span::ZERO, |start| now.since(start));
        let (tasks, history) = (&mut run.tasks, &mut run.history);
        learner.follow(now, effects, tracker.state(), application, |learned| {
            match &learned {
                Learned::Task { attempt, class, sample } => {
                    learning(since_start, history, class, sample);
                    watch.task_ended(*attempt, sample.time, history);
                    tasks.push((class.clone(), sample.clone()));
                }
                Learned::End(job, succeeded) => watch.ended(*job, *succeeded, history),
                Learned::Launch { .. } | Learned::Phase { .. } | Learned::Commit(_) => {}
            }
            learned.put_into(history);
        });
        for effect in effects {
            match *effect {
                Effect::Launch { worker, attempt, .. } => run.launches.push((now, attempt, worker)),
                Effect::JobState { job, state } if state.is_final() => {
                    run.finishes.insert(job, (now, state));
                }
                _ => {}
            }
        }
        let Some(start) = run.start else { return };
        while let Some(due) = next.filter(|&due| start + due <= now) {
            let moment = Moment { tracker, history: &run.history, application: &application, cluster, start };
            if let Some(forecast) = see(&moment) {
                watch.predicted(&forecast);
            }
            next = at(Some(due));
            // Moments between two batches have one state.
            while next.is_some_and(|following| start + following <= now) {
                next = at(next);
            }
        }
    })?;
    // A launch is repeated until its worker confirms it.
    let mut seen = std::collections::BTreeSet::new();
    run.launches.retain(|&(_, attempt, _)| seen.insert(attempt));
    Ok(run)
}

/// What a job of the run ran; empty if its file is gone.
fn application_of(run: &Path, cluster: ClusterId, job: JobId) -> String {
    let file = fs::read(job_file_path(run, cluster, job))
        .ok()
        .and_then(|bytes| serde_json::from_slice::<JobFile>(&bytes).ok());
    file.map_or_else(String::new, |file| application_name(&file.app))
}
