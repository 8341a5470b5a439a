//! Reducers, the values they read, and where their records go.

use super::context::Context;
use super::error::{Result, TaskError};
use super::key_order::KeyOrder;
use super::text::{self, Decimal};
use crate::output::PartWriter;
use crate::segment::RunWriter;

/// A program's reduce function, with its state; as a combiner too. One value serves one attempt.
///
/// Keys come in ascending order of their bytes (or in that of a [`KeyComparator`](crate::KeyComparator)), the values of a
/// key in ascending order of theirs, so that what a reducer sees does not depend on how the input was split.
/// A function `|key: &[u8], values: &mut Values<'_>, out: &mut ReduceOutput| -> Result` is a reducer too.
pub trait Reducer {
    /// Called before the first key.
    ///
    /// # Errors
    /// Fails the attempt.
    fn setup(&mut self, context: &Context) -> Result {
        let _ = context;
        Ok(())
    }

    /// Called for each group of equal keys. Values that it does not read are skipped.
    ///
    /// # Errors
    /// Fails the attempt; pass on what `values` and `out` return.
    fn reduce(&mut self, key: &[u8], values: &mut Values<'_>, out: &mut ReduceOutput) -> Result;

    /// Called in combiners after the last key of each sorted run, of which there are many; may still emit, keys at
    /// or after the last one emitted.
    ///
    /// # Errors
    /// Fails the attempt.
    fn end_run(&mut self, out: &mut ReduceOutput) -> Result {
        let _ = out;
        Ok(())
    }

    /// Called after the last key, not in combiners; may still emit.
    ///
    /// # Errors
    /// Fails the attempt.
    fn close(&mut self, out: &mut ReduceOutput) -> Result {
        let _ = out;
        Ok(())
    }
}

impl<F: FnMut(&[u8], &mut Values<'_>, &mut ReduceOutput) -> Result> Reducer for F {
    fn reduce(&mut self, key: &[u8], values: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
        self(key, values, out)
    }
}

/// The values of one key, read one after the other from memory or disk: there may be more than memory holds.
pub struct Values<'a> {
    source: &'a mut dyn ValueSource,
}

/// Where [`Values`] come from.
pub(crate) trait ValueSource {
    /// The next value of the current key.
    fn next_value(&mut self) -> Result<Option<&[u8]>, TaskError>;
    /// The record of the value that came last: its own key, and the value.
    fn record(&self) -> (&[u8], &[u8]);
}

impl<'a> Values<'a> {
    pub(crate) fn new(source: &'a mut dyn ValueSource) -> Values<'a> {
        Values { source }
    }

    /// The next value; `None` after the last.
    ///
    /// # Errors
    /// When stored data cannot be read back.
    #[expect(clippy::should_implement_trait, reason = "the value borrows from the reader, which Iterator cannot say")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<&[u8]>> {
        Ok(self.source.next_value()?)
    }

    /// The next value and its own key; `None` after the last. With a [`KeyComparator`](crate::KeyComparator) the keys of
    /// a group may differ: the reducer is called with the first one.
    ///
    /// # Errors
    /// When stored data cannot be read back.
    pub fn next_record(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if self.source.next_value()?.is_none() {
            return Ok(None);
        }
        Ok(Some(self.source.record()))
    }

    /// The next value as a long; `None` after the last.
    ///
    /// # Errors
    /// When stored data cannot be read back, or the value is not decimal text.
    pub fn next_long(&mut self) -> Result<Option<i64>> {
        match self.source.next_value()? {
            Some(value) => Ok(Some(text::parse_long(value)?)),
            None => Ok(None),
        }
    }

    /// The values as longs.
    pub fn longs(&mut self) -> impl Iterator<Item = Result<i64>> {
        std::iter::from_fn(|| self.next_long().transpose())
    }

    /// The sum of the values, as longs, wrapping at 64 bits as Java's does.
    ///
    /// # Errors
    /// As [`Values::next_long`].
    pub fn sum(&mut self) -> Result<i64> {
        let mut sum = 0_i64;
        while let Some(value) = self.next_long()? {
            sum = sum.wrapping_add(value);
        }
        Ok(sum)
    }
}

/// Takes a reducer's records: into the job's output, or, from a combiner, on to the reduces.
pub struct ReduceOutput {
    pub(crate) sink: ReduceSink,
    pub(crate) context: Context,
}

pub(crate) enum ReduceSink {
    /// A reduce's part file.
    Part(PartWriter),
    /// A combiner's spill, and the order of its keys.
    Combine(RunWriter, KeyOrder),
    /// Between two spills.
    Nowhere,
}

impl ReduceOutput {
    /// Emits a record.
    ///
    /// # Errors
    /// When it cannot be written, or a combiner emits keys out of order.
    #[inline]
    pub fn emit(&mut self, key: &[u8], value: &[u8]) -> Result {
        self.write(key, Some(value))
    }

    /// Emits a record whose value is a long, as decimal text.
    ///
    /// # Errors
    /// As [`ReduceOutput::emit`].
    #[inline]
    pub fn emit_long(&mut self, key: &[u8], value: i64) -> Result {
        self.write(key, Some(Decimal::new(value).as_bytes()))
    }

    /// Emits a key without value: in text output a line without separator.
    ///
    /// # Errors
    /// As [`ReduceOutput::emit`].
    #[inline]
    pub fn emit_key(&mut self, key: &[u8]) -> Result {
        self.write(key, None)
    }

    fn write(&mut self, key: &[u8], value: Option<&[u8]>) -> Result {
        match &mut self.sink {
            ReduceSink::Part(part) => Ok(part.write(key, value)?),
            ReduceSink::Combine(run, order) => Ok(run.append_checked(key, value.unwrap_or_default(), order)?),
            ReduceSink::Nowhere => Err("a combiner may only emit while it reduces a key".into()),
        }
    }

    /// The running attempt: counters, properties, status.
    pub fn context(&self) -> &Context {
        &self.context
    }
}
