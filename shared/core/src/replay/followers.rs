//! Jobs that come once another one is over: an application that is a chain of jobs submits the next when the last has
//! ended, however long that took.
//!
//! They do so under every rule of arrivals, and whatever became of the job before. One that names a job that is not above
//! it in the trace comes as any other.

use std::collections::BTreeMap;

use super::arrivals::Arrival;
use crate::job::profile::Trace;
use crate::time::{Span, Time};

/// What is still to be waited for.
#[derive(Clone, Debug, Default)]
pub(super) struct Followers {
    /// By the place in the trace of the job before: how long after its end, and who.
    waiting: BTreeMap<u32, Vec<(Span, Arrival)>>,
}

impl Followers {
    /// Takes the followers out of the arrivals.
    pub(super) fn split(trace: &Trace, mut arrivals: Vec<Arrival>) -> (Vec<Arrival>, Followers) {
        let mut followers = Followers::default();
        let before = predecessors(trace);
        if before.is_empty() {
            return (arrivals, followers);
        }
        arrivals.retain(|arrival| {
            let Some(&(job, after)) = before.get(&arrival.template) else { return true };
            followers.waiting.entry(job).or_default().push((after, *arrival));
            false
        });
        (arrivals, followers)
    }

    /// Those that are still waited for.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arrival> {
        self.waiting.values().flatten().map(|(_, arrival)| arrival)
    }

    /// Takes out those that wait for this job of the trace, which is over now.
    pub(super) fn of(&mut self, template: u32, now: Time) -> Vec<Arrival> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        let freed = self.waiting.remove(&template).unwrap_or_default().into_iter();
        freed.map(|(after, arrival)| Arrival { at: now + after, ..arrival }).collect()
    }
}

/// By its place: the place of the job that each follower waits for, and how long after its end it comes. Of several jobs
/// with the id the nearest above it is meant, so nothing waits for itself.
fn predecessors(trace: &Trace) -> BTreeMap<u32, (u32, Span)> {
    let mut found = BTreeMap::new();
    if trace.jobs.iter().all(|job| job.follows.is_none()) {
        return found;
    }
    let mut above: BTreeMap<&str, u32> = BTreeMap::new();
    for (job, place) in trace.jobs.iter().zip(0..) {
        if let Some(follows) = &job.follows
            && let Some(&before) = above.get(follows.job.as_str())
        {
            found.insert(place, (before, Span::from_us(follows.after_ms.saturating_mul(1_000))));
        }
        above.insert(&job.id, place);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::profile::{Follows, JobTemplate};
    use crate::replay::{Arrivals, ReplayOptions, ReplayReport, View, simulate};

    fn job(id: &str, submit_ms: u64, map_ms: u64, follows: Option<(&str, u64)>) -> JobTemplate {
        JobTemplate {
            id: id.to_owned(),
            submit_ms,
            n_maps: 1,
            map_ms: vec![map_ms],
            follows: follows.map(|(job, after_ms)| Box::new(Follows { job: job.to_owned(), after_ms })),
            ..JobTemplate::default()
        }
    }

    fn replay(jobs: Vec<JobTemplate>, maps: u16, arrivals: Arrivals) -> ReplayReport {
        let options = ReplayOptions { view: View::Slots { maps, reduces: 1 }, arrivals, ..ReplayOptions::default() };
        simulate(&Trace { jobs, ..Trace::default() }, &options).expect("it replays")
    }

    /// Submission and finish in ms, in the order of submission.
    fn times(report: &ReplayReport) -> Vec<(u32, u64, u64)> {
        report.jobs.iter().map(|job| (job.template, job.submit.as_ms(), job.finish.as_ms())).collect()
    }

    #[test]
    fn a_follower_comes_so_long_after_the_other_is_over() {
        // The first waits for nobody, the second is in its way.
        let jobs = || vec![job("a", 0, 100, None), job("x", 5, 1_000, None), job("b", 120, 50, Some(("a", 20)))];
        assert_eq!(times(&replay(jobs(), 2, Arrivals::AsRecorded)), [(0, 0, 100), (1, 5, 1_005), (2, 120, 170)]);
        let mut slower = jobs();
        slower[0].map_ms = vec![300];
        assert_eq!(times(&replay(slower, 2, Arrivals::AsRecorded)), [(0, 0, 300), (1, 5, 1_005), (2, 320, 370)]);
        let mut faster = jobs();
        faster[0].map_ms = vec![10];
        assert_eq!(times(&replay(faster, 2, Arrivals::AsRecorded)), [(0, 0, 10), (1, 5, 1_005), (2, 30, 80)]);
    }

    #[test]
    fn chains_of_three_and_two_followers_of_one_job_all_come() {
        let jobs = vec![
            job("a", 0, 10, None),
            job("b", 1, 20, Some(("a", 0))),
            job("c", 2, 30, Some(("b", 5))),
            job("d", 3, 40, Some(("a", 1))),
        ];
        let all = times(&replay(jobs.clone(), 4, Arrivals::AsRecorded));
        assert_eq!(all, [(0, 0, 10), (1, 10, 30), (3, 11, 51), (2, 35, 65)]);
        assert_eq!(times(&replay(jobs, 4, Arrivals::Batch)), all, "also where all come at once");
    }

    #[test]
    fn whoever_names_a_job_that_is_not_above_it_comes_as_recorded() {
        let jobs = vec![job("a", 0, 10, Some(("a", 0))), job("b", 7, 10, Some(("c", 0))), job("c", 7, 10, None)];
        assert_eq!(times(&replay(jobs, 3, Arrivals::AsRecorded)), [(0, 0, 10), (1, 7, 17), (2, 7, 17)]);
    }

    #[test]
    fn a_follower_beside_other_arrivals_takes_its_place_in_time() {
        let jobs = vec![
            job("a", 0, 100, None),
            job("b", 0, 10, Some(("a", 50))),
            job("x", 120, 10, None),
            job("y", 160, 10, None),
        ];
        let all = times(&replay(jobs, 4, Arrivals::AsRecorded));
        assert_eq!(all, [(0, 0, 100), (2, 120, 130), (1, 150, 160), (3, 160, 170)]);
    }
}
