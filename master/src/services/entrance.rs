//! Where submissions get their numbers and become durable, in groups.
//!
//! A submission may be acknowledged when its job's file is on disk and then, because a start needs the file, its frame in
//! the journal. Those that come while a group is under way make up the next group, which shares both syncs: one of the
//! spool that holds their files, and one of the journal's frame that holds all of them. So one submission at a time waits
//! as long as the disk takes, and many at a time wait no longer.
//!
//! **Invariants: numbers have no gaps: one that the core refuses is given again, after the file under it is gone. Nobody
//! learns a number before both syncs.**

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{fs, io};

use howdah_core::job::{ClusterId, JobFile, JobId, JobSpec, OutputFormat};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tonic::Status;

use super::admit::{Admitted, admit_group};
use super::status;
use crate::commit::{self, Output};
use crate::config::{Limits, MasterConfig};
use crate::engine::{CoreError, CoreHandle, NewJob};
use crate::history::job_file_path;
use crate::spool::{self, Spool};
use crate::tables::JobMeta;

/// Submissions that wait for a group before others wait outside.
const WAITING: usize = 1_024;
/// Submissions in one group at most.
const GROUP: usize = 256;
/// For the file system of an output to take the job's mark.
const MARK_PATIENCE: Duration = Duration::from_secs(10);
/// And splits, unless a single job has more: they are most of a job's file.
const GROUP_SPLITS: usize = 50_000;

/// What became of a submission.
pub(super) struct Entered {
    pub(super) job: Result<JobId, Status>,
    /// What the scheduler promises and the cluster has not now.
    pub(super) warning: Option<String>,
    /// Whether the journal may have the job although nobody said so: the core ended before it answered.
    pub(super) may_be_kept: bool,
}

struct Entering {
    file: JobFile,
    asker: Asker,
}

/// Who waits for what becomes of a submission.
struct Asker {
    warning: Option<String>,
    reply: oneshot::Sender<Entered>,
}

impl Asker {
    fn answer(self, job: Result<JobId, Status>) {
        // Who hung up finds the job in the list.
        let _ = self.reply.send(Entered { job, warning: self.warning, may_be_kept: false });
    }

    /// The core ended with the submission in its hands.
    fn leave_open(self) {
        let _ = self.reply.send(Entered { warning: self.warning, ..unanswered() });
    }
}

fn unanswered() -> Entered {
    Entered { job: Err(status::core(CoreError::Unanswered)), warning: None, may_be_kept: true }
}

/// Takes submissions in.
#[derive(Clone, Debug)]
pub(crate) struct Entrance {
    door: mpsc::Sender<Entering>,
}

impl Entrance {
    /// One submission whose output directory is made; `file` has no number yet.
    pub(super) async fn enter(&self, file: JobFile) -> Entered {
        let (reply, entered) = oneshot::channel();
        let sent = self.door.send(Entering { file, asker: Asker { warning: None, reply } }).await;
        if sent.is_err() {
            return Entered { job: Err(status::core(CoreError::Stopped)), warning: None, may_be_kept: false };
        }
        entered.await.unwrap_or_else(|_| unanswered())
    }
}

/// Gives numbers to what comes through the entrance.
pub(crate) struct Registrar {
    core: CoreHandle,
    cluster: ClusterId,
    run_dir: PathBuf,
    /// The queues that there are under every scheduler.
    queue_names: Arc<[String]>,
    limits: Arc<Limits>,
    inbox: mpsc::Receiver<Entering>,
    /// Taken from the inbox, for the next group.
    waiting: VecDeque<Entering>,
    spool: Arc<Mutex<Spool>>,
    last_job: u32,
}

