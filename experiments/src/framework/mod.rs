//! What every experiment has: a description, a directory for its results, checks with bars, progress.

mod page;
pub(crate) mod papers;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub use howdah_charts::{Bars, Curve, Plot, Series};
pub(crate) use page::percent;
pub use page::{FIGURE_ONLY, Page};
pub use table::Table;

/// What an experiment needs to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing but this process.
    Simulation,
    /// Real clusters on this machine; their figures mean something only while it does nothing else.
    LiveRuns,
}

impl Needs {
    /// As printed.
    pub fn name(self) -> &'static str {
        match self {
            Needs::Simulation => "simulation",
            Needs::LiveRuns => "live-runs",
        }
    }
}

/// What an experiment is.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// As in `howdah experiment run NAME`; also the name of its files.
    pub name: &'static str,
    /// What it shows, in one line.
    pub line: &'static str,
    /// The paper it follows.
    pub paper: &'static str,
    /// Table or figure of the paper.
    pub figure: &'static str,
    pub needs: Needs,
    /// Rough time in seconds: in full, and with `--quick`.
    pub estimate_s: [u32; 2],
}

/// One of the papers' tables or figures.
pub trait Experiment {
    fn about(&self) -> About;

    /// Whether it reads [`Lab::schedulers`].
    fn takes_schedulers(&self) -> bool {
        false
    }

    /// Whether it reads [`Lab::repeats`].
    fn takes_repeats(&self) -> bool {
        true
    }

    /// Runs it and writes its results into the directory of `lab`.
    ///
    /// # Errors
    /// When it cannot be run to its end; a missed bar is a [`Check`], not an error.
    fn run(&self, lab: &Lab<'_>) -> Result<Outcome>;
}

/// Where and how an experiment runs.
pub struct Lab<'a> {
    /// Of the results; exists.
    pub dir: PathBuf,
    /// Smaller, faster, and only roughly right.
    pub quick: bool,
    /// Of everything random.
    pub seed: u64,
    /// The `howdah` program, for live runs.
    pub program: PathBuf,
    /// Policies of live runs; the first is the one that profiles are taken under.
    pub schedulers: Vec<String>,
    /// Repeats of each live run; `None` leaves it to the experiment.
    pub repeats: Option<u32>,
    /// Is notified of how far it is.
    pub progress: &'a dyn Progress,
}

/// Listens to how far an experiment is.
pub trait Progress {
    /// A line worth keeping.
    fn step(&self, text: &str);

    /// What is going on right now; may be overwritten by the next.
    fn tick(&self, text: &str);
}

/// What "well below" and "significantly" are judged by where a paper has the words and no number: a tenth. Ours, and the
/// same in all experiments.
pub(crate) const WELL_BELOW: f64 = 0.9;

/// A bar and how it was met.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What was measured.
    pub what: String,
    /// What came out; not a number where there was nothing to judge.
    pub found: f64,
    /// Most that it may be.
    pub bar: f64,
    /// Whether this run was meant to be judged by it; quick runs are too rough for most bars.
    pub judged: bool,
}

impl Check {
    /// Whether recorded runs decide the same when they are replayed: compared and identical effects of each. Without
    /// anything compared it is not met.
    pub(crate) fn decisions(of: &str, runs: impl IntoIterator<Item = (u64, u64)>) -> Check {
        let (compared, different) = runs.into_iter().fold((0, 0), |(all, different), (compared, identical)| {
            (all + compared, different + compared.saturating_sub(identical))
        });
        let found = if compared == 0 { 1.0 } else { different as f64 / compared as f64 };
        Check { what: format!("{of}decisions that replay differently"), found, bar: 0.0, judged: true }
    }

    /// A bar that could not be judged, as what it is about is missing. It is not met.
    pub(crate) fn without_anything(what: String) -> Check {
        Check { what, found: f64::NAN, bar: 0.0, judged: true }
    }

    /// Whether there was anything to judge.
    pub fn found_anything(&self) -> bool {
        !self.found.is_nan()
    }

    /// Whether the bar was met.
    pub fn holds(&self) -> bool {
        self.found <= self.bar
    }
}

/// What an experiment leaves.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Files it wrote, the page first.
    pub files: Vec<PathBuf>,
    /// Its bars.
    pub checks: Vec<Check>,
}

impl Outcome {
    /// Checks that were meant to hold and do not.
    pub fn missed(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.judged && !check.holds())
    }
}

impl Lab<'_> {
    /// The first for a full run, the second for a quick one.
    pub fn size<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Writes a file of results; the name has no directories in it.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.dir.join(name);
        fs::write(&path, text).with_context(|| format!("write `{}`", path.display()))?;
        Ok(path)
    }

    /// A directory below the results', made if missing.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        make_folder(&self.dir.join(name))
    }
}

pub(crate) fn make_folder(path: &Path) -> Result<PathBuf> {
    fs::create_dir_all(path).with_context(|| format!("make directory `{}`", path.display()))?;
    path.canonicalize().with_context(|| format!("find directory `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_judged_checks_can_be_missed() {
        assert!(Check::decisions("", [(5, 5), (2, 2)]).holds());
        assert_eq!(Check::decisions("", [(3, 3), (1, 0)]).found, 0.25);
        assert!(!Check::decisions("", []).holds(), "nothing was compared");
        let missing = Check::without_anything(String::new());
        assert!(missing.judged && !missing.holds() && !missing.found_anything());
        let check = |found, judged| Check { what: String::new(), found, bar: 1.0, judged };
        let outcome =
            Outcome { files: Vec::new(), checks: vec![check(2.0, false), check(1.0, true), check(3.0, true)] };
        assert_eq!(outcome.missed().map(|check| check.found).collect::<Vec<_>>(), [3.0]);
    }
}
