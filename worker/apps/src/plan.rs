//! From `howdah submit APP …` to jobs: what each application runs, reads, writes and needs to know.
//!
//! Planning happens at the client, before anything is accepted. It may read input (terasort samples keys) but
//! writes nothing. An application with several jobs gets several plans, to be run one after the other.

pub(crate) use super::request::Planner;
pub use super::request::{JobPlan, PlanError, PlanRequest};

use crate::args::Args;
use crate::registry;

/// An application, for help texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppHelp {
    /// As in `howdah submit NAME`.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// Its own options and arguments.
    pub usage: &'static str,
}

/// All applications, in the order of help texts.
pub fn apps() -> impl Iterator<Item = AppHelp> {
    registry::APPS.iter().map(|app| AppHelp { name: app.name, about: app.about, usage: app.usage })
}

/// The jobs that an application makes of a request, in the order in which they must run.
///
/// # Errors
/// When there is no such application, or the request does not suit it.
pub fn plan(app: &str, request: &PlanRequest) -> Result<Vec<JobPlan>, PlanError> {
    let Some(built_in) = registry::APPS.iter().find(|known| known.name == app) else {
        return Err(unknown(app));
    };
    let mut planner = Planner {
        app: built_in.name,
        usage: built_in.usage,
        args: Args::new(&request.args),
        properties: request.properties.clone(),
        request,
    };
    let jobs = (built_in.plan)(&mut planner)?;
    match planner.args.positional() {
        Some(argument) => Err(PlanError::Unexpected { app: built_in.name, argument, usage: built_in.usage.to_owned() }),
        None => Ok(jobs),
    }
}

fn unknown(name: &str) -> PlanError {
    let known = registry::APPS.iter().map(|app| app.name).collect::<Vec<_>>().join(", ");
    let near = registry::APPS
        .iter()
        .map(|app| (distance(name, app.name), app.name))
        .min()
        .filter(|(distance, near)| *distance <= near.len() / 3)
        .map(|(_, near)| near.to_owned());
    PlanError::UnknownApp { name: name.to_owned(), known, near }
}

/// Levenshtein's distance, in bytes.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_slip_gets_a_suggestion_and_all_names() {
        let error = plan("wordcuont", &PlanRequest::default()).expect_err("no such application").to_string();
        assert!(error.contains("there are wordcount, "), "{error}");
        assert!(error.ends_with("help: did you mean `wordcount`?"), "{error}");
        let error = plan("tau", &PlanRequest::default()).expect_err("no such application").to_string();
        assert!(!error.contains("help"), "{error}");
    }
}
