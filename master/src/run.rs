//! A master's life: lock the directory, begin a cluster or recover the one that is there, start the core's thread,
//! serve, stop.
//!
//! A graceful shutdown refuses new jobs, lets running ones finish within the configured grace (if there are workers
//! to finish them), then answers parked heartbeats with UNAVAILABLE and closes the journal. A stop at once
//! skips the waiting.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, io};

use anyhow::{Context, bail};
use howdah_core::job::{ClusterId, JobId, JobState};
use howdah_core::schedulers::registry::Params;
use howdah_core::time::Time;
use howdah_core::tracker::{SchedulerChoice, WorkerState};
use howdah_proto::connections::{Kind, raise_descriptors};
use howdah_proto::incoming::{HttpIncoming, Tracked, incoming};
use howdah_proto::service_manager;
use howdah_proto::stop::{Running, Stop};
use howdah_proto::v1::MasterStart;
use howdah_proto::v1::client_service_server::ClientServiceServer;
use howdah_proto::v1::worker_service_server::WorkerServiceServer;
use nix::fcntl::{Flock, FlockArg};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Server;

use crate::clock::now_ms_epoch;
use crate::commit::{Output, Owed};
use crate::config::MasterConfig;
use crate::engine::{Clearer, Clearing, Compaction, CoreError, CoreHandle, Engine, Message, Outbox};
use crate::journal::runs_in;
use crate::looks::Looks;
use crate::prediction::Feed;
use crate::recorder::{Origin, Recorder};
use crate::recovery::Unfinished;
use crate::reload::InForce;
use crate::services::{ClientApi, Shared, SharedRef, WorkerApi, connections};
use crate::tables::Tables;
use crate::{
    address, journal, peers, policies, prediction, random, reach, recovery, reload, rest, services, spool, starts,
};

/// Name of the file that says where the master listens.
pub const ACCESS_FILE: &str = "access.json";
/// Marks a run that was not recorded.
const NOT_KEPT: &str = "not-kept";
/// Streams of one connection: a gateway may speak for thousands of workers.
const STREAMS_PER_CONNECTION: u32 = 65_536;
/// Between two checks for silent workers.
const CHECK_EVERY: Duration = Duration::from_millis(500);
/// Runs are named after the minute of their start.
const RUN_ID: &str = "%Y%m%d%H%M";
/// How long open calls may take to end once the core has stopped.
const LAST_CALLS: Duration = Duration::from_secs(2);

/// Runs a master until `stop` is wanted.
///
/// # Errors
/// When the directory is in use or not writable, the configuration is wrong, the address cannot be bound, or
/// the journal fails.
pub fn run(config: MasterConfig, stop: Stop) -> Running<anyhow::Error> {
    Box::pin(run_until(config, stop))
}

