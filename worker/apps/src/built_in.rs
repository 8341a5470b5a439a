//! An application that comes with the worker: its help, its plan and its stages.

use howdah_task::{Application, Properties, Result};

use crate::request::{JobPlan, PlanError, Planner};

pub(crate) type Plan = fn(&mut Planner<'_>) -> Result<Vec<JobPlan>, PlanError>;

pub(crate) type Build = fn(&Properties) -> Result<Application>;

/// One application.
pub(crate) struct BuiltIn {
    /// As in `howdah submit NAME`.
    pub(crate) name: &'static str,
    /// One line for help texts.
    pub(crate) about: &'static str,
    /// Its own options and arguments.
    pub(crate) usage: &'static str,
    /// Its jobs.
    pub(crate) plan: Plan,
    /// What its jobs run, by the name in [`App::BuiltIn`]; names of all applications are distinct.
    pub(crate) stages: &'static [(&'static str, Build)],
}
