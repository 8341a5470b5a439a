//! `howdah/validate/v1`.

use howdah_master::replay::{DecisionReport, Difference};
use howdah_planning::accuracy::{Comparison, Kind, Measure, Prediction};
use serde_json::{Value, json};

use super::lost::Lost;
use super::runs::{Repeats, Run};

/// The document without its schema.
pub(super) fn body(run: &Run, repeats: Option<&Repeats>) -> Value {
    let simulated = run.simulated.as_ref();
    let summary = run.summary();
    json!({
        "run": run.decisions.run,
        "other_runs": run.beside,
        "recorded_by": recorded_by(&run.decisions),
        "decisions": decisions(&run.decisions),
        "makespan": simulated.ok().map(|comparison| measure(&comparison.makespan)),
        "jobs": simulated.map_or(Vec::new(), jobs),
        "jobs_left_out": simulated.ok().map(|comparison| comparison.left_out),
        "mean_error": summary.map(|summary| summary.mean_error),
        "max_error": summary.map(|summary| summary.max_error),
        "lost": lost(&run.lost),
        "not_simulated": simulated.err().map(|error| super::text::chain(error)),
        "repeats": repeats.map(|repeats| with_repeats(run, repeats)),
    })
}

/// What the simulation has of attempts and workers that were lost, and what not.
fn lost(lost: &Lost) -> Value {
    json!({
        "failed": lost.failed,
        "killed": lost.killed,
        "speculative": lost.speculative,
        "causes": lost.causes.iter().map(|(cause, n)| json!({ "cause": cause, "attempts": n })).collect::<Vec<_>>(),
        "workers": lost.workers,
        "drained": lost.drained,
        "jobs": lost.jobs,
        "share_of_errors": lost.share,
        "jobs_mean_error": lost.of_these.mean_error,
        "jobs_max_error": lost.of_these.max_error,
        "other_jobs_mean_error": lost.of_others.mean_error,
        "other_jobs_max_error": lost.of_others.max_error,
    })
}

fn recorded_by(report: &DecisionReport) -> Value {
    let build = &report.recorded_by;
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    json!({
        "version": known(&build.version),
        "rules": known(&build.rules),
        "same_rules": build.has_our_rules(),
    })
}

fn decisions(report: &DecisionReport) -> Value {
    let first = report.first_difference.as_ref().map(|difference| {
        let Difference { batch, time, expected, found } = difference;
        json!({ "batch": batch, "time_us_epoch": time.as_us(), "expected": expected, "found": found })
    });
    json!({
        "compared": report.compared,
        "identical": report.identical,
        "batches": report.batches,
        "inputs": report.inputs,
        "launches": report.decisions,
        "first_difference": first,
        "torn": report.torn,
        "beginning": report.beginning.map(|beginning| {
            json!({ "batches_gone": beginning.batches, "time_us_epoch": beginning.time.as_us() })
        }),
    })
}

fn measure(measure: &Measure) -> Value {
    json!({ "measured_s": measure.measured_s, "simulated_s": measure.simulated_s, "error": measure.error() })
}

fn jobs(comparison: &Comparison) -> Vec<Value> {
    let one = |job: &howdah_planning::accuracy::JobMeasure| {
        let mut value = measure(&job.completion);
        value["id"] = job.id.clone().into();
        value["name"] = job.name.clone().into();
        value
    };
    comparison.jobs.iter().map(one).collect()
}

fn with_repeats(run: &Run, repeats: &Repeats) -> Value {
    let runs: Vec<&Run> = std::iter::once(run).chain(&repeats.others).collect();
    let spread = &repeats.spread;
    let jobs = spread.jobs.iter();
    let jobs: Vec<Value> =
        jobs.map(|job| json!({ "name": job.name, "completion_s": job.completion_s, "spread": job.spread })).collect();
    let errors = Kind::ALL.into_iter().filter_map(|kind| {
        let (jobs, summary) = repeats.summary(kind)?;
        Some(json!({
            "kind": kind.name(),
            "jobs": jobs,
            "mean_error": summary.mean_error,
            "max_error": summary.max_error,
            "makespan_mean_error": repeats.makespan_error(kind),
        }))
    });
    json!({
        "runs": runs.iter().map(|run| json!({
            "run": run.decisions.run,
            "compared": run.decisions.compared,
            "identical": run.decisions.identical,
        })).collect::<Vec<_>>(),
        "spread": {
            "runs": spread.runs, "makespan": spread.makespan, "mean": spread.mean(), "max": spread.max(), "jobs": jobs,
        },
        "by_name": repeats.by_name().iter().map(|of| json!({
            "name": of.name,
            "jobs": of.jobs,
            "spread": of.spread,
            "cross_run_mean_error": of.across.map(|summary| summary.mean_error),
            "cross_run_max_error": of.across.map(|summary| summary.max_error),
        })).collect::<Vec<_>>(),
        "errors": errors.collect::<Vec<_>>(),
        "predictions": repeats.predictions.iter().map(|found| prediction(found, &runs)).collect::<Vec<_>>(),
        "verdict": repeats.verdict(),
        "jobs_left_out": repeats.left_out,
    })
}

fn prediction(found: &Prediction, runs: &[&Run]) -> Value {
    let summary = found.comparison.summary();
    json!({
        "kind": found.kind.name(),
        "profile": runs[found.profile].decisions.run,
        "measured": runs[found.measured].decisions.run,
        "makespan": measure(&found.comparison.makespan),
        "mean_error": summary.mean_error,
        "max_error": summary.max_error,
    })
}
