//! Which jobs a listing holds: those that fit all filters, and of these a page.

use crate::job::Job;

/// The states that a job may be in, as they are written.
pub const STATES: [&str; 6] = ["PREP", "RUNNING", "COMMITTING", "SUCCEEDED", "FAILED", "KILLED"];

/// Joined: a job must fit all of it. The default takes every job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// Only jobs that are not over.
    pub active: bool,
    /// Only jobs in one of these [`STATES`]; empty for all.
    pub states: Vec<&'static str>,
    /// Only jobs of this user.
    pub user: Option<String>,
    /// Only jobs of this queue.
    pub queue: Option<String>,
    /// Only jobs with this in their name, in capitals or not.
    pub name: Option<String>,
}

impl JobFilter {
    /// Whether a job fits.
    pub fn fits(&self, job: &Job) -> bool {
        let holds = |wanted: &Option<String>, value: &String| wanted.as_ref().is_none_or(|wanted| wanted == value);
        let in_name = |part: &String| job.name.to_lowercase().contains(&part.to_lowercase());
        (!self.active || job.finish_ms_epoch.is_none())
            && (self.states.is_empty() || self.states.contains(&job.state.as_str()))
            && holds(&self.user, &job.user)
            && holds(&self.queue, &job.queue)
            && self.name.as_ref().is_none_or(in_name)
    }
}

/// Keeps the `page`-th `size` items, counted from the end: page 1 is the last ones. Their order stays.
pub fn page_from_the_end<T>(items: &mut Vec<T>, size: usize, page: usize) {
    let end = items.len().saturating_sub(size.saturating_mul(page.saturating_sub(1)));
    items.truncate(end);
    items.drain(..end.saturating_sub(size));
}

#[cfg(test)]
mod tests {
    use howdah_proto::v1::JobStatus;

    use super::*;

    #[test]
    fn pages_count_from_the_newest_job() {
        let paged = |size, number| {
            let mut jobs = vec![1, 2, 3, 4, 5];
            page_from_the_end(&mut jobs, size, number);
            jobs
        };
        assert_eq!((paged(2, 1), paged(2, 2), paged(2, 3)), (vec![4, 5], vec![2, 3], vec![1]));
        assert_eq!((paged(2, 4), paged(9, 1), paged(usize::MAX, usize::MAX)), (vec![], vec![1, 2, 3, 4, 5], vec![]));
    }

    #[test]
    fn a_job_must_fit_every_filter_that_is_given() {
        let status = JobStatus {
            name: "Nightly sum".to_owned(),
            user: "ann".to_owned(),
            queue: "a".to_owned(),
            state: "FAILED".to_owned(),
            finish_ms_epoch: 5,
            ..JobStatus::default()
        };
        let job = Job::from(&status);
        let all = JobFilter {
            active: false,
            states: vec!["KILLED", "FAILED"],
            user: Some("ann".to_owned()),
            queue: Some("a".to_owned()),
            name: Some("nightLY".to_owned()),
        };
        assert!(JobFilter::default().fits(&job) && all.fits(&job));
        let other = || Some("b".to_owned());
        for not in [
            JobFilter { active: true, ..all.clone() },
            JobFilter { states: vec!["RUNNING"], ..all.clone() },
            JobFilter { user: other(), ..all.clone() },
            JobFilter { queue: other(), ..all.clone() },
            JobFilter { name: other(), ..all.clone() },
        ] {
            assert!(!not.fits(&job), "{not:?}");
        }
    }
}
