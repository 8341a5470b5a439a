//! Runs a reduce attempt: shuffle, sort, reduce, a third of its progress each.

use howdah_core::job::Phase;

use super::faults::FaultPlan;
use super::link::Link;
use super::pace::Pace;
use crate::api::application::Application;
use crate::api::choices::{Combiner, Fold};
use crate::api::context::Context;
use crate::api::error::{Result, TaskError};
use crate::api::key_order::KeyOrder;
use crate::api::reducer::{ReduceOutput, ReduceSink, Reducer, Values};
use crate::api::text::printable;
use crate::merge::{CombineStep, Groups, Merge, MergePlan, reduce_groups};
use crate::output::PartWriter;
use crate::segment::SegmentReader;
use crate::shuffle;

/// Runs the reduce to the end of its output. The caller asks for the commit.
pub(crate) fn run(
    application: &Application,
    context: &Context,
    faults: &FaultPlan,
    link: &Link,
) -> Result<(), TaskError> {
    context.enter(Phase::Shuffle, 0.0)?;
    let order = KeyOrder::new(application.comparator.as_ref(), context)?;
    let mut combine = CombineStep::new(&application.combiner, &order, context)?;
    let plan = MergePlan::new(order, context)?;
    let fetched = shuffle::fetch(context, link, &plan, &mut combine)?;
    context.enter(Phase::Sort, 1.0 / 3.0)?;
    let runs = plan.shrink(fetched.runs, "reduce-merge", &mut combine, context)?;
    let mut readers = Vec::with_capacity(fetched.memory.len() + runs.len());
    for (bytes, what) in fetched.memory {
        readers.push(SegmentReader::memory(bytes, what)?);
    }
    for run in &runs {
        for place in &run.places {
            readers.push(SegmentReader::open(run.path(), *place)?);
        }
    }
    context.log(&format!("merging {} segments, {} of them on disk", readers.len(), runs.len()));
    context.enter(Phase::Reduce, 2.0 / 3.0)?;
    reduce(application, context, faults, Merge::new(readers, plan.order))?;
    context.tally().file_bytes_read.add(runs.iter().map(|run| run.bytes).sum());
    runs.iter().for_each(crate::segment::Run::remove);
    Ok(())
}

fn reduce(application: &Application, context: &Context, faults: &FaultPlan, mut merge: Merge) -> Result<(), TaskError> {
    let mut reducer = reducer_of(application);
    let program = |place: String, source| TaskError::Program { place, source };
    // Before the setup, in which a program may begin to write beside its part file.
    let part = PartWriter::create(application.records, context)?;
    reducer.setup(context).map_err(|source| program("the reduce's setup".to_owned(), source))?;
    let mut out = ReduceOutput { sink: ReduceSink::Part(part), context: context.clone() };
    let total: u64 = merge.readers().iter().map(|r| r.position().1).sum();
    let mut groups = Groups::new(&mut merge, context);
    let mut pace = Pace::new();
    let done = reduce_groups(&mut groups, reducer.as_mut(), &mut out, |groups| {
        if pace.step().is_none() {
            return Ok(());
        }
        let read: u64 = groups.records().readers().iter().map(|r| r.position().0).sum();
        let fraction = read as f64 / total.max(1) as f64;
        faults.progress(fraction)?;
        context.report((2.0 + fraction) / 3.0)
    });
    let tally = context.tally();
    tally.reduce_input_records.add(groups.n_records);
    tally.reduce_input_groups.add(groups.n_groups);
    done.map_err(|failure| program(format!("the reduce of key `{}`", printable(&failure.key)), failure.error))?;
    reducer.close(&mut out).map_err(|source| program("the reduce's close".to_owned(), source))?;
    faults.output()?;
    match out.sink {
        ReduceSink::Part(part) => part.finish(),
        _ => Err(TaskError::Rule("the reduce exchanged its output".to_owned())),
    }
}

/// The program's reducer, or what its fold implies, or the identity.
fn reducer_of(application: &Application) -> Box<dyn Reducer> {
    match (&application.reducer, &application.combiner) {
        (Some(make), _) => make(),
        (None, Combiner::Fold(fold)) => Box::new(FoldReducer(*fold)),
        (None, _) => Box::new(identity),
    }
}

fn identity(key: &[u8], values: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
    while let Some(value) = values.next()? {
        out.emit(key, value)?;
    }
    Ok(())
}

/// Joins the longs of a key.
struct FoldReducer(Fold);

impl Reducer for FoldReducer {
    fn reduce(&mut self, key: &[u8], values: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
        let Some(mut joined) = values.next_long()? else { return Ok(()) };
        while let Some(value) = values.next_long()? {
            joined = self.0.join(joined, value);
        }
        out.emit_long(key, joined)
    }
}
