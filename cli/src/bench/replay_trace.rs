//! The traces of `bench replay`, from the project's own workloads.

use howdah_core::job::profile::Trace;
use howdah_planning::workloads::custom::Description;
use howdah_planning::workloads::{Choices, find};

use super::baseline_replay;
use crate::failure::{Failure, Outcome};

/// Jobs of the workload that SimMR's trace stands for (§IV-E).
pub(super) const PAPER_JOBS: usize = 1_148;

pub(super) const PAPER_TASKS: u64 = 200_000;

/// Jobs of one kind, each of 20 tasks.
const EQUAL: &str = r#"
name = "equal"
jobs = 1
[[class]]
name = "equal"
maps = 16
reduces = 4
map_ms = "lognormal(9.9511,1.6764)"
first_shuffle_ms = "lognormal(9,1)"
typical_shuffle_ms = "lognormal(10,1)"
reduce_ms = "lognormal(11.5,1.6262)"
"#;

/// The paper's jobs with Facebook's task times (SimMR §V-C), all at once.
pub(super) fn paper(seed: u64) -> Outcome<Trace> {
    let workload = find("simmr-facebook-1148").ok_or_else(|| Failure::broke("no workload `simmr-facebook-1148`"))?;
    workload.generate(&Choices { seed, ..Choices::default() }).map_err(|error| Failure::broke(error.to_string()))
}

/// Several of them at once, or one after the other.
pub(super) fn papers(n: u64, apart: bool, slots: [u32; 2]) -> Outcome<Trace> {
    let mut all = paper(0)?;
    let gap_ms = if apart { baseline_replay::run(&all, slots).makespan_ms } else { 0 };
    all.jobs.reserve_exact((n - 1) as usize * PAPER_JOBS);
    for seed in 1..n {
        let mut next = paper(seed)?;
        next.jobs.iter_mut().for_each(|job| job.submit_ms = seed * gap_ms);
        all.jobs.append(&mut next.jobs);
    }
    Ok(all)
}

/// Equal jobs, all at once.
pub(super) fn equal(jobs: usize) -> Outcome<Trace> {
    let broke = |error: &dyn std::fmt::Display| Failure::broke(error.to_string());
    let description = Description::parse(EQUAL).map_err(|error| broke(&error))?;
    let choices = Choices { jobs: Some(jobs), ..Choices::default() };
    description.generate(&choices).map_err(|error| broke(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_traces_have_the_jobs_and_tasks_that_the_bars_name() {
        let tasks = |trace: &Trace| -> u64 {
            trace.jobs.iter().map(|job| u64::from(job.n_maps) + u64::from(job.n_reduces)).sum()
        };
        let one = paper(0).expect("a workload of the project");
        assert_eq!((one.jobs.len(), tasks(&one)), (PAPER_JOBS, PAPER_TASKS));
        let two = papers(2, true, [64; 2]).expect("two of them");
        assert_eq!((two.jobs.len(), tasks(&two)), (2 * PAPER_JOBS, 2 * PAPER_TASKS));
        assert!(two.jobs.is_sorted_by_key(|job| job.submit_ms));
        let equal = equal(7).expect("a good description");
        assert_eq!((equal.jobs.len(), tasks(&equal)), (7, 140));
    }

    // The baseline reads entry `i` for task `i`, without turns.
    #[test]
    fn every_task_has_its_own_entry_or_none_has() {
        for trace in [paper(0), equal(3)] {
            for job in trace.expect("made").jobs {
                let reduces = [&job.first_shuffle_ms, &job.typical_shuffle_ms, &job.reduce_ms];
                assert_eq!(job.map_ms.len(), job.n_maps as usize);
                assert!(reduces.iter().all(|list| list.is_empty() || list.len() == job.n_reduces as usize));
            }
        }
    }
}
