//! The workloads, their reference runtimes, and the arrivals that make a load.
//!
//! The paper imposes loads and does not say of what. With equal shares of map and reduce work on map and reduce slots
//! all readings are one. The stand-in's reduces hold two fifths of the work on a quarter of the slots: a load of 0.7 of
//! all slots would be 1.12 of the reduce slots, and no queue would be stable. So the load here is that of the kind of
//! slots that has the most to do; the other reading is in the sweep of readings.

use anyhow::{Context, Result};
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::replay::summary::size;
use howdah_core::replay::{Arrivals, ReplayOptions, View, reference_times};
use howdah_core::schedulers::size_based::{Line, Points};
use howdah_core::time::Span;
use howdah_planning::tune::Run;
use howdah_planning::workloads::{Choices, find};

use super::policy::Policy;

/// 100 workers of 6 + 2 (§V-A). They send a heartbeat whenever a slot is free and nothing depends on which worker a task
/// runs, so one pool of all slots decides the same.
pub(super) const SLOTS: [u16; 2] = [600, 200];
/// Input of a map in the stand-in, and what the policies take a map's unknown input for.
const BLOCK: u64 = 128 << 20;

/// What a load is a share of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoadReading {
    /// The kind of slots that has the most to do.
    Scarcest,
    /// All slots together.
    All,
}

/// What the workload is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// As the recipe makes it.
    AsMade,
    /// With task times scaled by kind, so that maps and reduces have work as they have slots, 3 to 1.
    Balanced,
    /// With 3.5 times as many tasks in each job, as long as they were. The text states what jobs take alone, all together,
    /// and how sizes spread, but no size; so much larger, FIFO's slowdowns at a load of 0.7 are the paper's.
    Wider,
}

/// How a workload is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) shape: Shape,
    pub(super) load: LoadReading,
    /// Share of a job's maps that must have finished before its reduces start, in millionths.
    pub(super) slowstart_ppm: u32,
}

/// The one of all figures. §V-A names 5 % as the default of slow start and does not say what was used; with it, reduces
/// of jobs that were moved on hold the slots that the small jobs' reduces need (§VI-C describes it), and in the stand-in,
/// whose reduces are the scarce ones, that undoes what queues do. With all maps done first, it cannot happen.
pub(super) const MAIN: Reading =
    Reading { shape: Shape::AsMade, load: LoadReading::Scarcest, slowstart_ppm: 1_000_000 };

/// Repeats of the workload.
pub(super) struct Bench {
    pub(super) sets: Vec<Set>,
    reading: Reading,
}

/// One repeat.
pub(super) struct Set {
    pub(super) trace: Trace,
    /// Runtimes alone.
    pub(super) references: Vec<Span>,
    /// Size by input, over all of its jobs.
    pub(super) points: Points,
    seed: u64,
}

impl Bench {
    /// Makes them; `jobs` are the recipe's own number unless given.
    pub(super) fn new(seed: u64, repeats: usize, jobs: Option<usize>, reading: Reading) -> Result<Bench> {
        let recipe = find("slowdown-swim").context("find workload `slowdown-swim`")?;
        let make = |n: usize| -> Result<Set> {
            let seed = seed.wrapping_add(n as u64);
            let mut trace = recipe.generate(&Choices { jobs, seed, ..Choices::default() })?;
            match reading.shape {
                Shape::AsMade => {}
                Shape::Balanced => balance(&mut trace),
                Shape::Wider => widen(&mut trace),
            }
            let references = reference_times(&trace, &options(seed, reading))?;
            let mut points = Points::default();
            for job in &trace.jobs {
                points.add(u64::from(job.n_maps) * BLOCK, size(job).as_us());
            }
            Ok(Set { trace, references, points, seed })
        };
        Ok(Bench { sets: (0..repeats).map(make).collect::<Result<_>>()?, reading })
    }

    pub(super) fn repeats(&self) -> usize {
        self.sets.len()
    }

    /// All repeats of a policy at a load in thousandths.
    pub(super) fn runs(&self, policy: &Policy, load_milli: u32) -> Vec<Run<'_>> {
        self.sets
            .iter()
            .map(|set| Run {
                trace: &set.trace,
                references: &set.references,
                options: set.options(policy, load_milli, self.reading),
            })
            .collect()
    }
}

impl Set {
    /// A policy at a load. Policies that predict know the line through all jobs of the workload, as from a history.
    pub(super) fn options(&self, policy: &Policy, load_milli: u32, reading: Reading) -> ReplayOptions {
        let mut options = options(self.seed, reading);
        options.scheduler = policy.scheduler.to_owned();
        options.scheduler_params =
            policy.params.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        if let Some(fit) = options.scheduler_params.get_mut("fit").filter(|fit| *fit == "history") {
            *fit = self.fit();
        }
        options.arrivals = Arrivals::Poisson { mean: self.gap(load_milli, reading.load) };
        options
    }

    /// The line through all jobs as the policies' parameter; its offset, as a parameter, is not below 0.
    fn fit(&self) -> String {
        let line = self.line();
        format!("{:.3}s,{:.3}s", line.slope, line.offset)
    }

