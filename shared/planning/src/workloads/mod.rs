//! Synthetic TraceGen: every workload of the papers by name, and workloads of one's own from a description.
//!
//! A workload is a recipe: name, source, choices in, trace out. Same name, choices and seed give the same trace on
//! every machine. **No recipe contains a number that its paper's text lacks without saying so**: each lists what
//! the text leaves open and how it is filled, and `Deviation:` marks in the code where a printed number is not
//! followed. Source of the idea: SimMR §III-A.

mod arrivals;
mod batches;
mod build;
pub mod custom;
mod error;
mod examples;
mod facebook_durations;
mod facebook_table;
pub mod properties;
mod registry;
mod simmr_facebook;
mod simmr_testbed;
mod swim_like;
mod synthetic;
mod table_two;
#[cfg(test)]
mod tests;
mod yahoo_m45;

pub use error::WorkloadError;
pub use registry::{all, find};

use howdah_core::job::profile::Trace;
use howdah_core::models::{Distribution, Negative};

/// What a job's scale factor multiplies, in the workloads of balanced-pools §4.1 that have one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// The durations of its tasks, as the text has it for Yahoo! M45.
    #[default]
    Durations,
    /// The numbers of its tasks: "each job is scaled", as the text has it for Synthetic1.
    Tasks,
    Both,
}

/// What one may choose when a workload is generated.
#[derive(Clone, Debug, PartialEq)]
pub struct Choices {
    /// Number of jobs; `None` for the workload's own.
    pub jobs: Option<usize>,
    /// Of everything random.
    pub seed: u64,
    /// What becomes of negative draws where a paper draws from a normal distribution and says nothing about them.
    pub negative: Negative,
    /// What scale factors multiply where a paper speaks of them.
    pub scale: Scale,
    /// Gaps between submissions in milliseconds; `None` for the workload's own way, mostly all at once.
    pub gaps: Option<Distribution>,
}

impl Default for Choices {
    fn default() -> Choices {
        Choices { jobs: None, seed: 0, negative: Negative::Redraw, scale: Scale::default(), gaps: None }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// As typed.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Where it is described.
    pub source: &'static str,
    /// Jobs by default.
    pub jobs: usize,
    /// Whether another number of jobs makes sense.
    pub resizable: bool,
    /// Map and reduce slots of the cluster that its source speaks of, for reference runtimes.
    pub slots: (u16, u16),
    /// What the text leaves open and how it is filled, a sentence each.
    pub open: &'static [&'static str],
    /// Numbers of the source about the whole set, to print beside the reached ones.
    pub stated: &'static [(properties::Property, f64)],
    make: fn(&Choices, usize) -> Trace,
}

impl Workload {
    /// The trace.
    ///
    /// # Errors
    /// If the number of jobs is not this workload's to choose, or is 0.
    pub fn generate(&self, choices: &Choices) -> Result<Trace, WorkloadError> {
        let jobs = choices.jobs.unwrap_or(self.jobs);
        if jobs == 0 {
            return Err(WorkloadError::NoJobs);
        }
        if !self.resizable && jobs != self.jobs {
            return Err(WorkloadError::FixedSize { name: self.name, jobs: self.jobs, asked: jobs });
        }
        let mut trace = (self.make)(choices, jobs);
        trace.source = format!("workload {} ({}), {jobs} jobs, seed {}", self.name, self.source, choices.seed);
        if let Some(gaps) = &choices.gaps {
            arrivals::apart(&mut trace, gaps, choices.seed);
        }
        Ok(trace)
    }
}
