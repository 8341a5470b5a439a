//! Hadoop Streaming: any command that reads lines and writes lines as mapper or reducer.

use howdah_task::{Application, Properties, Result};

use crate::plan::{JobPlan, PlanError, Planner};
use crate::registry::BuiltIn;

pub(crate) const APP: BuiltIn = BuiltIn {
    name: "streaming",
    about: "run commands that read and write lines as mapper and reducer",
    usage: "[--mapper COMMAND] [--combiner COMMAND] [--reducer COMMAND|NONE]",
    plan,
    stages: &[],
};

fn plan(planner: &mut Planner<'_>) -> Result<Vec<JobPlan>, PlanError> {
    Ok(vec![planner.files_job("streaming", 1)?])
}

pub(crate) fn application(
    _mapper: Option<&str>,
    _reducer: Option<&str>,
    _combiner: Option<&str>,
    _: &Properties,
) -> Result<Application> {
    Ok(Application::identity())
}
