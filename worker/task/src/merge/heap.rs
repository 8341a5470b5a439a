//! A k-way merge over a binary heap of readers.

use crate::api::error::TaskError;
use crate::api::key_order::KeyOrder;
use crate::segment::{SegmentReader, SortedRecords};

/// The records of several segments in one order. Equal records come in no particular order: nobody can tell.
pub(crate) struct Merge<R = SegmentReader> {
    readers: Vec<R>,
    order: KeyOrder,
    /// [`KeyOrder::prefix`] of each reader's key, so that most comparisons touch no record.
    prefixes: Vec<u64>,
    /// Readers that have a record, smallest first.
    heap: Vec<u32>,
    started: bool,
}

impl<R: SortedRecords> Merge<R> {
    pub(crate) fn new(readers: Vec<R>, order: KeyOrder) -> Merge<R> {
        let prefixes = vec![0; readers.len()];
        Merge { readers, order, prefixes, heap: Vec::new(), started: false }
    }

    pub(crate) fn readers(&self) -> &[R] {
        &self.readers
    }

    fn start(&mut self) -> Result<(), TaskError> {
        self.started = true;
        for (index, reader) in self.readers.iter_mut().enumerate() {
            if reader.advance()? {
                self.prefixes[index] = self.order.prefix(reader.key());
                self.heap.push(index as u32);
            }
        }
        for at in (0..self.heap.len() / 2).rev() {
            self.sink(at);
        }
        Ok(())
    }

    #[inline]
    fn less(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        if self.prefixes[a] != self.prefixes[b] {
            return self.prefixes[a] < self.prefixes[b];
        }
        let (a, b) = (&self.readers[a], &self.readers[b]);
        self.order.compare(a.key(), b.key()).then_with(|| a.value().cmp(b.value())).is_lt()
    }

    /// Moves the reader at `at` down to its place.
    fn sink(&mut self, mut at: usize) {
        let moving = self.heap[at];
        loop {
            let mut child = 2 * at + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len() && self.less(self.heap[child + 1], self.heap[child]) {
                child += 1;
            }
            if !self.less(self.heap[child], moving) {
                break;
            }
            self.heap[at] = self.heap[child];
            at = child;
        }
        self.heap[at] = moving;
    }
}

impl<R: SortedRecords> SortedRecords for Merge<R> {
    fn advance(&mut self) -> Result<bool, TaskError> {
        if !self.started {
            self.start()?;
            return Ok(!self.heap.is_empty());
        }
        let Some(&top) = self.heap.first() else { return Ok(false) };
        let reader = &mut self.readers[top as usize];
        if reader.advance()? {
            self.prefixes[top as usize] = self.order.prefix(reader.key());
        } else {
            self.heap.swap_remove(0);
        }
        if !self.heap.is_empty() {
            self.sink(0);
        }
        Ok(!self.heap.is_empty())
    }

    #[inline]
    fn key(&self) -> &[u8] {
        self.readers[self.heap[0] as usize].key()
    }

    #[inline]
    fn value(&self) -> &[u8] {
        self.readers[self.heap[0] as usize].value()
    }

    #[inline]
    fn is_of_group(&self, key: &[u8]) -> bool {
        self.order.is_same_group(self.key(), key)
    }
}
