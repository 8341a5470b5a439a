//! The readings that the paper's text leaves open, one beside the other.
//!
//! A normal distribution with a deviation of ten times its mean is negative nearly half the time, and the text does
//! not say what becomes of that. "An additional scale factor is applied to map (reduce) task durations of each job"
//! reads as one factor per job or as one for its maps and one for its reduces; and durations may be drawn for each task
//! or once for all tasks of a job, which makes jobs differ far more. Workloads drawn anew differ, too (footnote 7).
//! Separate factors are made of two draws of the workload: maps of one, reduces of the other.

use anyhow::{Context, Result};
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::models::Negative;
use howdah_core::models::moments::sorted;

use super::sweep::{Point, machines_of, point};
use crate::framework::Lab;
use howdah_planning::optimize::{Batch, Ties};
use howdah_planning::workloads::{Choices, find};

/// The workloads for which the text states an effect.
const WORKLOADS: [&str; 5] =
    ["synthetic1-unimodal", "synthetic1-bimodal", "synthetic2-bimodal", "yahoo-m45-unimodal", "yahoo-m45-bimodal"];
/// Sizes on which each is tried.
const SIZES: [u16; 4] = [25, 50, 100, 200];
/// The same for Yahoo! M45, whose jobs have hundreds of maps.
const LARGE_SIZES: [u16; 3] = [100, 400, 1_000];

/// Whether maps and reduces have a factor each, whether a job's tasks take equally long, and both in words.
const VARIANTS: [(bool, bool, &str); 4] = [
    (false, false, "one factor per job"),
    (true, false, "factors of maps and reduces apart"),
    (false, true, "one factor per job, one draw for all its tasks"),
    (true, true, "factors apart, one draw for all tasks"),
];

/// Gains of one reading, over seeds and sizes.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) workload: &'static str,
    pub(super) negative: &'static str,
    pub(super) factors: &'static str,
    /// Of Johnson's order over its reverse: mean and largest.
    pub(super) johnson: (f64, f64),
    /// Of pools over Johnson's order.
    pub(super) pools: (f64, f64),
    /// Of pools over the reverse order.
    pub(super) overall: (f64, f64),
    /// Of any schedule over Johnson's order, at most.
    pub(super) possible: (f64, f64),
}

pub(super) fn run(lab: &Lab<'_>) -> Result<Vec<Reading>> {
    let mut readings = Vec::new();
    let negatives = [
        (Negative::Redraw, "drawn again"),
        (Negative::Clamp, "taken as 0"),
        (Negative::Absolute, "without their sign"),
    ];
    for workload in WORKLOADS.into_iter().take(lab.size(WORKLOADS.len(), 2)) {
        let sizes: &[u16] = if workload.starts_with("yahoo") { &LARGE_SIZES } else { &SIZES };
        for (negative, negative_name) in negatives {
            for (apart, alike, factors) in VARIANTS {
                let mut points = Vec::new();
                for seed in lab.seed..lab.seed + lab.size(3, 1) {
                    let trace = made(lab, workload, seed, negative, apart, alike)?;
                    for &size in sizes.iter().take(lab.size(sizes.len(), 2)) {
                        points.push(point(lab, workload, &Batch::new(&trace, machines_of(size)))?);
                    }
                }
                readings.push(Reading {
                    workload,
                    negative: negative_name,
                    factors,
                    johnson: mean_and_most(&points, Point::johnson_gain),
                    pools: mean_and_most(&points, Point::pools_gain),
                    overall: mean_and_most(&points, Point::overall_gain),
                    possible: mean_and_most(&points, Point::possible_gain),
                });
            }
        }
        lab.progress.step(&format!("{workload}: all readings"));
    }
    Ok(readings)
}

/// The Facebook batch by what goes first of its jobs without reduces, which Johnson's rule ties: three in four (§4.2).
pub(super) fn ties(lab: &Lab<'_>) -> Result<Vec<(&'static str, Point)>> {
    let workload = find("facebook-table1").context("workload `facebook-table1` is not there")?;
    let choices = Choices { jobs: lab.size(None, Some(20)), seed: lab.seed, ..Choices::default() };
    let trace = workload.generate(&choices).context("make `facebook-table1`")?;
    let ways =
        [(Ties::LongestFirst, "longest first"), (Ties::ShortestFirst, "shortest first"), (Ties::AsListed, "as listed")];
    let mut points = Vec::new();
    for (ties, name) in ways {
        for machines in [64, 128, 256].into_iter().skip(lab.size(0, 2)) {
            let batch = Batch { ties, ..Batch::new(&trace, machines_of(machines)) };
            points.push((name, point(lab, "facebook-table1", &batch)?));
        }
    }
    lab.progress.step("facebook-table1: all ties");
    Ok(points)
}