async fn run_until(config: MasterConfig, stop: Stop) -> anyhow::Result<()> {
    let dir = config.dir.clone();
    let _lock = lock(&dir)?;
    let params = policies::with_files(&config.scheduler, &config.scheduler_params).context("make the scheduler")?;
    let candidates = prediction::candidates(&config)?;
    let start = begin(&config, &params)?;
    let (cluster, nonce, run_dir, last_job) = (start.cluster, start.nonce, start.run_dir.clone(), start.last_job);
    let scheduler_now = start.scheduler.clone();
    let descriptors = raise_descriptors();
    let listener = address::listen(&dir, &config.listen).await?;
    let address = listener.local_addr().context("read the address listened on")?;
    address::note(&dir, address)?;
    let http = match &config.http_listen {
        Some(listen) => Some(address::listen_http(listen).await?),
        None => None,
    };
    let http_address =
        http.as_ref().map(TcpListener::local_addr).transpose().context("read the address listened on")?;
    let clearing = Clearing::default();
    let clearer = Clearer::start(Owed::of(&dir), &outputs_in_use(&start));
    let (prediction, feed, prediction_thread) = prediction::start(&dir, config.prediction.model)?;
    let changed = feed.changed();
    let (core, engine) = start_core(&config, start, (clearing.clone(), clearer.clone()), feed)?;
    // Counted in the journal, where it is on disk before the first answer to anybody.
    let epoch = starts::next(&run_dir, engine.epoch())?;
    let (thread_ended, mut core_ended) = oneshot::channel();
    let thread = std::thread::Builder::new().name("core".to_owned()).spawn(move || {
        let result = engine.run();
        let _ = thread_ended.send(());
        result
    });
    let thread = thread.context("start the core's thread")?;
    let closing = CancellationToken::new();
    let (name, named) = (config.scheduler.clone(), config.scheduler_params.clone());
    // One that was set while a master of this directory ran stays in charge.
    let was_set = scheduler_now != SchedulerChoice { name: name.clone(), params: params.clone() };
    let in_force = InForce::new(scheduler_now, was_set);
    let follow = reload::follow(core.clone(), name, named, params, in_force.clone());
    let until = closing.clone();
    tokio::spawn(async move { until.run_until_cancelled(follow).await });
    let looks = Looks::default();
    if config.reach_interval_ms > 0 {
        let (until, core, every) = (closing.clone(), core.clone(), Duration::from_millis(config.reach_interval_ms));
        let peers = peers::watch(core.clone(), looks.clone(), every);
        tokio::spawn(closing.clone().run_until_cancelled_owned(peers));
        tokio::spawn(async move { until.run_until_cancelled(reach::watch(core, every)).await });
    }
    let (entrance, registrar) = services::Registrar::new(core.clone(), cluster, run_dir.clone(), &config, last_job);
    tokio::spawn(registrar.run(closing.clone()));
    let round_costs = Arc::<prediction::RoundCosts>::default();
    let switches = prediction::Switches::default();
    if config.prediction.every_ms > 0 {
        let rounds = prediction::Rounds {
            switching: prediction::Switching::new(&config, candidates, in_force.clone(), Arc::clone(&switches)),
            core: core.clone(),
            prediction: prediction.clone(),
            every: Duration::from_millis(config.prediction.every_ms),
            changed,
            costs: Arc::clone(&round_costs),
        };
        let until = closing.clone();
        tokio::spawn(async move { until.run_until_cancelled(rounds.run()).await });
    }
    let shared: SharedRef = Arc::new(Shared {
        core: core.clone(),
        prediction: prediction.clone(),
        round_costs,
        switches,
        cluster,
        run_dir,
        stop: stop.clone(),
        closing: closing.clone(),
        started_ms_epoch: now_ms_epoch(),
        start: MasterStart { cluster_id: cluster.0, epoch, began_us: now_ms_epoch() * 1_000, nonce },
        superseded: std::sync::atomic::AtomicBool::new(false),
        clearing,
        clearer,
        entrance,
        in_force,
        local_turns: services::Turns::new(services::LOCAL_SUBMISSIONS),
        views: tokio::sync::Semaphore::new(services::VIEWS),
        remote_turns: services::Turns::new(services::REMOTE_SUBMISSIONS),
        questions: services::Questions::new(core.clone()),
        logs: services::logs::turns(),
        looks,
        examinations: tokio::sync::Semaphore::new(1),
        warned: std::sync::Mutex::default(),
        config,
    });
    let book = connections::book(&shared.config.limits, descriptors, core.clone());
    let calls = incoming(listener, Kind::Calls, Arc::clone(&book), closing.clone());
    let mut server = tokio::spawn(serve(calls, Arc::clone(&shared), closing.clone()));
    let (until, looks) = (closing.clone(), core.clone());
    tokio::spawn(async move { until.run_until_cancelled(look(looks)).await });
    let (until, asked) = (closing.clone(), core.clone());
    tokio::spawn(async move { until.run_until_cancelled(prove_alive(asked)).await });
    if let Some(http) = http {
        let (shared, closing) = (Arc::clone(&shared), closing.clone());
        let http = HttpIncoming::new(http, book, closing.clone()).context("read the address listened on")?;
        tokio::spawn(async move {
            if let Err(error) = rest::serve(http, shared, address, closing).await {
                tracing::error!(%error, "the HTTP interfaces are gone");
            }
        });
    }
    write_access(&dir, address, http_address)?;
    tracing::info!(%address, cluster = cluster.0, dir = %shared.run_dir.display(), "the master listens");
    service_manager::ready(&format!("listening on {address}"));
    tokio::select! {
        () = stop.any() => {}
        _ = &mut core_ended => {}
        result = &mut server => { result.context("serve")?.context("serve")?; }
    }
    service_manager::stopping("running jobs may end; a second signal stops at once");
    if !stop.now.is_cancelled() && core_ended.try_recv().is_err() {
        wait_for_jobs(&shared).await;
    }
    tracing::info!("the master stops");
    closing.cancel();
    core.stop().await;
    let result = tokio::task::spawn_blocking(move || thread.join()).await.context("join the core's thread")?;
    prediction.stop();
    // It may be in the middle of a forecast that nobody waits for any more.
    let joined = tokio::task::spawn_blocking(move || prediction_thread.join());
    if tokio::time::timeout(LAST_CALLS, joined).await.is_err() {
        tracing::warn!("the prediction thread is busy; what was learnt last is not written");
    }
    if !server.is_finished() && tokio::time::timeout(LAST_CALLS, &mut server).await.is_err() {
        server.abort();
    }
    let _ = fs::remove_file(dir.join(ACCESS_FILE));
    match result {
        Ok(result) => result.context("write the journal"),
        Err(_) => bail!("the core's thread panicked"),
    }
}

