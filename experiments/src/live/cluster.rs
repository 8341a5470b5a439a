//! One master and its workers as processes of ours.
//!
//! **They never outlive us**: each holds the other end of a pipe from this process and stops at once when it
//! closes, whether we stop them, fail, or are killed. Nothing here signals a process that it did not start.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::cores;
use super::program::{Program, cause};
use crate::framework::make_folder;

/// How long a healthy machine may take to start or stop a few processes.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at something that takes a moment.
const LOOK: Duration = Duration::from_millis(10);

/// What a cluster is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) workers: u32,
    /// Of each worker.
    pub(crate) map_slots: u32,
    /// Of each worker.
    pub(crate) reduce_slots: u32,
    /// Whether every odd worker has map slots only and every even one reduce slots only.
    pub(crate) split: bool,
    /// Cores that each worker may use in thousandths, 0 for no limit; the last one holds for all further workers. With
    /// any, each worker measures load of its own control group, which `howdah load` can join.
    pub(crate) quotas_milli: &'static [u32],
    /// Whether each worker stays on a core of its own, by turns, as its tasks do.
    pub(crate) pinned: bool,
    /// Whether each worker's maps keep to the first core and its reduces to the second.
    pub(crate) apart: bool,
    /// Time constant of the workers' run queues in ms; 0 for the usual one, which is meant for tasks of many seconds.
    pub(crate) smoothing_ms: u32,
    /// Between two rounds of the master's forecasts in ms, 0 for none; `None` for the usual.
    pub(crate) forecast_ms: Option<u32>,
    /// Memory that each worker may read ahead into; 0 for none.
    pub(crate) prefetch_bytes: u64,
}

impl Shape {
    /// Workers that are all alike.
    pub(crate) const fn even(workers: u32, map_slots: u32, reduce_slots: u32) -> Shape {
        Shape {
            workers,
            map_slots,
            reduce_slots,
            split: false,
            quotas_milli: &[],
            pinned: false,
            apart: false,
            smoothing_ms: 0,
            forecast_ms: None,
            prefetch_bytes: 0,
        }
    }

    /// Settings of the master that have no argument.
    fn master_settings(self) -> Vec<(&'static str, String)> {
        let every = self.forecast_ms.map(|ms| ("HOWDAH_MASTER_PREDICTION_EVERY_MS", ms.to_string()));
        every.into_iter().collect()
    }

    /// Arguments of the `n`-th worker, from 1, that give it its control group.
    fn group_args(self, n: u32) -> Vec<String> {
        let Some(&quota) = self.quotas_milli.get(n as usize - 1).or(self.quotas_milli.last()) else {
            return Vec::new();
        };
        let quota = f64::from(quota) / 1e3;
        let (quota, host) = (quota.to_string(), format!("worker-{n}"));
        // Each plays a machine of its own, or none would speculate for another.
        ["--vitals-source", "cgroup", "--cpu-quota", &quota, "--host", &host].map(str::to_owned).to_vec()
    }

    /// The core of the `n`-th worker, from 1.
    pub(crate) fn core(self, n: u32) -> Option<usize> {
        let cores = if self.pinned { cores::allowed() } else { Vec::new() };
        cores.get((n as usize - 1).checked_rem(cores.len())?).copied()
    }

    /// Settings of every worker that have no argument.
    fn settings(self) -> Vec<(&'static str, String)> {
        let mut settings = Vec::new();
        if self.smoothing_ms > 0 {
            settings.push(("HOWDAH_WORKER_VITALS_SMOOTHING_MS", self.smoothing_ms.to_string()));
        }
        if self.prefetch_bytes > 0 {
            settings.push(("HOWDAH_WORKER_PREFETCH_BYTES", self.prefetch_bytes.to_string()));
        }
        let cores = if self.apart { cores::allowed() } else { Vec::new() };
        let names = ["HOWDAH_WORKER_MAP_CORES", "HOWDAH_WORKER_REDUCE_CORES"];
        settings.extend(names.into_iter().zip(cores.iter().map(usize::to_string)));
        settings
    }

    /// Map and reduce slots of the `n`-th worker, from 1.
    fn slots(self, n: u32) -> (u32, u32) {
        match (self.split, n % 2) {
            (false, _) => (self.map_slots, self.reduce_slots),
            (true, 1) => (self.map_slots, 0),
            (true, _) => (0, self.reduce_slots),
        }
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Shape { workers, map_slots, reduce_slots, split, apart, quotas_milli, .. } = self;
        let s = if *workers == 1 { "" } else { "s" };
        let by_turns = if *split { " by turns" } else { "" };
        let apart = if *apart { ", a core for each kind" } else { "" };
        write!(f, "{workers} worker{s} × {map_slots}+{reduce_slots} slots{by_turns}{apart}")?;
        let quotas: Vec<String> = quotas_milli.iter().map(|&milli| (f64::from(milli) / 1e3).to_string()).collect();
        if quotas.is_empty() { Ok(()) } else { write!(f, " with quotas of {} cores", quotas.join(", ")) }
    }
}

