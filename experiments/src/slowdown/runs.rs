//! Runs of many policies, and the means of their repeats.

use anyhow::{Context, Result};
use howdah_planning::tune::{Figures, Listener, Played, Run, play_all};

use super::bench::Bench;
use super::policy::Policy;
use crate::framework::{Check, Lab};

/// The two loads of the paper, in thousandths.
pub(super) const LOADS: [u32; 2] = [700, 900];

/// Tells the lab how far a set of simulations is.
pub(super) struct ProgressLines<'a> {
    pub(super) lab: &'a Lab<'a>,
    pub(super) what: &'a str,
}

impl Listener for ProgressLines<'_> {
    fn done(&self, done: usize, all: usize) {
        self.lab.progress.tick(&format!("{}: {done} of {all} simulations", self.what));
    }
}

/// All repeats of each policy at a load, in the order given.
pub(super) fn play_each(lab: &Lab<'_>, bench: &Bench, what: &str, runs: &[(Policy, u32)]) -> Result<Vec<Vec<Played>>> {
    lab.progress.step(what);
    let all: Vec<Run<'_>> = runs.iter().flat_map(|(policy, load)| bench.runs(policy, *load)).collect();
    let played = play_all(&all, &ProgressLines { lab, what })?.context("find all simulations")?;
    Ok(played.chunks(bench.repeats()).map(<[Played]>::to_vec).collect())
}

pub(super) fn mean(repeats: &[Played]) -> Figures {
    Figures::mean_of(&repeats.iter().map(Played::figures).collect::<Vec<_>>())
}

pub(super) fn check(what: String, found: f64, bar: f64, judged: bool) -> Check {
    Check { what, found, bar, judged }
}
