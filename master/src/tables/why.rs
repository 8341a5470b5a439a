//! The probable cause of a job's failure in one line.
//!
//! Of the attempts of the task that brought the job down, the first that FAILED tells most: later ones often only repeat it, and KILLED ones are
//! consequences. Exit code or signal, the last words of standard error, the worker and the attempt are named.

use howdah_core::job::{ClusterId, TaskId};
use howdah_proto::convert::cause_text;

use super::attempt::AttemptRecord;

/// Longer lines of standard error are cut.
const MAX_TEXT: usize = 400;

/// The line; empty when nothing is known. `failed` are the attempts that FAILED of the task that brought the job down, if one
/// did: others may have failed and recovered.
pub(super) fn why(
    failed: impl Iterator<Item = AttemptRecord>,
    failed_task: Option<TaskId>,
    commit_problem: Option<&str>,
    cluster: ClusterId,
) -> String {
    if let Some(problem) = commit_problem {
        return format!("its output could not be promoted: {problem}");
    }
    let failed: Vec<AttemptRecord> = failed.collect();
    let Some(first) = failed.iter().min_by_key(|record| record.ended) else { return String::new() };
    let times = match (failed_task, failed.len()) {
        (Some(task), n) if n > 1 => format!("{} failed {n} times; first ", cluster.task(task)),
        _ => String::new(),
    };
    format!("{times}{} on worker {}: {}", cluster.attempt(first.id), first.worker, cause(first))
}

/// Why one attempt ended, in one line.
pub(crate) fn cause(record: &AttemptRecord) -> String {
    let mut parts: Vec<String> = Vec::new();
    if let Some(end) = &record.end {
        if let Some(signal) = end.signal {
            parts.push(format!("killed by signal {signal}{}", signal_name(signal)));
        } else if let Some(code) = end.exit_code.filter(|&code| code != 0) {
            parts.push(format!("exit code {code}"));
        }
        if let Some(line) = first_line(&end.diagnostics) {
            parts.push(cut(line));
        }
        if let Some(line) = last_line(&end.stderr_tail)
            && !end.diagnostics.contains(line)
        {
            parts.push(format!("stderr ends with `{}`", cut(line)));
        }
    }
    if parts.is_empty()
        && let Some(cause) = record.cause
    {
        parts.push(cause_text(cause).to_owned());
    }
    parts.join("; ")
}

fn first_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| !line.is_empty())
}

fn last_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).rev().find(|line| !line.is_empty())
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

const fn signal_name(signal: i32) -> &'static str {
    match signal {
        2 => " (SIGINT)",
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        15 => " (SIGTERM)",
        _ => "",
    }
}