impl Registrar {
    /// Of a run that has had so many jobs.
    pub(crate) fn new(
        core: CoreHandle,
        cluster: ClusterId,
        run_dir: PathBuf,
        config: &MasterConfig,
        last_job: u32,
    ) -> (Entrance, Registrar) {
        let (door, inbox) = mpsc::channel(WAITING);
        let spool = Arc::new(Mutex::new(Spool::new(&run_dir)));
        let registrar = Registrar {
            core,
            cluster,
            run_dir,
            queue_names: config.queue_names.as_slice().into(),
            limits: Arc::new(config.limits.clone()),
            inbox,
            waiting: VecDeque::new(),
            spool,
            last_job,
        };
        (Entrance { door }, registrar)
    }

    /// Works until the master closes, or nobody can come any more. A group under way is brought to its end, and who waits
    /// for the next one is told that there is none.
    pub(crate) async fn run(mut self, closing: CancellationToken) {
        while let Some(group) = closing.run_until_cancelled(self.next_group()).await.flatten() {
            self.enter(group).await;
        }
        self.inbox.close();
        while let Some(entering) = self.inbox.recv().await {
            self.waiting.push_back(entering);
        }
        self.waiting.drain(..).for_each(|entering| entering.asker.answer(Err(status::core(CoreError::Stopped))));
    }

    /// Those that wait, or the next one.
    async fn next_group(&mut self) -> Option<Vec<Entering>> {
        if self.waiting.is_empty() {
            self.waiting.push_back(self.inbox.recv().await?);
        }
        while self.waiting.len() < GROUP
            && let Ok(entering) = self.inbox.try_recv()
        {
            self.waiting.push_back(entering);
        }
        let (mut n, mut splits) = (0, 0);
        for entering in self.waiting.iter().take(GROUP) {
            splits += entering.file.splits.len();
            if n > 0 && splits > GROUP_SPLITS {
                break;
            }
            n += 1;
        }
        Some(self.waiting.drain(..n).collect())
    }

    async fn enter(&mut self, group: Vec<Entering>) {
        let admitted = self.admit(group).await;
        let (spool, cluster, run_dir) = (Arc::clone(&self.spool), self.cluster, self.run_dir.clone());
        let first = self.last_job + 1;
        let write = move || {
            let mut spool = spool.lock().unwrap_or_else(PoisonError::into_inner);
            let written = write(admitted, first, &mut spool, cluster, &run_dir);
            (written, spool.take_full(), run_dir)
        };
        match tokio::task::spawn_blocking(write).await {
            Ok((written, full, run_dir)) => {
                self.hand_in(written).await;
                // Nobody waits for it.
                drop(full.map(|full| tokio::task::spawn_blocking(move || spool::settle(&run_dir, &[full]))));
            }
            Err(error) => tracing::error!(%error, "a group of submissions was not written"),
        }
    }

    /// Those that the scheduler in charge takes and that there is room for; the others are answered, or wait for the next group.
    async fn admit(&mut self, mut group: Vec<Entering>) -> Vec<Entering> {
        // Lent to the core's thread and taken back: a spec holds a number for each map.
        let lend =
            |entering: &mut Entering| (std::mem::take(&mut entering.file.spec), entering.file.properties.clone());
        let asked: Vec<(JobSpec, BTreeMap<String, String>)> = group.iter_mut().map(lend).collect();
        let (queue_names, limits) = (Arc::clone(&self.queue_names), Arc::clone(&self.limits));
        let answers = match self.core.ask(move |view| admit_group(asked, &queue_names, &limits, view)).await {
            Ok(answers) => answers,
            Err(error) => {
                group.into_iter().for_each(|entering| entering.asker.answer(Err(status::core(error.clone()))));
                return Vec::new();
            }
        };
        let mut taken = Vec::with_capacity(group.len());
        for (mut entering, answer) in group.into_iter().zip(answers) {
            let Admitted { spec, accepted, warning } = answer;
            (entering.file.spec, entering.asker.warning) = (spec, warning);
            match accepted {
                None => self.waiting.push_back(entering),
                Some(Ok(())) => taken.push(entering),
                Some(Err(refused)) => entering.asker.answer(Err(refused)),
            }
        }
        taken
    }

