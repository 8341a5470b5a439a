//! Flags of `what-if`.

use std::time::Duration;

use clap::Args;
use howdah_core::job::Priority;

use crate::flag_values::parse_pair;
use crate::predict::args::LookArgs;
use crate::units::{parse_bytes, parse_duration};

/// `howdah what-if`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Nothing is done: a fork of the master's state is changed and simulated beside the present course.

With --deadline, both courses are held to the deadline; schedulers that go by deadlines, as maxedf and minedf, see it in the \
other one.

Examples:
  howdah what-if --dir cluster --scheduler fair
  howdah what-if --dir cluster --workers +4
  howdah what-if --dir cluster --submit wordcount --maps 40 --split-size 64MiB --reduces 2
  howdah what-if --dir cluster --submit sleep --maps 8 --deadline 2m
  howdah what-if --dir cluster --deadline 17=10m --deadline 18=30m
  howdah what-if --dir cluster --kill 17
  howdah what-if --dir run1 --at 90s --workers -1")]
pub(crate) struct WhatIfArgs {
    #[command(flatten)]
    pub(crate) look: LookArgs,
    /// Another scheduler in charge from now on
    #[arg(long, value_name = "NAME")]
    pub(crate) scheduler: Option<String>,
    /// With --scheduler: set a parameter of it; may be repeated
    #[arg(short = 'D', value_name = "KEY=VALUE", value_parser = parse_pair, requires = "scheduler")]
    pub(crate) define: Vec<(String, String)>,
    /// Workers more (+2), or fewer (-1)
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    pub(crate) workers: i32,
    /// A job of this application, submitted now
    #[arg(long, value_name = "APP", requires = "maps")]
    pub(crate) submit: Option<String>,
    /// With --submit: its maps
    #[arg(long, value_name = "N", requires = "submit")]
    pub(crate) maps: Option<u32>,
    /// With --submit: its reduces
    #[arg(long, value_name = "N", requires = "submit", default_value_t = 0)]
    pub(crate) reduces: u32,
    /// With --submit: input of each map [default: of unknown size]
    #[arg(long, value_name = "SIZE", requires = "submit", value_parser = parse_bytes)]
    pub(crate) split_size: Option<u64>,
    /// With --submit: its name, from whose family task times are predicted [default: the application's]
    #[arg(long, value_name = "NAME", requires = "submit")]
    pub(crate) name: Option<String>,
    /// With --submit: its queue or pool
    #[arg(long, value_name = "NAME", requires = "submit")]
    pub(crate) queue: Option<String>,
    /// With --submit: VERY_HIGH, HIGH, NORMAL, LOW or VERY_LOW
    #[arg(long, value_name = "P", requires = "submit")]
    pub(crate) priority: Option<Priority>,
    /// When a job, by id or number, is to be over, counted from now: 17=90s; without JOB= the one of --submit; may be
    /// repeated
    #[arg(long, value_name = "[JOB=]DURATION", value_parser = parse_deadline)]
    pub(crate) deadline: Vec<Deadline>,
    /// A job that is killed now, by id or number; may be repeated
    #[arg(long, value_name = "JOB")]
    pub(crate) kill: Vec<String>,
}

/// `--deadline`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deadline {
    /// As named; `None` for the job of `--submit`.
    pub(crate) job: Option<String>,
    pub(crate) within: Duration,
}

fn parse_deadline(text: &str) -> Result<Deadline, String> {
    let (job, within) = match text.split_once('=') {
        Some((job, within)) => (Some(job.to_owned()), within),
        None => (None, text),
    };
    let within = parse_duration(within).ok().filter(|_| job.as_deref() != Some(""));
    let within =
        within.ok_or_else(|| "expected JOB=DURATION, such as 17=90s, or a duration with --submit".to_owned())?;
    Ok(Deadline { job, within })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_of_a_job_or_of_the_one_that_would_be_submitted() {
        let minute = Duration::from_secs(60);
        assert_eq!(parse_deadline("17=1m"), Ok(Deadline { job: Some("17".to_owned()), within: minute }));
        assert_eq!(parse_deadline("60"), Ok(Deadline { job: None, within: minute }));
        for wrong in ["soon", "=1m", "17=", "17=soon"] {
            assert!(parse_deadline(wrong).is_err_and(|error| error.starts_with("expected JOB=DURATION")), "{wrong}");
        }
    }
}
