//! A cluster for measuring: on the leash, without the user's settings, with its daemons' CPU time at hand.

use std::path::Path;
use std::time::Duration;

use howdah_apps::PlanRequest;
use howdah_json::{Attempt, Job};

use crate::client::{Client, succeeded};
use crate::failure::{Failure, Outcome};
use crate::job::time_spent::TimeSpent;
use crate::local::{LocalCluster, Plan, proc};
use crate::submit::{SubmitAs, submit_plan};

/// How the cluster is to be.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) workers: u32,
    pub(crate) map_slots: u32,
    pub(crate) reduce_slots: u32,
    /// Settings as variables.
    pub(crate) variables: Vec<(String, String)>,
    /// More arguments for the master.
    pub(crate) master: Vec<String>,
}

impl Shape {
    /// Two workers, as the project's bars have it.
    pub(crate) fn two(map_slots: u32, reduce_slots: u32) -> Shape {
        Shape { workers: 2, map_slots, reduce_slots, variables: Vec::new(), master: Vec::new() }
    }

    /// With one more setting.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Shape {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With one more flag of the master.
    pub(crate) fn with_master(mut self, flag: &str) -> Shape {
        self.master.push(flag.to_owned());
        self
    }

    /// Starts it in `dir`.
    pub(crate) async fn start(&self, dir: &Path) -> Outcome<LocalCluster> {
        let slots = ["--map-slots", &self.map_slots.to_string(), "--reduce-slots", &self.reduce_slots.to_string()];
        let mut variables = self.variables.clone();
        // Lines per attempt would be measured too; the syslog of attempts is written all the same.
        variables.push(("HOWDAH_LOG".to_owned(), "warn".to_owned()));
        let mut master_args = vec!["--listen".to_owned(), "127.0.0.1:0".to_owned()];
        master_args.extend(self.master.iter().cloned());
        let plan = Plan {
            dir: dir.to_owned(),
            workers: self.workers,
            master_args,
            worker_args: slots.map(str::to_owned).to_vec(),
            cpu_quotas: Vec::new(),
            stays: false,
            inherits_settings: false,
            variables,
            log_file: None,
        };
        LocalCluster::start(&plan, |_| {}).await
    }
}

/// A finished job with what it used.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) job: Job,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) spent: TimeSpent,
}

impl Ran {
    /// From submission to the end as the master saw it.
    pub(crate) fn seconds(&self) -> f64 {
        self.job.completion_s.unwrap_or(f64::NAN)
    }
}

/// The request for an application with these words of its own.
pub(crate) fn request(args: &[&str]) -> PlanRequest {
    PlanRequest { args: args.iter().map(|&arg| arg.to_owned()).collect(), ..PlanRequest::default() }
}

/// Submits an application's only job.
pub(crate) async fn submit(client: &mut Client, app: &str, request: &PlanRequest) -> Outcome<String> {
    let mut plans = howdah_apps::plan(app, request).map_err(|error| Failure::broke(error.to_string()))?;
    let plan = plans.pop().ok_or_else(|| Failure::broke("the application has no job"))?;
    submit_plan(client, &plan, &SubmitAs::default()).await
}

/// Waits for a job that must succeed.
pub(crate) async fn wait(client: &mut Client, job: &str) -> Outcome<Ran> {
    let status = client.watch(job, |_| Ok(())).await?;
    if !succeeded(&status) {
        return Err(Failure::broke(format!("{} ended {}: {}", status.name, status.state, status.why)));
    }
    let answer = client.job(job).await?;
    let attempts: Vec<Attempt> = answer.attempts.iter().map(Attempt::from).collect();
    let spent = TimeSpent::of(&attempts);
    Ok(Ran { job: Job::from(&answer.status.unwrap_or(status)), attempts, spent })
}

/// Map slots of each of two workers on which attempts do nothing: enough that a slot's way to the master and back is not
/// waited for.
pub(crate) const NOOP_SLOTS: u32 = 16;

/// Runs a job of `n` maps that do nothing, on a cluster of its own; in processes that are reused or one for each.
pub(crate) async fn run_noops(shape: &Shape, dir: &Path, n: u32, reused: bool) -> Outcome<Ran> {
    let cluster = shape.start(dir).await?;
    let mut client = cluster.client().await?;
    let mut request = request(&["-m", &n.to_string(), "-mt", "0"]);
    if reused {
        request.properties.insert("mapred.job.reuse.jvm.num.tasks".to_owned(), "-1".to_owned());
    }
    let job = submit(&mut client, "sleep", &request).await?;
    let ran = wait(&mut client, &job).await?;
    stop(cluster).await?;
    Ok(ran)
}

/// A finished job with the CPU seconds of everything that took part.
pub(crate) struct Measured {
    pub(crate) ran: Ran,
    /// Of the daemons, while it ran.
    pub(crate) daemons_s: f64,
    /// Of its attempts, as they were accounted, or as the kernel accounts them and their children to the workers: the larger.
    pub(crate) attempts_s: f64,
}

impl Measured {
    pub(crate) fn cpu_s(&self) -> f64 {
        self.attempts_s + self.daemons_s
    }
}

/// Runs a job that must succeed, alone on the cluster, and measures it.
pub(crate) async fn run_measured(
    cluster: &LocalCluster,
    client: &mut Client,
    app: &str,
    request: &PlanRequest,
) -> Outcome<Measured> {
    let (daemons, attempts) = (daemons_cpu(cluster), attempts_cpu(cluster));
    let job = submit(client, app, request).await?;
    let ran = wait(client, &job).await?;
    let daemons_s = (daemons_cpu(cluster) - daemons).as_secs_f64();
    let attempts_s = ran.spent.cpu_s.max((attempts_cpu(cluster) - attempts).as_secs_f64());
    Ok(Measured { ran, daemons_s, attempts_s })
}

/// CPU time of all daemons so far.
fn daemons_cpu(cluster: &LocalCluster) -> Duration {
    cluster.access().pids.iter().filter_map(|pid| proc::cpu_time(*pid)).sum()
}

/// CPU time of all processes that the daemons have started and seen end.
fn attempts_cpu(cluster: &LocalCluster) -> Duration {
    cluster.access().pids.iter().filter_map(|pid| proc::stat(*pid)).map(|stat| stat.children_cpu).sum()
}

/// Largest peak memory of the daemons in KiB.
pub(crate) fn daemons_peak_kib(cluster: &LocalCluster) -> u64 {
    cluster.access().pids.iter().filter_map(|pid| proc::peak_kib(*pid)).max().unwrap_or(0)
}

/// Stops it; a benchmark's result does not hang on how.
pub(crate) async fn stop(cluster: LocalCluster) -> Outcome<()> {
    cluster.stop(Duration::from_secs(10)).await.map(|_| ())
}
