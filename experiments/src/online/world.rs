//! The paper's small cluster and its workload, as a replay can have them.
//!
//! 3 workers of 2 map and 2 reduce slots, heartbeats every 3 s, reduces after all maps, no speculation (§III). 10 grep jobs,
//! each a search and then a sort of what it found, and 10 word count jobs, submitted together (§III-A); or 10 word count
//! jobs alone (§III-B). The paper does not say how large they are: here a word count has 48 maps of 8 to 64 MiB, so that ten
//! of them take about the paper's 900 s. A task takes a start and a time for each MiB, as Fig. 1 has it, and each task
//! scatters around its line by a normal draw.

use howdah_core::job::profile::{Follows, JobTemplate, Trace};
use howdah_core::models::Random;
use howdah_core::replay::{ReplayOptions, SimHeartbeat, SimWorker, View, WorkersView};
use howdah_core::time::Span;

/// How far tasks scatter around their line, as a share of their time.
pub(super) const SCATTER: f64 = 0.04;
const WORKERS: u32 = 3;
const HEARTBEAT: Span = Span::from_secs(3);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Jobs {
    /// 10 grep and 10 word count.
    Both,
    /// 10 word count.
    WordCount,
}

/// When workers report the ends of attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reporting {
    /// Every three seconds, and at once when an attempt ends, as the workers of a live cluster.
    AtOnce,
    /// Every three seconds, ends included, as the paper's Hadoop 0.20.203 has it unless it is configured otherwise.
    Regularly,
}

impl Reporting {
    pub(super) fn heartbeat(self) -> SimHeartbeat {
        SimHeartbeat { interval: HEARTBEAT, out_of_band: self == Reporting::AtOnce }
    }

    /// For tables.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Reporting::AtOnce => "at once",
            Reporting::Regularly => "with heartbeats",
        }
    }
}

/// The cluster under a policy.
pub(super) fn options(scheduler: &str, reporting: Reporting) -> ReplayOptions {
    let worker = |index| SimWorker {
        name: format!("worker-{index}"),
        host: format!("host-{index}"),
        rack: "/default-rack".to_owned(),
        map_slots: 2,
        reduce_slots: 2,
        ..SimWorker::default()
    };
    let workers = (1..=WORKERS).map(worker).collect();
    ReplayOptions {
        scheduler: scheduler.to_owned(),
        view: View::Workers(WorkersView { workers, heartbeat: reporting.heartbeat(), ..WorkersView::default() }),
        slowstart_ppm: Some(1_000_000),
        ..ReplayOptions::default()
    }
}

/// Milliseconds for a task's start and for each MiB.
#[derive(Clone, Copy)]
struct Line(f64, f64);

/// One run of the workload: sizes by `sizes`, the same in every run; how tasks scatter by `run`.
pub(super) fn workload(jobs: Jobs, seed: u64, run: u64, n: u32) -> Trace {
    let mut draw = Draw { sizes: Random::new(seed, 1), scatter: Random::new(seed, 100 + run) };
    let mut trace = Trace { source: "the online paper's workload".to_owned(), ..Trace::default() };
    for index in 1..=n {
        if jobs == Jobs::Both {
            let id = format!("search-{index}");
            let search = draw.job("grep-search", index, [24, 1], Line(1_500.0, 90.0), Line(2_500.0, 1.0));
            let sort = draw.job("grep-sort", index, [1, 1], Line(1_800.0, 20.0), Line(2_500.0, 1.0));
            let follows = Some(Box::new(Follows { job: id.clone(), after_ms: 1_000 }));
            trace.jobs.push(JobTemplate { id, ..search });
            trace.jobs.push(JobTemplate { follows, ..sort });
        }
        trace.jobs.push(draw.job("wordcount", index, [48, 2], Line(2_000.0, 260.0), Line(4_000.0, 4.0)));
    }
    trace
}

struct Draw {
    sizes: Random,
    scatter: Random,
}

impl Draw {
    fn job(&mut self, name: &str, index: u32, [n_maps, n_reduces]: [u32; 2], map: Line, reduce: Line) -> JobTemplate {
        let mib: Vec<u64> = (0..n_maps).map(|_| 8 + self.sizes.below(57) as u64).collect();
        let all: u64 = mib.iter().sum();
        let map_ms = mib.iter().map(|&mib| self.time(map, mib as f64)).collect();
        let share = all as f64 / f64::from(n_reduces);
        JobTemplate {
            name: format!("{name}-{index}"),
            n_maps,
            n_reduces,
            map_ms,
            map_input_bytes: mib.iter().map(|mib| mib << 20).collect(),
            reduce_ms: (0..n_reduces).map(|_| self.time(reduce, share)).collect(),
            ..JobTemplate::default()
        }
    }

    fn time(&mut self, Line(start, per_mib): Line, mib: f64) -> u64 {
        let scatter = (1.0 + SCATTER * self.scatter.normal()).max(0.1);
        ((start + per_mib * mib) * scatter).round().max(1.0) as u64
    }
}
