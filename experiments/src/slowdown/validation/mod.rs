//! `slowdown-validation`: the slowdown paper's Figure 3 and Table II.
//!
//! The 50 jobs of Table II run live under the four policies, as `sleep` jobs of a fraction of their length, and are
//! simulated: from each run's own profile, which is what the bars judge, and from the times that were asked for,
//! which is what the paper's simulator knew. Each kind of job also runs alone, for the table's run times.
//!
//! The paper reports "the averages of our performance metrics over three repetitions" (§V-A), and so does this: each
//! repeat has other arrivals. One repeat rests on too little: which of two instants a few milliseconds apart comes first
//! (a departure and the arrival that COMP compares with it) can decide for one job of fifty whether it waits, and a
//! median is the value of one or two jobs.

mod found;
mod jobs;
mod page;

use std::time::Duration;

use anyhow::{Context, Result};
use howdah_core::job::profile::Trace;
use howdah_core::replay::{Alone, ReplayOptions, Simulation, alone};
use howdah_planning::accuracy;
use howdah_planning::accuracy::Model;

use self::found::{AloneLine, Found, JobLine, Repeat, error, percentiles};
use crate::framework::{About, Check, Experiment, Lab, Needs, Outcome, papers};
use crate::live::{Policy, Recorded, run_once};

/// The experiment.
pub(crate) struct SlowdownValidation;

/// Of the relative error of medians and 95th percentiles; the paper claims 1 %.
const BAR: f64 = 0.03;
/// No run takes longer on a machine that works.
const BOUND: Duration = Duration::from_secs(900);
/// Live runs of each policy.
const REPEATS: u32 = 3;

impl Experiment for SlowdownValidation {
    fn about(&self) -> About {
        About {
            name: "slowdown-validation",
            line: "Slowdowns of live runs and of their simulations under FBQ, TAGS, SITA and COMP",
            paper: papers::SLOWDOWN_VARIABILITY,
            figure: "Figure 3, Table II",
            needs: Needs::LiveRuns,
            estimate_s: [1_500, 55],
        }
    }

    fn run(&self, lab: &Lab<'_>) -> Result<Outcome> {
        let shrink = lab.size(20, 150);
        let made = |n: u32| jobs::trace(lab.seed.wrapping_add(n.into()), shrink, lab.size(None, Some(16)));
        let trace = made(0)?;
        let alone_lines = run_alone(lab, &trace)?;
        let n_repeats = lab.repeats.unwrap_or(lab.size(REPEATS, 1)).max(1);
        let mut found = Vec::new();
        for policy in jobs::policies(&trace, shrink) {
            let mut repeats = Vec::new();
            for n in 0..n_repeats {
                let trace = made(n)?;
                let (name, jobs) = (&policy.name, trace.jobs.len());
                lab.progress.step(&format!("{name}: {jobs} jobs on {}, {} of {n_repeats}", jobs::SHAPE, n + 1));
                let submissions = jobs::submissions(&trace, lab.seed.wrapping_add(n.into()))?;
                let label = format!("slowdown-{name}-{}", n + 1);
                let run = run_once(lab, &label, jobs::SHAPE, &policy, &|_| submissions.clone(), BOUND)
                    .with_context(|| format!("run {label}"))?;
                repeats.push(compare(&run, &trace)?);
            }
            found.push(Found { policy, repeats });
        }
        let checks = checks(&found, !lab.quick);
        let files = page::write(lab, &self.about(), shrink, &found, &alone_lines, &checks)?;
        Ok(Outcome { files, checks })
    }
}

/// Each kind of job after the one before has ended, so that each is alone.
fn run_alone(lab: &Lab<'_>, trace: &Trace) -> Result<Vec<AloneLine>> {
    let kinds = jobs::one_of_each(trace);
    lab.progress.step(&format!("{} kinds of jobs, each alone", kinds.len()));
    let nominal = Trace { jobs: kinds.clone(), ..Trace::default() };
    let mut at = Duration::ZERO;
    let mut submissions = Vec::new();
    for (job, time) in kinds.iter().zip(alone(&nominal, &ReplayOptions { view: pool(), ..ReplayOptions::default() })?) {
        submissions.push(jobs::submission(job, at));
        at += Duration::from_micros(time.completion.as_us()).mul_f64(1.25) + Duration::from_secs(1);
    }
    let fifo = Policy::plain("fifo");
    let run = run_once(lab, "slowdown-alone", jobs::SHAPE, &fifo, &|_| submissions.clone(), BOUND)
        .context("run jobs alone")?;
    let options = twin(&run.trace)?;
    let lines = run.trace.jobs.iter().zip(alone(&run.trace, &options)?).map(|(job, simulated)| {
        let measured = job.measured.clone().unwrap_or_default();
        AloneLine {
            kind: jobs::kind(job),
            maps: job.n_maps,
            reduces: job.n_reduces,
            live_s: measured.finish_ms.saturating_sub(measured.launch_ms) as f64 / 1e3,
            simulated_s: simulated.runtime.as_secs_f64(),
        }
    });
    Ok(lines.collect())
}

fn pool() -> howdah_core::replay::View {
    howdah_core::replay::View::Slots { maps: 60, reduces: 20 }
}

/// The simulated twin of the cluster of a run.
fn twin(trace: &Trace) -> Result<ReplayOptions> {
    Ok(accuracy::options_of(trace.cluster.as_ref().context("find the cluster of the run")?))
}

