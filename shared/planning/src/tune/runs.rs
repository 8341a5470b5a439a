//! Many simulations on all cores.

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::models::moments::{Moments, percentile, sorted};
use howdah_core::replay::summary::{Summary, size};
use howdah_core::replay::{ReplayError, ReplayOptions, Simulation, reference_times};
use howdah_core::time::Span;

use crate::crew::Crew;

/// Jobs that are simulated alone one after another.
const PORTION: usize = 64;

/// One simulation to make.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// What is simulated.
    pub trace: &'a Trace,
    /// Each job's time alone, in the trace's order.
    pub references: &'a [Span],
    pub options: ReplayOptions,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Played {
    /// Size in slot seconds and slowdown of each job that has one.
    pub jobs: Vec<(f64, f64)>,
    /// Jobs that did not succeed or have no slowdown.
    pub without: usize,
    /// Share of the map and of the reduce slots that was busy.
    pub utilisation: [f64; 2],
}

/// The figures of a distribution of slowdowns; or their means over repeats, as the paper reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// F⁻¹(50).
    pub median: f64,
    /// F⁻¹(95).
    pub p95: f64,
    /// V_F(95), the second over the first.
    pub variability: f64,
    /// The arithmetic mean.
    pub mean: f64,
}

impl Played {
    /// Its figures; all 0 without any slowdown.
    pub fn figures(&self) -> Figures {
        let slowdowns = sorted(self.jobs.iter().map(|&(_, slowdown)| slowdown));
        let at = |q| percentile(&slowdowns, q).unwrap_or(0.0);
        let (median, p95) = (at(50.0), at(95.0));
        let variability = if median > 0.0 { p95 / median } else { 0.0 };
        Figures { median, p95, variability, mean: Moments::of(&slowdowns).mean }
    }
}

impl Figures {
    pub fn mean_of(all: &[Figures]) -> Figures {
        let mean = |of: fn(&Figures) -> f64| Moments::of(&all.iter().map(of).collect::<Vec<_>>()).mean;
        Figures {
            median: mean(|f| f.median),
            p95: mean(|f| f.p95),
            variability: mean(|f| f.variability),
            mean: mean(|f| f.mean),
        }
    }
}

/// Is notified of how far a set of simulations is, and can stop it; on the thread that asked for them.
pub trait Listener {
    /// So many of so many are done. May be reported more than once.
    fn done(&self, done: usize, all: usize);

    /// Whether to give up.
    fn stopped(&self) -> bool {
        false
    }
}

/// Makes all of them; their results in the same order. `None` if somebody wanted it stopped.
///
/// # Errors
/// A simulation that cannot be made.
pub fn play_all(runs: &[Run<'_>], listener: &dyn Listener) -> Result<Option<Vec<Played>>, ReplayError> {
    let work = |_: &mut (), run: &Run<'_>| play(run);
    Crew::of_cores().each(runs, work, |done| notify(listener, done, runs.len()))
}

/// Each job's time alone on the options' cluster, in the trace's order. `None` if somebody wanted it stopped.
///
/// # Errors
/// As [`reference_times`].
pub(super) fn references(
    trace: &Trace,
    options: &ReplayOptions,
    listener: &dyn Listener,
) -> Result<Option<Vec<Span>>, ReplayError> {
    let portions: Vec<&[JobTemplate]> = trace.jobs.chunks(PORTION).collect();
    let work = |_: &mut (), jobs: &&[JobTemplate]| {
        reference_times(&Trace { jobs: jobs.to_vec(), ..Trace::default() }, options)
    };
    let found = Crew::of_cores().each(&portions, work, |_| !listener.stopped())?;
    Ok(found.map(|portions| portions.concat()))
}

/// Tells how far it is; whether to go on.
fn notify(listener: &dyn Listener, done: usize, all: usize) -> bool {
    if done > 0 {
        listener.done(done, all);
    }
    !listener.stopped()
}

/// Makes one.
///
/// # Errors
/// As [`Simulation::new`].
pub fn play(run: &Run<'_>) -> Result<Played, ReplayError> {
    let mut simulation = Simulation::new(run.trace, &run.options)?;
    simulation.run();
    let report = simulation.report();
    let summary = Summary::new(&report, run.trace, Some(run.references), &[]);
    let jobs: Vec<(f64, f64)> = report
        .jobs
        .iter()
        .zip(&summary.slowdowns)
        .filter_map(|(job, slowdown)| Some((size(&run.trace.jobs[job.template as usize]).as_secs_f64(), (*slowdown)?)))
        .collect();
    Ok(Played { without: report.jobs.len() - jobs.len(), jobs, utilisation: summary.utilisation })
}

#[cfg(test)]
mod tests {
    use howdah_core::replay::View;

    use super::*;

    struct Quiet(bool);

    impl Listener for Quiet {
        fn done(&self, _: usize, _: usize) {}

        fn stopped(&self) -> bool {
            self.0
        }
    }

    fn trace() -> Trace {
        let job = |n_maps| JobTemplate { n_maps, map_ms: vec![1_000], ..JobTemplate::default() };
        Trace { jobs: vec![job(4), job(1)], ..Trace::default() }
    }

    fn options(scheduler: &str) -> ReplayOptions {
        let view = View::Slots { maps: 1, reduces: 1 };
        ReplayOptions { scheduler: scheduler.to_owned(), view, ..ReplayOptions::default() }
    }

    #[test]
    fn results_come_in_the_order_of_the_runs() {
        let trace = trace();
        let references = reference_times(&trace, &options("fifo")).expect("a slot");
        let run = |scheduler| Run { trace: &trace, references: &references, options: options(scheduler) };
        let runs = [run("fifo"), run("fbq"), run("comp"), run("fifo")];
        let played = play_all(&runs, &Quiet(false)).expect("they run").expect("nobody stops them");
        // Alone they take 4 s and 1 s, and together the second waits for the first.
        assert!(played.iter().all(|played| played.jobs == [(4.0, 1.0), (1.0, 5.0)]), "{played:?}");
        let figures = played[0].figures();
        assert_eq!((figures.median, figures.mean), (3.0, 3.0));
        assert!((figures.variability - 4.8 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_run_that_cannot_be_made_and_a_stop_are_told() {
        let trace = trace();
        let run = |scheduler| Run { trace: &trace, references: &[], options: options(scheduler) };
        assert!(play_all(&[run("fifo"), run("lottery")], &Quiet(false)).is_err());
        let many: Vec<Run<'_>> = (0..50).map(|_| run("fifo")).collect();
        assert_eq!(play_all(&many, &Quiet(true)), Ok(None));
        assert_eq!(play_all(&many[..1], &Quiet(true)), Ok(None), "a stop while the last one runs");
        assert_eq!(references(&trace, &options("fifo"), &Quiet(true)), Ok(None));
    }

    #[test]
    fn the_figures_of_repeats_are_means() {
        let one = |median| Figures { median, p95: 4.0, variability: 4.0 / median, mean: 1.0 };
        let mean = Figures::mean_of(&[one(1.0), one(2.0)]);
        assert_eq!((mean.median, mean.variability), (1.5, 3.0));
    }
}
