//! A run under one policy, forecast while it goes on.

use howdah_core::time::Span;
use howdah_planning::prediction::{RunScore, StartError, WindowScore};

use super::judge::Judged;
use super::score::score_of;
use super::world::{Heard, Jobs};
use crate::framework::{Check, Lab};

/// The policies: the paper's FCFS, and its naive Fair.
pub(super) const POLICIES: [(&str, &str); 2] = [("fifo", "FCFS"), ("naive-fair", "Fair")];
/// Windows after a forecast in which starts are looked at.
pub(super) const WINDOWS: [Span; 2] = [Span::from_secs(30), Span::from_secs(60)];

/// One of the three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Online {
    /// Fig. 3 and 4.
    Tasks,
    /// Fig. 5 and 6.
    Jobs,
    /// Fig. 7 to 9.
    Starts,
}

impl Online {
    /// All of them.
    pub(crate) const ALL: [Online; 3] = [Online::Tasks, Online::Jobs, Online::Starts];

    /// How ends are told; task times do not depend on it.
    pub(super) fn heard(self) -> &'static [Heard] {
        if self == Online::Tasks { &[Heard::AtOnce] } else { &[Heard::AtOnce, Heard::Regularly] }
    }

    pub(super) fn jobs(self) -> Jobs {
        if self == Online::Tasks { Jobs::Both } else { Jobs::WordCount }
    }
}

/// A run under a policy, and its figures.
pub(super) struct Under {
    pub(super) policy: &'static str,
    pub(super) heard: Heard,
    pub(super) judged: Judged,
    pub(super) score: RunScore,
}

impl Online {
    pub(super) fn checks(self, lab: &Lab<'_>, runs: &[Under]) -> Vec<Check> {
        let mut checks = Vec::new();
        for run in runs {
            let judged = !lab.quick && run.heard == Heard::AtOnce;
            let check = |what: String, found, bar| Check { what, found, bar, judged };
            let fcfs = run.policy == POLICIES[0].1;
            let of = |what: &str| format!("{}, ends told {}: {what}", run.policy, run.heard.name());
            match self {
                Online::Tasks => {
                    for kind in ["map", "reduce"] {
                        let beyond = 1.0 - score_of(&run.judged.tasks, kind).within_10_percent;
                        checks.push(check(of(&format!("{kind} times told more than 10 % wrong")), beyond, 0.05));
                    }
                }
                Online::Jobs => {
                    let bar = if fcfs { 0.01 } else { 0.04 };
                    let found = run.score.job_error_percent / 100.0;
                    checks.push(check(of("mean error of jobs' ends over the run's length"), found, bar));
                }
                Online::Starts => {
                    let bar = if fcfs { 0.05 } else { 0.15 };
                    let missed = 1.0 - run.score.windows[0].within_2s;
                    checks.push(check(
                        of("starts in a 30 s window told more than 2 s wrong, or elsewhere"),
                        missed,
                        bar,
                    ));
                }
            }
        }
        checks
    }
}

/// Mean error in seconds of the starts that were told at all; 0 in an empty window.
pub(super) fn mean_error_s(errors: &[StartError]) -> f64 {
    WindowScore::of(Span::ZERO, errors).mean_error_s
}
