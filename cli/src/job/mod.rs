//! `job …`: one file for looking, one for steering, one for logs, one for what failed.

pub(crate) mod args;
mod follow;
mod history;
mod list;
mod logs;
mod resubmit;
mod select;
mod steer;
pub(crate) mod time_spent;
pub(crate) mod view;
mod why;

use crate::config::Context;
use crate::failure::Outcome;
use crate::job::args::JobCommand;

pub(crate) use history::{counter_lines, games_line, time_grid};

pub(crate) async fn run(context: &Context, command: &JobCommand) -> Outcome {
    match command {
        JobCommand::List(args) => list::list(context, args).await,
        JobCommand::Status(args) => list::status(context, args).await,
        JobCommand::Attempts(args) => list::attempts(context, args).await,
        JobCommand::Wait(args) => steer::wait(context, args).await,
        JobCommand::Resubmit(args) => resubmit::resubmit(context, args).await,
        JobCommand::Kill(args) => steer::kill(context, args).await,
        JobCommand::KillAttempt(args) => steer::kill_attempt(context, args, false).await,
        JobCommand::FailAttempt(args) => steer::kill_attempt(context, args, true).await,
        JobCommand::SetPriority(args) => steer::set_priority(context, args).await,
        JobCommand::Move(args) => steer::move_jobs(context, args).await,
        JobCommand::Logs(args) => logs::logs(context, args).await,
        JobCommand::Why(args) => why::why(context, args).await,
        JobCommand::Explain(args) => why::explain(context, args).await,
        JobCommand::Counters(args) => history::counters(context, args).await,
        JobCommand::History(args) => history::history(context, args).await,
    }
}
