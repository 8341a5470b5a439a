//! The jobs of a replay, by number less 1, as the rest of the engine counts them.
//!
//! A replay that goes on from a cluster's present state begins with the oldest job that is not over there: those before
//! it take no place, those between that are over a place that nobody asks for.

use std::ops::{Index, IndexMut};

use super::job::SimJob;

/// All jobs so far.
#[derive(Clone, Debug, Default)]
pub(super) struct SimJobs<'t> {
    /// Jobs before the first that is kept.
    before: usize,
    kept: Vec<SimJob<'t>>,
}

impl<'t> SimJobs<'t> {
    /// None yet, after so many that are not kept, with room for some.
    pub(super) fn after(before: usize, room: usize) -> SimJobs<'t> {
        SimJobs { before, kept: Vec::with_capacity(room) }
    }

    /// The next one.
    pub(super) fn push(&mut self, job: SimJob<'t>) {
        self.kept.push(job);
    }

    /// All that are kept, in order.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, SimJob<'t>> {
        self.kept.iter()
    }

    pub(super) fn next_number(&self) -> u32 {
        (self.before + self.kept.len() + 1) as u32
    }
}

impl<'t> Index<usize> for SimJobs<'t> {
    type Output = SimJob<'t>;

    #[inline(always)]
    fn index(&self, index: usize) -> &SimJob<'t> {
        &self.kept[index - self.before]
    }
}

impl<'t> IndexMut<usize> for SimJobs<'t> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut SimJob<'t> {
        &mut self.kept[index - self.before]
    }
}
