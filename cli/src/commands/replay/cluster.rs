//! The cluster of a replay: from the flags, a topology, or what the trace says of the one it was measured on.

use std::path::Path;

use howdah_shared::job::profile::{Trace, TraceWorker};
use howdah_shared::replay::{SimWorker, View, WorkersView};
use howdah_shared::time::Time;

use super::cluster_file;
use crate::args::replay::ReplayArgs;
use crate::args::replay_words::Step;
use crate::failure::{Failure, Outcome};
use crate::output::note;
use crate::trace_file;
use crate::units::counted;

/// Slots of each kind where nothing says otherwise.
const POOL: u16 = 64;
/// Slots of each kind of a worker where nothing says otherwise: Hadoop's default.
pub(super) const PER_WORKER: u16 = 2;
pub(super) const DEFAULT_RACK: &str = "/default-rack";

/// The view that the flags and the trace ask for.
///
/// # Errors
/// Names the flag that does not fit, or what is wrong with the topology.
pub(super) fn view(args: &ReplayArgs, trace: &Trace) -> Outcome<View> {
    let cluster = &args.cluster;
    let slots = cluster.map_slots.zip(cluster.reduce_slots);
    let each = slots.unwrap_or((PER_WORKER, PER_WORKER));
    let mut view = WorkersView::default();
    if let Some(path) = &cluster.cluster_file {
        view = cluster_file::read(path)?;
    } else if let Some(path) = &cluster.topology {
        view.workers = read_topology(path, each)?;
    } else if let Some(n) = cluster.workers {
        let numbered = |number| worker(format!("worker-{number}"), format!("host-{number}"), DEFAULT_RACK, each);
        view.workers = (1..=n).map(numbered).collect();
    } else if let Some((maps, reduces)) = slots {
        return pool(args, maps, reduces);
    } else {
        view.workers = measured(trace);
    }
    if view.workers.is_empty() {
        return pool(args, POOL, POOL);
    }
    view.curve = cluster.load_curve.unwrap_or(view.curve);
    if let Some(curve) = cluster.frequency_curve {
        (view.frequency, view.plain_khz) = (curve, curve.khz);
    }
    for worker in &mut view.workers {
        worker.cores_milli = cluster.cores.unwrap_or(worker.cores_milli);
    }
    for step in &cluster.speed {
        add_step(&mut view.workers, step, "--speed", |worker| &mut worker.speed)?;
    }
    for step in &cluster.foreign_load {
        add_step(&mut view.workers, step, "--foreign-load", |worker| &mut worker.foreign)?;
    }
    view.heartbeat = cluster.heartbeat();
    view.locality = cluster.locality_cost.unwrap_or_default();
    Ok(View::Workers(view))
}

/// One pool of slots has no workers for these flags to mean anything.
fn pool(args: &ReplayArgs, maps: u16, reduces: u16) -> Outcome<View> {
    let given = [
        ("--heartbeat", args.cluster.heartbeat.is_some()),
        ("--locality-cost", args.cluster.locality_cost.is_some()),
        ("--speed", !args.cluster.speed.is_empty()),
        ("--cores", args.cluster.cores.is_some()),
        ("--foreign-load", !args.cluster.foreign_load.is_empty()),
        ("--load-curve", args.cluster.load_curve.is_some()),
        ("--frequency-curve", args.cluster.frequency_curve.is_some()),
        ("--lose", !args.faults.lose.is_empty()),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(View::Slots { maps, reduces }),
        Some((flag, _)) => Err(Failure::usage(format!("{flag}: found one pool of slots, expected workers"))
            .help("--workers N --map-slots N --reduce-slots N makes workers, with slots for each")),
    }
}

/// The workers that the trace was measured on; none if it does not tell. Some sources know hosts but no slots.
fn measured(trace: &Trace) -> Vec<SimWorker> {
    let workers = || trace.cluster.iter().flat_map(|cluster| &cluster.workers);
    let slots_known = workers().any(|worker| worker.map_slots > 0 || worker.reduce_slots > 0);
    let slots = |w: &TraceWorker| if slots_known { (w.map_slots, w.reduce_slots) } else { (PER_WORKER, PER_WORKER) };
    workers().map(|w| worker(w.name.clone(), w.host.clone(), &w.rack, slots(w))).collect()
}

fn worker(name: String, host: String, rack: &str, (map_slots, reduce_slots): (u16, u16)) -> SimWorker {
    SimWorker { name, host, rack: rack.to_owned(), map_slots, reduce_slots, ..SimWorker::default() }
}

/// What holds on a worker from an instant on.
fn add_step(
    workers: &mut [SimWorker],
    step: &Step,
    flag: &str,
    list: fn(&mut SimWorker) -> &mut Vec<(Time, u32)>,
) -> Outcome<()> {
    let index = find(workers, &step.worker, flag)?;
    let steps = list(&mut workers[index as usize]);
    steps.push((step.from, step.value));
    steps.sort_by_key(|(from, _)| *from);
    Ok(())
}

/// The place of the worker of this name.
///
/// # Errors
/// Names the flag and the first workers that there are.
pub(super) fn find(workers: &[SimWorker], name: &str, flag: &str) -> Outcome<u32> {
    if let Some(index) = workers.iter().position(|worker| worker.name == name) {
        return Ok(index as u32);
    }
    let known: Vec<&str> = workers.iter().take(3).map(|worker| worker.name.as_str()).collect();
    let more = if workers.len() > known.len() { ", …" } else { "" };
    Err(Failure::usage(format!("{flag}: no worker `{name}`, expected one of {}{more}", known.join(", "))))
}

/// Hosts and their racks.
fn read_topology(path: &Path, slots: (u16, u16)) -> Outcome<Vec<SimWorker>> {
    let (workers, notes) = trace_file::read_topology(path)?;
    for (reason, repair) in notes.iter() {
        let times = counted(repair.count, "time");
        note(format!("note: topology `{}`: {reason} ({times}, first {})", path.display(), repair.first));
    }
    Ok(workers.into_iter().map(|w| worker(w.name, w.host, &w.rack, slots)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(slots: u16) -> Trace {
        let one = |name: &str| TraceWorker {
            name: name.to_owned(),
            host: name.to_owned(),
            rack: "/r".to_owned(),
            map_slots: slots,
            reduce_slots: 0,
        };
        let cluster =
            howdah_shared::job::profile::TraceCluster { workers: vec![one("a"), one("b")], ..Default::default() };
        Trace { cluster: Some(cluster), ..Trace::default() }
    }

    #[test]
    fn a_measured_cluster_is_taken_as_it_is_unless_it_has_no_slots() {
        let slots = |trace: &Trace| {
            measured(trace).iter().map(|worker| (worker.map_slots, worker.reduce_slots)).collect::<Vec<_>>()
        };
        assert_eq!(slots(&trace(3)), [(3, 0), (3, 0)]);
        assert_eq!(slots(&trace(0)), [(2, 2), (2, 2)]);
        assert_eq!(slots(&Trace::default()), []);
    }

    #[test]
    fn an_unknown_worker_is_answered_with_some_that_are_known() {
        let workers = measured(&trace(1));
        assert_eq!(find(&workers, "b", "--lose").ok(), Some(1));
        let said = find(&workers, "c", "--lose").expect_err("no such worker").to_string();
        assert_eq!(said, "error: --lose: no worker `c`, expected one of a, b");
    }
}
