//! What a replay did over time, as a picture (SVG) or a table (CSV).
//!
//! One lane per slot or per job while the eye can follow them; beyond that the busy slots as areas over time and
//! the jobs as thin bars, so that the file stays small and still says something. Which of the two is decided by
//! counting (`MAX_LANES`, `MAX_JOB_LANES`, `MAX_PIECES`), never by the format of the cluster.

mod areas;
mod axis;
mod csv;
mod data;
mod job_lanes;
mod lanes;
mod overview;
mod record;
mod slot_lanes;
mod stages;
mod svg;

pub use self::data::{JobBar, Lanes, Timeline};
pub use record::Recorder;
pub use svg::shortened;

use std::io;
use std::io::Write;

use howdah_core::time::Time;

use self::data::MAX_JOB_LANES;

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

#[cfg(test)]
mod tests;
