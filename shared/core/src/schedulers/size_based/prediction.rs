//! The size of a job before it has run.
//!
//! A job's input is the sum of its maps' input bytes. Where they are unknown (a trace without them, a job that reads no
//! files), each map stands for a block of 128 MiB, the size that the paper's §II gives as an example. Its size then
//! follows from a line, either given or fitted to the jobs that have succeeded so far. Until the first has, every job
//! is taken for a small one.

use super::line::{Line, Points};
use crate::cluster::Job;

/// Input of a map whose bytes are not known.
const BLOCK: u64 = 128 << 20;

/// What tells a job's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Input,
    /// What was stated with it: in a replay, the size that the trace has; its input where nothing was.
    Stated,
}

/// How the size follows from the input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fit {
    /// As a parameter says.
    Given(Line),
    /// As the jobs so far had it; the line is that of the points.
    Learned(Points, Option<Line>),
}

impl Fit {
    pub(super) fn learned() -> Fit {
        Fit::Learned(Points::default(), None)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Prediction {
    source: Source,
    fit: Fit,
}

impl Prediction {
    pub(super) fn new(source: Source, fit: Fit) -> Prediction {
        Prediction { source, fit }
    }

    /// Slot time in microseconds that the job will probably take.
    pub(super) fn of(&self, job: &Job) -> u64 {
        let stated = job.spec().conf.size.filter(|_| self.source == Source::Stated);
        if let Some(size) = stated {
            return size.as_us();
        }
        let line = match self.fit {
            Fit::Given(line) | Fit::Learned(_, Some(line)) => line,
            Fit::Learned(_, None) => return 0,
        };
        line.at(input_bytes(job))
    }

    /// A job has succeeded, and had this size.
    pub(super) fn learn(&mut self, job: &Job, size_us: u64) {
        if let Fit::Learned(points, line) = &mut self.fit {
            points.add(input_bytes(job), size_us);
            *line = points.line();
        }
    }

    /// Goes on with what another one has seen.
    pub(super) fn inherit(&mut self, old: &Prediction) {
        if let (Fit::Learned(..), Fit::Learned(..)) = (self.fit, old.fit) {
            self.fit = old.fit;
        }
    }

    /// Nothing has been seen.
    pub(super) fn forget(&mut self) {
        if let Fit::Learned(..) = self.fit {
            self.fit = Fit::learned();
        }
    }
}

fn input_bytes(job: &Job) -> u64 {
    let spec = job.spec();
    let known: u64 = spec.map_input_bytes.iter().fold(0, |sum, &bytes| sum.saturating_add(bytes));
    if known > 0 { known } else { u64::from(spec.n_maps) * BLOCK }
}
