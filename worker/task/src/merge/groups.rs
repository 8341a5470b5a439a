//! Groups of equal keys out of sorted records, and the reducer's loop over them.

use crate::api::context::Context;
use crate::api::error::{Error, TaskError};
use crate::api::reducer::{ReduceOutput, Reducer, ValueSource, Values};
use crate::segment::SortedRecords;

/// Reading on through one huge group is progress too.
const RECORDS_PER_BEAT: u64 = 4096;

/// Walks sorted records key by key.
pub(crate) struct Groups<'a, S> {
    records: &'a mut S,
    context: &'a Context,
    key: Vec<u8>,
    place: Place,
    /// Records and groups seen.
    pub(crate) n_records: u64,
    pub(crate) n_groups: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the first record.
    Start,
    /// On the first record of a group, not yet handed out.
    Fresh,
    /// On a record that was handed out.
    Within,
    /// On the first record of the next group.
    Next,
    /// After the last record.
    End,
}

impl<'a, S: SortedRecords> Groups<'a, S> {
    pub(crate) fn new(records: &'a mut S, context: &'a Context) -> Groups<'a, S> {
        Groups { records, context, key: Vec::new(), place: Place::Start, n_records: 0, n_groups: 0 }
    }

    /// Steps to the next group, past what is left of the current one, and copies its key; `false` after the last.
    pub(crate) fn next_group(&mut self, key: &mut Vec<u8>) -> Result<bool, TaskError> {
        while matches!(self.place, Place::Fresh | Place::Within) {
            self.next_value()?;
        }
        if self.place == Place::Start {
            self.place = if self.records.advance()? { Place::Next } else { Place::End };
        }
        if self.place == Place::End {
            return Ok(false);
        }
        self.place = Place::Fresh;
        self.n_groups += 1;
        self.key.clear();
        self.key.extend_from_slice(self.records.key());
        key.clear();
        key.extend_from_slice(&self.key);
        Ok(true)
    }

    pub(crate) fn records(&self) -> &S {
        self.records
    }
}

impl<S: SortedRecords> ValueSource for Groups<'_, S> {
    fn next_value(&mut self) -> Result<Option<&[u8]>, TaskError> {
        match self.place {
            Place::Fresh => {}
            Place::Within => {
                if !self.records.advance()? {
                    self.place = Place::End;
                    return Ok(None);
                }
                if !self.records.is_of_group(&self.key) {
                    self.place = Place::Next;
                    return Ok(None);
                }
            }
            Place::Start | Place::Next | Place::End => return Ok(None),
        }
        self.place = Place::Within;
        self.n_records += 1;
        if self.n_records.is_multiple_of(RECORDS_PER_BEAT) {
            self.context.beat()?;
        }
        Ok(Some(self.records.value()))
    }

    fn record(&self) -> (&[u8], &[u8]) {
        (self.records.key(), self.records.value())
    }
}

/// What stopped a reducer's loop.
pub(crate) struct ReduceFailure {
    /// The key it was at.
    pub(crate) key: Vec<u8>,
    pub(crate) error: Error,
}

/// Calls the reducer for each group. `between` is called before each, with the records and groups so far.
pub(crate) fn reduce_groups<S: SortedRecords>(
    groups: &mut Groups<'_, S>,
    reducer: &mut dyn Reducer,
    out: &mut ReduceOutput,
    mut between: impl FnMut(&Groups<'_, S>) -> Result<(), TaskError>,
) -> Result<(), ReduceFailure> {
    let mut key = Vec::new();
    loop {
        let more = between(groups).and_then(|()| groups.next_group(&mut key));
        match more {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(error) => return Err(ReduceFailure { key, error: error.into() }),
        }
        if let Err(error) = reducer.reduce(&key, &mut Values::new(groups), out) {
            return Err(ReduceFailure { key, error });
        }
    }
}
