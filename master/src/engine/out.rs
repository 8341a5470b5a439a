//! Where effects go that are no answers: promotions of output, histories.
//!
//! Both touch the file system and run on their own threads; the core's thread only hands over shared data.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Instant;

use howdah_core::job::{AttemptId, ClusterId, JobId, LAZY_OUTPUT, OUTPUT_SYNC};
use howdah_guards::Guard;

use super::historian::write_histories;
use super::histories::{Histories, ROOM};
use super::leftovers::{Left, Leftovers};
use super::pool::Pool;
use super::retention::Retention;
use super::{Clearer, Clearing, CoreHandle};
use crate::commit::{self, CommitError, Output, Promotion};
use crate::config::KeepJobs;
use crate::mounts::mount_of;
use crate::tables::{JobRow, Tables};

/// Threads that promote and clear away on each file system of this machine: one that hangs holds up no job whose output lies in
/// another.
const FILE_THREADS: usize = 8;
/// The same for each name node and for the store: one that hangs holds up no job whose output lies elsewhere.
const REMOTE_THREADS: usize = 4;

/// What the threads behind it do with output directories.
enum Work {
    /// Of a job without output there is nothing to promote.
    Promote {
        job: JobId,
        promotion: Option<Promotion>,
    },
    Abort {
        job: JobId,
        output: Output,
        created: bool,
    },
}

/// Whose threads have the work with an output.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// By its mount point; the root's is for jobs without output, too.
    Mount(PathBuf),
    Server(String),
}

impl Place {
    fn of(output: Option<&Output>) -> Place {
        let server = output.and_then(Output::server).map(str::to_owned);
        match (server, output.filter(|_| Guard::FileThreads.stands())) {
            (Some(server), _) => Place::Server(server),
            (None, Some(output)) => Place::Mount(mount_of(output.directory())),
            (None, None) => Place::Mount("/".into()),
        }
    }
}

/// Hands work to the threads behind it; they end when it is dropped.
pub(crate) struct Outbox {
    /// Each from its first work on.
    pools: Mutex<BTreeMap<Place, Pool<Work>>>,
    promotes: Arc<dyn Fn(Work) + Send + Sync>,
    histories: Histories,
    historian: std::thread::JoinHandle<()>,
    clearing: Clearing,
    /// Promotions and clearings that were handed out and are not done.
    open: Arc<AtomicUsize>,
}

impl Outbox {
    pub(crate) fn start(
        run_dir: PathBuf,
        cluster: ClusterId,
        core: CoreHandle,
        clearing: Clearing,
        clearer: Clearer,
        keep: KeepJobs,
    ) -> Outbox {
        let leftovers = Leftovers::start(clearing.clone());
        let clears = Clears { clearing: clearing.clone(), leftovers, clearer };
        let open = Arc::<AtomicUsize>::default();
        let done = Arc::clone(&open);
        let tells = core.clone();
        let promotes: Arc<dyn Fn(Work) + Send + Sync> = Arc::new(move |work| {
            perform(work, cluster, &core, &clears);
            done.fetch_sub(1, Ordering::Release);
        });
        let (send, work) = mpsc::sync_channel(ROOM);
        let histories = Histories::new(send);
        let retention = Retention::new(keep, &run_dir, cluster);
        let body = move || write_histories(&work, &run_dir, cluster, retention, &tells);
        let historian = std::thread::Builder::new().name("history".to_owned()).spawn(body);
        let historian = historian.expect("the system starts threads");
        Outbox { pools: Mutex::default(), promotes, histories, historian, clearing, open }
    }

    /// Promotes the winners' output of a job.
    pub(super) fn commit(&self, tables: &Tables, job: JobId) {
        let Some(row) = tables.jobs.get(&job) else { return };
        let file = &row.meta.file;
        let winner = |id: howdah_core::job::AttemptId| {
            (tables.cluster.attempt(id), format!("part-{}-{:05}", id.kind.letter(), id.index))
        };
        let unless_false = |key: &str| file.properties.get(key).is_none_or(|value| value.trim() != "false");
        let promotion = Output::of(file).map(|output| Promotion {
            output,
            winners: row.output_winners().into_iter().map(winner).collect(),
            is_lazy: file.properties.contains_key(LAZY_OUTPUT),
            mark_success: unless_false("mapreduce.fileoutputcommitter.marksuccessfuljobs"),
            sync: unless_false(OUTPUT_SYNC),
        });
        let place = Place::of(promotion.as_ref().map(|promotion| &promotion.output));
        self.hand_out(job, Work::Promote { job, promotion }, place);
    }

