//! Slots of one task, from the memory that it asks for and the memory of a slot; and what its processes may hold.
//!
//! Hadoop counts memory in slots: a job that asks for more than one slot's memory takes several slots for each task,
//! and a job that asks for more than the cluster's maximum is refused. All come as properties; the slot's memory and
//! the maximum are the cluster's own, which a driver lays over the job's ([`CLUSTER_KEYS`]). Source:
//! `docs/hadoop.md#capacity`, MR1 JobConf.computeNumSlotsPerMap, JobTracker.checkMemoryRequirements.
//!
//! `Deviation:` Hadoop checks maxima only where all four of the cluster's settings are there, and refuses a job that
//! says nothing of its memory then. Here each maximum is checked by itself, and such a job takes one slot a task.

use super::PerKind;
use std::collections::BTreeMap;

use super::SpecError;
use super::quantity::Mebibytes;

/// The job's side, for maps and reduces, old name and new.
const JOB_KEYS: [[&str; 2]; 2] = [
    ["mapred.job.map.memory.mb", "mapreduce.map.memory.mb"],
    ["mapred.job.reduce.memory.mb", "mapreduce.reduce.memory.mb"],
];

/// The cluster's side, for maps and reduces: the memory of a slot, then the most that a task may ask for; the old name
/// and the new one of each.
pub const CLUSTER_KEYS: [[[&str; 2]; 2]; 2] = [
    [
        ["mapred.cluster.map.memory.mb", "mapreduce.cluster.mapmemory.mb"],
        ["mapred.cluster.max.map.memory.mb", "mapreduce.jobtracker.maxmapmemory.mb"],
    ],
    [
        ["mapred.cluster.reduce.memory.mb", "mapreduce.cluster.reducememory.mb"],
        ["mapred.cluster.max.reduce.memory.mb", "mapreduce.jobtracker.maxreducememory.mb"],
    ],
];
/// Most slots of one task.
const MOST: u64 = 1_000;
/// Most megabytes of a task or slot: an exbibyte.
const MOST_MB: u64 = 1 << 40;

/// Memory that the processes of one task may hold, and the property that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// As the job wrote it.
    pub key: &'static str,
    /// At least a MiB.
    pub bytes: u64,
}

/// What the processes of one map and of one reduce of a job may hold; `None` for any amount, as where the job says nothing.
pub fn memory_limits(properties: &BTreeMap<String, String>) -> PerKind<Option<MemoryLimit>> {
    JOB_KEYS.map(|keys| {
        let (key, mib) = megabytes(properties, keys).ok().flatten()?;
        Some(MemoryLimit { key, bytes: mib << 20 })
    })
}

/// Slots of one map and of one reduce: the job's memory over the slot's, rounded up; 1 where either is not given.
///
/// # Errors
/// When a value is no number of megabytes, a task asks for more than the maximum or would take more than 1000 slots.
pub(super) fn slots_per_task(properties: &BTreeMap<String, String>) -> Result<PerKind<u16>, SpecError> {
    let mut slots = [1; 2];
    for ((slots, job), [slot, most]) in slots.iter_mut().zip(JOB_KEYS).zip(CLUSTER_KEYS) {
        let (of_slot, most) = (megabytes(properties, slot)?, megabytes(properties, most)?);
        let Some((key, wanted)) = megabytes(properties, job)? else { continue };
        if let Some((limit_key, limit_mb)) = most.filter(|&(_, limit)| wanted > limit) {
            return Err(SpecError::Memory { key, wanted_mb: wanted, limit_key, limit_mb });
        }
        if let Some((_, of_slot)) = of_slot {
            let n = wanted.div_ceil(of_slot);
            if n > MOST {
                return Err(wrong(key, &wanted.to_string(), "the memory of at most 1000 slots"));
            }
            *slots = n as u16;
        }
    }
    Ok(slots)
}