/// Has the core's thread check for silent workers from time to time.
async fn look(core: CoreHandle) {
    let mut times = tokio::time::interval(CHECK_EVERY);
    times.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        times.tick().await;
        if core.send(Message::Look).await == Err(CoreError::Stopped) {
            return;
        }
    }
}

/// The core's thread is what the service manager's watchdog watches: whatever else still answers is of no use without it.
async fn prove_alive(core: CoreHandle) {
    service_manager::ask_alive(|| async { core.ask(|_| service_manager::alive()).await != Err(CoreError::Stopped) })
        .await;
}

async fn serve(
    incoming: ReceiverStream<io::Result<Tracked>>,
    shared: SharedRef,
    closing: CancellationToken,
) -> Result<(), tonic::transport::Error> {
    let max = usize::try_from(shared.config.limits.message_bytes).unwrap_or(usize::MAX);
    let workers = WorkerServiceServer::new(WorkerApi(Arc::clone(&shared)))
        .max_decoding_message_size(max)
        .max_encoding_message_size(max);
    let clients =
        ClientServiceServer::new(ClientApi(shared)).max_decoding_message_size(max).max_encoding_message_size(max);
    Server::builder()
        .max_concurrent_streams(STREAMS_PER_CONNECTION)
        .http2_keepalive_interval(Some(Duration::from_secs(30)))
        .add_service(workers)
        .add_service(InterceptedService::new(clients, connections::note_use))
        .serve_with_incoming_shutdown(incoming, closing.cancelled_owned())
        .await
}

/// What a master starts with: a new cluster, or the one that is there.
struct Start {
    cluster: ClusterId,
    /// Drawn when the cluster began; 0 if that was before there were any.
    nonce: u64,
    run_dir: PathBuf,
    recorder: Recorder,
    tables: Tables,
    last: Time,
    last_job: u32,
    /// The policy in charge.
    scheduler: SchedulerChoice,
    /// Of a cluster that goes on.
    unfinished: Option<Unfinished>,
}

/// Goes on with the cluster of the directory, or begins one.
fn begin(config: &MasterConfig, params: &Params) -> anyhow::Result<Start> {
    let is_new = config.new_cluster || config.without_journal;
    let last_run = runs_in(&config.dir).into_iter().next_back().filter(|_| !is_new);
    let is_kept = |run: &PathBuf| journal::has_header(run) && !run.join(NOT_KEPT).exists();
    if let Some(run_dir) = last_run.filter(is_kept) {
        return resume(config, params, run_dir);
    }
    let (cluster, run_dir) = make_run_dir(&config.dir)?;
    let origin = Origin {
        cluster_id: cluster.0,
        cluster: config.cluster.clone(),
        scheduler: config.scheduler.clone(),
        scheduler_params: params.clone(),
        seed: config.seed,
        nonce: random::nonce().context("read random bytes")?,
    };
    let scheduler = policies::make(&config.scheduler, params).context("make the scheduler")?;
    let mut recorder =
        Recorder::create(&run_dir, &origin, scheduler, config.segment_bytes()).context("start the journal")?;
    if config.without_journal {
        let mark = run_dir.join(NOT_KEPT);
        fs::write(&mark, "").with_context(|| format!("write `{}`", mark.display()))?;
        tracing::warn!("this master keeps nothing: what it runs is forgotten when it ends");
        recorder.keep_nothing();
    }
    Ok(Start {
        cluster,
        nonce: origin.nonce,
        run_dir,
        recorder,
        tables: Tables::new(cluster, &config.limits),
        last: Time::ZERO,
        last_job: 0,
        scheduler: SchedulerChoice { name: config.scheduler.clone(), params: params.clone() },
        unfinished: None,
    })
}

