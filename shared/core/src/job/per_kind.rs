//! One value for maps and one for reduces, found by the kind of task.
//!
//! A plain pair, maps first: it is written down, compared and taken apart as one, and only its index is the kind.

use std::ops::{Index, IndexMut};

use super::TaskKind;

/// A value for maps, then one for reduces.
pub type PerKind<T> = [T; 2];

impl<T> Index<TaskKind> for PerKind<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, kind: TaskKind) -> &T {
        &self[kind as usize]
    }
}

impl<T> IndexMut<TaskKind> for PerKind<T> {
    #[inline(always)]
    fn index_mut(&mut self, kind: TaskKind) -> &mut T {
        &mut self[kind as usize]
    }
}
