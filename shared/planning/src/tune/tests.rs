//! The tuner finds what a full search finds, and asks for nothing twice.

use std::collections::BTreeSet;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::replay::{Arrivals, View};

use super::*;

struct Quiet;

impl Listener for Quiet {
    fn done(&self, _: usize, _: usize) {}
}

/// Many small jobs and a few large ones.
fn trace() -> Trace {
    let job = |n: u32| {
        let n_maps = if n % 10 == 3 { 60 } else { 2 + n % 3 };
        JobTemplate { n_maps, map_ms: vec![2_000], ..JobTemplate::default() }
    };
    Trace { jobs: (0..80).map(job).collect(), ..Trace::default() }
}

fn tuning<'a>(trace: &'a Trace, scheduler: &str, queues: usize, shares: &[u32]) -> Tune<'a> {
    Tune {
        trace,
        options: ReplayOptions {
            scheduler: scheduler.to_owned(),
            view: View::Slots { maps: 10, reduces: 4 },
            arrivals: Arrivals::Load { rho_ppm: 600_000 },
            ..ReplayOptions::default()
        },
        queues,
        limits: [2, 5, 10, 20, 50, 100].map(Span::from_secs).to_vec(),
        shares: shares.to_vec(),
        repeats: 2,
        refine: true,
        objective: Objective::Variability,
    }
}

/// Whoever wants to stop from the start is notified of no simulation, not even those of jobs alone.
#[test]
fn a_stop_while_the_jobs_are_measured_alone_is_heeded() {
    struct Stopped;
    impl Listener for Stopped {
        fn done(&self, done: usize, all: usize) {
            panic!("{done} of {all} simulations were made");
        }

        fn stopped(&self) -> bool {
            true
        }
    }
    let trace = trace();
    assert_eq!(tune(&tuning(&trace, "fbq", 2, &[]), &Stopped), Ok(None));
}

#[test]
fn limits_are_tried_on_a_grid_and_then_around_the_best() {
    let trace = trace();
    let found = tune(&tuning(&trace, "fbq", 2, &[]), &Quiet).expect("it runs").expect("nobody stops it");
    let coarse =
        found.tried.iter().filter(|one| [2, 5, 10, 20, 50, 100].contains(&(one.candidate.limits[0].as_ms() / 1_000)));
    assert!(coarse.count() >= 6 && found.tried.len() > 6, "{:?}", found.tried);
    let best = &found.tried[found.best].figures;
    let fair = |figures: &Figures| figures.median <= found.fifo.median * 1.05;
    assert!(fair(best));
    assert!(found.tried.iter().all(|one| !fair(&one.figures) || one.figures.variability >= best.variability));
    assert!(best.variability < found.fifo.variability, "{best:?} {:?}", found.fifo);
}

#[test]
fn every_share_has_its_own_best_limit() {
    let trace = trace();
    let found = tune(&tuning(&trace, "tags", 2, &[20, 50]), &Quiet).expect("it runs").expect("nobody stops it");
    let shares: BTreeSet<_> = found.tried.iter().map(|one| one.candidate.share).collect();
    assert_eq!(shares, BTreeSet::from([Some(20), Some(50)]));
    let all: BTreeSet<_> = found.tried.iter().map(|one| &one.candidate).collect();
    assert_eq!(all.len(), found.tried.len(), "something was tried twice");
}

#[test]
fn more_queues_get_ascending_limits() {
    let trace = trace();
    let found = tune(&tuning(&trace, "fbq", 4, &[]), &Quiet).expect("it runs").expect("nobody stops it");
    for one in &found.tried {
        assert_eq!(one.candidate.limits.len(), 3);
        assert!(one.candidate.limits.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", one.candidate);
    }
}

#[test]
fn candidates_are_words_that_the_policies_read() {
    let limits = vec![Span::from_secs(10), Span::from_ms(20_500)];
    let words = Candidate { share: Some(25), limits }.words();
    let expected = [("queues", "3"), ("limits", "10s,20500ms"), ("partitions", "25.0%,37.5%")];
    assert_eq!(words.iter().map(|(key, value)| (*key, value.as_str())).collect::<Vec<_>>(), expected);
    let params = words.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    assert!(howdah_core::schedulers::by_name("tags", &params).is_ok());
}

#[test]
fn default_limits_cover_the_sizes_of_the_jobs() {
    let limits = default_limits(&trace());
    assert_eq!(limits.first(), Some(&Span::from_secs(4)));
    assert!(limits.last() >= Some(&Span::from_secs(80)) && limits.is_sorted());
    assert_eq!(default_limits(&Trace::default()), []);
}

#[test]
fn a_high_median_does_not_make_the_best() {
    let figures = |median: f64, p95: f64| Figures { median, p95, variability: p95 / median, mean: median };
    let fifo = figures(2.0, 16.0);
    let best = |all: &[Figures]| best_of(all, &fifo, Objective::Variability);
    // Variabilities of 2, 4 and 5; the first by a median of 10.
    assert_eq!(best(&[figures(10.0, 20.0), figures(2.0, 8.0), figures(1.0, 5.0)]), Some(1));
    assert_eq!(best(&[figures(10.0, 20.0), figures(5.0, 15.0)]), Some(1), "all increase it: the lowest percentile");
    assert_eq!(best(&[]), None);
}

#[test]
fn a_best_that_is_no_better_than_fifo_is_doubted() {
    let figures = |median: f64, p95: f64| Figures { median, p95, variability: p95 / median, mean: median };
    let doubt = |best: Figures| {
        let candidate = Candidate { share: None, limits: vec![Span::from_secs(1)] };
        let tried = vec![Tried { candidate, figures: best, spread: 0.0 }];
        Tuned { tried, best: 0, fifo: figures(2.0, 16.0) }.doubt(Objective::Variability)
    };
    assert_eq!(doubt(figures(2.0, 15.0)), None);
    assert_eq!(doubt(figures(2.0, 16.0)).as_deref(), Some("no candidate's variability is below fifo's"));
    let high = doubt(figures(4.0, 8.0)).expect("its median is twice fifo's");
    assert!(high.starts_with("every candidate's median is more than 5 % above fifo's"), "{high}");
}
