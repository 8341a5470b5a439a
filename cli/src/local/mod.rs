//! A master and its workers as processes on this machine: started together, awaited, stopped together.
//!
//! Used by `up` (processes stay) and by `demo` and `bench` (processes are on a leash). **Nothing here signals a
//! process that it did not start**: children are signalled through their handles, processes of an earlier `up`
//! only when pid and start time both match.

pub(crate) mod access;
pub(crate) mod logs;
mod problem;
pub(crate) mod proc;
mod stop;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use howdah_proto::v1::ListWorkersRequest;

use crate::client::Client;
use crate::failure::{Failure, Outcome};
use access::{Access, Process};
use logs::Logs;
pub(crate) use problem::cannot;
pub(crate) use stop::{Stopped, stop_processes};

/// How long a healthy machine may take to start a few processes.
const PATIENCE: Duration = Duration::from_secs(30);

/// What to start.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Directory of the whole cluster.
    pub(crate) dir: PathBuf,
    pub(crate) workers: u32,
    /// More arguments for the master.
    pub(crate) master_args: Vec<String>,
    /// More arguments for each worker.
    pub(crate) worker_args: Vec<String>,
    /// Quotas of the workers in cores, 0 for none; the last one holds for all further workers. May be empty.
    pub(crate) cpu_quotas: Vec<f64>,
    /// Whether the processes outlive this one; otherwise they end with it, however it ends.
    pub(crate) stays: bool,
    /// Whether the processes see the user's HOWDAH_* variables.
    pub(crate) inherits_settings: bool,
    /// More variables for all processes.
    pub(crate) variables: Vec<(String, String)>,
    /// What the user says of `[log] file`, where that counts; otherwise each has a log of its own.
    pub(crate) log_file: Option<PathBuf>,
}

/// Processes that run.
#[derive(Debug)]
pub(crate) struct LocalCluster {
    dir: PathBuf,
    daemons: Vec<Daemon>,
    address: String,
    stays: bool,
}

#[derive(Debug)]
struct Daemon {
    process: Process,
    child: Child,
    logs: Logs,
}

impl LocalCluster {
    /// Starts everything and returns once all workers are registered; whatever was started is stopped on failure.
    pub(crate) async fn start(plan: &Plan, mut progress: impl FnMut(&str)) -> Outcome<LocalCluster> {
        let mut cluster =
            LocalCluster { dir: plan.dir.clone(), daemons: Vec::new(), address: String::new(), stays: false };
        make_dir(&plan.dir)?;
        progress("starting the master");
        let master_dir = plan.dir.join("master");
        // The file of an earlier run would name a port that nobody listens on.
        remove_if_there(&master_dir.join(access::FILE))?;
        cluster.spawn(plan, "master", "master", &plan.master_args)?;
        cluster.address = cluster.wait_for_master(&master_dir).await?;
        for n in 1..=plan.workers {
            let name = format!("worker-{n}");
            let mut args = vec!["--master".to_owned(), cluster.address.clone(), "--name".to_owned(), name.clone()];
            args.extend(plan.worker_args.iter().cloned());
            if let Some(quota) = plan.cpu_quotas.get(n as usize - 1).or(plan.cpu_quotas.last()) {
                // Each plays a machine of its own, or none would speculate for another.
                let host = format!("worker-{n}");
                args.extend(["--cpu-quota".to_owned(), quota.to_string(), "--host".to_owned(), host]);
            }
            cluster.spawn(plan, "worker", &name, &args)?;
        }
        cluster.wait_for_workers(plan.workers, &mut progress).await?;
        cluster.access().write(&plan.dir).map_err(|error| cannot("write", &plan.dir.join(access::FILE), &error))?;
        cluster.stays = plan.stays;
        Ok(cluster)
    }

    /// `host:port` of the master.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// How to reach it, and what it is made of.
    pub(crate) fn access(&self) -> Access {
        let processes: Vec<Process> = self.daemons.iter().map(|daemon| daemon.process.clone()).collect();
        Access { master: self.address.clone(), pids: processes.iter().map(|process| process.pid).collect(), processes }
    }

    /// A connected client.
    pub(crate) async fn client(&self) -> Outcome<Client> {
        Client::connect_to(&self.address, Duration::from_secs(5)).await
    }

    /// Stops gracefully within `grace`, then at once, then by force.
    pub(crate) async fn stop(mut self, grace: Duration) -> Outcome<Stopped> {
        let daemons = std::mem::take(&mut self.daemons);
        let processes: Vec<Process> = daemons.iter().map(|daemon| daemon.process.clone()).collect();
        let mut children: Vec<Child> = daemons.into_iter().map(|daemon| daemon.child).collect();
        let stopped = stop_processes(&processes, grace).await;
        for child in &mut children {
            // It has ended: this reaps it.
            let _ = child.wait();
        }
        remove_if_there(&self.dir.join(access::FILE))?;
        Ok(stopped)
    }