/// The policy of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Policy {
    pub(crate) name: String,
    pub(crate) params: BTreeMap<String, String>,
}

impl Policy {
    /// One with its own defaults.
    pub(crate) fn plain(name: &str) -> Policy {
        Policy { name: name.to_owned(), params: BTreeMap::new() }
    }

    /// As a configuration file of the master says it.
    fn settings(&self) -> Result<String> {
        let params = self.params.iter().map(|(key, value)| (key.clone(), toml::Value::from(value.clone())));
        let master = toml::Table::from_iter([
            ("scheduler".to_owned(), toml::Value::from(self.name.clone())),
            ("scheduler_params".to_owned(), toml::Value::Table(params.collect())),
        ]);
        let all = toml::Table::from_iter([("master".to_owned(), toml::Value::Table(master))]);
        toml::to_string(&all).context("write the master's settings")
    }
}

/// A cluster that runs.
#[derive(Debug)]
pub(crate) struct Cluster {
    program: Program,
    address: String,
    /// The master first.
    daemons: Vec<Daemon>,
}

#[derive(Debug)]
struct Daemon {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Cluster {
    /// Starts one in `dir` and returns when all workers are registered.
    ///
    /// # Errors
    /// When a process does not start or ends; whatever was started is stopped.
    pub(crate) fn start(program: &Program, dir: &Path, shape: Shape, policy: &Policy) -> Result<Cluster> {
        let mut cluster = Cluster { program: program.clone(), address: String::new(), daemons: Vec::new() };
        let settings = dir.join("howdah.toml");
        std::fs::write(&settings, policy.settings()?).with_context(|| format!("write `{}`", settings.display()))?;
        let settings = settings.to_str().with_context(|| format!("`{}` is not UTF-8", settings.display()))?;
        let master = ["--listen", "127.0.0.1:0", "--config", settings].map(str::to_owned);
        cluster.spawn(dir, "master", "master", &master, &shape.master_settings())?;
        let access = dir.join("master/access.json");
        cluster.address = cluster.wait("the master to listen", |_| Ok(address_in(&access)))?;
        for n in 1..=shape.workers {
            let name = format!("worker-{n}");
            let (maps, reduces) = shape.slots(n);
            let (maps, reduces) = (maps.to_string(), reduces.to_string());
            let mut args =
                ["--master", &cluster.address, "--name", &name, "--map-slots", &maps, "--reduce-slots", &reduces]
                    .map(str::to_owned)
                    .to_vec();
            args.extend(shape.group_args(n));
            let mut spawn = || cluster.spawn(dir, "worker", &name, &args, &shape.settings());
            match shape.core(n) {
                Some(core) => cores::on(core, spawn)?,
                None => spawn()?,
            }
            // Registered in order of their names, so that repeats are alike.
            cluster.wait("a worker to register", |cluster| Ok((cluster.live_workers()? >= n).then_some(())))?;
        }
        Ok(cluster)
    }

    /// `host:port` of the master.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The program that it runs.
    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// The process of the `n`-th worker, from 1.
    pub(crate) fn worker_process(&self, n: usize) -> Option<u32> {
        // The master comes first.
        self.daemons.get(n).map(|daemon| daemon.child.id())
    }

    /// Stops it: workers first, so that the recorded run ends with an orderly cluster.
    ///
    /// # Errors
    /// When a process does not end within the patience; it is killed then.
    pub(crate) fn stop(mut self) -> Result<()> {
        while let Some(daemon) = self.daemons.pop() {
            let name = daemon.name.clone();
            if !daemon.stop() {
                bail!("{name} did not stop within {} s and was killed", PATIENCE.as_secs());
            }
        }
        Ok(())
    }

    /// Fails with the error of a daemon that has ended.
    ///
    /// # Errors
    /// When one has.
    pub(crate) fn check_alive(&mut self) -> Result<()> {
        for daemon in &mut self.daemons {
            if let Some(status) = daemon.child.try_wait().with_context(|| format!("look at {}", daemon.name))? {
                let said = std::fs::read_to_string(&daemon.log).unwrap_or_default();
                bail!("{} ended with {status}: {}", daemon.name, cause(&said));
            }
        }
        Ok(())
    }

    fn spawn(
        &mut self,
        dir: &Path,
        role: &str,
        name: &str,
        args: &[String],
        settings: &[(&str, String)],
    ) -> Result<()> {
        let dir = make_folder(&dir.join(name))?;
        let log = dir.join(format!("{role}.err"));
        let mut command = self.program.command();
        command.arg(role).arg("--dir").arg(&dir).args(args).arg("--stop-with-stdin");
        // Lines per attempt would cost time that the run does not have to spend.
        command.envs(settings.iter().map(|(name, value)| (name, value)));
        command.env("HOWDAH_LOG", "warn").stdin(Stdio::piped()).stdout(Stdio::null());
        command.stderr(File::create(&log).with_context(|| format!("create `{}`", log.display()))?);
        // Ctrl-C is for us alone: the pipe tells the daemons.
        command.process_group(0);
        let child = start(&mut command, name)?;
        self.daemons.push(Daemon { name: name.to_owned(), child, log });
        Ok(())
    }

