//! What no schedule of a batch can be shorter than.
//!
//! Three bounds hold for every order, every division of slots and every rule of choice, pools included, because they
//! use only that a cluster works at most as fast as it has slots, that a task is not divided, and that the reduces of
//! a job begin to count when its maps are done:
//!
//! - *stages*: let each kind of slots be one machine that shares itself among jobs as it likes. That is a two-stage
//!   flow shop with preemption, for which Johnson's order is optimal (balanced-pools §3.2, its reference 9);
//! - *jobs*: a job takes its maps and then its reduces, each at least as long as its longest task and as its work on
//!   the whole cluster;
//! - *ends*: all maps, and then the reduces of the job that has the shortest; or the shortest maps of a job, and then
//!   all reduces.
//!
//! A reduce counts with the shorter of its two shuffles, since a schedule may choose which one it pays. So a plan that
//! takes `x` times the floor leaves a share of at most `1 - 1/x` to any other plan.

use howdah_core::job::profile::JobTemplate;
use howdah_core::models::{Stages, Ties, johnson_order, two_stage_makespan};
use howdah_core::replay::ShuffleModel;
use howdah_core::time::Span;

use super::batch::{Batch, Slots};

/// One kind of tasks of a job, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Kind {
    longest: u64,
    /// Slot time.
    work: u128,
}

impl Kind {
    fn of(tasks: u32, slots_per_task: u16, us: impl Fn(u32) -> u64) -> Kind {
        let mut kind = Kind::default();
        for index in 0..tasks {
            kind.longest = kind.longest.max(us(index));
            kind.work += u128::from(us(index)) * u128::from(slots_per_task.max(1));
        }
        kind
    }

    /// Its work on all slots at once; never more than it takes.
    fn share(self, slots: u16) -> u64 {
        u64::try_from(self.work / u128::from(slots.max(1))).unwrap_or(u64::MAX)
    }

    fn least(self, slots: u16) -> u64 {
        self.longest.max(self.share(slots))
    }
}

/// The least time in which any schedule of the batch on its slots can be over.
pub fn floor(batch: &Batch<'_>) -> Span {
    let jobs: Vec<[Kind; 2]> = batch.trace.jobs.iter().map(|job| kinds(job, batch.shuffle)).collect();
    let bounds = [stages(&jobs, batch.slots), longest_job(&jobs, batch.slots), ends(&jobs, batch.slots)];
    Span::from_us(bounds.into_iter().max().unwrap_or(0))
}

fn kinds(job: &JobTemplate, shuffle: ShuffleModel) -> [Kind; 2] {
    let us = |times: &[u64], index: u32| match times.len() {
        0 => 0,
        n => times[index as usize % n].saturating_mul(1_000),
    };
    // Which entry a reduce takes depends on the wave it falls into: the least of all entries is never too much.
    let lists = [&job.first_shuffle_ms, &job.typical_shuffle_ms];
    let shuffle_us = match shuffle {
        ShuffleModel::SimMr => lists.iter().flat_map(|list| list.iter()).min().copied().unwrap_or(0) * 1_000,
        ShuffleModel::Mumak => 0,
    };
    [
        Kind::of(job.n_maps, job.slots_per_map, |index| us(&job.map_ms, index)),
        Kind::of(job.n_reduces, job.slots_per_reduce, |index| us(&job.reduce_ms, index).saturating_add(shuffle_us)),
    ]
}

fn stages(jobs: &[[Kind; 2]], slots: Slots) -> u64 {
    let stages: Vec<Stages> = jobs
        .iter()
        .map(|[maps, reduces]| Stages { map_us: maps.share(slots.maps), reduce_us: reduces.share(slots.reduces) })
        .collect();
    two_stage_makespan(johnson_order(&stages, Ties::default()).into_iter().map(|job| stages[job]))
}

fn longest_job(jobs: &[[Kind; 2]], slots: Slots) -> u64 {
    let one = |[maps, reduces]: &[Kind; 2]| maps.least(slots.maps).saturating_add(reduces.least(slots.reduces));
    jobs.iter().map(one).max().unwrap_or(0)
}

