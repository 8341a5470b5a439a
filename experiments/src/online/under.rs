//! A run under one policy, forecast while it goes on.

use howdah_core::time::Span;
use howdah_planning::prediction::{RunScore, WindowScore};

use super::judge::Judged;
use super::score::score_of;
use super::world::{Jobs, Reporting};
use crate::framework::{Check, Lab};

/// The policies: the paper's FCFS, and its naive Fair.
pub(super) const POLICIES: [(&str, &str); 2] = [("fifo", "FCFS"), ("naive-fair", "Fair")];
/// A forecast this often: the paper finds 20 s often enough.
pub(super) const EVERY: Span = Span::from_secs(20);
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
    pub(crate) const ALL: [Online; 3] = [Online::Tasks, Online::Jobs, Online::Starts];

    /// How ends are reported; task times do not depend on it.
    pub(super) fn reporting(self) -> &'static [Reporting] {
        if self == Online::Tasks { &[Reporting::AtOnce] } else { &[Reporting::AtOnce, Reporting::Regularly] }
    }

    pub(super) fn jobs(self) -> Jobs {
        if self == Online::Tasks { Jobs::Both } else { Jobs::WordCount }
    }
}

/// A run under a policy, and its figures.
pub(super) struct Under {
    pub(super) policy: &'static str,
    pub(super) reporting: Reporting,
    pub(super) judged: Judged,
    pub(super) score: RunScore,
    /// How well who knows more could predict starts in the first window, by [`Knows::ALL`](super::limits::Knows::ALL); looked
    /// at where starts are judged.
    pub(super) limits: Option<[WindowScore; 4]>,
}

impl Online {
    pub(super) fn checks(self, lab: &Lab<'_>, runs: &[Under]) -> Vec<Check> {
        let mut checks = Vec::new();
        for run in runs {
            let judged = !lab.quick && run.reporting == Reporting::AtOnce;
            let check = |what: String, found, bar| Check { what, found, bar, judged };
            let fcfs = run.policy == POLICIES[0].1;
            let of = |what: &str| format!("{}, ends reported {}: {what}", run.policy, run.reporting.name());
            match self {
                Online::Tasks => {
                    for kind in ["map", "reduce"] {
                        let beyond = 1.0 - score_of(&run.judged.tasks, kind).within_10_percent;
                        checks.push(check(of(&format!("{kind} times predicted more than 10 % wrong")), beyond, 0.05));
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
                        of("starts in a 30 s window predicted more than 2 s wrong, or elsewhere"),
                        missed,
                        bar,
                    ));
                }
            }
        }
        checks
    }
}
