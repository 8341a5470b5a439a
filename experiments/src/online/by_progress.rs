//! `online-starts`: what reported progress of running tasks adds to forecasts, where it tells the truth and where it does not.
//!
//! Under FCFS a map goes to whichever slot is free first, so who knows more of when running tasks end knows more of where maps
//! start. The same runs are forecast without progress, with workers whose tasks advance evenly, and with tasks that read
//! their input at once, so that their progress stands still and then jumps. Each has learnt from a run of its own kind,
//! with forecasts on the way, as a live master does.

use anyhow::Result;
use howdah_core::cluster::Attempt;
use howdah_core::job::{Phase, Progress, WorkerId};
use howdah_core::tracker::{AttemptProgress, JobTracker};
use howdah_planning::prediction::{StartError, TaskHistory, WindowScore};

use super::judge::judge_changed;
use super::under::{EVERY, POLICIES, WINDOWS};
use super::world::{Jobs, Reporting, workload};
use crate::framework::{Lab, Page, Table, percent};

/// What tasks tell of themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Nothing,
    Evenly,
    InJumps,
}

impl Told {
    const ALL: [Told; 3] = [Told::Nothing, Told::Evenly, Told::InJumps];

    const fn name(self) -> &'static str {
        match self {
            Told::Nothing => "nothing",
            Told::Evenly => "their progress, which is even",
            Told::InJumps => "their progress, which jumps",
        }
    }

    fn change(self, tracker: &mut JobTracker) {
        if self == Told::InJumps {
            jump(tracker);
        }
    }
}

/// Makes the progress of running tasks what it would be if they had read a twentieth of their input in their first half, and
/// nearly all of it in their second.
fn jump(tracker: &mut JobTracker) {
    let jumped = |progress: Progress| Progress::from_fraction(if progress.fraction() < 0.5 { 0.05 } else { 0.95 });
    let now = tracker.state().now();
    let workers: Vec<WorkerId> = tracker.state().workers().iter().map(|worker| worker.id()).collect();
    for worker in workers {
        let state = tracker.state();
        let told = state.attempts_on(worker).filter(|attempt| attempt.phase() == Phase::Map);
        let report = |attempt: &Attempt| AttemptProgress {
            attempt: attempt.id(),
            phase: Phase::Map,
            progress: jumped(attempt.progress()),
        };
        let told: Vec<AttemptProgress> = told.map(report).collect();
        let vitals = state.worker(worker).map(|worker| *worker.vitals()).unwrap_or_default();
        tracker.take_report(now, worker, &vitals, &told);
    }
}

/// The starts in the first window after each forecast of a run, after one to learn from.
fn starts(scheduler: &str, seed: u64, n: u32, told: Told) -> Result<Vec<StartError>> {
    let reporting = if told == Told::Nothing { Reporting::AtOnce } else { Reporting::AtOnceAndProgress };
    let judged = |run, history| {
        let trace = workload(Jobs::WordCount, seed, run, n);
        judge_changed(&trace, (scheduler, reporting), Some(EVERY), history, &|tracker| told.change(tracker))
    };
    let history = judged(1, TaskHistory::default())?.history;
    Ok(judged(2, history)?.starts(WINDOWS[0]).concat())
}

/// Writes the table onto the page of `online-starts`.
pub(super) fn write(lab: &Lab<'_>, page: &mut Page) -> Result<()> {
    let columns = ["running tasks tell", "scheduler", ">starts", ">within 2 s", ">from seed to seed", ">mean error"];
    let mut table = Table::new(&columns);
    for told in Told::ALL {
        lab.progress.step(&format!("running tasks tell {}", told.name()));
        for (scheduler, policy) in POLICIES {
            let (mut all, mut seeds) = (Vec::new(), Vec::new());
            for seed in lab.seed..lab.seed + lab.size(5, 1) {
                let errors = starts(scheduler, seed, lab.size(10, 3), told)?;
                seeds.push(WindowScore::of(WINDOWS[0], &errors).within_2s);
                all.extend(errors);
            }
            let score = WindowScore::of(WINDOWS[0], &all);
            let least = seeds.iter().copied().fold(1.0, f64::min);
            let most = seeds.iter().copied().fold(0.0, f64::max);
            table.row([
                told.name().to_owned(),
                policy.to_owned(),
                score.starts.to_string(),
                percent(score.within_2s),
                format!("{} to {}", percent(least), percent(most)),
                format!("{:.2} s", score.mean_error_s),
            ]);
        }
    }
    page.heading("What the progress of running tasks adds");
    page.table(&table);
    page.paragraph(
        "The same runs, 30 s ahead, over several seeds, each after one with forecasts to learn from. Progress is known from the \
         last regular heartbeat, up to 3 s old. Whose progress jumps had read a twentieth of the input in the first half of the time \
         and nearly all of it in the second; what such progress said is held against what came, so that it counts for little or nothing.",
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_progress_tells_more_starts_under_fcfs_and_one_that_jumps_spoils_none() {
        let within = |told| {
            let errors: Vec<StartError> = (3..6).flat_map(|seed| starts("fifo", seed, 3, told).unwrap()).collect();
            WindowScore::of(WINDOWS[0], &errors).within_2s
        };
        let [nothing, even, jumps] = Told::ALL.map(within);
        assert!(even > nothing + 0.05, "{even} with progress, {nothing} without");
        assert!(jumps > nothing - 0.02, "{jumps} with progress that jumps, {nothing} without");
    }
}
