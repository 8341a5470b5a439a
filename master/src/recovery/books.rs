//! The driver's tables, rebuilt from the recorded inputs and what the core makes of them.
//!
//! It does to the tables what the engine did when these inputs came, in the same order; nobody waits for answers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use howdah_core::cluster::ClusterState;
use howdah_core::job::{App, ClusterId, InputFormat, JobFile, JobId, OutputFormat};
use howdah_core::time::Time;
use howdah_core::tracker::{Effect, Input, Rejection, WorkerState};
use howdah_proto::convert::directive;
use howdah_proto::v1;
use howdah_proto::v1::journal_input::Kind;

use super::RecoveryError;
use super::unfinished::Aborts;
use crate::commit::Output;
use crate::config::Limits;
use crate::history::{find_history, job_file_path};
use crate::spool::Spooled;
use crate::tables::{Going, JobMeta, JobRow, PageVitals, Tables, WorkerRow, extras};

/// What is known of a worker that was unreachable when the master before this one ended.
const UNREACHABLE_BEFORE: &str = "nobody could fetch from it before the master started again";

/// The tables under way.
pub(super) struct Books<'a> {
    tables: Tables,
    run_dir: PathBuf,
    /// Files of jobs that were submitted lately, as they were written.
    spooled: &'a Spooled,
    /// Whether any run of a lost worker may take its name.
    free_lost_names: bool,
    /// Submissions of the batch.
    new: Vec<(JobId, JobMeta)>,
    /// Job files that do not read; that matters only while the job is not over.
    unread: BTreeMap<JobId, String>,
    aborts: Aborts,
}