fn ends(jobs: &[[Kind; 2]], slots: Slots) -> u64 {
    let all = |kind: usize| {
        let work = jobs.iter().map(|job| job[kind].work).sum();
        Kind { work, longest: 0 }.share([slots.maps, slots.reduces][kind])
    };
    // Jobs without work of the one kind neither end it nor wait for it.
    let least = |kind: usize, of: usize| {
        let slots = [slots.maps, slots.reduces][of];
        jobs.iter().filter(|job| job[kind].work > 0).map(|job| job[of].least(slots)).min().unwrap_or(0)
    };
    (all(0).saturating_add(least(0, 1))).max(all(1).saturating_add(least(1, 0)))
}

#[cfg(test)]
mod tests {
    use howdah_core::job::profile::Trace;

    use super::*;
    use crate::optimize::{Method, plan};
    use crate::workloads::{Choices, find};

    fn job(maps: &[u64], reduces: &[u64]) -> JobTemplate {
        JobTemplate {
            n_maps: maps.len() as u32,
            n_reduces: reduces.len() as u32,
            map_ms: maps.iter().map(|s| s * 1_000).collect(),
            reduce_ms: reduces.iter().map(|s| s * 1_000).collect(),
            ..JobTemplate::default()
        }
    }

    fn floor_s(jobs: &[JobTemplate], slots: u16) -> f64 {
        let trace = Trace { jobs: jobs.to_vec(), ..Trace::default() };
        floor(&Batch::new(&trace, Slots { maps: slots, reduces: slots })).as_secs_f64()
    }

    #[test]
    fn each_of_the_bounds_can_be_the_one_that_binds() {
        // Two equal jobs, each one wave of everything: 10 of maps, and 20 of reduces behind the first.
        assert_eq!(floor_s(&[job(&[10, 10], &[10, 10]), job(&[10, 10], &[10, 10])], 2), 30.0);
        // One task that is longer than its share of the cluster.
        assert_eq!(floor_s(&[job(&[1, 40], &[5])], 10), 45.0);
        // Maps in one wave of 12 slots; the reduces of the shortest job are one task of 9.
        assert_eq!(floor_s(&[job(&[10; 12], &[9]), job(&[10; 12], &[9])], 12), 29.0);
        // Without reduces nothing comes after the maps.
        assert_eq!(floor_s(&[job(&[10; 4], &[]), job(&[2; 4], &[])], 4), 12.0);
        assert_eq!(floor_s(&[], 4), 0.0);
    }

    #[test]
    fn a_job_that_fills_several_slots_per_task_does_that_much_more_work() {
        let wide = JobTemplate { slots_per_map: 2, ..job(&[10; 4], &[]) };
        assert_eq!(floor_s(&[wide], 4), 20.0);
    }

    #[test]
    fn no_plan_of_a_drawn_batch_is_shorter() {
        let mut tight = 0;
        for (name, slots) in [("synthetic1-bimodal", 5), ("synthetic2-bimodal", 20)] {
            for seed in 1..=4 {
                let choices = Choices { jobs: Some(6), seed, ..Choices::default() };
                let trace = find(name).expect("a workload").generate(&choices).expect("made");
                let batch = Batch { threads: 1, ..Batch::new(&trace, Slots { maps: slots, reduces: slots }) };
                let floor = floor(&batch);
                for method in [Method::Johnson, Method::ReverseJohnson, Method::BALANCED_POOLS] {
                    let found = plan(&batch, method).expect("slots of both kinds").makespan();
                    assert!(floor <= found, "{name}, seed {seed}, {method:?}: {floor:?} above {found:?}");
                    tight += u32::from(found.as_secs_f64() < 1.1 * floor.as_secs_f64());
                }
            }
        }
        assert!(tight > 3, "a bound that is never near says nothing: {tight}");
    }
}
