//! The table of built-in applications, and the process that runs their attempts.
//!
//! A job names a *stage*: most applications have one of their own name, grep has two. Only the stage asked for is
//! built, because a process may run an attempt of a millisecond.

pub(crate) use super::built_in::BuiltIn;

use std::process::ExitCode;

use howdah_core::job::App;
use howdah_task::{Application, Properties, Result};

use super::built_in::Build;
use crate::{grep, pi, program, random_text, sleep, sort, streaming, sudoku, tera, wordcount};

/// All of them, in the order of help texts.
pub(crate) const APPS: &[BuiltIn] = &[
    wordcount::APP,
    grep::APP,
    sort::APP,
    sudoku::SOLVE,
    sudoku::GENERATE,
    tera::GENERATE,
    tera::SORT,
    tera::VALIDATE,
    random_text::APP,
    pi::APP,
    sleep::APP,
    streaming::APP,
    program::APP,
];

/// The hidden `howdah task`: runs attempts until the worker has no more.
pub fn task_main() -> ExitCode {
    howdah_task::run_process(application)
}

/// What a job runs, made for its properties: for [`howdah_task::run_process`] and for jobs run locally.
///
/// # Errors
/// When this binary has no such application, or a property does not suit it.
pub fn application(app: &App, properties: &Properties) -> Result<Application> {
    match app {
        App::BuiltIn { name } => match stage(name) {
            Some(build) => build(properties),
            None => Err(format!("no application `{name}` in this binary: is the worker older than the client?").into()),
        },
        App::Streaming { mapper, reducer, combiner } => {
            streaming::application(mapper.as_deref(), reducer.as_deref(), combiner.as_deref(), properties)
        }
        App::Program { path, .. } => Err(format!("`{path}` runs as a process of its own, not in this one").into()),
    }
}

fn stage(name: &str) -> Option<Build> {
    APPS.iter().flat_map(|app| app.stages).find(|(stage, _)| *stage == name).map(|(_, build)| *build)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_distinct_and_every_stage_builds_without_properties_or_says_what_it_needs() {
        let names: BTreeSet<&str> = APPS.iter().map(|app| app.name).collect();
        assert_eq!(names.len(), APPS.len());
        let stages: Vec<&str> = APPS.iter().flat_map(|app| app.stages).map(|(name, _)| *name).collect();
        assert_eq!(stages.iter().collect::<BTreeSet<_>>().len(), stages.len());
        for stage in stages {
            let app = App::BuiltIn { name: stage.to_owned() };
            if let Err(error) = application(&app, &Properties::default()) {
                assert!(error.to_string().contains("property"), "{stage}: {error}");
            }
        }
    }

    #[test]
    fn an_unknown_stage_is_an_error_that_names_it() {
        let Err(error) = application(&App::BuiltIn { name: "tau".to_owned() }, &Properties::default()) else {
            panic!("there is no tau");
        };
        assert!(error.to_string().contains("`tau`"));
    }
}
