//! What a policy keeps of each live job, found by the job's number.
//!
//! Numbers are dense and jobs end roughly in the order in which they came, so that a queue of entries that forgets
//! its oldest ones is the cheapest table; its order never depends on hashes.

use std::collections::VecDeque;

use crate::job::JobId;

/// A table by number of job.
#[derive(Clone, Debug)]
pub struct PerJob<T> {
    /// Number of the first entry.
    first: u32,
    entries: VecDeque<Option<T>>,
}

impl<T> Default for PerJob<T> {
    fn default() -> PerJob<T> {
        PerJob { first: 0, entries: VecDeque::new() }
    }
}

impl<T> PerJob<T> {
    fn place(&self, job: JobId) -> Option<usize> {
        job.0.checked_sub(self.first).map(|place| place as usize)
    }

    /// A job's entry.
    #[inline]
    pub fn get(&self, job: JobId) -> Option<&T> {
        self.entries.get(self.place(job)?)?.as_ref()
    }

    /// A job's entry, to change it.
    #[inline]
    pub fn get_mut(&mut self, job: JobId) -> Option<&mut T> {
        let place = self.place(job)?;
        self.entries.get_mut(place)?.as_mut()
    }

    /// Makes or replaces a job's entry; the one before is returned.
    pub fn insert(&mut self, job: JobId, entry: T) -> Option<T> {
        if self.entries.is_empty() {
            self.first = job.0;
        }
        while job.0 < self.first {
            self.entries.push_front(None);
            self.first -= 1;
        }
        let place = (job.0 - self.first) as usize;
        while self.entries.len() <= place {
            self.entries.push_back(None);
        }
        self.entries[place].replace(entry)
    }

    /// Takes a job's entry out.
    pub fn remove(&mut self, job: JobId) -> Option<T> {
        let place = self.place(job)?;
        let entry = self.entries.get_mut(place)?.take();
        while matches!(self.entries.front(), Some(None)) {
            self.entries.pop_front();
            self.first += 1;
        }
        entry
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// All entries, ascending by job.
    pub fn iter(&self) -> impl Iterator<Item = (JobId, &T)> {
        let first = self.first;
        let entries = self.entries.iter().enumerate();
        entries.filter_map(move |(place, entry)| Some((JobId(first + place as u32), entry.as_ref()?)))
    }

    /// All entries, ascending by job, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (JobId, &mut T)> {
        let first = self.first;
        let entries = self.entries.iter_mut().enumerate();
        entries.filter_map(move |(place, entry)| Some((JobId(first + place as u32), entry.as_mut()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_and_go_in_any_order() {
        let mut table = PerJob::default();
        for job in [7, 5, 9, 8] {
            assert_eq!(table.insert(JobId(job), job * 10), None);
        }
        assert_eq!(table.remove(JobId(5)), Some(50));
        assert_eq!((table.get(JobId(5)), table.get(JobId(6)), table.get(JobId(7))), (None, None, Some(&70)));
        assert_eq!(table.insert(JobId(9), 91), Some(90));
        assert_eq!(table.iter().map(|(job, &entry)| (job.0, entry)).collect::<Vec<_>>(), [(7, 70), (8, 80), (9, 91)]);
        for job in [8, 7, 9, 1_000] {
            table.remove(JobId(job));
        }
        assert_eq!(table.iter().count(), 0);
        table.insert(JobId(2), 1);
        assert_eq!(table.get(JobId(2)), Some(&1));
    }
}