/// Slowdowns of a run and of its simulations, all by the same times alone: those of the run's own profile.
fn compare(run: &Recorded, asked: &Trace) -> Result<Repeat> {
    let trace = &run.trace;
    let references = alone(trace, &twin(trace)?)?;
    let own = accuracy::compare(trace, trace, Model::SimMr).context("simulate the run")?;
    let by_name = |name: &str| trace.jobs.iter().position(|job| job.name == name);
    let slowdown = |name: &str, completion_s: f64| -> Option<f64> {
        let alone: &Alone = references.get(by_name(name)?)?;
        Some(completion_s / alone.runtime.as_secs_f64())
    };
    let jobs: Vec<JobLine> = own
        .jobs
        .iter()
        .filter_map(|job| {
            let live = slowdown(&job.name, job.completion.measured_s)?;
            let simulated = slowdown(&job.name, job.completion.simulated_s)?;
            Some(JobLine { name: job.name.clone(), live, simulated })
        })
        .collect();
    let nominal = nominal(trace, asked)?;
    Ok(Repeat {
        live: percentiles(jobs.iter().map(|job| job.live)),
        simulated: [percentiles(jobs.iter().map(|job| job.simulated)), percentiles(nominal)],
        jobs,
        compared: run.compared,
        identical: run.identical,
    })
}

/// Slowdowns in a simulation of what was asked for, at the instants at which the jobs really came.
fn nominal(run: &Trace, asked: &Trace) -> Result<Vec<f64>> {
    let submitted = |name: &str| run.jobs.iter().find(|job| job.name == name).map(|job| job.submit_ms);
    let mut trace = Trace { jobs: asked.jobs.clone(), ..Trace::default() };
    for job in &mut trace.jobs {
        job.submit_ms = submitted(&job.name).with_context(|| format!("find job `{}` in the run", job.name))?;
    }
    let options = twin(run)?;
    let references = alone(&trace, &options)?;
    let mut simulation = Simulation::new(&trace, &options)?;
    simulation.run();
    let report = simulation.report();
    let slowdown = |job: &howdah_core::replay::JobOutcome| {
        job.completion().as_secs_f64() / references[job.template as usize].runtime.as_secs_f64()
    };
    Ok(report.jobs.iter().map(slowdown).collect())
}

fn checks(found: &[Found], judged: bool) -> Vec<Check> {
    let mut checks = Vec::new();
    for one in found {
        let [live, simulated, _] = one.means();
        let what = |which: &str| format!("{}: {which} of the slowdown, simulated against live", one.policy.name);
        let pairs = [("median", simulated.median, live.median), ("95th percentile", simulated.p95, live.p95)];
        for (which, simulated, live) in pairs {
            checks.push(Check { what: what(which), found: error(simulated, live), bar: BAR, judged });
        }
    }
    checks.push(Check::decisions("", found.iter().map(Found::decisions)));
    checks
}

#[cfg(test)]
mod tests {
    use super::found::Percentiles;
    use super::*;

    #[test]
    fn an_error_is_a_share_of_the_live_figure() {
        assert!((error(1.02, 1.0) - 0.02).abs() < 1e-9 && (error(0.98, 1.0) - 0.02).abs() < 1e-9);
        assert_eq!(error(1.0, 0.0), 1.0);
    }

    #[test]
    fn figures_of_repeats_are_averaged_before_they_are_compared() {
        let repeat = |live: f64, simulated: f64| Repeat {
            live: Percentiles { median: live, p95: 10.0 * live },
            simulated: [Percentiles { median: simulated, p95: 0.0 }, Percentiles::default()],
            jobs: Vec::new(),
            compared: 7,
            identical: 6,
        };
        let found = Found { policy: Policy::plain("fbq"), repeats: vec![repeat(1.0, 1.5), repeat(3.0, 2.5)] };
        let [live, simulated, _] = found.means();
        assert_eq!((live, simulated.median), (Percentiles { median: 2.0, p95: 20.0 }, 2.0));
        assert_eq!(found.decisions(), (14, 12));
        let checks = checks(&[found], true);
        assert_eq!((checks[0].found, checks[1].found), (0.0, 1.0), "each run was 17 to 50 % off, the mean is not");
    }

    #[test]
    fn what_was_asked_for_is_simulated_at_the_real_arrivals() {
        let asked = jobs::trace(1, 20, Some(3)).expect("made");
        let worker = |name: &str| howdah_core::job::profile::TraceWorker {
            name: name.to_owned(),
            host: name.to_owned(),
            rack: "/r".to_owned(),
            map_slots: 60,
            reduce_slots: 20,
            ..Default::default()
        };
        let cluster = howdah_core::job::profile::TraceCluster {
            scheduler: "fbq".to_owned(),
            workers: vec![worker("a"), worker("b")],
            ..Default::default()
        };
        let mut run = Trace { cluster: Some(cluster), ..asked.clone() };
        // So far apart that each is alone, in another order.
        run.jobs.reverse();
        run.jobs.iter_mut().zip(0..).for_each(|(job, n)| job.submit_ms = n * 1_000_000);
        let slowdowns = nominal(&run, &asked).expect("simulated");
        assert_eq!(slowdowns, [1.0; 3]);
    }
}
