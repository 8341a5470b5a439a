//! A user's own program, built with the task library (see the word count in `howdah_task`'s documentation).
//!
//! The path must be readable on every worker; nothing is copied.

use howdah_core::job::App;

use crate::built_in::BuiltIn;
use crate::request::{JobPlan, PlanError, Planner};

pub(crate) const APP: BuiltIn = BuiltIn {
    name: "program",
    about: "run a program built with the task library, from a path that every worker can read",
    usage: "PROGRAM [ARGUMENT…]",
    plan,
    stages: &[],
};

fn plan(planner: &mut Planner<'_>) -> Result<Vec<JobPlan>, PlanError> {
    let path = planner.positional().ok_or_else(|| planner.missing("the path of a program"))?;
    let absolute =
        std::fs::canonicalize(&path).map_err(|error| planner.unreadable("find", path.clone().into(), error))?;
    let path = absolute.into_os_string().into_string();
    let path = path.map_err(|path| planner.refuse("PROGRAM", format!("{path:?} is not UTF-8")))?;
    let args = std::iter::from_fn(|| planner.positional()).collect();
    let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
    Ok(vec![JobPlan { name, app: App::Program { path, args }, ..planner.files_job("", 1)? }])
}
