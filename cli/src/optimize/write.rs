//! A plan as files for others: a trace in its order, and the capacity scheduler's queues.

use std::fmt::Write;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_planning::optimize::Plan;

use crate::hadoop_files;

/// The queue of a pool. The policy `balanced-pools` reads the pool's slots from it; the capacity scheduler has them
/// in its own file.
pub(crate) fn queue(plan: &Plan, pool: usize) -> String {
    let name = plan.pool_name(pool);
    if plan.pools.len() == 1 {
        return name;
    }
    let slots = plan.pools[pool].slots;
    format!("{name}:{}+{}", slots.maps, slots.reduces)
}

/// The jobs in the order in which they are to be submitted, all at once.
pub(crate) fn trace(trace: &Trace, plan: &Plan) -> Trace {
    let job =
        |(pool, job): (usize, usize)| JobTemplate { submit_ms: 0, queue: queue(plan, pool), ..trace.jobs[job].clone() };
    let source = format!("{}, in the order of a plan with {} pools", trace.source, plan.pools.len());
    Trace { jobs: plan.submissions().into_iter().map(job).collect(), source, ..trace.header() }
}

/// The pools for Hadoop's own files.
pub(crate) fn pools(plan: &Plan) -> Vec<hadoop_files::Pool> {
    let pool = |index| hadoop_files::Pool {
        name: plan.pool_name(index),
        slots: plan.pools[index].slots,
        about: String::new(),
    };
    (0..plan.pools.len()).map(pool).collect()
}

/// Queues with fixed slots, in the capacity scheduler's TOML.
pub(crate) fn capacity(plan: &Plan) -> String {
    // Hadoop's limits per heartbeat would keep a pool from filling its slots at once.
    let mut text = "# Pools with fixed slots: never more, also when others are idle.\n\
        maximum_offswitch_per_heartbeat = 32767\nmaximum_reduces_per_heartbeat = 32767\n"
        .to_owned();
    for (index, pool) in plan.pools.iter().enumerate() {
        let (name, slots) = (queue(plan, index), pool.slots);
        let _ = write!(text, "\n[queues.\"{name}\"]\nmap_slots = {}\nreduce_slots = {}\n", slots.maps, slots.reduces);
    }
    text
}

#[cfg(test)]
mod tests {
    use howdah_planning::optimize::{Pool, Slots, Times};

    use super::*;

    fn plan(pools: &[(u16, &[usize])]) -> Plan {
        let pool = |&(slots, jobs): &(u16, &[usize])| Pool {
            slots: Slots { maps: slots, reduces: slots },
            jobs: jobs.to_vec(),
            times: Times::default(),
        };
        Plan { pools: pools.iter().map(pool).collect() }
    }

    fn jobs(n: usize) -> Trace {
        let job = |n: usize| JobTemplate { name: format!("J{n}"), submit_ms: 7, ..JobTemplate::default() };
        Trace { jobs: (0..n).map(job).collect(), ..Trace::default() }
    }

    #[test]
    fn a_plans_trace_has_each_pools_jobs_in_their_order_and_pools_take_turns() {
        let planned = trace(&jobs(4), &plan(&[(3, &[2]), (5, &[3, 0, 1])]));
        let found: Vec<_> = planned.jobs.iter().map(|job| (&job.name[..], &job.queue[..], job.submit_ms)).collect();
        let [small, big] = ["pool-1:3+3", "pool-2:5+5"];
        assert_eq!(found, [("J2", small, 0), ("J3", big, 0), ("J0", big, 0), ("J1", big, 0)]);
    }

    #[test]
    fn a_single_pool_is_the_default_queue() {
        let planned = trace(&jobs(2), &plan(&[(3, &[1, 0])]));
        assert!(planned.jobs.iter().all(|job| job.queue == "default"));
        assert!(
            capacity(&plan(&[(3, &[1, 0])])).ends_with("\n[queues.\"default\"]\nmap_slots = 3\nreduce_slots = 3\n")
        );
    }
}
