//! The papers' tables and figures as named experiments: each writes CSV, SVG and a Markdown page that sets our numbers
//! beside the paper's own.
//!
//! An experiment is simulation alone, or runs real clusters: those are `howdah` processes, started from the program
//! path that the caller hands in, because this crate knows neither daemons nor commands.

pub mod calibration;
pub mod framework;
mod live;
mod load_aware;
mod makespan;
mod online;
mod simmr;
pub mod slow_disk;
mod slowdown;

use framework::Experiment;
pub use live::yardstick_ms;

/// All experiments, in the order of `howdah experiment list`.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let mut all: Vec<Box<dyn Experiment>> = vec![
        Box::new(simmr::accuracy::SimMrAccuracy),
        Box::new(simmr::kl::SimMrKl),
        Box::new(simmr::deadlines::SimMrDeadlines),
        Box::new(makespan::Makespan),
        Box::new(makespan::testbed::MakespanTestbed),
        Box::new(slowdown::Slowdown),
        Box::new(slowdown::validation::SlowdownValidation),
        Box::new(load_aware::estimate::LaEstimate),
    ];
    all.extend(load_aware::LoadAware::ALL.map(|one| Box::new(one) as Box<dyn Experiment>));
    all.push(Box::new(online::OnlineLinear));
    all.extend(online::Online::ALL.map(|one| Box::new(one) as Box<dyn Experiment>));
    all.push(Box::new(online::OnlineLive));
    all.push(Box::new(online::OnlineOverhead));
    all.push(Box::new(online::OnlineSwitch));
    all.push(Box::new(online::OnlinePrefetch));
    all.push(Box::new(online::OnlineCold));
    all.push(Box::new(online::OnlineReduces));
    all.push(Box::new(online::OnlineLocality));
    all
}

pub fn by_name(name: &str) -> Option<Box<dyn Experiment>> {
    all().into_iter().find(|experiment| experiment.about().name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_every_experiment_says_what_it_follows() {
        let names: Vec<_> = all().iter().map(|experiment| experiment.about().name).collect();
        assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), names.len());
        for experiment in all() {
            let about = experiment.about();
            assert!(!about.line.is_empty() && !about.paper.is_empty() && !about.figure.is_empty(), "{}", about.name);
            assert!(by_name(about.name).is_some());
        }
        assert!(by_name("no-such").is_none());
    }
}
