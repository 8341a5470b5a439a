//! What a replay did over time, as a picture (SVG) or a table (CSV).
//!
//! One lane per slot or per job while the eye can follow them; beyond that the busy slots as areas over time and
//! the jobs as thin bars, so that the file stays small and still says something. Which of the two is decided by
//! counting (`MAX_LANES`, `MAX_JOB_LANES`, `MAX_PIECES`), never by the format of the cluster.

mod areas;
mod axis;
mod csv;
mod job_lanes;
mod lanes;
mod overview;
mod record;
mod slot_lanes;
mod stages;
mod svg;

use std::io::{self, Write};

use howdah_core::job::TaskKind;
use howdah_core::replay::AttemptRecord;
use howdah_core::time::Time;

pub use record::Recorder;
pub use svg::shortened;

/// More slots than this are drawn as areas.
const MAX_LANES: usize = 260;
/// More jobs than this are drawn as thin bars.
const MAX_JOB_LANES: usize = 120;
/// More pieces than this are drawn as areas: a lane has no room for them, and the file would be megabytes.
const MAX_PIECES: usize = 50_000;

/// What one lane stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// A slot.
    Slot,
    /// A job.
    Job,
}

/// All that is drawn.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// First line.
    pub title: String,
    /// Second line.
    pub subtitle: String,
    /// In order of submission: job number 1 is the first.
    pub jobs: Vec<JobBar>,
    /// In any order.
    pub attempts: Vec<AttemptRecord>,
    /// Map and reduce slots of the cluster.
    pub slots: [u32; 2],
    /// Names of the workers, by number; empty in the slot-pool model.
    pub workers: Vec<String>,
}

/// One job on the time axis.
#[derive(Clone, Debug)]
pub struct JobBar {
    /// Printed id.
    pub id: String,
    /// For people; may be empty.
    pub name: String,
    /// When it came.
    pub submit: Time,
    /// Its first launch.
    pub start: Option<Time>,
    /// Its last map's end.
    pub maps_done: Option<Time>,
    /// When it was over.
    pub finish: Time,
}

impl Timeline {
    /// Draws it.
    pub fn write_svg(&self, lanes: Lanes, out: &mut dyn Write) -> io::Result<()> {
        match lanes {
            Lanes::Slot => {
                let placed = lanes::place(&self.attempts);
                match slot_lanes::SlotLanes::new(self, &placed) {
                    Some(view) => view.write(out),
                    None => overview::write(self, lanes, out),
                }
            }
            Lanes::Job if self.jobs.len() <= MAX_JOB_LANES => job_lanes::write(self, out),
            Lanes::Job => overview::write(self, lanes, out),
        }
    }

    /// One row per attempt, in order of launch.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        csv::write(self, &lanes::place(&self.attempts), out)
    }

    /// First and last instant of the picture.
    fn span(&self) -> (Time, Time) {
        let starts = self.jobs.iter().map(|job| job.submit).chain(self.attempts.iter().map(|a| a.start));
        let ends = self.jobs.iter().map(|job| job.finish).chain(self.attempts.iter().map(|a| a.end));
        let (first, last) = (starts.min().unwrap_or(Time::ZERO), ends.max().unwrap_or(Time::ZERO));
        // A start that is near the origin is drawn from the origin: round numbers read better.
        let near = first.as_us() <= last.since(first).as_us() / 10;
        (if near { Time::ZERO } else { first }, last)
    }

    /// Such as `job_1_0007 wordcount`.
    fn job_label(&self, number: u32) -> String {
        match self.jobs.get((number as usize).wrapping_sub(1)) {
            Some(job) if job.name.is_empty() => job.id.clone(),
            Some(job) => format!("{} {}", job.id, job.name),
            None => format!("job {number}"),
        }
    }

    /// Name of a worker, if workers are told apart.
    fn worker(&self, worker: u32) -> Option<&str> {
        self.workers.get(worker as usize).map(String::as_str)
    }
}

/// `map slots` or `reduce slots`.
fn slots_of(kind: TaskKind) -> &'static str {
    match kind {
        TaskKind::Map => "map slots",
        TaskKind::Reduce => "reduce slots",
    }
}

#[cfg(test)]
mod tests;
