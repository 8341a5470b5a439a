//! The distributions of completion times, one curve for each policy, over all its replays.

use howdah_charts::{Curve, Plot};
use howdah_core::job::JobState;
use howdah_planning::compare::Run;

use super::args::CompareArgs;
use crate::failure::Outcome;

/// Points of a curve: more are not seen.
const POINTS: usize = 200;

/// As an SVG document.
pub(super) fn distributions(args: &CompareArgs, runs: &[Run]) -> Outcome<String> {
    let curve = |(at, label): (usize, &String)| {
        let reports = runs.iter().filter(|run| run.contender == at).map(|run| &run.report);
        let ended = reports.flat_map(|report| &report.jobs).filter(|job| job.state == JobState::Succeeded);
        let times: Vec<f64> = ended.map(|job| job.completion().as_secs_f64()).collect();
        Curve { name: label.clone(), points: shares(times), joined: true }
    };
    let plot = Plot {
        title: "Completion times of jobs".to_owned(),
        x_label: "completion time in s".to_owned(),
        y_label: "share of jobs".to_owned(),
        x_log: true,
        y_log: false,
        curves: args.scheduler.iter().map(|one| &one.label).enumerate().map(curve).collect(),
        across: Vec::new(),
    };
    Ok(plot.svg()?)
}

/// Which share of the values is at most so large.
fn shares(mut values: Vec<f64>) -> Vec<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let places = (1..=n.min(POINTS)).map(|point| point * n / n.min(POINTS));
    places.map(|place| (values[place - 1], place as f64 / n as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_ends_at_its_largest_value() {
        assert_eq!(shares(vec![3.0, 1.0]), [(1.0, 0.5), (3.0, 1.0)]);
        let many = shares((1..=1_000).map(f64::from).collect());
        assert_eq!((many.len(), many[0], many[199]), (200, (5.0, 0.005), (1_000.0, 1.0)));
        assert_eq!(shares(Vec::new()), []);
    }
}