    /// Has the core take the jobs, and tells who waits.
    async fn hand_in(&mut self, written: Vec<Written>) {
        if written.is_empty() {
            return;
        }
        let (askers, new): (Vec<_>, Vec<_>) = written.into_iter().map(|Written { asker, new }| (asker, new)).unzip();
        let jobs: Vec<JobId> = new.iter().map(|new| new.meta.id).collect();
        for ((asker, job), taken) in askers.into_iter().zip(jobs).zip(self.core.submit(new).await) {
            match taken {
                Ok(()) => {
                    self.last_job = job.0;
                    asker.answer(Ok(job));
                }
                // Its file stays for the next start, which knows.
                Err(CoreError::Unanswered) => asker.leave_open(),
                Err(error) => {
                    let _ = fs::remove_file(job_file_path(&self.run_dir, self.cluster, job));
                    asker.answer(Err(status::core(error)));
                }
            }
        }
    }
}

/// A submission with its number, whose file is on disk.
struct Written {
    asker: Asker,
    new: NewJob,
}

/// Numbers a group and writes its files, with one sync; who cannot be written is answered.
fn write(group: Vec<Entering>, first: u32, spool: &mut Spool, cluster: ClusterId, run_dir: &Path) -> Vec<Written> {
    let (mut written, mut files) = (Vec::with_capacity(group.len()), Vec::with_capacity(group.len()));
    for Entering { mut file, asker } in group {
        let id = JobId(first + files.len() as u32);
        match write_own(&mut file, id, cluster, run_dir) {
            Ok(bytes) => {
                let created_output = matches!(file.output, OutputFormat::Files { .. });
                let new = NewJob { meta: JobMeta::new(id, file, created_output), bytes: bytes.len() };
                files.push((id, bytes));
                written.push(Written { asker, new });
            }
            Err(why) => asker.answer(Err(why)),
        }
    }
    if !files.is_empty()
        && let Err(error) = spool.append(&files)
    {
        for Written { asker, new } in written.drain(..) {
            let path = job_file_path(run_dir, cluster, new.meta.id);
            let _ = fs::remove_file(&path);
            asker.answer(Err(status::unwritten(&path, &error)));
        }
    }
    written
}

/// Gives a job its number and writes its own file, which is not synced.
fn write_own(file: &mut JobFile, id: JobId, cluster: ClusterId, run_dir: &Path) -> Result<Vec<u8>, Status> {
    file.id = cluster.job(id);
    if let Some(output) = Output::of(file) {
        let directory = output.directory().display();
        mark_in_time(&output, &file.id)
            .map_err(|e| Status::invalid_argument(format!("output directory `{directory}` cannot be written: {e}")))?;
        file.marked = true;
    }
    let path = job_file_path(run_dir, cluster, id);
    let bytes = serde_json::to_vec_pretty(file).map_err(|e| status::internal("serialise the job", e))?;
    spool::write(&path, &bytes).map_err(|e| {
        let _ = fs::remove_file(&path);
        status::unwritten(&path, &e)
    })?;
    Ok(bytes)
}