    /// Clears away what a failed or killed job wrote.
    pub(super) fn abort(&self, tables: &Tables, job: JobId) {
        let Some(row) = tables.jobs.get(&job) else { return };
        if let Some(output) = Output::of(&row.meta.file) {
            self.clearing.begin(output.directory());
            let place = Place::of(Some(&output));
            self.hand_out(job, Work::Abort { job, output, created: row.meta.created_output }, place);
        }
    }

    fn hand_out(&self, job: JobId, work: Work, place: Place) {
        self.open.fetch_add(1, Ordering::AcqRel);
        let (name, threads) = match place {
            Place::Mount(_) => ("promote", if Guard::FileThreads.stands() { FILE_THREADS } else { 1 }),
            Place::Server(_) => ("promote-remote", REMOTE_THREADS),
        };
        let start = || {
            let promotes = Arc::clone(&self.promotes);
            Pool::start(name, threads, move |work| promotes(work))
        };
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools.entry(place).or_insert_with(start).send(job, work);
    }

    /// A job that is over changed: its history is to be written, again when a late attempt ends.
    pub(super) fn job_changed(&mut self, tables: &Tables, job: JobId) {
        if tables.jobs.get(&job).is_some_and(|row| row.state.is_final()) {
            self.histories.changed(job);
        }
    }

    /// What became of a job's history; true when all that is known of the job is on disk.
    pub(super) fn history_over(&mut self, job: JobId, is_written: bool) -> bool {
        self.histories.over(job, is_written, Instant::now())
    }

    /// Hands over histories to write, as many as there is room for, and jobs that leave the memory.
    pub(super) fn see_to_histories(&mut self, tables: &Tables, gone: Vec<JobRow>) {
        self.histories.let_go(gone);
        self.histories.hand_over(tables, Instant::now());
    }

    /// Whether all output is promoted or cleared away.
    pub(super) fn is_idle(&self) -> bool {
        self.open.load(Ordering::Acquire) == 0
    }

    /// Whether all histories are on disk.
    pub(super) fn has_all_histories(&self) -> bool {
        self.histories.is_idle()
    }

    /// Whether some cannot be written for the time being.
    pub(super) fn lacks_histories(&self) -> bool {
        self.histories.is_in_trouble()
    }

    /// Waits until all that was handed over is done, and all histories are written that can be. Work in an HDFS or a bucket, whose
    /// server may be away, is not waited for: it may break off anywhere, and the next start does it again.
    pub(crate) fn finish(self, tables: &Tables) {
        let Outbox { pools, histories, historian, .. } = self;
        for (place, pool) in pools.into_inner().unwrap_or_else(PoisonError::into_inner) {
            match place {
                Place::Mount(_) => pool.finish(),
                Place::Server(_) => drop(pool),
            }
        }
        histories.finish(tables);
        let _ = historian.join();
    }
}

/// What clearing away needs.
struct Clears {
    clearing: Clearing,
    /// Of outputs on this machine's file systems.
    leftovers: Leftovers,
    /// Of outputs elsewhere.
    clearer: Clearer,
}

fn perform(work: Work, cluster: ClusterId, core: &CoreHandle, clears: &Clears) {
    match work {
        Work::Promote { job, promotion } => {
            let result = promotion.as_ref().map_or(Ok(()), commit::promote);
            if let Some(Promotion { output, .. }) = promotion.filter(|_| result.is_ok())
                && let Some(rest) = output.rest()
            {
                clears.leftovers.keep(Left { job: cluster.job(job), output, rest, created: false });
            }
            let gone: Vec<AttemptId> = match &result {
                Err(CommitError::Gone { attempts, .. }) => {
                    attempts.iter().filter_map(|attempt| cluster.parse_attempt(attempt).ok()).collect()
                }
                _ => Vec::new(),
            };
            let problem = result.err().map(|e| e.to_string());
            match &problem {
                None => {}
                Some(problem) if gone.is_empty() => {
                    tracing::error!(job = cluster.job(job), problem, "the job's output could not be promoted");
                }
                Some(problem) => tracing::warn!(job = cluster.job(job), problem, "tasks of the job run again"),
            }
            core.committed_blocking(job, problem, gone);
        }
        Work::Abort { output, .. } if output.is_remote() => {
            let directory = output.directory().to_owned();
            clears.clearer.clear(output);
            clears.clearing.end(&directory);
        }
        Work::Abort { job, output, created } => {
            let rest = output.rest();
            let cleared = commit::abort(&output, created);
            clears.clearing.end(output.directory());
            if let Err(error) = cleared {
                // What could not even be looked at before may be there now.
                let rest = rest.or_else(|| output.rest());
                let (job, directory) = (cluster.job(job), output.directory().display());
                tracing::warn!(job, output = %directory, %error, "could not clear away the output of a failed job");
                if let Some(rest) = rest {
                    clears.leftovers.keep(Left { job, output, rest, created });
                }
            }
        }
    }
}
