//! The process of attempts.

pub(crate) mod reporter;
pub(crate) mod tally;

use std::process::ExitCode;

use howdah_shared::job::App;

use crate::api::application::Application;
use crate::api::error::Result;
use crate::api::properties::Properties;

/// The whole `main` of a program with one application.
pub fn main(application: Application) -> ExitCode {
    let _ = application.records;
    ExitCode::from(2)
}

/// Like [`main`], for an application that depends on the job's properties. `make` is called once per attempt.
pub fn main_with(make: impl Fn(&Properties) -> Result<Application>) -> ExitCode {
    run_process(|_, properties| make(properties))
}

/// Runs attempts of applications that `registry` makes from what the job runs and its properties, until the worker
/// has no more.
pub fn run_process(registry: impl Fn(&App, &Properties) -> Result<Application>) -> ExitCode {
    let _ = registry;
    ExitCode::from(2)
}