/// A number of megabytes under either name; `None` for -1, which turns the limit off.
fn megabytes(
    properties: &BTreeMap<String, String>,
    keys: [&'static str; 2],
) -> Result<Option<(&'static str, u64)>, SpecError> {
    let given = keys.into_iter().find_map(|key| Some((key, properties.get(key)?)));
    let Some((key, value)) = given else { return Ok(None) };
    if value.trim() == "-1" {
        return Ok(None);
    }
    match value.parse() {
        Ok(Mebibytes(n)) if (1..=MOST_MB).contains(&n) => Ok(Some((key, n))),
        _ => Err(wrong(key, value, "-1 or a number of megabytes from 1")),
    }
}

fn wrong(key: &str, value: &str, expected: &'static str) -> SpecError {
    SpecError::Property { key: key.to_owned(), value: value.to_owned(), expected }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn slots(pairs: &[(&str, &str)]) -> Result<PerKind<u16>, String> {
        let properties = pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        slots_per_task(&properties).map_err(|error| error.to_string())
    }

    // docs/hadoop.md#capacity: slotsPerTask = ceil(job mem / slot mem).
    #[rstest]
    #[case::none(&[], [1, 1])]
    #[case::exact(&[("mapred.job.map.memory.mb", "2048"), ("mapred.cluster.map.memory.mb", "1024")], [2, 1])]
    #[case::rounded_up(&[("mapreduce.reduce.memory.mb", "2049"), ("mapred.cluster.reduce.memory.mb", "1024")], [1, 3])]
    #[case::small(&[("mapred.job.map.memory.mb", "100"), ("mapred.cluster.map.memory.mb", "1024")], [1, 1])]
    #[case::no_slot_memory(&[("mapred.job.map.memory.mb", "4096")], [1, 1])]
    #[case::off(&[("mapred.job.map.memory.mb", "-1"), ("mapred.cluster.map.memory.mb", "1024")], [1, 1])]
    fn a_task_takes_the_slots_that_its_memory_fills(#[case] pairs: &[(&str, &str)], #[case] expected: PerKind<u16>) {
        assert_eq!(slots(pairs), Ok(expected));
    }

    #[test]
    fn what_a_job_asks_for_is_what_its_tasks_may_hold() {
        let limits = |pairs: &[(&str, &str)]| {
            memory_limits(&pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect())
        };
        let of_maps = MemoryLimit { key: "mapreduce.map.memory.mb", bytes: 100 << 20 };
        assert_eq!(limits(&[("mapreduce.map.memory.mb", "100")]), [Some(of_maps), None]);
        assert_eq!(limits(&[("mapred.job.reduce.memory.mb", "-1")]), [None, None]);
        // The most that is taken as a number fits.
        let most = limits(&[("mapred.job.reduce.memory.mb", &MOST_MB.to_string())])[1].expect("a number");
        assert_eq!(most.bytes, 1 << 60);
        // What cannot be submitted was submitted before it was checked.
        assert_eq!(limits(&[("mapred.job.map.memory.mb", "lots")]), [None, None]);
    }

    #[test]
    fn memory_that_is_none_is_named() {
        let error = slots(&[("mapred.job.map.memory.mb", "0")]).expect_err("no memory");
        assert_eq!(error, "property `mapred.job.map.memory.mb`: `0` is not -1 or a number of megabytes from 1");
        let pairs = [("mapred.job.map.memory.mb", "999999"), ("mapred.cluster.map.memory.mb", "1")];
        assert!(slots(&pairs).expect_err("too much").ends_with("is not the memory of at most 1000 slots"));
    }

    // MR1 JobTracker.checkMemoryRequirements: "Exceeds the cluster's max-memory-limit."
    #[test]
    fn a_task_that_asks_for_more_than_the_clusters_maximum_is_refused_with_both_sides_named() {
        let most = ("mapred.cluster.max.map.memory.mb", "2048");
        assert_eq!(slots(&[("mapred.job.map.memory.mb", "2048"), most]), Ok([1, 1]), "as much as it may");
        let error = slots(&[("mapreduce.map.memory.mb", "2049"), most]).expect_err("one too many");
        assert_eq!(
            error,
            "property `mapreduce.map.memory.mb`: 2049 MB, expected at most 2048 (`mapred.cluster.max.map.memory.mb`)"
        );
        assert_eq!(slots(&[("mapred.job.reduce.memory.mb", "9999"), most]), Ok([1, 1]), "reduces have their own");
        let newer = [("mapred.job.reduce.memory.mb", "5"), ("mapreduce.jobtracker.maxreducememory.mb", "4")];
        assert!(slots(&newer).is_err());
        assert_eq!(slots(&[("mapred.job.map.memory.mb", "9"), ("mapred.cluster.max.map.memory.mb", "-1")]), Ok([1, 1]));
        assert!(slots(&[("mapred.cluster.max.map.memory.mb", "lots")]).is_err(), "also where no job asks");
    }
}
