//! Runs the simulation, with progress for who waits and an ear for who does not want to.

use std::time::{Duration, Instant};

use howdah_core::job::profile::Trace;
use howdah_core::replay::summary::UsageByPartition;
use howdah_core::replay::{ReplayError, ReplayOptions, Simulation, reference_times};
use howdah_core::time::{Span, Time};

use crate::interrupt::Interrupt;
use crate::output::progress::WorkProgress;
use crate::units;

/// Instants between two looks at the clock.
const LOOK_EVERY: u32 = 1 << 12;
/// Jobs simulated alone between two looks.
const PORTION: usize = 128;

/// How a simulation ended.
pub(super) struct Driven {
    /// Time that it took.
    pub(super) wall: Duration,
    /// The instant reached when it was interrupted.
    pub(super) stopped_at: Option<Time>,
}

/// Runs to the end, or until interrupted. Where partitions are to be reported, the policy is asked after each instant.
pub(super) fn drive(
    simulation: &mut Simulation<'_>,
    partitions: Option<&UsageByPartition>,
    interrupt: &Interrupt,
) -> Driven {
    let begun = Instant::now();
    let shown = WorkProgress::new("tasks simulated");
    let mut stopped_at = None;
    while run_on(simulation, partitions) {
        if interrupt.came() {
            stopped_at = Some(simulation.now());
            break;
        }
        let (done, all) = simulation.progress();
        shown.show(done, all, || format!(", at {}", units::seconds(simulation.now().since(Time::ZERO).as_secs_f64())));
    }
    Driven { wall: begun.elapsed(), stopped_at }
}

/// So many instants; false once nothing can move any more.
fn run_on(simulation: &mut Simulation<'_>, partitions: Option<&UsageByPartition>) -> bool {
    let Some(partitions) = partitions else { return simulation.run_for(LOOK_EVERY) };
    (0..LOOK_EVERY).all(|_| {
        let more = simulation.step();
        partitions.ask(simulation.tracker().scheduler());
        more
    })
}

/// Each job's time alone; `None` if interrupted before all were known.
pub(super) fn alone(
    trace: &Trace,
    options: &ReplayOptions,
    interrupt: &Interrupt,
) -> Result<Option<Vec<Span>>, ReplayError> {
    let shown = WorkProgress::new("each job alone");
    let mut times = Vec::with_capacity(trace.jobs.len());
    // In portions, between which somebody may have lost patience.
    for jobs in trace.jobs.chunks(PORTION) {
        if interrupt.came() {
            return Ok(None);
        }
        times.extend(reference_times(&Trace { jobs: jobs.to_vec(), ..Trace::default() }, options)?);
        shown.show(times.len() as u64, trace.jobs.len() as u64, String::new);
    }
    Ok(Some(times))
}

#[cfg(test)]
mod tests {
    use howdah_core::job::profile::JobTemplate;
    use howdah_core::replay::View;

    use super::*;

    fn one_after_another(n_maps: u32) -> (Trace, ReplayOptions) {
        let job = JobTemplate { n_maps, map_ms: vec![1_000], ..JobTemplate::default() };
        let view = View::Slots { maps: 1, reduces: 0 };
        (Trace { jobs: vec![job], ..Trace::default() }, ReplayOptions { view, ..ReplayOptions::default() })
    }

    #[test]
    fn an_interrupted_simulation_stops_at_the_next_look_and_knows_where() {
        let (trace, options) = one_after_another(3 * LOOK_EVERY);
        let mut simulation = Simulation::new(&trace, &options).expect("a slot for all");
        let driven = drive(&mut simulation, None, &Interrupt::raised());
        // The first instant is the submission.
        assert_eq!(driven.stopped_at, Some(Time::ZERO + Span::from_secs(u64::from(LOOK_EVERY) - 1)));
        let report = simulation.report();
        assert!(!report.jobs[0].state.is_final());
        assert_eq!(alone(&trace, &options, &Interrupt::raised()).expect("a slot for all"), None);
    }

    #[test]
    fn a_simulation_left_alone_runs_to_its_end() {
        let (trace, options) = one_after_another(10);
        let mut simulation = Simulation::new(&trace, &options).expect("a slot for all");
        let interrupt = Interrupt::listen().expect("signals can be listened to");
        assert_eq!(drive(&mut simulation, None, &interrupt).stopped_at, None);
        assert_eq!(alone(&trace, &options, &interrupt).expect("a slot for all"), Some(vec![Span::from_secs(10)]));
    }
}
