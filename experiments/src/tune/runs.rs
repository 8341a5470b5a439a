//! Many simulations on all cores.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use howdah_shared::job::profile::Trace;
use howdah_shared::models::moments::{Moments, percentile, sorted};
use howdah_shared::replay::summary::{Summary, size};
use howdah_shared::replay::{ReplayError, ReplayOptions, Simulation};
use howdah_shared::time::Span;

/// One simulation to make.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// What is simulated.
    pub trace: &'a Trace,
    /// Each job's time alone, in the trace's order.
    pub references: &'a [Span],
    /// How.
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
    /// The mean of each figure.
    pub fn mean_of(all: &[Figures]) -> Figures {
        let mean = |of: fn(&Figures) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
        Figures {
            median: mean(|f| f.median),
            p95: mean(|f| f.p95),
            variability: mean(|f| f.variability),
            mean: mean(|f| f.mean),
        }
    }
}

/// Who hears how far a set of simulations is, and can stop it; on the thread that asked for them.
pub trait Listener {
    /// So many of so many are done.
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
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(runs.len().max(1));
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (tell, told) = mpsc::channel();
    let mut results: Vec<Option<Played>> = vec![None; runs.len()];
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (tell, next, stop) = (tell.clone(), &next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(run) = runs.get(place) else { return };
                    if tell.send((place, play(run))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(tell);
        for (done, (place, result)) in told.iter().enumerate() {
            match result {
                Ok(played) => results[place] = Some(played),
                Err(error) => {
                    stop.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
            listener.done(done + 1, runs.len());
            if listener.stopped() {
                stop.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    })?;
    Ok(results.into_iter().collect())
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
    use howdah_shared::job::profile::JobTemplate;
    use howdah_shared::replay::{View, reference_times};

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
    }

    #[test]
    fn the_figures_of_repeats_are_means() {
        let one = |median| Figures { median, p95: 4.0, variability: 4.0 / median, mean: 1.0 };
        let mean = Figures::mean_of(&[one(1.0), one(2.0)]);
        assert_eq!((mean.median, mean.variability), (1.5, 3.0));
    }
}