/// Others stand behind this one: a file system that answered a moment ago and does not now must not hold them up.
fn mark_in_time(output: &Output, job: &str) -> io::Result<()> {
    if output.is_remote() {
        return commit::mark(output, job);
    }
    let (send, marked) = std::sync::mpsc::channel();
    let (output, job) = (output.clone(), job.to_owned());
    let work = move || drop(send.send(commit::mark(&output, &job)));
    std::thread::Builder::new().name("mark".to_owned()).spawn(work)?;
    let silent = |_| io::Error::new(io::ErrorKind::TimedOut, format!("no answer for {} s", MARK_PATIENCE.as_secs()));
    marked.recv_timeout(MARK_PATIENCE).map_err(silent)?
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use howdah_core::schedulers::registry::Params;
    use howdah_core::time::Time;
    use howdah_core::tracker::{ClusterConfig, JobTracker};

    use super::*;
    use crate::config::Limits;
    use crate::engine::{Message, View};
    use crate::policies;
    use crate::spool::Spooled;
    use crate::tables::Tables;
    use crate::testing::sleep_job;

    const CLUSTER: ClusterId = ClusterId(202_501_010_000);

    fn file(name: &str) -> JobFile {
        let spec = JobSpec { name: name.into(), queue: "default".into(), n_maps: 1, ..JobSpec::default() };
        sleep_job(String::new(), spec)
    }

    /// In the place of the core's thread: looks what is on disk when jobs are handed in, and says of each group what
    /// `taken` says. Gives the numbers of each group.
    fn core(
        inbox: crossbeam_channel::Receiver<Message>,
        run_dir: PathBuf,
        mut taken: impl FnMut(usize) -> Result<(), CoreError> + Send + 'static,
    ) -> std::thread::JoinHandle<Vec<Vec<u32>>> {
        std::thread::spawn(move || {
            let fifo = policies::make("fifo", &Params::new()).unwrap();
            let tracker = JobTracker::new(ClusterConfig::default(), fifo);
            let tables = Tables::new(CLUSTER, &Limits::default());
            let mut groups = Vec::new();
            for message in inbox {
                match message {
                    Message::Query(query) => query(&View { tracker: &tracker, tables: &tables, now: Time::ZERO }),
                    Message::Submit { jobs } => {
                        let spooled = Spooled::read(&run_dir).unwrap();
                        for (NewJob { meta, .. }, _) in &jobs {
                            let own = fs::read(job_file_path(&run_dir, CLUSTER, meta.id)).unwrap();
                            assert_eq!(spooled.file(meta.id), Some(&own[..]));
                            let own: JobFile = serde_json::from_slice(&own).unwrap();
                            assert_eq!(own.splits.len(), 1);
                            assert_eq!(JobFile { splits: Vec::new(), ..own }, meta.file);
                            assert_eq!(meta.file.id, CLUSTER.job(meta.id));
                        }
                        groups.push(jobs.iter().map(|(new, _)| new.meta.id.0).collect());
                        let taken = taken(groups.len());
                        jobs.into_iter().for_each(|(_, reply)| reply.send(taken.clone()).unwrap());
                    }
                    _ => panic!("nothing else is asked of it"),
                }
            }
            groups
        })
    }

    fn registrar(run_dir: &Path) -> (Entrance, Registrar, crossbeam_channel::Receiver<Message>) {
        fs::create_dir(run_dir.join("jobs")).unwrap();
        let (send, inbox) = crossbeam_channel::bounded(16);
        let config = MasterConfig::default();
        let (entrance, registrar) = Registrar::new(CoreHandle::new(send), CLUSTER, run_dir.to_owned(), &config, 0);
        (entrance, registrar, inbox)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn those_that_come_while_a_group_is_under_way_share_the_syncs_of_the_next() {
        let run = tempfile::tempdir().unwrap();
        let (entrance, registrar, inbox) = registrar(run.path());
        let spool = Arc::clone(&registrar.spool);
        let door = entrance.door.downgrade();
        // The first group takes until all others wait at the door.
        let core = core(inbox, run.path().to_owned(), move |group| {
            let until = Instant::now() + Duration::from_secs(60);
            let wait = |n| door.upgrade().is_some_and(|door| door.max_capacity() - door.capacity() < n);
            while group == 1 && wait(31) {
                assert!(Instant::now() < until, "they do not come");
                std::thread::yield_now();
            }
            Ok(())
        });
        let registrar = tokio::spawn(registrar.run(CancellationToken::new()));
        let entering: Vec<_> = (0..32)
            .map(|n| {
                let entrance = entrance.clone();
                tokio::spawn(async move { entrance.enter(file(&format!("job {n}"))).await.job.unwrap().0 })
            })
            .collect();
        drop(entrance);
        let mut numbers = Vec::new();
        for entered in entering {
            numbers.push(entered.await.unwrap());
        }
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=32).collect::<Vec<_>>());
        registrar.await.unwrap();
        let groups = core.join().unwrap();
        assert_eq!(groups, [vec![1], (2..=32).collect()], "frames of the journal");
        assert_eq!(spool.lock().unwrap().n_groups(), 2, "syncs of the spool");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_number_that_the_core_did_not_take_is_given_again_with_its_own_file() {
        let run = tempfile::tempdir().unwrap();
        let (entrance, registrar, inbox) = registrar(run.path());
        let full = |group| if group == 1 { Err(CoreError::Journal("full".to_owned())) } else { Ok(()) };
        let core = core(inbox, run.path().to_owned(), full);
        tokio::spawn(registrar.run(CancellationToken::new()));
        let refused = entrance.enter(file("first")).await.job.unwrap_err();
        assert_eq!(refused.code(), tonic::Code::Unavailable);
        let own = job_file_path(run.path(), CLUSTER, JobId(1));
        assert!(!own.exists());
        assert_eq!(entrance.enter(file("second")).await.job.unwrap(), JobId(1));
        let spooled = Spooled::read(run.path()).unwrap();
        let kept: JobFile = serde_json::from_slice(spooled.file(JobId(1)).unwrap()).unwrap();
        assert_eq!(kept.spec.name.as_str(), "second");
        drop(entrance);
        assert_eq!(core.join().unwrap(), [[1], [1]]);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn files_that_cannot_be_written_are_refused_and_nothing_reaches_the_core() {
        let run = tempfile::tempdir().unwrap();
        let (entrance, registrar, inbox) = registrar(run.path());
        let core = core(inbox, run.path().to_owned(), |_| Ok(()));
        tokio::spawn(registrar.run(CancellationToken::new()));
        fs::remove_dir(run.path().join("jobs")).unwrap();
        let refused = entrance.enter(file("first")).await.job.unwrap_err();
        assert_eq!(refused.code(), tonic::Code::Unavailable);
        fs::create_dir(run.path().join("jobs")).unwrap();
        assert_eq!(entrance.enter(file("second")).await.job.unwrap(), JobId(1));
        drop(entrance);
        assert_eq!(core.join().unwrap(), [[1]]);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_job_that_the_core_ends_with_may_be_kept_and_leaves_its_file_to_the_next_start() {
        let run = tempfile::tempdir().unwrap();
        let (entrance, registrar, inbox) = registrar(run.path());
        let core = core(inbox, run.path().to_owned(), |_| Err(CoreError::Unanswered));
        let closing = CancellationToken::new();
        let registrar = tokio::spawn(registrar.run(closing.clone()));
        let entered = entrance.enter(file("first")).await;
        assert!(entered.may_be_kept, "{:?}", entered.job);
        assert_eq!(entered.job.unwrap_err().code(), tonic::Code::Unavailable);
        assert!(job_file_path(run.path(), CLUSTER, JobId(1)).exists());
        closing.cancel();
        registrar.await.unwrap();
        core.join().unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn who_comes_as_the_master_stops_is_told_that_there_is_no_job() {
        let run = tempfile::tempdir().unwrap();
        let (entrance, registrar, inbox) = registrar(run.path());
        let closing = CancellationToken::new();
        closing.cancel();
        let waiting = entrance.clone();
        let waiting = tokio::spawn(async move { waiting.enter(file("waits")).await });
        while entrance.door.capacity() == entrance.door.max_capacity() {
            tokio::task::yield_now().await;
        }
        registrar.run(closing).await;
        for entered in [waiting.await.unwrap(), entrance.enter(file("late")).await] {
            assert!(!entered.may_be_kept);
            assert_eq!(entered.job.unwrap_err().code(), tonic::Code::Unavailable);
        }
        assert_eq!(inbox.len(), 0, "nothing reached the core");
    }
}
