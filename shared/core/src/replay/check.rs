//! Options that do not fit each other or the cluster, named before the replay begins.

use super::error::ReplayError;
use super::options::{Deadlines, LocalityCost, ReplayOptions, SimWorker, View};
use crate::job::requirement::{MAX_ATTRIBUTES, is_attribute_name, is_attribute_value};
use crate::time::Time;

/// The whole, in millionths.
const WHOLE: u32 = 1_000_000;

/// Checks everything but the jobs.
pub(super) fn check_options(options: &ReplayOptions) -> Result<(), ReplayError> {
    at_most_whole("share of attempts that fail, in millionths", options.faults.attempt_failure_ppm)?;
    if let Some(slowstart) = options.slowstart_ppm {
        at_most_whole("slow start, in millionths", slowstart)?;
    }
    if let Deadlines::Uniform { factor_ppm } = options.deadlines {
        at_least_whole("deadline factor, in millionths", factor_ppm)?;
    }
    match &options.view {
        View::Slots { .. } => check_slots_view(options),
        View::Workers(view) => {
            view.workers.iter().try_for_each(check_worker)?;
            at_least(1, "frequency of a plain worker, in kHz", view.plain_khz, "at least 1")?;
            check_locality(view.locality)?;
            check_losses(options, view.workers.len())
        }
    }
}

fn check_slots_view(options: &ReplayOptions) -> Result<(), ReplayError> {
    match options.faults.losses.first() {
        None => Ok(()),
        Some(loss) => {
            Err(wrong("loss of workers", format!("worker {} in the slots view", loss.worker), "the workers view"))
        }
    }
}

fn check_worker(worker: &SimWorker) -> Result<(), ReplayError> {
    check_steps("steps of speed", &worker.speed, worker)?;
    check_steps("steps of foreign load", &worker.foreign, worker)?;
    check_steps("steps of attributes", &worker.attributes, worker)?;
    worker.attributes.iter().try_for_each(|(_, attributes)| check_attributes(attributes, worker))
}

fn check_attributes(attributes: &[(String, String)], worker: &SimWorker) -> Result<(), ReplayError> {
    if attributes.len() > MAX_ATTRIBUTES {
        let found = format!("{} on worker `{}`", attributes.len(), worker.name);
        return Err(wrong("attributes", found, "at most 256"));
    }
    match attributes.iter().find(|(name, value)| !is_attribute_name(name) || !is_attribute_value(value)) {
        None => Ok(()),
        Some((name, value)) => {
            let found = format!("`{name}={}` on worker `{}`", value.escape_debug(), worker.name);
            Err(wrong("attribute", found, "a name such as gpu, and a printable value"))
        }
    }
}

fn check_steps<T>(what: &'static str, steps: &[(Time, T)], worker: &SimWorker) -> Result<(), ReplayError> {
    match steps.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        None => Ok(()),
        Some(pair) => {
            let found = format!("{} us after {} us on worker `{}`", pair[1].0.as_us(), pair[0].0.as_us(), worker.name);
            Err(wrong(what, found, "ascending instants"))
        }
    }
}

fn check_locality(cost: LocalityCost) -> Result<(), ReplayError> {
    at_least_whole("cost of data in the rack, in millionths", cost.rack_ppm)?;
    at_least_whole("cost of data off the rack, in millionths", cost.off_rack_ppm)
}

fn check_losses(options: &ReplayOptions, n_workers: usize) -> Result<(), ReplayError> {
    match options.faults.losses.iter().find(|loss| loss.worker as usize >= n_workers) {
        None => Ok(()),
        Some(loss) => Err(ReplayError::NoSuchWorker { worker: loss.worker, n_workers }),
    }
}

fn at_most_whole(what: &'static str, found: u32) -> Result<(), ReplayError> {
    if found <= WHOLE { Ok(()) } else { Err(wrong(what, found.to_string(), "at most 1000000")) }
}

fn at_least_whole(what: &'static str, found: u32) -> Result<(), ReplayError> {
    at_least(WHOLE, what, found, "at least 1000000")
}

fn at_least(least: u32, what: &'static str, found: u32, expected: &'static str) -> Result<(), ReplayError> {
    if found >= least { Ok(()) } else { Err(wrong(what, found.to_string(), expected)) }
}

