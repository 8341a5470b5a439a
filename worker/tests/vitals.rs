//! Vitals of the host against the kernel's files while something computes: an idle machine agrees with much that is
//! wrong.

mod kit;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use howdah_core::job::JobConf;

use kit::{Cluster, job};

/// Threads that compute until this is dropped.
struct Busy {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    fn start(n: usize) -> Busy {
        let over = Arc::new(AtomicBool::new(false));
        let spin = |_| {
            let over = over.clone();
            std::thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        Busy { threads: (0..n).map(spin).collect(), over }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| thread.join().expect("it only computes"));
    }
}

/// Ticks that all cores spent on work, and all ticks, of `/proc/stat`.
fn ticks() -> (f64, f64) {
    let text = std::fs::read_to_string("/proc/stat").expect("the kernel counts");
    let line = text.lines().next().and_then(|line| line.strip_prefix("cpu ")).expect("all cores come first");
    let ticks: Vec<f64> = line.split_whitespace().map(|number| number.parse().expect("a number")).collect();
    // What guests took is in user time already; idle and waiting for disks are no work.
    let all: f64 = ticks[..8].iter().sum();
    (all - ticks[3] - ticks[4], all)
}

fn running() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").expect("the kernel counts");
    let word = text.split_whitespace().nth(3).and_then(|word| word.split_once('/')).expect("running of all");
    word.0.parse().expect("a number")
}

#[tokio::test(flavor = "multi_thread")]
async fn use_and_run_queue_of_a_busy_machine_are_those_of_proc() {
    let cluster = Cluster::start_with(job("done", JobConf::default()), |config| {
        config.vitals_interval_ms = 1_000;
        // Hardly any, so that a value is that of the second before it.
        config.vitals_smoothing_ms = 100;
    });
    let cluster = cluster.await;
    let busy = Busy::start(1);
    let (mut seen, mut before) = (0, None);
    let agrees = cluster.master.until("a second whose use is that of /proc/stat", |received| {
        // The details come with a full sample only.
        let mut full =
            received.reports.iter().filter_map(|report| report.vitals.as_ref().filter(|v| v.details.is_some()));
        let (n, vitals) = (full.clone().count(), full.next_back()?);
        if n == seen {
            return None;
        }
        let now = ticks();
        let earlier: (f64, f64) = before.replace(now).filter(|_| n == seen + 1).unwrap_or(now);
        seen = n;
        let by_kernel = (now.0 - earlier.0) / (now.1 - earlier.1);
        let reported = f64::from(vitals.cpu_use_parts) / 1e4;
        let cores = vitals.core_use_parts.iter().map(|&parts| f64::from(parts) / 1e4);
        let mean = cores.sum::<f64>() / vitals.core_use_parts.len() as f64;
        // One thread takes all of a core, or as much of it as a busy machine or a hypervisor leaves.
        let something = reported > 0.5 / vitals.core_use_parts.len() as f64;
        (something && (reported - by_kernel).abs() < 0.05 && (reported - mean).abs() < 0.001).then_some(())
    });
    agrees.await;
    drop(busy);

    let _busy = Busy::start(8);
    let agrees = cluster.master.until("a run queue that is that of /proc/loadavg", |received| {
        let vitals = received.reports.last()?.vitals.clone()?;
        let reported = f64::from(vitals.run_queue_milli) / 1e3;
        // Less the thread that looks.
        (reported > 7.5 && (reported - (running() - 1.0)).abs() < 1.0).then_some(vitals)
    });
    let vitals = agrees.await;
    assert!(vitals.foreign_milli > 7_500, "it has no attempts: {vitals:?}");
    cluster.end().await;
}
