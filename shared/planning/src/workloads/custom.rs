//! Workloads of one's own, from a small TOML description.
//!
//! ```toml
//! name = "nightly"
//! jobs = 200                              # --jobs overrides it
//! gaps_ms = "exponential(30000)"          # between submissions; left out: all at once
//!
//! [[class]]
//! name = "small"
//! share = 0.9                             # of the jobs, relative to the other classes, kept exactly
//! maps = "uniform(1,10)"                  # numbers are rounded
//! reduces = 1
//! map_ms = "lognormal(9.2,0.4)"
//! first_shuffle_ms = 800                  # left out: 0
//! typical_shuffle_ms = "normal(4000,500,redraw)"
//! reduce_ms = "lognormal(8,0.5)"
//! factor = "uniform(1,3)"                 # per job, on all its durations; left out: 1
//! deadline_ms = "uniform(600000,1200000)" # per job; left out: none
//! bytes_per_map = 67108864                # left out: input unknown
//! user = "night"
//! queue = "batch"
//! priority = "LOW"
//! ```

use std::fmt;

use howdah_core::job::Priority;
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::models::{Distribution, Random};
use serde::Deserialize;

use super::build::{assign, count, durations, job, of_job, of_set};
use super::{Choices, WorkloadError, arrivals};

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// For people.
    pub name: String,
    /// Number of jobs.
    pub jobs: usize,
    /// Milliseconds between submissions; `None`: all at once.
    pub gaps_ms: Option<Distribution>,
    /// Kinds of jobs, at least one.
    #[serde(rename = "class")]
    pub classes: Vec<Class>,
}

/// A kind of jobs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Name of its jobs.
    pub name: String,
    /// Weight among the classes, above 0.
    #[serde(default = "one")]
    pub share: f64,
    /// Maps per job.
    pub maps: Distribution,
    /// Reduces per job.
    #[serde(default = "none")]
    pub reduces: Distribution,
    /// Per map.
    #[serde(default = "none")]
    pub map_ms: Distribution,
    /// Per reduce of the first wave, after the last map.
    pub first_shuffle_ms: Option<Distribution>,
    /// Per later reduce.
    pub typical_shuffle_ms: Option<Distribution>,
    /// Per reduce, without its shuffle.
    #[serde(default = "none")]
    pub reduce_ms: Distribution,
    /// Per job, on all its durations.
    pub factor: Option<Distribution>,
    /// Per job, from its submission.
    pub deadline_ms: Option<Distribution>,
    /// Input of each map.
    pub bytes_per_map: Option<u64>,
    /// Who submits.
    #[serde(default)]
    pub user: String,
    /// Queue or pool.
    #[serde(default)]
    pub queue: String,
    /// At submission.
    #[serde(default)]
    pub priority: Priority,
}

fn one() -> f64 {
    1.0
}

fn none() -> Distribution {
    Distribution::Constant(0.0)
}

/// Jobs of a description may have this many tasks each; more is a typing error rather than a job.
const MOST_TASKS: f64 = 10_000_000.0;

impl Description {
    /// Reads and checks a description.
    ///
    /// # Errors
    /// If it is not TOML, has unknown fields, or a value is out of range. Messages of the first kind show the place.
    pub fn parse(text: &str) -> Result<Description, WorkloadError> {
        let description: Description = toml::from_str(text)
            .map_err(|error| WorkloadError::Description(error.to_string().trim_end().to_owned()))?;
        description.check()?;
        Ok(description)
    }

    fn check(&self) -> Result<(), WorkloadError> {
        let wrong = |field: String, expected: &'static str, found: &dyn fmt::Display| {
            Err(WorkloadError::Field { field, expected, found: found.to_string() })
        };
        if self.jobs == 0 {
            return Err(WorkloadError::NoJobs);
        }
        if self.classes.is_empty() {
            return wrong("class".to_owned(), "at least one [[class]]", &"none");
        }
        for (index, class) in self.classes.iter().enumerate() {
            let place = |field: &str| format!("class {} ({}), {field}", index + 1, class.name);
            if !(class.share.is_finite() && class.share > 0.0) {
                return wrong(place("share"), "a number above 0", &class.share);
            }
            for (field, counts) in [("maps", &class.maps), ("reduces", &class.reduces)] {
                // What hardly any draw exceeds must still be a sensible job.
                if counts.quantile(0.999) > MOST_TASKS {
                    return wrong(place(field), "at most 10,000,000 tasks in 999 of 1,000 jobs", counts);
                }
            }
        }
        Ok(())
    }

    /// The trace. Only the number of jobs, the seed and the gaps of the choices matter.
    ///
    /// # Errors
    /// If the number of jobs is 0.
    pub fn generate(&self, choices: &Choices) -> Result<Trace, WorkloadError> {
        let jobs = choices.jobs.unwrap_or(self.jobs);
        if jobs == 0 {
            return Err(WorkloadError::NoJobs);
        }
        let shares: Vec<f64> = self.classes.iter().map(|class| class.share).collect();
        let classes = assign(jobs, &shares, &mut of_set(choices.seed));
        let templates = classes
            .iter()
            .enumerate()
            .map(|(index, class)| self.classes[*class].template(&mut of_job(choices.seed, index)));
        let mut trace = Trace {
            source: format!("workload {}, {jobs} jobs, seed {}", self.name, choices.seed),
            jobs: templates.collect(),
            ..Trace::default()
        };
        if let Some(gaps) = choices.gaps.as_ref().or(self.gaps_ms.as_ref()) {
            arrivals::apart(&mut trace, gaps, choices.seed);
        }
        Ok(trace)
    }
}

impl Class {
    fn template(&self, random: &mut Random) -> JobTemplate {
        let factor = self.factor.as_ref().map_or(1.0, |factor| factor.sample(random).max(0.0));
        let most = |n: u32| n.min(MOST_TASKS as u32);
        let n_maps = most(count(&self.maps, 0, random));
        let n_reduces = most(count(&self.reduces, 0, random));
        let mut template = job(&self.name, n_maps, n_reduces);
        template.map_ms = durations(&self.map_ms, factor, n_maps, random);
        let mut optional = |distribution: &Option<Distribution>| {
            distribution.as_ref().map_or_else(Vec::new, |it| durations(it, factor, n_reduces, random))
        };
        // An entry for each reduce in both lists: which reduces are of the first wave is decided by the replay.
        template.first_shuffle_ms = optional(&self.first_shuffle_ms);
        template.typical_shuffle_ms = optional(&self.typical_shuffle_ms);
        template.reduce_ms = durations(&self.reduce_ms, factor, n_reduces, random);
        template.deadline_ms = self.deadline_ms.as_ref().map(|deadline| deadline.sample_whole(random));
        template.input_bytes = self.bytes_per_map.map(|bytes| bytes.saturating_mul(u64::from(n_maps)));
        template.user.clone_from(&self.user);
        template.queue.clone_from(&self.queue);
        template.priority = self.priority;
        template
    }
}
