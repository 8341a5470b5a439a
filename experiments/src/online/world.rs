//! The paper's small cluster and its workload, as a replay can have them.
//!
//! 3 workers of 2 map and 2 reduce slots, heartbeats every 3 s, reduces after all maps, no speculation (§III). 10 grep jobs,
//! each a search and then a sort of what it found, and 10 word count jobs, submitted together (§III-A); or 10 word count
//! jobs alone (§III-B). The paper does not say how large they are: here a word count has 48 maps of 8 to 64 MiB, so that ten
//! of them take about the paper's 900 s. A task takes a start and a time for each MiB, as Fig. 1 has it, and each task
//! scatters around its line by a normal draw.

use std::collections::BTreeMap;

use howdah_core::job::TaskKind;
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
    /// The same, and how far their running tasks are, evenly.
    AtOnceAndProgress,
    /// Every three seconds, ends included, as the paper's Hadoop 0.20.203 has it unless it is configured otherwise.
    Regularly,
}

impl Reporting {
    pub(super) fn heartbeat(self) -> SimHeartbeat {
        SimHeartbeat { interval: HEARTBEAT, out_of_band: self != Reporting::Regularly }
    }

    /// For tables.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Reporting::AtOnce => "at once",
            Reporting::AtOnceAndProgress => "at once, and progress",
            Reporting::Regularly => "with heartbeats",
        }
    }
}

/// Parameters under which simulated workers report progress, as live ones always do: those of a rule for speculative attempts
/// that may start none.
pub(super) fn telling_progress() -> BTreeMap<String, String> {
    [("speculation", "hadoop"), ("speculation.cap", "0")].map(|(key, value)| (key.to_owned(), value.to_owned())).into()
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
    let scheduler_params =
        if reporting == Reporting::AtOnceAndProgress { telling_progress() } else { BTreeMap::default() };
    ReplayOptions {
        scheduler: scheduler.to_owned(),
        scheduler_params,
        view: View::Workers(WorkersView { workers, heartbeat: reporting.heartbeat(), ..WorkersView::default() }),
        slowstart_ppm: Some(1_000_000),
        ..ReplayOptions::default()
    }
}

/// Milliseconds for a task's start and for each MiB.
#[derive(Clone, Copy)]
struct Line(f64, f64);

impl Line {
    fn ms(self, mib: f64) -> f64 {
        self.0 + self.1 * mib
    }
}

/// What jobs of a name take: their maps and their reduces.
struct Application {
    name: &'static str,
    map: Line,
    reduce: Line,
}

const SEARCH: Application = Application { name: "grep-search", map: Line(1_500.0, 90.0), reduce: Line(2_500.0, 1.0) };
const SORT: Application = Application { name: "grep-sort", map: Line(1_800.0, 20.0), reduce: Line(2_500.0, 1.0) };
const WORD_COUNT: Application =
    Application { name: "wordcount", map: Line(2_000.0, 260.0), reduce: Line(4_000.0, 4.0) };

/// What a task of a workload's job takes on its line, before it scatters, in milliseconds: the best that anybody can know
/// of it before it ends.
pub(super) fn line_ms(job: &JobTemplate, kind: TaskKind, index: u32) -> f64 {
    let named = |application: &&Application| job.name.starts_with(application.name);
    let application = [&SEARCH, &SORT, &WORD_COUNT].into_iter().find(named).expect("workloads have these three");
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    match kind {
        TaskKind::Map => application.map.ms(mib(job.map_input_bytes[index as usize])),
        TaskKind::Reduce => {
            application.reduce.ms(mib(job.map_input_bytes.iter().sum::<u64>()) / f64::from(job.n_reduces))
        }
    }
}

/// A task's time, from its line and a standard normal draw.
pub(super) fn scattered_ms(line_ms: f64, normal: f64) -> u64 {
    scattered_by(line_ms, SCATTER, normal)
}

/// The same, of a time that scatters by another share of itself.
pub(super) fn scattered_by(line_ms: f64, scatter: f64, normal: f64) -> u64 {
    (line_ms * (1.0 + scatter * normal).max(0.1)).round().max(1.0) as u64
}

/// One run of the workload: sizes are the same in every run of a seed, how tasks scatter is not.
pub(super) fn workload(jobs: Jobs, seed: u64, run: u64, n: u32) -> Trace {
    workload_of(jobs, seed, run, n, SCATTER)
}

/// The same with tasks that scatter by another share of their time.
pub(super) fn workload_of(jobs: Jobs, seed: u64, run: u64, n: u32, scatter: f64) -> Trace {
    let mut draw = Draw { sizes: Random::new(seed, 1), random: Random::new(seed, 100 + run), scatter };
    let mut trace = Trace { source: "the online paper's workload".to_owned(), ..Trace::default() };
    for index in 1..=n {
        if jobs == Jobs::Both {
            let id = format!("search-{index}");
            let search = draw.job(&SEARCH, index, [24, 1]);
            let sort = draw.job(&SORT, index, [1, 1]);
            let follows = Some(Box::new(Follows { job: id.clone(), after_ms: 1_000 }));
            trace.jobs.push(JobTemplate { id, ..search });
            trace.jobs.push(JobTemplate { follows, ..sort });
        }
        trace.jobs.push(draw.job(&WORD_COUNT, index, [48, 2]));
    }
    trace
}

struct Draw {
    sizes: Random,
    random: Random,
    scatter: f64,
}

impl Draw {
    fn job(&mut self, of: &Application, index: u32, [n_maps, n_reduces]: [u32; 2]) -> JobTemplate {
        let mib: Vec<u64> = (0..n_maps).map(|_| 8 + self.sizes.below(57) as u64).collect();
        let all: u64 = mib.iter().sum();
        let map_ms = mib.iter().map(|&mib| self.time(of.map, mib as f64)).collect();
        let share = all as f64 / f64::from(n_reduces);
        JobTemplate {
            name: format!("{}-{index}", of.name),
            n_maps,
            n_reduces,
            map_ms,
            map_input_bytes: mib.iter().map(|mib| mib << 20).collect(),
            reduce_ms: (0..n_reduces).map(|_| self.time(of.reduce, share)).collect(),
            ..JobTemplate::default()
        }
    }

    fn time(&mut self, line: Line, mib: f64) -> u64 {
        scattered_by(line.ms(mib), self.scatter, self.random.normal())
    }
}
