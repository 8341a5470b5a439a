//! The cluster of a replay: from the flags, a topology, or what the trace says of the one it was measured on.

use std::path::Path;

use howdah_core::job::profile::Trace;
use howdah_core::replay::{SimWorker, View, WorkersView};
use howdah_core::time::Time;

use super::cluster_file;
use super::defaults::{DEFAULT_RACK, PER_WORKER};
use crate::failure::{Failure, Outcome};
use crate::flag_values::{Attribute, Step};
use crate::output::note;
use crate::replay::args::ReplayArgs;
use crate::trace_file;
use crate::units::counted;

/// Slots of each kind where nothing says otherwise.
const POOL: u16 = 64;

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
    add_attributes(&mut view.workers, &cluster.attribute)?;
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
        ("--attribute", !args.cluster.attribute.is_empty()),
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
    let mut measured: Vec<SimWorker> = workers().map(SimWorker::from).collect();
    if !slots_known {
        measured.iter_mut().for_each(|worker| (worker.map_slots, worker.reduce_slots) = (PER_WORKER, PER_WORKER));
    }
    measured
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

/// What workers say from an instant on, beside what they say anyway.
fn add_attributes(workers: &mut [SimWorker], given: &[Attribute]) -> Outcome<()> {
    let mut given: Vec<&Attribute> = given.iter().collect();
    given.sort_by_key(|attribute| attribute.from);
    for Attribute { worker, name, value, from } in given {
        let index = find(workers, worker, "--attribute")?;
        let steps = &mut workers[index as usize].attributes;
        let passed = steps.partition_point(|(at, _)| at <= from);
        // What held before goes on; later sets of a cluster file have the last word of the names in them.
        if passed == 0 || steps[passed - 1].0 < *from {
            let before = passed.checked_sub(1).map_or_else(Vec::new, |last| steps[last].1.clone());
            steps.insert(passed, (*from, before));
        }
        let first = steps.partition_point(|(at, _)| at < from);
        let (at_once, later) = steps[first..].split_first_mut().expect("it was put there");
        at_once.1.retain(|(known, _)| known != name);
        at_once.1.push((name.clone(), value.clone()));
        for (_, set) in later.iter_mut().filter(|(_, set)| set.iter().all(|(known, _)| known != name)) {
            set.push((name.clone(), value.clone()));
        }
    }
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
    use howdah_core::job::profile::TraceWorker;

    use super::*;

    fn trace(slots: u16) -> Trace {
        let one = |name: &str| TraceWorker {
            name: name.to_owned(),
            host: name.to_owned(),
            rack: "/r".to_owned(),
            map_slots: slots,
            reduce_slots: 0,
            ..TraceWorker::default()
        };
        let cluster =
            howdah_core::job::profile::TraceCluster { workers: vec![one("a"), one("b")], ..Default::default() };
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
    fn attributes_add_to_what_a_worker_says_from_their_instants_on() {
        let at = |s: u64| Time::from_ms(s * 1_000);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let given = |name: &str, value: &str, s| Attribute {
            worker: "a".to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
            from: at(s),
        };
        let mut workers = measured(&trace(1));
        workers[0].attributes = vec![(at(0), vec![pair("ssd", "yes")]), (at(50), vec![pair("ssd", "no")])];
        let flags = [given("gpu", "2", 60), given("gpu", "1", 10), given("ssd", "new", 60), given("os", "x", 0)];
        add_attributes(&mut workers, &flags).expect("the worker is known");
        let expected = [
            (at(0), vec![pair("ssd", "yes"), pair("os", "x")]),
            (at(10), vec![pair("ssd", "yes"), pair("os", "x"), pair("gpu", "1")]),
            (at(50), vec![pair("ssd", "no"), pair("os", "x"), pair("gpu", "1")]),
            (at(60), vec![pair("os", "x"), pair("gpu", "2"), pair("ssd", "new")]),
        ];
        assert_eq!(workers[0].attributes, expected);
        assert!(workers[1].attributes.is_empty());
        let unknown = Attribute { worker: "c".to_owned(), ..given("gpu", "1", 0) };
        let said = add_attributes(&mut workers, &[unknown]).expect_err("no such worker").to_string();
        assert_eq!(said, "error: --attribute: no worker `c`, expected one of a, b");
    }

    #[test]
    fn an_unknown_worker_is_answered_with_some_that_are_known() {
        let workers = measured(&trace(1));
        assert_eq!(find(&workers, "b", "--lose").ok(), Some(1));
        let said = find(&workers, "c", "--lose").expect_err("no such worker").to_string();
        assert_eq!(said, "error: --lose: no worker `c`, expected one of a, b");
    }
}
