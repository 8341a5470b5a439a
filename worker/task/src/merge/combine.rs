//! Writing sorted records into a run, combined or not. Spills and merges alike go through here.

use super::groups::{Groups, reduce_groups};
use crate::api::choices::{Combiner, Fold};
use crate::api::context::Context;
use crate::api::error::TaskError;
use crate::api::key_order::KeyOrder;
use crate::api::reducer::{ReduceOutput, ReduceSink, Reducer};
use crate::api::text::{self, Decimal};
use crate::segment::{RunWriter, SortedRecords};

/// What happens to records of equal keys before they are stored.
pub(crate) enum CombineStep {
    /// Nothing.
    None,
    /// They become one.
    Fold(Fold),
    /// The program's combiner gets them.
    Reducer(Box<Combining>),
}

/// A program's combiner, set up.
pub(crate) struct Combining {
    reducer: Box<dyn Reducer>,
    order: KeyOrder,
    out: ReduceOutput,
}

impl CombineStep {
    /// The step that an application asks for, set up.
    pub(crate) fn new(combiner: &Combiner, order: &KeyOrder, context: &Context) -> Result<CombineStep, TaskError> {
        Ok(match combiner {
            Combiner::None => CombineStep::None,
            Combiner::Fold(fold) => CombineStep::Fold(*fold),
            Combiner::Reducer(make) => {
                let mut reducer = make();
                reducer
                    .setup(context)
                    .map_err(|source| TaskError::Program { place: "the combiner's setup".to_owned(), source })?;
                let out = ReduceOutput { sink: ReduceSink::Nowhere, context: context.clone() };
                CombineStep::Reducer(Box::new(Combining { reducer, order: order.clone(), out }))
            }
        })
    }

    /// Writes all records of `records` as the next segment of `run`.
    pub(crate) fn write_segment<S: SortedRecords>(
        &mut self,
        records: &mut S,
        mut run: RunWriter,
    ) -> Result<RunWriter, TaskError> {
        run.begin();
        match self {
            CombineStep::None => {
                while records.advance()? {
                    run.append(records.key(), records.value())?;
                }
            }
            CombineStep::Fold(fold) => write_folded(*fold, records, &mut run)?,
            CombineStep::Reducer(combining) => {
                let Combining { reducer, order, out } = combining.as_mut();
                out.sink = ReduceSink::Combine(run, order.clone());
                run = write_combined(records, reducer.as_mut(), out)?;
            }
        }
        run.end()?;
        Ok(run)
    }
}

fn write_folded<S: SortedRecords>(fold: Fold, records: &mut S, run: &mut RunWriter) -> Result<(), TaskError> {
    if !records.advance()? {
        return Ok(());
    }
    let mut key = records.key().to_vec();
    let mut value = text::parse_long(records.value())?;
    while records.advance()? {
        let next = text::parse_long(records.value())?;
        if records.key() == key {
            value = fold.join(value, next);
        } else {
            run.append(&key, Decimal::new(value).as_bytes())?;
            key.clear();
            key.extend_from_slice(records.key());
            value = next;
        }
    }
    run.append(&key, Decimal::new(value).as_bytes())
}

fn write_combined<S: SortedRecords>(
    records: &mut S,
    reducer: &mut dyn Reducer,
    out: &mut ReduceOutput,
) -> Result<RunWriter, TaskError> {
    let context = out.context.clone();
    let mut groups = Groups::new(records, &context);
    let done = reduce_groups(&mut groups, reducer, out, |_| Ok(()));
    let n_records = groups.n_records;
    let ended = if done.is_ok() { reducer.end_run(out) } else { Ok(()) };
    let ReduceSink::Combine(run, _) = std::mem::replace(&mut out.sink, ReduceSink::Nowhere) else {
        return Err(TaskError::Rule("a combiner exchanged its output".to_owned()));
    };
    done.map_err(|failure| TaskError::Program {
        place: format!("the combiner at key `{}`", text::printable(&failure.key)),
        source: failure.error,
    })?;
    ended.map_err(|source| TaskError::Program { place: "the combiner at the end of a run".to_owned(), source })?;
    let tally = out.context.tally();
    tally.combine_input_records.add(n_records);
    tally.combine_output_records.add(run.segment_records());
    Ok(run)
}
