//! The work that is measured: sudokus, or a job's own program over its own input.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::place::Place;
use crate::live::Program;

/// A first run must last as long as this to tell how many rounds to make.
const TELLING: Duration = Duration::from_millis(200);
/// More rounds than any task needs; a solver that is faster has broken.
const MOST_ROUNDS: u64 = 1 << 40;

/// CPU-bound work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// So many rounds of the built-in sudoku solver over the same puzzles.
    Sudoku {
        /// Rounds; set from the time that the work is to take.
        rounds: u64,
    },
    /// A streaming mapper, or any other program, over a file on its standard input. It takes as long as it takes.
    Mapper {
        /// For the shell.
        command: String,
        input: PathBuf,
    },
}

impl Work {
    /// With as many rounds as take about `task` where nothing else runs; a program of the user's stays as it is.
    pub(super) fn scaled(self, task: Duration, run: impl Fn(&Work) -> Result<Duration>) -> Result<Work> {
        if let Work::Mapper { .. } = self {
            run(&self)?;
            return Ok(self);
        }
        let mut rounds = 1;
        loop {
            let taken = run(&Work::Sudoku { rounds })?;
            if taken >= TELLING.min(task) {
                let wanted = rounds as f64 * task.as_secs_f64() / taken.as_secs_f64();
                return Ok(Work::Sudoku { rounds: (wanted as u64).max(1) });
            }
            rounds *= 4;
            if rounds > MOST_ROUNDS {
                bail!("scale the work: {rounds} rounds of sudoku took {} ms", taken.as_millis());
            }
        }
    }

    /// Runs it once, to its end.
    pub(super) fn run(&self, program: &Program, place: &Place) -> Result<()> {
        let mut command = match self {
            Work::Sudoku { rounds } => {
                let mut command = program.command();
                command.args(["calibrate", "--rounds", &rounds.to_string()]);
                command
            }
            Work::Mapper { command: text, .. } => {
                let mut command = Command::new("/bin/sh");
                command.arg("-c").arg(text);
                command
            }
        };
        place.join(&mut command);
        if let Work::Mapper { input, .. } = self {
            let file = File::open(input).with_context(|| format!("open `{}`", input.display()))?;
            command.stdin(file);
        } else {
            command.stdin(Stdio::null());
        }
        let status = command.stdout(Stdio::null()).status().with_context(|| format!("start {self}"))?;
        if !status.success() {
            bail!("{self} ended with {status}, expected 0");
        }
        Ok(())
    }
}

impl std::fmt::Display for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Work::Sudoku { rounds } => write!(f, "sudoku, {rounds} rounds"),
            Work::Mapper { command, .. } => write!(f, "`{command}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_grow_until_a_run_tells_and_then_fit_the_task() {
        let per_round = |work: &Work| match work {
            Work::Sudoku { rounds } => Ok(Duration::from_millis(10 * rounds)),
            Work::Mapper { .. } => bail!("another work"),
        };
        let scaled = Work::Sudoku { rounds: 1 }.scaled(Duration::from_secs(2), per_round);
        assert_eq!(scaled.expect("it ran"), Work::Sudoku { rounds: 200 });
        let nothing = Work::Sudoku { rounds: 1 }.scaled(Duration::from_secs(2), |_| Ok(Duration::ZERO));
        assert!(nothing.is_err(), "work that takes no time has no rounds");
    }

    #[test]
    fn a_users_program_reads_its_input_and_its_failure_is_reported() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "7\n").expect("written");
        let program = Program::new(std::path::Path::new("unused"));
        let mapper = |command: &str| Work::Mapper { command: command.to_owned(), input: file.path().to_owned() };
        mapper("read n && test $n = 7").run(&program, &Place::Here).expect("the input is there");
        let error = mapper("exit 3").run(&program, &Place::Here).expect_err("it failed");
        assert!(error.to_string().contains("`exit 3` ended with exit status: 3"), "{error}");
    }
}
