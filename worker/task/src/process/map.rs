//! Runs a map attempt.

use howdah_core::job::{FileState, InputFormat, Phase, Split};
use howdah_guards::Guard;

use super::faults::FaultPlan;
use super::pace::Pace;
use crate::api::application::Application;
use crate::api::choices::Combiner;
use crate::api::context::Context;
use crate::api::error::TaskError;
use crate::api::key_order::KeyOrder;
use crate::api::line_length::longest_line;
use crate::api::mapper::{MapOutput, MapSink, Mapper};
use crate::api::text::{Decimal, printable};
use crate::collect::{FoldCollector, SortCollector, Spiller};
use crate::input::{FixedRecords, LineRecords, Records, Source};
use crate::output::PartWriter;

/// Runs the map to the end of its output. The caller asks for the commit.
pub(crate) fn run(application: &Application, context: &Context, faults: &FaultPlan) -> Result<(), TaskError> {
    context.enter(Phase::Map, 0.0)?;
    let mut mapper = (application.mapper)();
    // Before the setup, in which a program may begin to write beside its part file.
    let sink = if context.n_reduces() == 0 {
        MapSink::Part(PartWriter::create(application.records, context)?)
    } else {
        let order = KeyOrder::new(application.comparator.as_ref(), context)?;
        let folds = order.is_of_bytes();
        let spiller = Spiller::new(&application.combiner, application.partitioner.as_ref(), order, context)?;
        match application.combiner {
            Combiner::Fold(fold) if folds => MapSink::Fold(FoldCollector::new(fold, spiller)),
            _ => MapSink::Sort(SortCollector::new(spiller)),
        }
    };
    mapper.setup(context).map_err(|source| program("the map's setup", source))?;
    let mut out = MapOutput { sink, context: context.clone() };
    match (&context.spec().split, &context.spec().input_format) {
        (Some(Split::Generated), _) => generated(mapper.as_mut(), &mut out, context)?,
        (Some(Split::File { path, offset, length, file, .. }), format) => {
            let (offset, length) = (*offset, *length);
            let source = Source::of(path, *file, context.properties())?;
            unchanged(&source, *file, context)?;
            context.log(&format!("input: {length} bytes at {offset} of `{path}`"));
            if let InputFormat::FixedLength { record_bytes } = format {
                let records = FixedRecords::open(&source, offset, length, *record_bytes)?;
                read(records, path, mapper.as_mut(), &mut out, context, faults)?;
            } else {
                let records = LineRecords::open(&source, offset, length, longest_line(context.properties())?)?;
                read(records, path, mapper.as_mut(), &mut out, context, faults)?;
            }
            // What was written while it was read may be in what was read, or not.
            unchanged(&source, *file, context)?;
        }
        (None, _) => return Err(TaskError::Rule("a map without a split".to_owned())),
    }
    mapper.close(&mut out).map_err(|source| program("the map's close", source))?;
    faults.output()?;
    match out.sink {
        MapSink::Part(part) => part.finish(),
        MapSink::Fold(collector) => collector.finish(),
        MapSink::Sort(collector) => collector.finish(),
    }
}

/// Refuses a file that is not the one that was cut into splits: the others may have read, or may yet read, another one.
fn unchanged(source: &Source, expected: Option<FileState>, context: &Context) -> Result<(), TaskError> {
    let Some(expected) = expected.filter(|_| Guard::UnchangedInput.stands()) else { return Ok(()) };
    if !context.properties().parse_or(&["howdah.input.check"], true, "true or false")? {
        return Ok(());
    }
    let (path, FileState { length, modified_us }) = (&source.path, source.state()?);
    if length != expected.length {
        let (found, expected) = (length, expected.length);
        let what = format!("has {found} bytes, expected {expected}: it was changed after the job was submitted");
        return Err(TaskError::Rule(format!("input `{path}` {what}")));
    }
    if modified_us != expected.modified_us {
        let later = modified_us.saturating_sub(expected.modified_us) as f64 / 1e6;
        let what = format!("has another time of its last change than when the job was submitted ({later:+.6} s)");
        return Err(TaskError::Rule(format!("input `{path}` {what}")));
    }
    Ok(())
}

fn program(place: impl Into<String>, source: crate::Error) -> TaskError {
    TaskError::Program { place: place.into(), source }
}

/// A map that makes its own input.
fn generated(mapper: &mut dyn Mapper, out: &mut MapOutput, context: &Context) -> Result<(), TaskError> {
    let index = context.task_index();
    let key = Decimal::new(i64::from(index));
    mapper.map(key.as_bytes(), b"", out).map_err(|source| program(format!("the map of index {index}"), source))?;
    context.tally().map_input_records.add(1);
    Ok(())
}

/// Calls the mapper for each record.
fn read<R: Records>(
    mut records: R,
    path: &str,
    mapper: &mut dyn Mapper,
    out: &mut MapOutput,
    context: &Context,
    faults: &FaultPlan,
) -> Result<(), TaskError> {
    let (mut n_records, mut n_bytes) = (0_u64, 0_u64);
    let mut pace = Pace::new();
    while let Some(record) = records.next_record()? {
        n_records += 1;
        n_bytes += record.consumed;
        context.set_place(record.offset);
        if let Err(source) = mapper.map(&record.offset.to_be_bytes(), record.value, out) {
            let (offset, value) = (record.offset, printable(record.value));
            return Err(program(format!("map of `{path}` at byte {offset}, record `{value}`"), source));
        }
        if let Some(now) = pace.step() {
            let tally = context.tally();
            tally.map_input_records.add(std::mem::take(&mut n_records));
            tally.map_input_bytes.add(std::mem::take(&mut n_bytes));
            let progress = records.progress();
            faults.progress(progress)?;
            if context.is_due(now) {
                if let MapSink::Fold(collector) = &mut out.sink {
                    collector.flush_tally();
                }
                context.report(progress)?;
            }
        }
    }
    let tally = context.tally();
    tally.map_input_records.add(n_records);
    tally.map_input_bytes.add(n_bytes);
    tally.bytes_read.add(records.bytes_read());
    Ok(())
}
