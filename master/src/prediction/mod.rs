//! Online prediction in the master: it learns from every finished task, and simulates forks of its own state.
//!
//! ```text
//!  core's thread ──(what was learnt, a fork when asked)──► prediction thread ──► answers, the history's file
//! ```
//!
//! The core's thread follows its own effects and copies its state, both in microseconds; fitting, simulating and writing
//! happen on a thread of their own, one request at a time, which rests after each so that it takes a bounded share of a
//! core. **Nothing here changes the live state, and nothing waits for a forecast but who asked for it.**

mod answer;
mod applications;
mod feed;
mod fork;
mod fork_cost;
mod inbox;
mod message;
mod prefetch;
mod recorded;
mod rounds;
mod switching;
mod thread;

pub(crate) use answer::score_message;
pub use answer::{changes, forecast_message};
pub(crate) use feed::Feed;
pub(crate) use fork::Forked;
pub use fork_cost::{Handed, Rows};
pub(crate) use message::{Ask, AskError, Coverage, ForecastAnswer};
pub use recorded::{Moment, RecordedRun, read_run};
pub(crate) use rounds::{RoundCosts, Rounds};
pub(crate) use switching::{Switched, Switches, Switching, candidates};
pub(crate) use thread::{PredictionHandle, start};

use howdah_core::job::App;

/// Checks what the configuration says of forecasts.
///
/// # Errors
/// Names the setting, what it is and what was expected.
pub fn check(config: &crate::config::MasterConfig) -> anyhow::Result<()> {
    candidates(config).map(drop)
}

/// What an application is called where its tasks' times are remembered.
pub(crate) fn application_name(app: &App) -> String {
    let program = |command: &str| {
        let path = command.split_whitespace().next().unwrap_or_default();
        path.rsplit('/').next().unwrap_or_default().to_owned()
    };
    match app {
        App::BuiltIn { name } => name.clone(),
        App::Program { path, .. } => program(path),
        App::Streaming { mapper, reducer, .. } => {
            let part = |command: &Option<String>| command.as_deref().map_or_else(|| "cat".to_owned(), program);
            format!("{}|{}", part(mapper), part(reducer))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_is_called_by_its_program_and_not_by_where_that_lies() {
        let program = App::Program { path: "/opt/v2/tokens".to_owned(), args: vec!["-x".to_owned()] };
        assert_eq!(application_name(&program), "tokens");
        let streaming =
            |mapper: &str| App::Streaming { mapper: Some(mapper.to_owned()), reducer: None, combiner: None };
        assert_eq!(application_name(&streaming("/bin/grep -c word")), "grep|cat");
        assert_eq!(application_name(&App::BuiltIn { name: "wordcount".to_owned() }), "wordcount");
    }
}
