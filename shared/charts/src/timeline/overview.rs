//! Many slots or jobs: busy slots and jobs in the system as areas over time, each job as a thin bar in order of
//! submission.
//!
//! The size of the file depends on the width of the picture and, for the bars, on the number of jobs up to
//! [`MAX_BARS`]; beyond that, neighbours share a bar that spans all of them.

use std::fmt::Write as _;
use std::io;
use std::io::Write;

use howdah_core::job::TaskKind;
use howdah_core::time::Time;

use super::areas::{Bins, area, stack};
use super::axis::{Axis, decimal_step};
use super::data::{JobBar, Lanes, Timeline, slots_of};
use super::stages::{Stage, stretches};
use super::svg::{FOOT, HEAD, LEFT, RIGHT, Svg, WIDTH, num};
use crate::count;

/// At most this many bars for jobs.
const MAX_BARS: usize = 6_000;
/// Height of the areas of one kind of slot.
const PANEL: f64 = 170.0;
/// Space above each part, for its name.
const GAP: f64 = 26.0;

/// Writes the picture; the jobs get more room if they were asked for.
pub(crate) fn write(timeline: &Timeline, lanes: Lanes, out: &mut dyn Write) -> io::Result<()> {
    let panel = if lanes == Lanes::Slot { PANEL } else { PANEL / 2.0 };
    let most = if lanes == Lanes::Slot { 320.0 } else { 800.0 };
    let jobs = (timeline.jobs.len() as f64 * 12.0).clamp(60.0, most);
    let kinds: Vec<TaskKind> = TaskKind::ALL.into_iter().filter(|&kind| timeline.slots[kind] > 0).collect();
    let bottom = HEAD + kinds.len() as f64 * (GAP + panel) + GAP + panel + GAP + jobs;
    let mut svg = Svg::open(out, bottom + FOOT, &timeline.title, &timeline.subtitle)?;
    let (from, to) = timeline.span();
    let axis = Axis::new(from, to, LEFT, WIDTH - LEFT - RIGHT);

    let sums: Vec<Vec<(Stage, Vec<f64>)>> = kinds.iter().map(|&kind| busy(timeline, kind, from, to, &axis)).collect();
    let used = |stage: Stage| sums.iter().flatten().any(|(s, means)| *s == stage && means.iter().any(|&m| m > 0.0));
    let stages = Stage::ALL.into_iter().filter(|&stage| used(stage)).map(|stage| (stage.class(), stage.label()));
    let mut legend: Vec<(&str, &str)> = stages.collect();
    legend.push(("q", "job waits for its first slot"));
    svg.legend(&legend)?;

    axis.draw(&mut svg, HEAD, bottom)?;
    let mut top = HEAD + GAP;
    for (kind, sums) in kinds.iter().zip(&sums) {
        let slots = timeline.slots[*kind];
        let name = format!("{} in use, of {}", slots_of(*kind), count(slots.into()));
        write_busy(&mut svg, &axis, (top, panel), &name, Some(slots), &in_order(sums))?;
        top += panel + GAP;
    }
    let jobs_in = in_system(&timeline.jobs, from, to, &axis);
    write_busy(&mut svg, &axis, (top, panel), "jobs that have come and are not over", None, &jobs_in)?;
    top += panel + GAP;
    write_jobs(&mut svg, &axis, top, jobs, &timeline.jobs)?;
    svg.close()
}

/// Mean number of slots of a kind in each stage, per pixel.
fn busy(timeline: &Timeline, kind: TaskKind, from: Time, to: Time, axis: &Axis) -> Vec<(Stage, Vec<f64>)> {
    let pixels = (axis.right() - axis.left()) as usize;
    let stages: Vec<Stage> = Stage::ALL.into_iter().filter(|stage| stage.of_kind(kind)).collect();
    let mut bins: Vec<Bins> = stages.iter().map(|_| Bins::new(from, to, pixels)).collect();
    for record in timeline.attempts.iter().filter(|record| record.attempt.kind == kind) {
        for stretch in stretches(record) {
            if let Some(at) = stages.iter().position(|stage| *stage == stretch.stage) {
                bins[at].add(stretch.from, stretch.to);
            }
        }
    }
    stages.into_iter().zip(bins.iter().map(Bins::means)).collect()
}

/// Useful work at the bottom, what waits above it, what was lost on top.
fn in_order(sums: &[(Stage, Vec<f64>)]) -> Vec<(&'static str, Vec<f64>)> {
    let order = [Stage::Map, Stage::Reduce, Stage::Shuffle, Stage::Wait, Stage::Failed, Stage::Killed];
    let found = order.iter().filter_map(|stage| sums.iter().find(|(s, _)| s == stage));
    found.map(|(stage, means)| (stage.class(), means.clone())).collect()
}

