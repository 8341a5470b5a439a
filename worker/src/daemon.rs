//! From settings to a running worker and back to nothing.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use axum::middleware::from_fn;
use howdah_core::time::Span;
use howdah_core::tracker::task_tracker::{TaskTracker, TrackerConfig};
use howdah_guards::Guard;
use howdah_proto::bodies::read_first;
use howdah_proto::incoming::HttpIncoming;
use howdah_proto::stop::{Running, Stop};
use howdah_proto::{PROTOCOL, build, service_manager, v1};
use tokio::sync::mpsc::Receiver;
use tokio_util::sync::CancellationToken;

use crate::address::{self, Announced};
use crate::cgroup::{Cgroups, WorkerGroup};
use crate::config::WorkerConfig;
use crate::connections;
use crate::containers::Containers;
use crate::directory::Directory;
use crate::driver::{Driver, Event, Parts};
use crate::fence::Fence;
use crate::http::{FileServerState, router};
use crate::inbox::{Inbox, inbox};
use crate::jobs::Jobs;
use crate::kept;
use crate::link::Link;
use crate::logs::Logs;
use crate::memory::Memory;
use crate::node::{self, Node};
use crate::probes::{ProbeSnapshot, Probes};
use crate::process::{Cores, OWN_EXECUTABLE, ProcessContext, wall_us};
use crate::space::{Bounds, Space};
use crate::vitals::{self, OwnProcesses};

/// Runs a worker until it is told to stop.
///
/// # Errors
/// When a setting cannot be worked with, or the directory or the address is taken. A master that is away is no
/// error: the worker tries until it is there.
pub fn run(config: WorkerConfig, stop: Stop) -> Running<anyhow::Error> {
    Box::pin(run_until(config, stop))
}

async fn run_until(config: WorkerConfig, stop: Stop) -> anyhow::Result<()> {
    config.check()?;
    for (cores, setting) in config.cores()?.iter().zip(["map_cores", "reduce_cores"]) {
        cores.as_ref().map_or(Ok(()), Cores::check).map_err(|problem| anyhow!("setting `{setting}`: {problem}"))?;
    }
    let (directory, _lock) = Directory::open(&config.dir)?;
    kept::prune(&directory).with_context(|| format!("clean `{}`", directory.local_root().display()))?;
    let group = own_group(&config, &directory)?;
    let result = run_in_group(config, stop, directory.clone(), group.clone()).await;
    // The last one out: whoever joined the group must not stay under its quota.
    if let Some(group) = group {
        directory.name_group(None).unwrap_or_else(|error| tracing::debug!(%error, "failed to delete `cgroup`"));
        group.close();
    }
    result
}

/// The worker's control group, where a setting asks for one; its directory then says where it is.
fn own_group(config: &WorkerConfig, directory: &Directory) -> anyhow::Result<Option<WorkerGroup>> {
    let quota = config.quota_milli();
    if quota.is_none() && !config.measures_group() {
        return Ok(None);
    }
    let setting = if quota.is_some() { "cpu_quota" } else { "vitals_source" };
    let group = WorkerGroup::open(quota).with_context(|| format!("setting `{setting}`"))?;
    if let Err(error) = directory.name_group(Some(group.dirs())) {
        group.close();
        return Err(error).context("write the name of the worker's control group");
    }
    tracing::info!(group = %group.dirs()[0].display(), quota, "the worker is in its control group");
    Ok(Some(group))
}