    fn spawn(&mut self, plan: &Plan, role: &str, name: &str, args: &[String]) -> Outcome<()> {
        let dir = plan.dir.join(name);
        make_dir(&dir.join("logs"))?;
        let logs = Logs::new(&dir, "logs", role, plan.log_file.as_deref());
        let exe = std::env::current_exe().map_err(|error| Failure::broke(format!("find this program: {error}")))?;
        let mut command = Command::new(&exe);
        command.arg(role).arg("--dir").arg(&dir).args(args).stdout(Stdio::null());
        if !plan.inherits_settings {
            // Tests mark their processes through the environment; settings are all other names.
            let ours = |name: &str| name.starts_with("HOWDAH_") && !name.starts_with("HOWDAH_TEST_");
            for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(ours)) {
                command.env_remove(name);
            }
        }
        logs.apply(&mut command)?;
        command.envs(plan.variables.iter().map(|(name, value)| (name, value)));
        if plan.stays {
            command.arg("--detach").stdin(Stdio::null());
        } else {
            use std::os::unix::process::CommandExt;
            // Ctrl-C is for us alone: we stop the processes in order.
            command.arg("--stop-with-stdin").stdin(Stdio::piped()).process_group(0);
        }
        let child = command.spawn().map_err(|error| Failure::broke(format!("cannot start {name}: {error}")))?;
        let pid = child.id();
        let start_ticks = proc::stat(pid).map_or(0, |stat| stat.start_ticks);
        self.daemons.push(Daemon { process: Process { name: name.to_owned(), pid, start_ticks }, child, logs });
        Ok(())
    }

    async fn wait_for_master(&mut self, dir: &Path) -> Outcome<String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.check_alive()?;
            if let Some(access) = Access::read(dir)?
                && Client::connect_to(&access.master, Duration::from_secs(2)).await.is_ok()
            {
                return Ok(access.master);
            }
            self.be_patient(deadline, "the master did not listen").await?;
        }
    }

    async fn wait_for_workers(&mut self, wanted: u32, progress: &mut impl FnMut(&str)) -> Outcome<()> {
        let deadline = Instant::now() + PATIENCE;
        let mut client = self.client().await?;
        loop {
            self.check_alive()?;
            let workers = client.rpc.list_workers(ListWorkersRequest::default()).await?.into_inner().workers;
            let live = workers.iter().filter(|worker| worker.state == "LIVE").count() as u32;
            if live >= wanted {
                return Ok(());
            }
            progress(&format!("waiting for workers: {live} of {wanted}"));
            self.be_patient(deadline, "not all workers registered").await?;
        }
    }

    async fn be_patient(&self, deadline: Instant, what: &str) -> Outcome<()> {
        if Instant::now() > deadline {
            let logs = self.daemons.iter().map(|daemon| daemon.logs.shown().display().to_string());
            let logs: Vec<String> = logs.collect();
            return Err(Failure::broke(format!("{what} within {} s", PATIENCE.as_secs()))
                .help(format!("the logs are {}", logs.join(", "))));
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
        Ok(())
    }

    /// Fails with the last words of a daemon that has ended.
    pub(crate) fn check_alive(&mut self) -> Outcome<()> {
        for daemon in &mut self.daemons {
            if let Ok(Some(status)) = daemon.child.try_wait() {
                let last = daemon.logs.last_words().unwrap_or_else(|| "it said nothing".to_owned());
                let failure = Failure::broke(format!("{} ended with {status}: {last}", daemon.process.name));
                let failure = daemon.logs.advice().into_iter().fold(failure, Failure::help);
                return Err(failure.help(format!("its log is {}", daemon.logs.shown().display())));
            }
        }
        Ok(())
    }
}

impl Drop for LocalCluster {
    /// Whatever is still on the leash dies, in order: workers take their attempts with them.
    fn drop(&mut self) {
        if self.stays {
            return;
        }
        for daemon in self.daemons.iter_mut().rev() {
            drop(daemon.child.stdin.take());
            proc::signal(daemon.process.pid, daemon.process.start_ticks, nix::sys::signal::Signal::SIGTERM);
        }
        let deadline = Instant::now() + Duration::from_secs(3);
        for daemon in &mut self.daemons {
            while matches!(daemon.child.try_wait(), Ok(None)) && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(5));
            }
            if matches!(daemon.child.try_wait(), Ok(None)) {
                // Gone in between is as good.
                let _ = daemon.child.kill();
                let _ = daemon.child.wait();
            }
        }
        // Without its processes the file would mislead.
        let _ = std::fs::remove_file(self.dir.join(access::FILE));
    }
}

/// The setting that makes maps of local files local: master and workers are on this one host.
pub(crate) fn local_files() -> (String, String) {
    ("HOWDAH_MASTER_SPLIT_HOST".to_owned(), crate::caller::host_name().unwrap_or_default())
}

/// Makes a directory and its parents.
pub(crate) fn make_dir(dir: &Path) -> Outcome<()> {
    std::fs::create_dir_all(dir).map_err(|error| cannot("make directory", dir, &error))
}

fn remove_if_there(path: &Path) -> Outcome<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(cannot("remove", path, &error)),
        _ => Ok(()),
    }
}
