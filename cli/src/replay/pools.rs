//! Pools for a replay under `balanced-pools` whose trace and parameters name none: the optimiser finds them first.
//!
//! The policy holds pools and cannot find them, as that takes simulations. In a live cluster `submit --batch` plans.

use howdah_core::job::profile::Trace;
use howdah_core::replay::{ReplayOptions, View};
use howdah_planning::optimize::{Batch, Method, Slots, plan};

use crate::failure::{Failure, Outcome};
use crate::optimize::write::queue;
use crate::output::note;
use crate::units::counted;

/// Puts each job into the queue of its planned pool, unless the policy is another one or pools are named already.
///
/// # Errors
/// When the plan's simulations do not fit the cluster.
pub(crate) fn find(trace: &mut Trace, options: &ReplayOptions) -> Outcome<()> {
    let named = options.scheduler_params.contains_key("pools") || trace.jobs.iter().any(|job| job.queue.contains(':'));
    if options.scheduler != "balanced-pools" || named {
        return Ok(());
    }
    let slots = match &options.view {
        View::Slots { maps, reduces } => Slots { maps: *maps, reduces: *reduces },
        View::Workers(view) => view.workers.iter().fold(Slots { maps: 0, reduces: 0 }, |sum, worker| Slots {
            maps: sum.maps.saturating_add(worker.map_slots),
            reduces: sum.reduces.saturating_add(worker.reduce_slots),
        }),
    };
    let batch = Batch { shuffle: options.shuffle, slowstart_ppm: options.slowstart_ppm, ..Batch::new(trace, slots) };
    let found = plan(&batch, Method::BALANCED_POOLS).map_err(|error| Failure::usage(error.to_string()))?;
    if found.pools.len() == 1 {
        note("note: no pools were named; one pool in Johnson's order is best for these jobs");
        return Ok(());
    }
    let pools = found
        .pools
        .iter()
        .enumerate()
        .map(|(index, pool)| format!("`{}` for {}", queue(&found, index), counted(pool.jobs.len() as u64, "job")));
    note(format!("note: no pools were named; planned {}", pools.collect::<Vec<_>>().join(" and ")));
    for (pool, job) in found.submissions() {
        trace.jobs[job].queue = queue(&found, pool);
    }
    Ok(())
}
