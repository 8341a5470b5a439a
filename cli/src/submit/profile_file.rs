//! `--profile TRACE[:JOB]`: what a trace tells about how long a job's tasks take, for policies that plan.

use std::path::PathBuf;

use howdah_core::job::JobProfile;
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_traces::ImportOptions;

use crate::failure::{Failure, Outcome};
use crate::trace_file::{name_of, read_jobs};

/// A trace that was read for its profiles.
#[derive(Debug)]
pub(crate) struct Profiles {
    trace: Trace,
    /// Of the file, for messages.
    name: String,
    /// The job that was asked for, by id or name.
    job: Option<String>,
}

impl Profiles {
    /// Reads the trace. What follows the last colon is a job, unless the whole is a file.
    ///
    /// # Errors
    /// When the trace does not read.
    pub(crate) fn read(text: &str) -> Outcome<Profiles> {
        let whole = PathBuf::from(text);
        let (path, job) = match text.rsplit_once(':') {
            Some((path, job)) if !whole.exists() => (PathBuf::from(path), Some(job.to_owned())),
            _ => (whole, None),
        };
        let trace = read_jobs(&path, &ImportOptions::default())?;
        Ok(Profiles { trace, name: name_of(&path), job })
    }

    /// Whether one job was asked for.
    pub(crate) fn names_a_job(&self) -> bool {
        self.job.is_some()
    }

    /// The profile for a job of this name: of the job that was asked for, else of the last one of the name, else of
    /// the trace's only job.
    ///
    /// # Errors
    /// When there is no such job, or its durations are not known.
    pub(crate) fn of(&self, job_name: &str) -> Outcome<JobProfile> {
        let jobs = &self.trace.jobs;
        let wanted = self.job.as_deref().unwrap_or(job_name);
        let is_it = |job: &&JobTemplate| job.name == wanted || job.id == wanted;
        let only = || jobs.first().filter(|_| self.job.is_none() && jobs.len() == 1);
        let Some(job) = jobs.iter().rev().find(is_it).or_else(only) else {
            let mut names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            names.truncate(8);
            return Err(Failure::usage(format!(
                "--profile: trace {} has no job `{wanted}`, found {}",
                self.name,
                if names.is_empty() { "no job at all".to_owned() } else { names.join(", ") }
            ))
            .help("name one of its jobs: --profile TRACE:JOB"));
        };
        JobProfile::of(job).ok_or_else(|| {
            let message = format!("--profile: job `{wanted}` of trace {} lacks the durations of its tasks", self.name);
            Failure::usage(message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profiles(job: Option<&str>, jobs: &[(&str, &str, u64)]) -> Profiles {
        let template = |&(id, name, ms): &(&str, &str, u64)| JobTemplate {
            id: id.to_owned(),
            name: name.to_owned(),
            n_maps: 1,
            map_ms: if ms > 0 { vec![ms] } else { Vec::new() },
            ..JobTemplate::default()
        };
        let trace = Trace { jobs: jobs.iter().map(template).collect(), ..Trace::default() };
        Profiles { trace, name: "`t.json`".to_owned(), job: job.map(str::to_owned) }
    }

    fn map_ms(profile: Outcome<JobProfile>) -> u64 {
        profile.expect("found").map.avg.as_ms()
    }

    #[test]
    fn a_job_takes_the_last_run_of_its_name_or_the_one_that_was_named() {
        let runs = [("j1", "sort", 1), ("j2", "sort", 2), ("j3", "grep", 3)];
        assert_eq!(map_ms(profiles(None, &runs).of("sort")), 2);
        assert_eq!(map_ms(profiles(Some("j1"), &runs).of("sort")), 1);
        assert_eq!(map_ms(profiles(Some("grep"), &runs).of("sort")), 3);
        assert_eq!(map_ms(profiles(None, &runs[..1]).of("other")), 1);
    }

    #[test]
    fn what_is_missing_is_named() {
        let runs = [("j1", "sort", 1), ("j2", "grep", 0)];
        let said = |found: Outcome<JobProfile>| format!("{:#}", found.expect_err("nothing to find"));
        let found = said(profiles(None, &runs).of("join"));
        assert!(found.contains("--profile: trace `t.json` has no job `join`, found grep, sort"), "{found}");
        let found = said(profiles(None, &runs).of("grep"));
        assert!(found.contains("job `grep` of trace `t.json` lacks the durations of its tasks"), "{found}");
    }
}