async fn run_in_group(
    config: WorkerConfig,
    stop: Stop,
    directory: Directory,
    group: Option<WorkerGroup>,
) -> anyhow::Result<()> {
    let cores = config.cores()?;
    let cgroups = if config.cgroups { Some(Cgroups::open()?) } else { None };
    let listener = address::listen(&config).await?;
    let announced = address::announced(&config, listener.local_addr().context("read the address listened on")?)?;
    let own = OwnProcesses::default();
    let mut probes = Probes::new(&config, &directory, own.clone());
    let snapshot = probes.start();
    let hello = hello(&config, &directory, announced, &snapshot);
    tracing::info!(worker = hello.name, http = hello.http_address, dir = %directory.root().display(), "worker starts");

    let jobs = Jobs::default();
    let logs = Arc::new(Logs::new(directory.userlogs(), config.userlog_job_bytes));
    let left = logs.left();
    let recovered = logs.clone();
    tokio::task::spawn_blocking(move || recovered.recover(&left));
    let files = FileServerState { directory: directory.clone(), logs: logs.clone(), jobs: jobs.clone() };
    let containers = Containers::default();
    let pages = node::router(Node::new(&hello, containers.clone())).layer(from_fn(read_first));
    let guests = HttpIncoming::new(listener, connections::book(), CancellationToken::new());
    let guests = guests.context("read the address listened on")?;
    let server = tokio::spawn(axum::serve(guests, router(files).merge(pages)).into_future());
    let pruner = tokio::spawn(prune_logs(logs.clone(), config.userlog_retain_hours));

    let vitals = vitals::start(vitals::Plan {
        every: Duration::from_millis(config.vitals_interval_ms),
        smoothing: Duration::from_millis(config.vitals_smoothing_ms),
        map_slots: config.map_slots,
        directory: directory.clone(),
        own: own.clone(),
        group: group.filter(|_| config.measures_group()),
        script: Some(config.vitals_script.clone()).filter(|command| !command.is_empty()),
    })?;
    let (inbox, events) = inbox();
    let watch = tokio::spawn(watch_stop(stop, inbox.clone(), Duration::from_millis(config.drain_grace_ms)));
    let attributes = inbox.clone();
    let probes = tokio::spawn(probes.run(snapshot, vitals.clone(), move |snapshot| {
        let attributes = attributes.clone();
        async move {
            attributes.tell(Event::Attributes(snapshot)).await;
        }
    }));
    let asked = inbox.clone();
    let watchdog = tokio::spawn(service_manager::ask_alive(move || {
        let asked = asked.clone();
        async move { asked.tell(Event::ProveAlive).await }
    }));
    // Registering may take until the master's machine is up; what waits for this service should not wait for that.
    service_manager::ready(&format!("looking for the master at {}", config.master));
    let bounds = Bounds {
        log_bytes: config.attempt_log_bytes,
        min_free: config.min_free_disk_kill_bytes.min(config.min_free_disk_bytes),
    };
    let context = Arc::new(ProcessContext {
        directory: directory.clone(),
        logs,
        space: Space::start(directory.clone(), bounds)?,
        memory: Memory::start()?,
        worker_name: hello.name.clone(),
        task_command: task_command(&config)?,
        cgroups: cgroups.clone(),
        cores,
        own,
    });
    let parts = Parts { config, context, jobs, containers, vitals, hello, inbox };
    let drive = move || drive(parts, events);
    let (done, ended) = tokio::sync::oneshot::channel();
    std::thread::Builder::new()
        .name("tracker".to_owned())
        .spawn(move || done.send(drive()))
        .context("start the tracker's thread")?;
    ended.await.context("run the tracker's thread")??;
    for task in [watch, pruner, probes, watchdog] {
        task.abort();
    }
    server.abort();
    if let Err(error) = directory.clear_local() {
        tracing::warn!(dir = %directory.root().display(), %error, "failed to delete the local files of jobs");
    }
    if let Some(cgroups) = cgroups {
        cgroups.close();
    }
    tracing::info!("worker stopped");
    Ok(())
}

