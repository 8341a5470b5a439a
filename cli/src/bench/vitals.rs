//! What a worker spends on measuring itself: the CPU time of the thread that samples its vitals, at the default periods.
//!
//! No baseline: the bar is a share of a core. Time is the scheduler's own count for the thread, not the clock's, so that
//! whatever else the machine does is not charged to it.

use std::time::{Duration, Instant};

use super::cluster::{Shape, request, stop, submit};
use super::measure::median;
use super::report::{Bar, Report, Row};
use super::setting::Bench;
use crate::failure::{Failure, Outcome};
use crate::local::{LocalCluster, proc};

/// As the worker names it.
const THREAD: &str = "vitals";
/// Attempts whose processes are looked at one by one.
const ATTEMPTS: u32 = 8;
/// Percent of a core.
const MOST: f64 = 0.5;

pub(crate) async fn run(bench: &Bench<'_>) -> Outcome<Report> {
    let over = Duration::from_secs(bench.size(30, 8));
    let mut rows = Vec::new();
    let mut notes = vec![format!(
        "the thread's CPU time over {} s, as the kernel's scheduler counts it; the attempts sleep, and each is a process \
         that is looked at",
        over.as_secs()
    )];
    for (measure, source, attempts) in [
        ("of the host, no attempts", "host", 0),
        ("of the host, 8 attempts", "host", ATTEMPTS),
        ("of its own control group, 8 attempts", "cgroup", ATTEMPTS),
    ] {
        let mut shares = Vec::new();
        for _ in 0..bench.repeats() {
            match one(bench, source, attempts, over).await {
                Ok(share) => shares.push(share),
                Err(failure) if source == "cgroup" => {
                    notes.push(format!(
                        "without the row of the control group: {}",
                        failure.to_string().replace('\n', "; ")
                    ));
                    break;
                }
                Err(failure) => return Err(failure),
            }
        }
        if !shares.is_empty() {
            bench.tell(format!("{measure}: {:.3} % of a core", median(&shares)));
            rows.push(Row {
                measure: measure.to_owned(),
                unit: "%",
                howdah: median(&shares),
                baseline: None,
                bar: Some(Bar::AtMost(MOST)),
            });
        }
    }
    Ok(Report {
        name: "vitals",
        title: "Sampling a worker's vitals, as a share of a core".to_owned(),
        baseline: "none",
        rows,
        notes,
        repeats: bench.repeats(),
        quick: bench.quick,
    })
}

/// Percent of a core that one worker's thread took.
async fn one(bench: &Bench<'_>, source: &str, attempts: u32, over: Duration) -> Outcome<f64> {
    let dir = bench.place("vitals-cluster");
    let shape = Shape { workers: 1, ..Shape::two(ATTEMPTS, 1) };
    let cluster = shape.with("HOWDAH_WORKER_VITALS_SOURCE", source).start(&dir).await?;
    if attempts > 0 {
        let mut client = cluster.client().await?;
        // Longer than anybody looks; they are killed with the cluster.
        let words = ["-m", &attempts.to_string(), "-mt", "600000"];
        let job = submit(&mut client, "sleep", &request(&words)).await?;
        while client.status(&job).await?.maps_running < attempts {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    let before = (Instant::now(), spent(&cluster)?);
    tokio::time::sleep(over).await;
    let passed = before.0.elapsed();
    let spent = spent(&cluster)? - before.1;
    stop(cluster).await?;
    Ok(spent.as_secs_f64() / passed.as_secs_f64() * 100.0)
}

fn spent(cluster: &LocalCluster) -> Outcome<Duration> {
    let pids = cluster.access().pids;
    let found = pids.iter().find_map(|&pid| proc::thread_time(pid, THREAD));
    found.ok_or_else(|| Failure::broke(format!("no daemon has a thread `{THREAD}` whose time the kernel counts")))
}