fn wrong(what: &'static str, found: String, expected: &'static str) -> ReplayError {
    ReplayError::Option { what, found, expected }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::{FaultPlan, WorkerLoss, WorkersView};
    use crate::time::Span;

    fn refused(options: &ReplayOptions) -> String {
        check_options(options).expect_err("it does not fit").to_string()
    }

    fn workers(speed: &[(u64, u32)], locality: LocalityCost, lost: Option<u32>) -> ReplayOptions {
        let worker = SimWorker {
            name: "w0".to_owned(),
            host: "h0".to_owned(),
            rack: "/r".to_owned(),
            speed: speed.iter().map(|&(at, ppm)| (Time::from_us(at), ppm)).collect(),
            ..SimWorker::default()
        };
        let loss = |worker| WorkerLoss { worker, at: Time::ZERO, expiry: Span::ZERO, back_after: None };
        ReplayOptions {
            view: View::Workers(WorkersView { workers: vec![worker], locality, ..WorkersView::default() }),
            faults: FaultPlan { losses: lost.map(loss).into_iter().collect(), ..FaultPlan::default() },
            ..ReplayOptions::default()
        }
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_value() {
        let plain = LocalityCost::default();
        let cheap = LocalityCost { off_rack_ppm: 999_999, ..plain };
        let lost_slots = ReplayOptions { faults: workers(&[], plain, Some(0)).faults, ..ReplayOptions::default() };
        let unlucky = FaultPlan { attempt_failure_ppm: 1_000_001, ..FaultPlan::default() };
        let tight = Deadlines::Uniform { factor_ppm: 500_000 };
        for (options, words) in [
            (
                workers(&[(5, 1), (5, 2)], plain, None),
                "steps of speed: found 5 us after 5 us on worker `w0`, expected ascending instants",
            ),
            (
                workers(&[], cheap, None),
                "cost of data off the rack, in millionths: found 999999, expected at least 1000000",
            ),
            (workers(&[], plain, Some(1)), "loss of worker 1: no such worker, expected a number below 1"),
            (lost_slots, "loss of workers: found worker 0 in the slots view, expected the workers view"),
            (
                ReplayOptions { faults: unlucky, ..ReplayOptions::default() },
                "share of attempts that fail, in millionths: found 1000001, expected at most 1000000",
            ),
            (
                ReplayOptions { deadlines: tight, ..ReplayOptions::default() },
                "deadline factor, in millionths: found 500000, expected at least 1000000",
            ),
            (
                ReplayOptions { slowstart_ppm: Some(2_000_000), ..ReplayOptions::default() },
                "slow start, in millionths: found 2000000, expected at most 1000000",
            ),
        ] {
            assert_eq!(refused(&options), words);
        }
    }

    #[test]
    fn loads_and_frequencies_that_do_not_fit_are_named_too() {
        let view = |foreign: &[(u64, u32)], plain_khz| {
            let foreign = foreign.iter().map(|&(at, load)| (Time::from_us(at), load)).collect();
            let workers = vec![SimWorker { name: "w0".to_owned(), foreign, ..SimWorker::default() }];
            let view = WorkersView { workers, plain_khz, ..WorkersView::default() };
            ReplayOptions { view: View::Workers(view), ..ReplayOptions::default() }
        };
        assert_eq!(
            refused(&view(&[(9, 1_000), (8, 0)], 1)),
            "steps of foreign load: found 8 us after 9 us on worker `w0`, expected ascending instants"
        );
        assert_eq!(refused(&view(&[], 0)), "frequency of a plain worker, in kHz: found 0, expected at least 1");
        assert_eq!(check_options(&view(&[(8, 1_000), (9, 0)], 1)), Ok(()));
    }

    #[test]
    fn what_fits_passes() {
        let fits =
            workers(&[(5, 0), (6, 2_000_000)], LocalityCost { rack_ppm: 1_000_000, off_rack_ppm: 3_000_000 }, Some(0));
        assert_eq!(check_options(&fits), Ok(()));
        assert_eq!(check_options(&ReplayOptions::default()), Ok(()));
    }
}
