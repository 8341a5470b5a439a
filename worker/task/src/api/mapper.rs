//! Mappers and where their records go.

use super::context::Context;
use super::error::Result;
use super::text::Decimal;
use crate::collect::{FoldCollector, SortCollector};
use crate::output::PartWriter;

/// A program's map function, with its state. One value serves one attempt.
///
/// Records of text files have the line's byte offset as key (eight bytes big-endian, see
/// [`text::offset`](crate::text::offset)) and the line without its end as value; fixed-length records likewise. A map
/// that makes its own input is called once, with its index in decimal text as key and an empty value.
///
/// A function `|key: &[u8], value: &[u8], out: &mut MapOutput| -> Result` is a mapper too.
pub trait Mapper {
    /// Called before the first record.
    ///
    /// # Errors
    /// Fails the attempt.
    fn setup(&mut self, context: &Context) -> Result {
        let _ = context;
        Ok(())
    }

    /// Called for each record.
    ///
    /// # Errors
    /// Fails the attempt; pass on what `out` returns.
    fn map(&mut self, key: &[u8], value: &[u8], out: &mut MapOutput) -> Result;

    /// Called after the last record; may still emit.
    ///
    /// # Errors
    /// Fails the attempt.
    fn close(&mut self, out: &mut MapOutput) -> Result {
        let _ = out;
        Ok(())
    }
}

impl<F: FnMut(&[u8], &[u8], &mut MapOutput) -> Result> Mapper for F {
    fn map(&mut self, key: &[u8], value: &[u8], out: &mut MapOutput) -> Result {
        self(key, value, out)
    }
}

/// A function of the value alone.
pub(crate) struct LineMapper<F>(pub(crate) F);

impl<F: FnMut(&[u8], &mut MapOutput) -> Result> Mapper for LineMapper<F> {
    fn map(&mut self, _key: &[u8], value: &[u8], out: &mut MapOutput) -> Result {
        (self.0)(value, out)
    }
}

/// Takes a mapper's records: to the reduces, or straight into the job's output when it has none.
pub struct MapOutput {
    pub(crate) sink: MapSink,
    pub(crate) context: Context,
}

pub(crate) enum MapSink {
    /// The job has reduces and folds.
    Fold(FoldCollector),
    /// The job has reduces.
    Sort(SortCollector),
    /// A map-only job.
    Part(PartWriter),
}

impl MapOutput {
    /// Emits a record.
    ///
    /// # Errors
    /// When it cannot be stored, or a job with [`Fold`](crate::Fold) gets a value that is no long.
    #[inline]
    pub fn emit(&mut self, key: &[u8], value: &[u8]) -> Result {
        match &mut self.sink {
            MapSink::Fold(collector) => Ok(collector.collect(key, value)?),
            MapSink::Sort(collector) => Ok(collector.collect(key, value)?),
            MapSink::Part(part) => Ok(part.write(key, Some(value))?),
        }
    }

    /// Emits a record whose value is a long, as decimal text. The fast way in jobs with [`Fold`](crate::Fold).
    ///
    /// # Errors
    /// When it cannot be stored.
    #[inline]
    pub fn emit_long(&mut self, key: &[u8], value: i64) -> Result {
        match &mut self.sink {
            MapSink::Fold(collector) => Ok(collector.collect_long(key, value)?),
            MapSink::Sort(collector) => Ok(collector.collect(key, Decimal::new(value).as_bytes())?),
            MapSink::Part(part) => Ok(part.write(key, Some(Decimal::new(value).as_bytes()))?),
        }
    }

    /// Emits a key without value: in text output of a map-only job a line without separator, otherwise the same as
    /// an empty value.
    ///
    /// # Errors
    /// When it cannot be stored.
    #[inline]
    pub fn emit_key(&mut self, key: &[u8]) -> Result {
        match &mut self.sink {
            MapSink::Fold(collector) => Ok(collector.collect(key, b"")?),
            MapSink::Sort(collector) => Ok(collector.collect(key, b"")?),
            MapSink::Part(part) => Ok(part.write(key, None)?),
        }
    }

    /// The running attempt: counters, properties, status.
    pub fn context(&self) -> &Context {
        &self.context
    }
}