/// Mean number of jobs in their map stage, after it and before it, per pixel.
fn in_system(jobs: &[JobBar], from: Time, to: Time, axis: &Axis) -> Vec<(&'static str, Vec<f64>)> {
    let pixels = (axis.right() - axis.left()) as usize;
    let mut bins = [0, 1, 2].map(|_| Bins::new(from, to, pixels));
    for job in jobs {
        for (bins, pair) in bins.iter_mut().zip(ends(std::slice::from_ref(job)).windows(2)) {
            bins.add(pair[0], pair[1]);
        }
    }
    let [waiting, maps, rest] = bins.map(|bins| bins.means());
    vec![(Stage::Map.class(), maps), (Stage::Reduce.class(), rest), ("q", waiting)]
}

/// Areas on top of each other, the first one at the bottom, and a line at the limit if there is one.
fn write_busy(
    svg: &mut Svg<'_>,
    axis: &Axis,
    (top, height): (f64, f64),
    name: &str,
    limit: Option<u32>,
    sums: &[(&'static str, Vec<f64>)],
) -> io::Result<()> {
    let base = top + height;
    let width = axis.right() - axis.left();
    let mut layers = Vec::new();
    let mut sum = vec![0.0; sums.first().map_or(0, |(_, means)| means.len())];
    for (class, means) in sums {
        stack(&mut sum, means);
        if means.iter().any(|&mean| mean > 0.0) {
            layers.push((*class, sum.clone()));
        }
    }
    // Attempts that are being stopped hold slots beyond the number that may be given out.
    let most = sum.iter().copied().fold(f64::from(limit.unwrap_or(1)), f64::max);
    let per_one = height / most;
    svg.text("t", "start", axis.left(), top - 7.0, name)?;
    // Each colour is drawn from the base up to its sum and then covered by the lower ones, so that no seams show.
    for (class, sum) in layers.iter().rev() {
        let path = area(sum, axis.left(), width, base, per_one);
        if [Stage::Failed.class(), Stage::Killed.class()].contains(class) {
            // Hatches are half transparent.
            svg.path("e", &path)?;
        }
        svg.path(class, &path)?;
    }
    let step = decimal_step(most / 5.0).max(1.0);
    let mut tick = 0.0;
    while tick <= most + 1e-9 {
        svg.text("t", "end", axis.left() - 8.0, base - tick * per_one + 4.0, &count(tick as u64))?;
        tick += step;
    }
    if let Some(limit) = limit.map(|limit| base - f64::from(limit) * per_one) {
        svg.line("c", axis.left(), limit, axis.right(), limit)?;
    }
    svg.line("a", axis.left(), base, axis.right(), base)
}

/// One bar per job or group of neighbours: waiting, map stage, the rest.
fn write_jobs(svg: &mut Svg<'_>, axis: &Axis, top: f64, height: f64, jobs: &[JobBar]) -> io::Result<()> {
    let note = "jobs in order of submission: waiting, until the last map has finished, and the rest";
    svg.text("t", "start", axis.left(), top - 7.0, note)?;
    let group = jobs.len().div_ceil(MAX_BARS).max(1);
    let pitch = height / jobs.len().max(1) as f64;
    let thick = num((pitch * group as f64).max(0.8));
    let mut paths = [String::new(), String::new(), String::new()];
    for (index, bar) in jobs.chunks(group).enumerate() {
        let y = num(top + pitch * (index * group) as f64);
        let ends = ends(bar);
        for (path, pair) in paths.iter_mut().zip(ends.windows(2)) {
            let (x, to_x) = (axis.x(pair[0]), axis.x(pair[1]));
            if pair[0] < pair[1] {
                // Writing to a string cannot fail.
                let _ = write!(path, "M{} {y}h{w}v{thick}h-{w}z", num(x), w = num((to_x - x).max(0.3)));
            }
        }
    }
    for (path, class) in paths.iter().zip(["q", Stage::Map.class(), Stage::Reduce.class()]) {
        svg.path(class, path)?;
    }
    let step = decimal_step(jobs.len() as f64 / 6.0).max(1.0) as usize;
    for job in std::iter::once(1).chain((step..=jobs.len()).step_by(step)).filter(|&job| job <= jobs.len()) {
        if job > 1 && (job as f64 * pitch) < 14.0 {
            continue;
        }
        svg.text(
            "t",
            "end",
            axis.left() - 8.0,
            top + pitch * (job as f64 - 0.5) + 4.0,
            &format!("job {}", count(job as u64)),
        )?;
    }
    Ok(())
}

/// When these jobs came, first started, had their last map finished and were over.
fn ends(jobs: &[JobBar]) -> [Time; 4] {
    let submit = jobs.iter().map(|job| job.submit).min().unwrap_or_default();
    let finish = jobs.iter().map(|job| job.finish).max().unwrap_or_default().max(submit);
    let start = jobs.iter().filter_map(|job| job.start).min().unwrap_or(finish).clamp(submit, finish);
    let maps_done = jobs.iter().filter_map(|job| job.maps_done).max().unwrap_or(start).clamp(start, finish);
    [submit, start, maps_done, finish]
}
