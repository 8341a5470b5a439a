//! One lane per job: how many slots it had, and for what.
//!
//! Each lane is as high as the job's own busiest pixel, so that small jobs show their waves too. A pixel shows a mean
//! over its time; the number at the lane's end is the most slots that the job had at once, however short.

use std::io;
use std::io::Write;

use howdah_core::time::Time;

use super::areas::{Bins, area, stack};
use super::axis::Axis;
use super::data::{JobBar, Timeline};
use super::stages::{Stage, stretches};
use super::svg::{FOOT, HEAD, LEFT, RIGHT, Svg, WIDTH, shortened};

/// Room at the right for the peaks.
const PEAKS: f64 = 70.0;
/// A letter of a lane's name, in any usual font.
const LETTER: f64 = 6.9;
/// Around a lane's name.
const AROUND: f64 = 16.0;
/// The longest name that is written whole, in characters: more would leave the lanes no room.
const LONGEST: usize = 72;

/// Writes the picture.
pub(crate) fn write(timeline: &Timeline, out: &mut dyn Write) -> io::Result<()> {
    let jobs = timeline.jobs.len().max(1);
    let pitch = (900.0 / jobs as f64).clamp(14.0, 48.0);
    let bottom = HEAD + pitch * jobs as f64;
    let mut svg = Svg::open(out, bottom + FOOT, &timeline.title, &timeline.subtitle)?;
    let (from, to) = timeline.span();
    let left = left(timeline);
    let axis = Axis::new(from, to, left, WIDTH - left - RIGHT - PEAKS);
    let lanes = lanes(timeline, &axis);
    let used = |stage: &Stage| lanes.iter().any(|lane| lane.busy(*stage));
    let stages = Stage::ALL.into_iter().filter(used).map(|stage| (stage.class(), stage.label()));
    let mut legend: Vec<(&str, &str)> = stages.collect();
    legend.push(("q", "job waits or pauses"));
    svg.legend(&legend)?;
    axis.draw(&mut svg, HEAD, bottom)?;
    for (index, (job, lane)) in timeline.jobs.iter().zip(&lanes).enumerate() {
        let top = HEAD + pitch * index as f64;
        write_lane(&mut svg, &axis, (top, pitch - 3.0), index + 1, job, lane)?;
    }
    svg.text("t", "start", axis.right() + 8.0, HEAD - 6.0, "most slots")?;
    svg.close()
}

/// Where the lanes begin: right of the longest name.
fn left(timeline: &Timeline) -> f64 {
    let labels = timeline.jobs.iter().enumerate().map(|(index, job)| label(index + 1, job).chars().count());
    let longest = labels.max().unwrap_or_default();
    LEFT.max(AROUND + LETTER * longest as f64)
}

/// A lane's name.
fn label(number: usize, job: &JobBar) -> String {
    let label = if job.name.is_empty() { format!("job {number}") } else { format!("{number} {}", job.name) };
    shortened(&label, LONGEST)
}

/// One job's slots over time.
struct Lane {
    stages: Vec<(Stage, Vec<f64>)>,
    /// Of the pixels' means: what the lane's height stands for.
    highest: f64,
    /// At once.
    most_slots: u32,
}

impl Lane {
    fn busy(&self, stage: Stage) -> bool {
        self.stages.iter().any(|(s, means)| *s == stage && means.iter().any(|&mean| mean > 0.0))
    }
}

fn lanes(timeline: &Timeline, axis: &Axis) -> Vec<Lane> {
    let (from, to) = timeline.span();
    let pixels = (axis.right() - axis.left()) as usize;
    let mut bins: Vec<[Option<Bins>; Stage::ALL.len()]> = timeline.jobs.iter().map(|_| Default::default()).collect();
    let mut turns: Vec<Vec<(Time, Turn)>> = vec![Vec::new(); timeline.jobs.len()];
    for record in &timeline.attempts {
        let job = (record.attempt.job.0 as usize).wrapping_sub(1);
        let Some(of_job) = bins.get_mut(job) else { continue };
        if record.start < record.end {
            turns[job].extend([(record.start, Turn::Takes), (record.end, Turn::Frees)]);
        }
        for stretch in stretches(record) {
            let bins = of_job[stretch.stage as usize].get_or_insert_with(|| Bins::new(from, to, pixels));
            bins.add(stretch.from, stretch.to);
        }
    }
    let lane = |(of_job, turns): ([Option<Bins>; Stage::ALL.len()], Vec<(Time, Turn)>)| {
        let with = Stage::ALL.into_iter().zip(of_job);
        let stages: Vec<(Stage, Vec<f64>)> = with.filter_map(|(stage, bins)| Some((stage, bins?.means()))).collect();
        let mut total = vec![0.0; pixels];
        stages.iter().for_each(|(_, means)| stack(&mut total, means));
        Lane { highest: total.into_iter().fold(0.0, f64::max), most_slots: most_at_once(turns), stages }
    };
    bins.into_iter().zip(turns).map(lane).collect()
}

/// What an attempt does to the number of its job's slots. At one instant slots are freed before they are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Frees,
    Takes,
}

/// Each slot is freed later than it is taken.
fn most_at_once(mut turns: Vec<(Time, Turn)>) -> u32 {
    turns.sort_unstable();
    let (mut now, mut most) = (0_u32, 0);
    for (_, turn) in turns {
        match turn {
            Turn::Takes => now += 1,
            Turn::Frees => now -= 1,
        }
        most = most.max(now);
    }
    most
}

fn write_lane(
    svg: &mut Svg<'_>,
    axis: &Axis,
    (top, height): (f64, f64),
    number: usize,
    job: &JobBar,
    lane: &Lane,
) -> io::Result<()> {
    let base = top + height;
    let (x, to_x) = (axis.x(job.submit), axis.x(job.finish));
    svg.rect("q", [x, base - 2.0, (to_x - x).max(1.0), 2.0], None)?;
    let per_slot = if lane.highest > 0.0 { height / lane.highest } else { 0.0 };
    let mut sum = vec![0.0; (axis.right() - axis.left()) as usize];
    let mut layers = Vec::new();
    for (stage, means) in &lane.stages {
        stack(&mut sum, means);
        layers.push((*stage, area(&sum, axis.left(), axis.right() - axis.left(), base, per_slot)));
    }
    for (stage, path) in layers.iter().rev() {
        if matches!(stage, Stage::Failed | Stage::Killed) {
            svg.path("e", path)?;
        }
        svg.path(stage.class(), path)?;
    }
    svg.line("g", 8.0, base + 1.5, axis.right(), base + 1.5)?;
    svg.text("t", "end", axis.left() - 8.0, (base + top) / 2.0 + 4.0, &label(number, job))?;
    svg.text("t", "start", axis.right() + 8.0, (base + top) / 2.0 + 4.0, &lane.most_slots.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_that_is_freed_and_taken_in_one_instant_counts_once() {
        let at = |ms: u64| Time::from_us(ms * 1_000);
        let attempt = |from: u64, to: u64| [(at(from), Turn::Takes), (at(to), Turn::Frees)];
        assert_eq!(most_at_once([attempt(0, 5), attempt(5, 9)].concat()), 1);
        assert_eq!(most_at_once([attempt(0, 5), attempt(4, 9), attempt(8, 9)].concat()), 2);
        assert_eq!(most_at_once(Vec::new()), 0);
    }
}
