//! Hadoop Streaming: any command that reads lines and writes lines as mapper or reducer.
//!
//! A map's command gets the input's lines, a reduce's gets `key TAB value` lines in order of keys; what they write
//! is split at the first tab into key and value. Source: `docs/hadoop.md#streaming`, whose property names hold here.
//! `Deviation:` commands are always commands, never names of Java classes, except for the reducer `aggregate`.

mod aggregate;
mod command;
mod comparator;
mod environment;
mod fields;
#[cfg(test)]
mod fuzz;
mod key_fields;
mod lines;
mod number;
mod pipe;
mod reporter;
mod task;

use howdah_core::job::App;
use howdah_task::{Application, Properties, Result};

use self::aggregate::Aggregate;
use self::comparator::FieldComparator;
use self::fields::KeyFields;
use self::task::{StreamCombiner, StreamMapper, StreamReducer};
use crate::built_in::BuiltIn;
use crate::request::{JobPlan, PlanError, Planner};

pub(crate) const APP: BuiltIn = BuiltIn {
    name: "streaming",
    about: "run commands that read and write lines as mapper and reducer",
    usage: "[--mapper COMMAND] [--reducer COMMAND|aggregate|NONE] [--combiner COMMAND] [--cmdenv NAME=VALUE]",
    plan,
    stages: &[],
};

fn plan(planner: &mut Planner<'_>) -> Result<Vec<JobPlan>, PlanError> {
    let mapper = command(planner, &["--mapper", "-mapper"])?;
    let reducer = command(planner, &["--reducer", "-reducer"])?;
    let combiner = command(planner, &["--combiner", "-combiner"])?;
    let aggregates = reducer.clone().filter(|name| aggregate::is_meant(name));
    for variable in planner.all_options(&["--cmdenv", "-cmdenv"], "NAME=VALUE")? {
        let list = planner.properties.entry(environment::ADDED.to_owned()).or_default();
        list.push_str(&format!("{}{variable}", if list.is_empty() { "" } else { " " }));
    }
    check_key_options(&planner.properties.clone().into()).map_err(|reason| planner.refuse("-D", reason))?;
    let mut job = planner.files_job("", 1)?;
    let maps_only = reducer.as_deref() == Some("NONE");
    if maps_only {
        job.n_reduces = 0;
    }
    job.app = App::Streaming { mapper, reducer: reducer.filter(|_| !maps_only), combiner: combiner.or(aggregates) };
    Ok(vec![job])
}

/// Mistakes in how keys are partitioned and compared, which shall show before the job runs.
fn check_key_options(properties: &Properties) -> Result {
    if KeyFields::are_asked_for(properties) {
        KeyFields::of(properties)?;
    }
    if FieldComparator::is_asked_for(properties)? {
        FieldComparator::of(properties)?;
    }
    Ok(())
}

/// The command line of an option, as it is to be run on workers.
fn command(planner: &mut Planner<'_>, names: &[&str]) -> Result<Option<String>, PlanError> {
    let Some(line) = planner.option::<String>(names, "a command")? else { return Ok(None) };
    match command::anchored(&line) {
        Some(anchored) if !command::split(&line).is_empty() => Ok(Some(anchored)),
        _ => Err(planner.not(names[0], &line, "a command")),
    }
}

/// The application that runs these commands; a mapper or reducer that is not there passes its records on.
pub(crate) fn application(
    mapper: Option<&str>,
    reducer: Option<&str>,
    combiner: Option<&str>,
    properties: &Properties,
) -> Result<Application> {
    let mut application = match mapper.map(str::to_owned) {
        Some(command) => Application::new(move || StreamMapper::new(&command)),
        None => Application::lines(task::pass_line_on),
    };
    application = match reducer.map(str::to_owned) {
        Some(name) if aggregate::is_meant(&name) => application.reducer(|| Aggregate { combines: false }),
        Some(command) => application.reducer(move || StreamReducer::new(&command)),
        None => application,
    };
    application = match combiner.map(str::to_owned) {
        Some(name) if aggregate::is_meant(&name) => application.combiner(|| Aggregate { combines: true }),
        Some(command) => application.combiner(move || StreamCombiner::new(&command)),
        None => application,
    };
    if KeyFields::are_asked_for(properties) {
        application = application.partitioner(KeyFields::of);
    }
    if FieldComparator::is_asked_for(properties)? {
        application = application.key_comparator(FieldComparator::of);
    }
    Ok(application)
}