/// Sizes on which the sets are drawn again and again.
const DRAWN_SIZES: [u16; 6] = [20, 30, 50, 75, 100, 150];

/// The best gain of pools over Johnson's order, over sizes, for many draws of a set.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    pub(super) workload: &'static str,
    /// Ascending, one per draw.
    pub(super) gains: Vec<f64>,
}

/// The bimodal synthetic sets, drawn again and again: much depends on the draw, the more the fewer jobs (footnote 7).
pub(super) fn draws(lab: &Lab<'_>) -> Result<Vec<Draws>> {
    let sets = [
        "synthetic1-bimodal",
        "synthetic1-bimodal-20",
        "synthetic1-bimodal-10",
        "synthetic2-bimodal-20",
        "synthetic2-bimodal-10",
    ];
    let mut all = Vec::new();
    for workload in sets {
        let mut gains = Vec::new();
        for seed in lab.seed..lab.seed + lab.size(20, 3) {
            let trace = made(lab, workload, seed, Negative::Redraw, false, false)?;
            let mut best = f64::NEG_INFINITY;
            for size in DRAWN_SIZES {
                best = best.max(point(lab, workload, &Batch::new(&trace, machines_of(size)))?.pools_gain());
            }
            gains.push(best);
        }
        all.push(Draws { workload, gains: sorted(gains) });
    }
    lab.progress.step("bimodal sets: all draws");
    Ok(all)
}

fn made(lab: &Lab<'_>, name: &str, seed: u64, negative: Negative, apart: bool, alike: bool) -> Result<Trace> {
    let workload = find(name).with_context(|| format!("workload `{name}` is not there"))?;
    let draw = |seed| {
        let choices = Choices { jobs: lab.size(None, Some(10)), seed, negative, ..Choices::default() };
        workload.generate(&choices).with_context(|| format!("make `{name}`"))
    };
    // Far from the seeds of the other draws.
    let other = if apart { Some(draw(seed + 1_000)?) } else { None };
    let trace = match other {
        None => draw(seed)?,
        Some(other) => joined(draw(seed)?, &other),
    };
    Ok(if alike { with_equal_tasks(trace) } else { trace })
}

/// One draw for all maps of a job, and one for its reduces.
fn with_equal_tasks(mut trace: Trace) -> Trace {
    for job in &mut trace.jobs {
        job.map_ms.truncate(1);
        job.reduce_ms.truncate(1);
    }
    trace
}

/// Maps of one trace's jobs and reduces of the other's.
fn joined(maps: Trace, reduces: &Trace) -> Trace {
    let job = |(maps, reduces): (JobTemplate, &JobTemplate)| JobTemplate {
        n_reduces: reduces.n_reduces,
        reduce_ms: reduces.reduce_ms.clone(),
        ..maps
    };
    Trace { jobs: maps.jobs.into_iter().zip(&reduces.jobs).map(job).collect(), ..Trace::default() }
}

/// Mean and largest gain.
pub(super) fn mean_and_most(points: &[Point], gain: impl Fn(&Point) -> f64) -> (f64, f64) {
    let gains: Vec<f64> = points.iter().map(gain).collect();
    let mean = gains.iter().sum::<f64>() / gains.len().max(1) as f64;
    (mean, gains.into_iter().fold(f64::NEG_INFINITY, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_tasks_take_the_first_draw() {
        let job = JobTemplate { n_maps: 3, map_ms: vec![4, 5, 6], reduce_ms: vec![7, 8], ..Default::default() };
        let trace = with_equal_tasks(Trace { jobs: vec![job], ..Trace::default() });
        assert_eq!(
            (trace.jobs[0].n_maps, &trace.jobs[0].map_ms[..], &trace.jobs[0].reduce_ms[..]),
            (3, &[4][..], &[7][..])
        );
    }

    #[test]
    fn separate_factors_take_maps_of_one_draw_and_reduces_of_the_other() {
        let trace = |n: u64| {
            let job = JobTemplate {
                n_maps: 1,
                n_reduces: n as u32,
                map_ms: vec![n],
                reduce_ms: vec![10 * n],
                ..Default::default()
            };
            Trace { jobs: vec![job], ..Trace::default() }
        };
        let both = joined(trace(1), &trace(2));
        assert_eq!(
            (both.jobs[0].n_reduces, &both.jobs[0].map_ms[..], &both.jobs[0].reduce_ms[..]),
            (2, &[1][..], &[20][..])
        );
    }
}
