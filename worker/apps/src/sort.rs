//! Sorts the lines of text files by their bytes; equal lines are all kept.
//!
//! With several reduces each part is sorted in itself, lines going where Hadoop's hash says; with `--total-order`
//! the parts read one after the other are sorted too, by cuts sampled from the input.

use howdah_task::{Application, MapOutput, Properties, ReduceOutput, Result, Values};

use crate::built_in::BuiltIn;
use crate::request::{JobPlan, PlanError, Planner};
use crate::total_order::{CUTS, Keys, TotalOrder};
use crate::{paths, total_order};

pub(crate) const APP: BuiltIn = BuiltIn {
    name: "sort",
    about: "sort the lines of text files",
    usage: "[--total-order]",
    plan,
    stages: &[("sort", application)],
};

fn plan(planner: &mut Planner<'_>) -> Result<Vec<JobPlan>, PlanError> {
    let total = planner.flag("--total-order");
    let mut job = planner.files_job("sort", 1)?;
    if total {
        let files = paths::files(&job.inputs).map_err(|(path, error)| planner.unreadable("list", path, error))?;
        let cuts = total_order::sample(&files, Keys::Lines, job.n_reduces);
        let cuts = cuts.map_err(|(path, error)| planner.unreadable("sample", path, error))?;
        job.properties.insert(CUTS.to_owned(), cuts);
    }
    Ok(vec![job])
}

fn map(line: &[u8], out: &mut MapOutput) -> Result {
    out.emit_key(line)
}

fn reduce(line: &[u8], copies: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
    while copies.next()?.is_some() {
        out.emit_key(line)?;
    }
    Ok(())
}

fn application(properties: &Properties) -> Result<Application> {
    let sort = Application::lines(map).reduce(reduce);
    Ok(if properties.get(CUTS).is_some() { sort.partitioner(TotalOrder::of) } else { sort })
}