/// Goes on where the master before stopped, however it stopped.
fn resume(config: &MasterConfig, params: &Params, run_dir: PathBuf) -> anyhow::Result<Start> {
    let began = Instant::now();
    let header = recovery::header_of(&run_dir)?;
    let mut recovered = recovery::recover(&run_dir, config)?;
    let cluster = ClusterId(header.cluster_id);
    if *recovered.recorder.tracker().config() != config.cluster {
        tracing::warn!(
            "this cluster keeps the settings [master.cluster] with which it began; --new-cluster takes new ones"
        );
    }
    // What the configuration names counts if it is not what it was when the cluster began.
    let wanted = SchedulerChoice { name: config.scheduler.clone(), params: params.clone() };
    let first = SchedulerChoice { name: header.scheduler, params: header.scheduler_params.into_iter().collect() };
    let mut scheduler = recovered.in_force.clone();
    if wanted != first && wanted != scheduler {
        if [&wanted.name, &scheduler.name].contains(&&policies::EXTERNAL.to_owned()) {
            bail!(
                "scheduler `{}`: this cluster began with `{}`, and `external` decides from the start of a cluster on or not \
                 at all\nhelp: --new-cluster begins another cluster in this directory",
                wanted.name,
                first.name
            );
        }
        recovered.recorder.tracker().check_scheduler(&wanted).context("change the scheduler")?;
        recovered.unfinished.scheduler = Some(wanted.clone());
        scheduler = wanted;
    }
    let owed = Owed::of(&config.dir);
    recovery::clear_leftovers(&run_dir, &owed, cluster, recovered.last_job, &recovered.unfinished);
    recovery::make_outputs_again(unpromoted_outputs(&recovered.tables));
    tracing::info!(
        cluster = cluster.0,
        batches = recovered.batches,
        jobs = recovered.last_job,
        unfinished = recovered.tables.live_jobs(),
        torn = recovered.torn,
        ms = began.elapsed().as_millis() as u64,
        "recovered the cluster"
    );
    Ok(Start {
        cluster,
        nonce: header.nonce,
        run_dir,
        recorder: recovered.recorder,
        tables: recovered.tables,
        last: recovered.last,
        last_job: recovered.last_job,
        scheduler,
        unfinished: Some(recovered.unfinished),
    })
}

/// Those of jobs that are not over, which for one that succeeded means that its output is promoted.
fn outputs_in_use(start: &Start) -> Vec<Output> {
    let promotions = start.unfinished.iter().flat_map(|unfinished| &unfinished.promotions);
    let promoting: BTreeSet<JobId> = promotions.copied().collect();
    let rows = start.tables.jobs.iter();
    let in_use = rows.filter(|(job, row)| !row.state.is_final() || promoting.contains(job));
    in_use.filter_map(|(_, row)| Output::of(&row.meta.file)).collect()
}

/// Those that no promotion has touched: what is gone of one may be gone because it was promoted.
fn unpromoted_outputs(tables: &Tables) -> Vec<Output> {
    let is_one = |state: JobState| matches!(state, JobState::Prep | JobState::Running);
    let rows = tables.jobs.values().filter(|row| is_one(row.state));
    rows.filter_map(|row| Output::of(&row.meta.file)).collect()
}

fn start_core(
    config: &MasterConfig,
    start: Start,
    (clearing, clearer): (Clearing, Clearer),
    feed: Feed,
) -> anyhow::Result<(CoreHandle, Engine)> {
    let (send, inbox) = crossbeam_channel::bounded(config.limits.inbox.max(16) as usize);
    let core = CoreHandle::new(send);
    let run_dir = start.run_dir.clone();
    let out = Outbox::start(start.run_dir, start.cluster, core.clone(), clearing, clearer, config.keep_jobs);
    let compaction = Compaction::new(run_dir.clone(), config.segment_bytes(), config.keep_inputs);
    let mut engine = Engine::new(start.recorder, start.tables, inbox, out, feed, start.last, compaction);
    if let Some(unfinished) = &start.unfinished {
        engine.recover(unfinished).context("write the journal")?;
        if !unfinished.spools.is_empty() {
            let (run_dir, spools) = (run_dir, unfinished.spools.clone());
            let settle = move || spool::settle(&run_dir, &spools);
            // Without a thread they stay for the next start.
            drop(std::thread::Builder::new().name("settle".to_owned()).spawn(settle));
        }
    }
    Ok((core, engine))
}

/// Until no job is left, the grace is over, no worker is left, or the wish to stop became urgent.
async fn wait_for_jobs(shared: &SharedRef) {
    let until = Instant::now() + Duration::from_millis(shared.config.drain_grace_ms);
    while Instant::now() < until && !shared.stop.now.is_cancelled() {
        let open = shared.core.ask(|view| {
            let workers = view.tables.workers.iter().any(|row| row.state != WorkerState::Lost);
            workers && view.tables.live_jobs() > 0
        });
        if !open.await.unwrap_or(false) {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(50)) => {}
            () = shared.stop.now.cancelled() => {}
        }
    }
}

