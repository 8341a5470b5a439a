//! The table of all jobs: those that are not over, and what is remembered of the others.
//!
//! It forgets the oldest ended jobs, so that a master that runs for months does not grow. **Invariant: jobs stand by
//! serial number, without gaps.**

use super::job::{Job, JobSummary};
use crate::job::JobId;

/// A job's place in the table: small, as a table of ten thousand jobs that wait is looked at all the time.
#[derive(Clone, Debug)]
enum Entry {
    Live(Box<Job>),
    Ended(Box<JobSummary>),
    /// Ended so long ago that nothing is remembered.
    Forgotten,
}

/// All jobs, dense by serial number from 1. The oldest ended ones are forgotten beyond a limit.
#[derive(Clone, Debug)]
pub(crate) struct Jobs {
    /// The forgotten ones stand at the front, until they are most of the table.
    entries: Vec<Entry>,
    n_forgotten: usize,
    /// Serial number of the first entry.
    first: u32,
    pub(crate) n_live: u32,
}

/// Ended jobs that stay listed behind the oldest live one.
const KEEP_ENDED: usize = 10_000;

impl Jobs {
    pub(crate) fn new() -> Jobs {
        Jobs { entries: Vec::new(), n_forgotten: 0, first: 1, n_live: 0 }
    }

    pub(crate) fn last(&self) -> u32 {
        self.first + self.entries.len() as u32 - 1
    }

    /// Where a job is in the table, or beyond it.
    #[inline(always)]
    fn place(&self, id: JobId) -> usize {
        // One before the first gets a place that no table has.
        id.0.wrapping_sub(self.first) as usize
    }

    #[inline]
    pub(crate) fn get(&self, id: JobId) -> Option<&Job> {
        match self.entries.get(self.place(id))? {
            Entry::Live(job) => Some(job),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: JobId) -> Option<&mut Job> {
        let place = self.place(id);
        match self.entries.get_mut(place)? {
            Entry::Live(job) => Some(job),
            _ => None,
        }
    }

    pub(crate) fn ended(&self, id: JobId) -> Option<&JobSummary> {
        match self.entries.get(self.place(id))? {
            Entry::Ended(summary) => Some(summary),
            _ => None,
        }
    }

    /// Live jobs, ascending.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Job> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Live(job) => Some(&**job),
            _ => None,
        })
    }

    /// As [`Jobs::iter`], to change them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Job> {
        self.entries.iter_mut().filter_map(|entry| match entry {
            Entry::Live(job) => Some(&mut **job),
            _ => None,
        })
    }

    /// Jobs that are over and not yet forgotten, ascending.
    pub(crate) fn iter_ended(&self) -> impl DoubleEndedIterator<Item = (JobId, &JobSummary)> {
        self.entries.iter().enumerate().filter_map(|(index, entry)| match entry {
            Entry::Ended(summary) => Some((JobId(self.first + index as u32), &**summary)),
            _ => None,
        })
    }

    /// Jobs of which the last has this number; `live` are ascending, and `ended` are, in order, the others of as many as there
    /// are. False, and nothing done, if that does not go together.
    pub(crate) fn restore(&mut self, last: u32, ended: Vec<JobSummary>, live: Vec<Job>) -> bool {
        let n = ended.len() + live.len();
        let Some(before) = u32::try_from(n).ok().and_then(|n| last.checked_sub(n)) else { return false };
        let ascending = live.windows(2).all(|pair| pair[0].id < pair[1].id);
        let within = live.iter().all(|job| job.id.0 > before && job.id.0 <= last);
        if !ascending || !within {
            return false;
        }
        self.first = before + 1;
        (self.n_forgotten, self.n_live) = (0, live.len() as u32);
        let (mut ended, mut live) = (ended.into_iter(), live.into_iter().peekable());
        let entry = |id| match live.next_if(|job| job.id.0 == id) {
            Some(job) => Entry::Live(Box::new(job)),
            None => ended.next().map_or(Entry::Forgotten, |summary| Entry::Ended(Box::new(summary))),
        };
        self.entries = (self.first..=last).map(entry).collect();
        true
    }

    pub(crate) fn push(&mut self, job: Job) {
        debug_assert_eq!(job.id.0, self.last() + 1);
        self.entries.push(Entry::Live(Box::new(job)));
        self.n_live += 1;
    }

    pub(crate) fn retire(&mut self, id: JobId, summary: JobSummary) {
        let place = self.place(id);
        let entry = &mut self.entries[place];
        debug_assert!(matches!(entry, Entry::Live(_)));
        *entry = Entry::Ended(Box::new(summary));
        self.n_live -= 1;
        while self.entries.len() - self.n_forgotten > KEEP_ENDED
            && let oldest @ Entry::Ended(_) = &mut self.entries[self.n_forgotten]
        {
            *oldest = Entry::Forgotten;
            self.n_forgotten += 1;
        }
        if self.n_forgotten > KEEP_ENDED && self.n_forgotten > self.entries.len() / 2 {
            self.entries.drain(..self.n_forgotten);
            self.first += self.n_forgotten as u32;
            self.n_forgotten = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::job::JobState;
    use crate::time::Time;

    #[test]
    fn the_oldest_ended_jobs_are_forgotten_and_the_table_stays_small() {
        let mut jobs = Jobs::new();
        let n = 5 * KEEP_ENDED as u32;
        for id in (1..=n).map(JobId) {
            jobs.push(Job::new(id, Arc::default(), Time::ZERO));
            assert_eq!((jobs.last(), jobs.get(id).map(Job::id)), (id.0, Some(id)));
            // The third stays alive, and nothing behind it is forgotten, until all others are over.
            if id != JobId(3) {
                let summary = jobs.get(id).map(|job| job.summary(JobState::Succeeded, Time::ZERO)).expect("alive");
                jobs.retire(id, summary);
            }
        }
        let ended = |jobs: &Jobs| jobs.iter_ended().map(|(id, _)| id.0).collect::<Vec<_>>();
        assert_eq!(jobs.iter().map(|job| job.id.0).collect::<Vec<_>>(), [3]);
        assert_eq!(ended(&jobs), (4..=n).collect::<Vec<_>>());
        assert!(jobs.ended(JobId(2)).is_none() && jobs.ended(JobId(4)).is_some());
        let summary = jobs.get(JobId(3)).map(|job| job.summary(JobState::Killed, Time::ZERO)).expect("alive");
        jobs.retire(JobId(3), summary);
        assert_eq!(ended(&jobs), (n - KEEP_ENDED as u32 + 1..=n).collect::<Vec<_>>());
        assert_eq!((jobs.n_live, jobs.last(), jobs.entries.len()), (0, n, KEEP_ENDED));
        assert!([0, 1, n + 1].iter().all(|&id| jobs.get(JobId(id)).is_none() && jobs.ended(JobId(id)).is_none()));
    }
}