/// The tracker's thread: a runtime of its own for the driver and the calls to the master.
fn drive(parts: Parts, events: Receiver<Event>) -> anyhow::Result<()> {
    // Each process occupies a blocking thread, and one more may be ending while its successor starts.
    let threads = 256 + 2 * (usize::from(parts.config.map_slots) + usize::from(parts.config.reduce_slots));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(threads)
        .thread_name("keeper")
        .thread_stack_size(512 << 10)
        .build()
        .context("start the tracker's runtime")?;
    let result = runtime.block_on(async {
        let fence = Fence::open(parts.context.directory.master_start());
        let link = Link::new(&parts.config.master, fence)?;
        // Microseconds: two workers that start together must not be taken for each other by a new master.
        let incarnation = parts.context.directory.next_incarnation(wall_us())?;
        let tracker = TaskTracker::new(tracker_config(&parts.config, incarnation));
        let driver = Driver::new(parts, tracker, link.clone());
        let (worker, incarnation) = driver.run(events).await;
        link.goodbye(worker.0, incarnation).await;
        Ok(())
    });
    runtime.shutdown_background();
    result
}

fn tracker_config(config: &WorkerConfig, incarnation: u64) -> TrackerConfig {
    TrackerConfig {
        map_slots: config.map_slots,
        reduce_slots: config.reduce_slots,
        incarnation,
        kill_grace: Span::from_ms(config.kill_grace_ms),
        retry_max: Span::from_ms(config.retry_max_ms),
        reuse_idle: Span::from_ms(config.reuse_idle_ms),
        seed: incarnation ^ u64::from(std::process::id()),
        ..TrackerConfig::default()
    }
}

async fn watch_stop(stop: Stop, inbox: Inbox<Event>, grace: Duration) {
    stop.any().await;
    service_manager::stopping("running attempts may end; a second signal stops at once");
    if !stop.now.is_cancelled() {
        inbox.tell(Event::Drain).await;
        let _ = tokio::time::timeout(grace, stop.now.cancelled()).await;
    }
    inbox.tell(Event::Stop).await;
}

async fn prune_logs(logs: Arc<Logs>, hours: u64) {
    let keep = Duration::from_secs(hours.saturating_mul(3_600));
    let mut beat = tokio::time::interval(Duration::from_secs(3_600));
    loop {
        beat.tick().await;
        let logs = logs.clone();
        let _ = tokio::task::spawn_blocking(move || logs.prune(keep)).await;
    }
}

fn task_command(config: &WorkerConfig) -> anyhow::Result<Vec<String>> {
    if !config.task_command.is_empty() {
        return Ok(config.task_command.clone());
    }
    if !Guard::OwnExecutable.stands() {
        let named = std::env::current_exe().context("find the worker's executable")?;
        return Ok(vec![named.to_string_lossy().into_owned(), "task".to_owned()]);
    }
    Ok(vec![OWN_EXECUTABLE.to_owned(), "task".to_owned()])
}

fn hello(
    config: &WorkerConfig,
    directory: &Directory,
    announced: Announced,
    snapshot: &ProbeSnapshot,
) -> v1::RegisterRequest {
    let machine = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    let machine = machine.unwrap_or_else(|| "localhost".to_owned());
    let folder = directory.root().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // It exists; a path that does not resolve is as good as any.
    let resolved = std::fs::canonicalize(directory.root()).unwrap_or_else(|_| directory.root().to_owned());
    v1::RegisterRequest {
        name: if config.name.is_empty() { format!("{machine}-{folder}") } else { config.name.clone() },
        host: if config.host.is_empty() { machine } else { config.host.clone() },
        rack: config.rack.clone(),
        map_slots: config.map_slots.into(),
        reduce_slots: config.reduce_slots.into(),
        http_address: announced.address,
        advertised: announced.advertised,
        incarnation: 0,
        starts: false,
        attributes: snapshot.attributes.clone().into_iter().collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        probe_warnings: snapshot.warnings.clone(),
        directory: resolved.to_string_lossy().into_owned(),
        protocol: PROTOCOL,
        build: build::id().to_owned(),
        // Said at each registration.
        kept: Vec::new(),
        kept_of_cluster: 0,
        met: None,
    }
}
