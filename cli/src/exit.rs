//! What the command's exit code says. Scripts rely on this table; it is also printed in the manual.

use std::process::ExitCode;

/// The six ways in which `howdah` can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked for was done.
    Done = 0,
    /// A job failed or was killed, or a check failed.
    Failed = 1,
    /// The arguments, the configuration or the input are wrong; nothing was started.
    Usage = 2,
    /// The cluster could not be reached, or broke.
    Broke = 3,
    /// The time given with `--timeout` is over.
    TimedOut = 4,
    /// Stopped by Ctrl-C before it was done; what it had by then was printed. 128 and the signal's number, as in shells.
    Interrupted = 130,
}

/// The same table for people, at the end of `howdah --help`.
pub(crate) const TABLE: &str = "\
Exit codes:
  0  done
  1  a job failed or was killed, or a check failed
  2  wrong usage or bad input; nothing was started
  3  the cluster could not be reached, or broke
  4  timed out
  130  interrupted: what a simulation had by then was printed, jobs go on running";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_table_names_every_code_once() {
        for exit in [Exit::Done, Exit::Failed, Exit::Usage, Exit::Broke, Exit::TimedOut, Exit::Interrupted] {
            let start = format!("  {}  ", exit as u8);
            assert_eq!(TABLE.lines().filter(|line| line.starts_with(&start)).count(), 1, "{exit:?}");
        }
    }
}