impl Books<'_> {
    pub(super) fn new<'a>(
        cluster: ClusterId,
        run_dir: &Path,
        limits: &Limits,
        free_lost_names: bool,
        spooled: &'a Spooled,
    ) -> Books<'a> {
        Books {
            tables: Tables::new(cluster, limits),
            run_dir: run_dir.to_owned(),
            spooled,
            free_lost_names,
            new: Vec::new(),
            unread: BTreeMap::new(),
            aborts: Aborts::new(),
        }
    }

    /// Begins with what is known beside a snapshot.
    pub(super) fn remember(&mut self, snapshot: v1::JournalSnapshot, state: &ClusterState) {
        let live = snapshot.live_jobs.iter().filter_map(|stored| state.job(JobId(stored.job)));
        let metas: Vec<(JobId, JobMeta)> = live.map(|job| (job.id(), self.meta(job.id(), job.spec()))).collect();
        let mut metas: BTreeMap<JobId, JobMeta> = metas.into_iter().collect();
        for stored in &snapshot.unwritten_jobs {
            let id = JobId(stored.job);
            if let Ok(file) = self.file(id) {
                metas.insert(id, meta_of(id, file));
            }
        }
        self.tables.remember(snapshot, state, |job| metas.remove(&job));
    }

    /// A batch comes in: `recorded` is what the journal keeps of `inputs`.
    pub(super) fn before(&mut self, inputs: &[Input], recorded: Vec<v1::JournalInput>, now: Time) {
        for (input, wire) in inputs.iter().zip(recorded) {
            match (input, wire.kind) {
                (Input::Submit { job, spec }, _) => {
                    let meta = self.meta(*job, spec);
                    self.new.push((*job, meta));
                }
                (Input::Register(registration), Some(Kind::Register(wire))) => {
                    let Some(request) = wire.request else { continue };
                    let is_stale = |row: &WorkerRow| {
                        let is_free = self.free_lost_names && row.state == WorkerState::Lost;
                        request.incarnation < row.incarnation && !is_free
                    };
                    if !self.tables.worker(registration.worker).is_some_and(is_stale) {
                        self.tables.register(registration.worker, request, 0, now);
                    }
                }
                (Input::Goodbye { worker, incarnation }, _) => self.tables.goes(*worker, *incarnation, Going::Stopped),
                (Input::Gone { worker, incarnation }, _) => self.tables.goes(*worker, *incarnation, Going::Closed),
                (Input::Drain { worker, drain }, _) => {
                    if let Some(row) = self.tables.workers.get_mut(worker.0 as usize) {
                        row.presence.drained = *drain;
                    }
                }
                (Input::Reach { worker, reachable }, _) => {
                    // What was wrong is not recorded. Whoever looks next finds it mended, or says it anew.
                    if let Some(row) = self.tables.workers.get_mut(worker.0 as usize) {
                        row.unreachable = (!reachable).then(|| UNREACHABLE_BEFORE.to_owned());
                    }
                }
                (Input::Report(report), Some(Kind::Report(mut request))) => {
                    if let Some(row) = self.tables.workers.get_mut(report.worker.0 as usize)
                        && row.incarnation == report.incarnation
                    {
                        row.is_overtaken(request.sequence);
                    }
                    let extras = extras(&mut request, report);
                    self.tables.report(report, extras, PageVitals::default(), now);
                }
                (Input::SetPriority { job, priority }, _) => self.tables.set_priority(*job, *priority),
                (Input::SetQueue { job, queue }, _) => self.tables.set_queue(*job, queue),
                (Input::JobCommitted { job, ok }, Some(Kind::Committed(wire))) => {
                    if let Some(row) = self.tables.jobs.get_mut(job) {
                        row.commit_problem = (!ok).then_some(wire.problem);
                    }
                }
                (Input::Recovered, _) => {
                    self.aborts.clear();
                    self.tables.recovered();
                    // Heartbeats that waited ended with the master before.
                    self.tables.workers.iter_mut().for_each(|row| row.waiting = None);
                }
                _ => {}
            }
        }
    }

    /// What the core made of the batch.
    pub(super) fn after(&mut self, effects: &[Effect], now: Time, state: &ClusterState, notes: Vec<String>) {
        self.tables.noted(notes, now);
        self.enter_jobs(effects, now);
        for effect in effects {
            self.tables.observe(effect, now);
            match *effect {
                Effect::Answer { worker, interval_ms, .. } => {
                    if let Some(row) = self.tables.workers.get_mut(worker.0 as usize) {
                        row.presence.set_interval(interval_ms);
                        row.directives.clear();
                    }
                }
                Effect::AbortJob { job } => {
                    if let Some(output) = self.output_of(job) {
                        self.aborts.insert(output.directory().to_owned(), (job, output));
                    }
                }
                _ => {
                    if let Some((worker, directive)) = directive(effect)
                        && let Some(row) = self.tables.workers.get_mut(worker.0 as usize)
                    {
                        row.directives.push(directive);
                    }
                }
            }
        }
        self.tables.take_costs(state);
        for job in self.tables.announce() {
            self.find_history(job);
        }
        drop(self.tables.retire());
    }

    /// A job that is over leaves the memory if its history is on disk, or was let go together with its file.
    fn find_history(&mut self, job: JobId) {
        if !self.tables.jobs.get(&job).is_some_and(|row| row.state.is_final()) {
            return;
        }
        let cluster = self.tables.cluster;
        let let_go = || self.spooled.file(job).is_none() && !job_file_path(&self.run_dir, cluster, job).exists();
        if find_history(&self.run_dir, cluster, job).is_some() || let_go() {
            self.tables.history_written(job);
        }
    }

    /// The tables as they were, and the output directories of jobs that failed or were killed since the last start.
    pub(super) fn close(mut self) -> Result<(Tables, Aborts), RecoveryError> {
        self.tables.workers.iter_mut().for_each(|row| row.presence.remembered = true);
        let lost = self.unread.into_iter().find(|(job, _)| {
            let row = self.tables.jobs.get(job);
            row.is_some_and(|row| !row.state.is_final())
        });
        if let Some((job, problem)) = lost {
            let job = self.tables.cluster.job(job);
            return Err(RecoveryError::JobFile { path: self.run_dir, job, problem });
        }
        Ok((self.tables, self.aborts))
    }

    fn enter_jobs(&mut self, effects: &[Effect], now: Time) {
        for (id, meta) in std::mem::take(&mut self.new) {
            let is_refused = |effect: &Effect| {
                matches!(effect, Effect::Rejected {
                    why: Rejection::JobOutOfOrder(job) | Rejection::MalformedJob(job), ..
                } if *job == id)
            };
            if effects.iter().any(is_refused) {
                continue;
            }
            if let OutputFormat::Files { directory } = &meta.file.output {
                // The directory is this job's now, whoever had it before.
                self.aborts.remove(Path::new(directory));
            }
            self.tables.submit(id, JobRow::new(meta, now));
        }
    }

    fn output_of(&self, job: JobId) -> Option<Output> {
        Output::of(&self.tables.jobs.get(&job)?.meta.file)
    }

    /// A job as its file has it; of one whose file is gone, what the journal knows.
    fn meta(&mut self, id: JobId, spec: &howdah_core::job::JobSpec) -> JobMeta {
        let file = self.file(id).unwrap_or_else(|problem| {
            self.unread.insert(id, problem);
            JobFile {
                id: self.tables.cluster.job(id),
                submit_ms_epoch: 0,
                spec: spec.clone(),
                app: App::BuiltIn { name: String::new() },
                input_format: InputFormat::Text,
                splits: Vec::new(),
                output: OutputFormat::None,
                properties: BTreeMap::new(),
                token: String::new(),
                marked: false,
            }
        });
        meta_of(id, file)
    }

    fn file(&self, id: JobId) -> Result<JobFile, String> {
        let path = self.run_dir.join("jobs").join(format!("{}.json", self.tables.cluster.job(id)));
        let read = || -> Result<JobFile, String> {
            let bytes = std::fs::read(&path).map_err(|e| format!("`{}`: {e}", path.display()))?;
            serde_json::from_slice(&bytes).map_err(|e| format!("`{}`: {e}", path.display()))
        };
        let spooled = self.spooled.file(id).and_then(|bytes| serde_json::from_slice(bytes).ok());
        spooled.map_or_else(read, Ok)
    }
}

fn meta_of(id: JobId, file: JobFile) -> JobMeta {
    let created_output = matches!(file.output, OutputFormat::Files { .. });
    JobMeta::new(id, file, created_output)
}