    pub(super) fn line(&self) -> Line {
        let line = self.points.line().unwrap_or_default();
        if line.offset >= 0.0 {
            return line;
        }
        let (mut size_s, mut gib) = (0.0, 0.0);
        for job in &self.trace.jobs {
            size_s += size(job).as_secs_f64();
            gib += f64::from(job.n_maps) * BLOCK as f64 / (1u64 << 30) as f64;
        }
        Line { offset: 0.0, slope: size_s / gib }
    }

    /// The mean time between jobs.
    fn gap(&self, load_milli: u32, reading: LoadReading) -> Span {
        let work = work_s(&self.trace);
        let slots = SLOTS.map(f64::from);
        let busy_s = match reading {
            LoadReading::Scarcest => (work[0] / slots[0]).max(work[1] / slots[1]),
            LoadReading::All => (work[0] + work[1]) / (slots[0] + slots[1]),
        };
        let gap_s = busy_s / (f64::from(load_milli) / 1000.0) / self.trace.jobs.len().max(1) as f64;
        Span::from_us((gap_s * 1e6) as u64)
    }

    /// Its work on all slots of the kind that has the most to do, and what its jobs take alone one after the other, in
    /// hours.
    pub(super) fn hours(&self) -> [f64; 2] {
        let [maps, reduces] = work_s(&self.trace);
        let slots = SLOTS.map(f64::from);
        let alone_s: f64 = self.references.iter().map(|span| span.as_secs_f64()).sum();
        [(maps / slots[0]).max(reduces / slots[1]) / 3_600.0, alone_s / 3_600.0]
    }

    /// Share of the work that reduces make.
    pub(super) fn reduce_share(&self) -> f64 {
        let [maps, reduces] = work_s(&self.trace);
        reduces / (maps + reduces)
    }
}

/// The predicted size of a job in microseconds, as the policies have it.
pub(super) fn predicted_us(line: &Line, job: &JobTemplate) -> u64 {
    line.at(u64::from(job.n_maps) * BLOCK)
}

fn options(seed: u64, reading: Reading) -> ReplayOptions {
    ReplayOptions {
        view: View::Slots { maps: SLOTS[0], reduces: SLOTS[1] },
        slowstart_ppm: Some(reading.slowstart_ppm),
        seed,
        ..ReplayOptions::default()
    }
}

/// Work of maps and of reduces in slot seconds.
fn work_s(trace: &Trace) -> [f64; 2] {
    let maps_only = |job: &JobTemplate| JobTemplate {
        n_reduces: 0,
        map_ms: job.map_ms.clone(),
        n_maps: job.n_maps,
        ..JobTemplate::default()
    };
    let all: f64 = trace.jobs.iter().map(|job| size(job).as_secs_f64()).sum();
    let maps: f64 = trace.jobs.iter().map(|job| size(&maps_only(job)).as_secs_f64()).sum();
    [maps, all - maps]
}

fn balance(trace: &mut Trace) {
    let [maps, reduces] = work_s(trace);
    let slots = SLOTS.map(f64::from);
    let all = (maps + reduces) / (slots[0] + slots[1]);
    let factors = [slots[0] * all / maps, slots[1] * all / reduces];
    let scale = |times: &mut Vec<u64>, factor: f64| {
        times.iter_mut().for_each(|ms| *ms = (*ms as f64 * factor).round() as u64);
    };
    for job in &mut trace.jobs {
        scale(&mut job.map_ms, factors[0]);
        scale(&mut job.reduce_ms, factors[1]);
    }
}

/// Lists of times are gone through again, so that the new tasks take as long as the old ones.
fn widen(trace: &mut Trace) {
    let more = |n: u32| (f64::from(n) * 3.5).round() as u32;
    for job in &mut trace.jobs {
        (job.n_maps, job.n_reduces) = (more(job.n_maps), more(job.n_reduces));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wider_workload_has_more_work_in_hardly_more_time_alone() {
        let hours = |shape| {
            let bench = Bench::new(1, 1, Some(120), Reading { shape, ..MAIN }).expect("made");
            bench.sets[0].hours()
        };
        let ([made_work, made_alone], [wide_work, wide_alone]) = (hours(Shape::AsMade), hours(Shape::Wider));
        assert!((wide_work / made_work - 3.5).abs() < 0.1, "{made_work} and {wide_work}");
        assert!(wide_alone < 2.0 * made_alone, "{made_alone} and {wide_alone}");
    }

    #[test]
    fn a_load_is_that_of_the_scarcest_slots_or_of_all() {
        let bench = Bench::new(1, 1, Some(120), MAIN).expect("made");
        let set = &bench.sets[0];
        assert!(set.reduce_share() > 0.25, "reduces are the scarce ones: {}", set.reduce_share());
        let (scarcest, all) = (set.gap(700, LoadReading::Scarcest), set.gap(700, LoadReading::All));
        let ratio = scarcest.as_secs_f64() / all.as_secs_f64();
        assert!((ratio - set.reduce_share() / 0.25).abs() < 1e-3, "{ratio}");
    }

    #[test]
    fn a_balanced_workload_has_work_as_it_has_slots() {
        let bench = Bench::new(1, 1, Some(120), Reading { shape: Shape::Balanced, ..MAIN }).expect("made");
        let set = &bench.sets[0];
        assert!((set.reduce_share() - 0.25).abs() < 1e-3);
        let gaps = [LoadReading::Scarcest, LoadReading::All].map(|reading| set.gap(700, reading).as_secs_f64());
        assert!((gaps[0] / gaps[1] - 1.0).abs() < 1e-3);
    }
}