/// Two masters must never share a directory: the lock ends with the process, however it ends. One that was stopped in
/// its tracks and wakes up again has had it all the time, so no other has taken its place.
///
/// # Errors
/// When another process has it, or the file cannot be made.
pub fn lock(dir: &Path) -> anyhow::Result<Flock<fs::File>> {
    fs::create_dir_all(dir).with_context(|| format!("create directory `{}`", dir.display()))?;
    let path = dir.join("lock");
    let file = fs::OpenOptions::new().create(true).append(true).open(&path);
    let file = file.with_context(|| format!("open `{}`", path.display()))?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(lock),
        Err((_, nix::errno::Errno::EWOULDBLOCK)) => {
            bail!("directory `{}` is in use by another master\nhelp: give each master its own --dir", dir.display())
        }
        Err((_, e)) => Err(e).with_context(|| format!("lock `{}`", path.display())),
    }
}

/// The directory of this start, under an id that no earlier start in `dir` has.
fn make_run_dir(dir: &Path) -> anyhow::Result<(ClusterId, PathBuf)> {
    let last = runs_in(dir).iter().rev().find_map(|run| minute_of(run));
    let now = jiff::Zoned::now().datetime();
    // Two starts within a minute, or a clock that was set back: ids must differ, since workers keep files by
    // them, and the latest run must come last.
    let start = match last {
        Some(last) if last >= now => last.checked_add(jiff::Span::new().minutes(1)).context("count minutes")?,
        _ => now,
    };
    let mut id = start.strftime(RUN_ID).to_string();
    if last.is_some_and(|last| last.strftime(RUN_ID).to_string() == id) {
        id = start.checked_add(jiff::Span::new().minutes(1)).context("count minutes")?.strftime(RUN_ID).to_string();
    }
    let cluster = ClusterId(id.parse().context("read the time as digits")?);
    let run_dir = dir.join(format!("run-{id}-1"));
    for (part, mode) in [("", 0o755), ("history", 0o755), ("jobs", 0o700)] {
        let path = run_dir.join(part);
        let made = fs::DirBuilder::new().recursive(true).mode(mode).create(&path);
        made.with_context(|| format!("create directory `{}`", path.display()))?;
    }
    // What the journal promises to keep needs its directory, too.
    let synced = fs::File::open(dir).and_then(|dir| dir.sync_all());
    synced.with_context(|| format!("sync directory `{}`", dir.display()))?;
    Ok((cluster, run_dir))
}

/// The minute after which a run is named.
fn minute_of(run: &Path) -> Option<jiff::civil::DateTime> {
    let name = run.file_name()?.to_str()?.strip_prefix("run-")?;
    jiff::civil::DateTime::strptime(RUN_ID, name.split_once('-')?.0).ok()
}

/// Says where the master listens; appears only when it does.
fn write_access(dir: &Path, address: SocketAddr, http: Option<SocketAddr>) -> anyhow::Result<()> {
    let path = dir.join(ACCESS_FILE);
    let temporary = dir.join("access.json.tmp");
    let mut content = BTreeMap::from([
        ("master", serde_json::Value::from(address.to_string())),
        ("pid", serde_json::Value::from(std::process::id())),
    ]);
    if let Some(http) = http {
        content.insert("http", serde_json::Value::from(http.to_string()));
    }
    let text = serde_json::to_string(&content).context("serialise the access file")?;
    fs::write(&temporary, text + "\n").and_then(|()| fs::rename(&temporary, &path)).context("write access.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_run_comes_last_even_if_the_clock_was_set_back() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("run-209912312359-1")).unwrap();
        let (_, second) = make_run_dir(dir.path()).unwrap();
        assert!(second.ends_with("run-210001010000-1"), "{}", second.display());
        let (_, third) = make_run_dir(dir.path()).unwrap();
        assert_eq!(runs_in(dir.path()).last(), Some(&third));
        assert_eq!(runs_in(dir.path()).len(), 3);
    }

    #[test]
    fn starts_within_one_minute_have_different_ids() {
        let dir = tempfile::tempdir().unwrap();
        let ids: std::collections::BTreeSet<u64> = (0..5).map(|_| make_run_dir(dir.path()).unwrap().0.0).collect();
        assert_eq!(ids.len(), 5);
    }
}
