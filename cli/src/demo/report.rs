//! What the demo prints: jobs, where their time went, and what held.

use std::time::Duration;

use super::jobs::Finished;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::job::view::{locality, state_style};
use crate::output::table::Grid;
use crate::output::{Screen, Style};
use crate::units;

/// A row per job.
pub(crate) fn job_table(jobs: &[Finished]) -> Grid {
    let mut grid = Grid::new(&["job", "name", "state", ">maps", ">reduces", ">attempts", ">time", "maps ran"]);
    for finished in jobs {
        let job = &finished.job;
        grid.row([
            job.job.clone(),
            job.name.clone(),
            job.state.clone(),
            job.maps.to_string(),
            job.reduces.to_string(),
            finished.n_attempts.to_string(),
            job.completion_s.map_or("-".to_owned(), units::seconds),
            locality(job),
        ]);
        if let Some(style) = state_style(&job.state) {
            grid.style(2, style);
        }
    }
    grid
}

/// A row per job: slot seconds by what they were spent on.
pub(crate) fn time_table(jobs: &[Finished]) -> Grid {
    let rows: Vec<_> = jobs.iter().map(|finished| (finished.job.name.as_str(), finished.spent)).collect();
    crate::job::time_grid(&rows)
}

/// A row per job and one for the whole run.
pub(crate) fn prediction_table(rows: Vec<[String; 5]>) -> Grid {
    let mut grid = Grid::new(&["job", "name", ">measured", ">simulated", ">error"]);
    rows.into_iter().for_each(|row| grid.row(row));
    grid
}

/// What held and what did not, said as it becomes known.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    held: usize,
    broken: Vec<String>,
}

impl Verdict {
    pub(crate) fn say(&mut self, screen: &Screen, finding: Result<String, String>) -> Outcome<()> {
        match finding {
            Ok(text) => {
                self.held += 1;
                screen.line(format!("  {} {text}", screen.paint(Style::Good, "✓")))?;
            }
            Err(text) => {
                screen.line(format!("  {} {text}", screen.paint(Style::Bad, "✗")))?;
                self.broken.push(text);
            }
        }
        Ok(())
    }

    /// The last line, and the exit code.
    pub(crate) fn close(self, screen: &Screen, elapsed: Duration) -> Outcome {
        let time = units::seconds(elapsed.as_secs_f64());
        match self.broken.first() {
            None => {
                screen.line(format!("\n{} in {time}.", screen.paint(Style::Good, "Everything held")))?;
                Ok(Exit::Done)
            }
            Some(first) => Err(Failure::failed(format!(
                "{} of {} checks failed: {first}",
                self.broken.len(),
                self.broken.len() + self.held
            ))),
        }
    }
}
