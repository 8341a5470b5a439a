//! `terasort`: the rows of all parts in one order, by cuts that the client samples while it plans.
//!
//! Rows with equal keys follow in order of their other bytes, so the result depends on the rows alone.

use howdah_core::job::InputFormat;
use howdah_task::{Application, MapOutput, Properties, RecordFormat, Result};

use super::{KEY, ROW};
use crate::built_in::BuiltIn;
use crate::request::{JobPlan, PlanError, Planner};
use crate::total_order::{CUTS, Keys, TotalOrder};
use crate::{paths, total_order};

pub(crate) const APP: BuiltIn = BuiltIn {
    name: "terasort",
    about: "sort teragen's rows, in one order over all parts",
    usage: "",
    plan,
    stages: &[("terasort", application)],
};

fn plan(planner: &mut Planner<'_>) -> Result<Vec<JobPlan>, PlanError> {
    let mut job = planner.files_job("terasort", 1)?;
    if job.n_reduces == 0 {
        return Err(planner.not("--reduces", "0", "at least 1: maps alone do not sort"));
    }
    job.input_format = InputFormat::FixedLength { record_bytes: ROW as u32 };
    let files = paths::files(&job.inputs).map_err(|(path, error)| planner.unreadable("list", path, error))?;
    let cuts = total_order::sample(&files, Keys::Fixed { record: ROW, key: KEY }, job.n_reduces);
    let cuts = cuts.map_err(|(path, error)| planner.unreadable("sample", path, error))?;
    job.properties.insert(CUTS.to_owned(), cuts);
    Ok(vec![job])
}

fn map(row: &[u8], out: &mut MapOutput) -> Result {
    out.emit(&row[..KEY], &row[KEY..])
}

fn application(_: &Properties) -> Result<Application> {
    Ok(Application::lines(map).partitioner(TotalOrder::of).records(RecordFormat::Raw))
}
