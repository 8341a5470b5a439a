//! Which requirements of a job keep it from every live worker, and what the workers say to them.

use std::collections::BTreeMap;
use std::fmt;

use crate::cluster::{ClusterState, Job, Worker};

/// Different values that are shown of one attribute; the rest are counted together.
const MAX_VALUES: usize = 3;

/// Nobody meets all that a job requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// Live workers with slots for its tasks.
    pub workers: u32,
    /// Requirements that nobody meets; if each is met by somebody, all that somebody does not. At least one.
    pub missing: Vec<Missing>,
    /// Whether somebody meets each, and nobody all of them.
    pub together: bool,
}

/// One requirement and the workers that do not meet it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// As the job has it.
    pub requirement: String,
    /// The attribute.
    pub name: String,
    /// Workers that do not meet it.
    pub workers: u32,
    /// What they say and how many say it, most frequent first; `None` where they say nothing of the attribute.
    pub said: Vec<(Option<String>, u32)>,
}

impl Unmet {
    /// Of a job and these workers; `None` if one of them meets everything.
    pub fn of<'a>(state: &ClusterState, job: &Job, workers: impl Iterator<Item = &'a Worker> + Clone) -> Option<Unmet> {
        let requires = &job.spec().conf.requires;
        if requires.is_empty() || workers.clone().any(|worker| state.meets_requirements(job, worker)) {
            return None;
        }
        let mut missing = Vec::new();
        for requirement in requires {
            let mut said: BTreeMap<Option<&str>, u32> = BTreeMap::new();
            for worker in workers.clone().filter(|worker| !worker.meets(requirement)) {
                *said.entry(worker.answers(requirement)).or_default() += 1;
            }
            if said.is_empty() {
                continue;
            }
            let mut said: Vec<_> = said.into_iter().map(|(value, n)| (value.map(str::to_owned), n)).collect();
            said.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
            missing.push(Missing {
                requirement: requirement.to_string(),
                name: requirement.name().to_owned(),
                workers: said.iter().map(|&(_, n)| n).sum(),
                said,
            });
        }
        let n_workers = workers.count() as u32;
        let together = missing.iter().all(|missing| missing.workers < n_workers);
        missing.retain(|missing| together || missing.workers == n_workers);
        (!missing.is_empty()).then_some(Unmet { workers: n_workers, missing, together })
    }
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.workers;
        if self.together {
            let wanted: Vec<&str> = self.missing.iter().map(|missing| missing.requirement.as_str()).collect();
            let missed = |missing: &Missing| {
                format!("{} {} {}", missing.workers, verb(missing.workers, "misses", "miss"), missing.requirement)
            };
            let missed: Vec<String> = self.missing.iter().map(missed).collect();
            return write!(
                f,
                "No live worker meets {} together (of {n}: {}).",
                wanted.join(" and "),
                missed.join(", ")
            );
        }
        for (place, missing) in self.missing.iter().enumerate() {
            let blank = if place > 0 { " " } else { "" };
            write!(f, "{blank}No live worker meets {} (of {n}: {}).", missing.requirement, missing.what_they_say())?;
        }
        Ok(())
    }
}

impl Missing {
    fn what_they_say(&self) -> String {
        let Missing { name, said, .. } = self;
        let shown = if said.len() > MAX_VALUES + 1 { MAX_VALUES } else { said.len() };
        let mut parts: Vec<String> = said[..shown]
            .iter()
            .map(|(value, n)| match value {
                None => format!("{n} {} no {name}", verb(*n, "has", "have")),
                Some(value) => format!("{n} {} {name}={value}", verb(*n, "has", "have")),
            })
            .collect();
        let rest: u32 = said[shown..].iter().map(|&(_, n)| n).sum();
        if rest > 0 {
            parts.push(format!("{rest} have other values"));
        }
        parts.join(", ")
    }
}

fn verb(n: u32, one: &'static str, many: &'static str) -> &'static str {
    if n == 1 { one } else { many }
}