    fn live_workers(&self) -> Result<u32> {
        Ok(self.workers()?.iter().filter(|worker| worker["state"] == "LIVE").count() as u32)
    }

    /// As `howdah worker list` has them.
    fn workers(&self) -> Result<Vec<Value>> {
        let answer = self.program.json(["worker", "list", "--output", "json", "--master", &self.address])?;
        Ok(answer["workers"].as_array().cloned().unwrap_or_default())
    }

    /// Waits until each worker, from the first on, reports at least its share of these foreign loads.
    ///
    /// # Errors
    /// When one does not within the patience, or the cluster breaks.
    pub(crate) fn wait_for_loads(&mut self, loads: &[f64], share: f64) -> Result<()> {
        self.wait("the workers to report their foreign load", |cluster| {
            Ok(reported(&cluster.workers()?, loads, share).then_some(()))
        })
    }

    /// The foreign load that a worker has reported last; `None` before its first word.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub(crate) fn foreign_load(&self, worker: &str) -> Result<Option<f64>> {
        let workers = self.workers()?;
        let found = workers.iter().find(|found| found["name"] == worker);
        Ok(found.and_then(|found| found["vitals"]["foreign_load"].as_f64()))
    }

    /// Waits for whatever `look` finds.
    ///
    /// # Errors
    /// When it finds nothing within the patience, or the cluster breaks.
    pub(crate) fn wait<T>(&mut self, what: &str, mut look: impl FnMut(&Cluster) -> Result<Option<T>>) -> Result<T> {
        let end = Instant::now() + PATIENCE;
        loop {
            self.check_alive()?;
            if let Some(found) = look(self)? {
                return Ok(found);
            }
            if Instant::now() > end {
                bail!("waited {} s for {what}", PATIENCE.as_secs());
            }
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        while let Some(daemon) = self.daemons.pop() {
            daemon.stop();
        }
    }
}

impl Daemon {
    /// Closes the pipe and waits; false if it had to be killed.
    fn stop(mut self) -> bool {
        drop(self.child.stdin.take());
        let end = Instant::now() + PATIENCE;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < end {
            std::thread::sleep(LOOK);
        }
        let ended = !matches!(self.child.try_wait(), Ok(None));
        if !ended {
            // Gone in between is as good.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        ended
    }
}

/// Whether a list of workers shows so much of the load of `worker-1`, `worker-2` and so on.
fn reported(workers: &[Value], loads: &[f64], share: f64) -> bool {
    loads.iter().zip(1..).all(|(load, n)| {
        let worker = workers.iter().find(|worker| worker["name"] == format!("worker-{n}"));
        let foreign = worker.and_then(|worker| worker["vitals"]["foreign_load"].as_f64());
        foreign.is_some_and(|foreign| foreign >= load * share)
    })
}

fn start(command: &mut Command, name: &str) -> Result<Child> {
    command.spawn().with_context(|| format!("start {name}"))
}

fn address_in(access: &Path) -> Option<String> {
    let text = std::fs::read_to_string(access).ok()?;
    let access: Value = serde_json::from_str(&text).ok()?;
    access["master"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_load_is_reported_once_every_worker_shows_its_share() {
        let workers = |first: f64| {
            let worker = |name: &str, load: f64| json!({ "name": name, "vitals": { "foreign_load": load } });
            [worker("worker-2", 0.1), worker("worker-1", first)]
        };
        assert!(!reported(&workers(1.1), &[1.5, 0.0], 0.8));
        assert!(reported(&workers(1.3), &[1.5, 0.0], 0.8));
        assert!(!reported(&workers(1.3), &[1.5, 0.0, 0.0], 0.8), "the third has not said anything");
    }

    #[test]
    fn only_a_shape_that_asks_for_it_changes_the_masters_forecasts() {
        assert_eq!(Shape::even(1, 1, 1).master_settings(), []);
        let shape = Shape { forecast_ms: Some(0), ..Shape::even(1, 1, 1) };
        assert_eq!(shape.master_settings(), [("HOWDAH_MASTER_PREDICTION_EVERY_MS", "0".to_owned())]);
    }

    #[test]
    fn only_a_shape_that_asks_for_it_changes_the_workers_smoothing() {
        assert_eq!(Shape::even(1, 1, 1).settings(), []);
        let shape = Shape { smoothing_ms: 1_000, ..Shape::even(1, 1, 1) };
        assert_eq!(shape.settings(), [("HOWDAH_WORKER_VITALS_SMOOTHING_MS", "1000".to_owned())]);
        let shape = Shape { apart: true, ..Shape::even(1, 1, 1) };
        assert_eq!(shape.settings().len(), cores::allowed().len().min(2));
    }
}
