//! What `optimize` and `tune` found as Hadoop's own files, for a cluster of one's own: pools with fixed slots, each in
//! the order of submission.
//!
//! The Fair Scheduler of Hadoop 1.x holds a pool at a number of slots; the Capacity Schedulers hold a queue at a share of
//! the cluster, in percent, so that there a share is rounded to a hundredth. What is written is read back by `--mapred-site`.

use std::fmt::Write as _;
use std::path::Path;

use howdah_planning::optimize::Slots;

use crate::failure::Outcome;
use crate::local::make_dir;
use crate::trace_file;

/// A pool of the Fair Scheduler and a queue of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pool {
    /// Letters, digits and `-` alone: it needs no escape.
    pub(crate) name: String,
    /// Never more and never fewer.
    pub(crate) slots: Slots,
    /// Which jobs belong into it, for the files' comments; may be empty. Without `--`, which ends no comment of XML.
    pub(crate) about: String,
}

/// Makes the directories, before a search that may take minutes.
pub(crate) fn make_dirs(folder: &Path) -> Outcome<()> {
    make_dir(&folder.join("yarn"))
}

/// Writes the files into the directory.
pub(crate) fn write(folder: &Path, pools: &[Pool]) -> Outcome<()> {
    for (name, text) in files(pools) {
        trace_file::write_file(&folder.join(name), |out| out.write_all(text.as_bytes()))?;
    }
    Ok(())
}

/// Names and texts of the files.
fn files(pools: &[Pool]) -> Vec<(&'static str, String)> {
    vec![
        ("mapred-site.xml", mapred_site(pools)),
        ("fair-scheduler.xml", fair(pools)),
        ("capacity-scheduler.xml", capacity(pools)),
        ("yarn/capacity-scheduler.xml", yarn(pools)),
    ]
}

fn names(pools: &[Pool]) -> String {
    pools.iter().map(|pool| pool.name.as_str()).collect::<Vec<_>>().join(",")
}

/// What the pools are for, as lines of a comment.
fn abouts(pools: &[Pool]) -> String {
    let line = |pool: &Pool| format!("\n     {}: {}", pool.name, pool.about);
    pools.iter().filter(|pool| !pool.about.is_empty()).map(line).collect()
}

/// A configuration file of these properties.
fn properties(about: &str, pools: &[Pool], all: &[(String, String)]) -> String {
    let abouts = abouts(pools);
    let mut text = format!("<?xml version=\"1.0\"?>\n<!-- {about}{abouts} -->\n<configuration>\n");
    for (name, value) in all {
        let _ = writeln!(text, "  <property>\n    <name>{name}</name>\n    <value>{value}</value>\n  </property>");
    }
    text + "</configuration>\n"
}

fn mapred_site(pools: &[Pool]) -> String {
    let property = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    properties(
        "Hadoop 1.x: put it among the JobTracker's properties, with fair-scheduler.xml beside it.",
        &[],
        &[
            property("mapred.jobtracker.taskScheduler", "org.apache.hadoop.mapred.FairScheduler"),
            property("mapred.fairscheduler.allocation.file", "fair-scheduler.xml"),
            property("mapred.fairscheduler.poolnameproperty", "mapred.job.queue.name"),
            property("mapred.queue.names", &names(pools)),
        ],
    )
}

fn fair(pools: &[Pool]) -> String {
    let mut text = format!(
        "<?xml version=\"1.0\"?>\n<!-- Hadoop 1.x: pools with fixed slots, each job after the other.{} -->\n\
         <allocations>\n",
        abouts(pools)
    );
    for Pool { name, slots: Slots { maps, reduces }, .. } in pools {
        let _ = write!(
            text,
            "  <pool name=\"{name}\">\n    <minMaps>{maps}</minMaps>\n    <minReduces>{reduces}</minReduces>\n    \
             <maxMaps>{maps}</maxMaps>\n    <maxReduces>{reduces}</maxReduces>\n    \
             <schedulingMode>fifo</schedulingMode>\n  </pool>\n"
        );
    }
    text + "</allocations>\n"
}

/// Of the cluster, in hundredths of a percent that add up to the whole: what rounding leaves over is the last one's.
fn shares(pools: &[Pool]) -> Vec<u64> {
    let of = |slots: Slots| u64::from(slots.maps) + u64::from(slots.reduces);
    let all = pools.iter().map(|pool| of(pool.slots)).sum::<u64>().max(1);
    let mut shares: Vec<u64> = pools.iter().map(|pool| of(pool.slots) * 10_000 / all).collect();
    let given: u64 = shares.iter().rev().skip(1).sum();
    if let Some(last) = shares.last_mut() {
        *last = 10_000 - given;
    }
    shares
}

fn percent(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn capacity(pools: &[Pool]) -> String {
    let queue = |(Pool { name, .. }, share): (&Pool, u64)| {
        let key = |rest: &str| format!("mapred.capacity-scheduler.queue.{name}.{rest}");
        [
            (key("capacity"), percent(share)),
            (key("maximum-capacity"), percent(share)),
            (key("supports-priority"), "false".to_owned()),
        ]
    };
    let all: Vec<_> = pools.iter().zip(shares(pools)).flat_map(queue).collect();
    properties("Hadoop 1.x: queues at fixed shares, for org.apache.hadoop.mapred.CapacityTaskScheduler.", pools, &all)
}

fn yarn(pools: &[Pool]) -> String {
    let root = "yarn.scheduler.capacity.root";
    let queue = |(Pool { name, .. }, share): (&Pool, u64)| {
        let key = |rest: &str| format!("{root}.{name}.{rest}");
        [
            (key("capacity"), percent(share)),
            (key("maximum-capacity"), percent(share)),
            (key("ordering-policy"), "fifo".to_owned()),
            (key("state"), "RUNNING".to_owned()),
        ]
    };
    let mut all = vec![(format!("{root}.queues"), names(pools))];
    all.extend(pools.iter().zip(shares(pools)).flat_map(queue));
    properties("Hadoop 2 and 3: queues at fixed shares, for the ResourceManager's CapacityScheduler.", pools, &all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapred_site::Site;
    use howdah_core::schedulers::registry::Params;
    use howdah_master::policies;

    fn pools(slots: &[(u16, u16)]) -> Vec<Pool> {
        let pool = |(index, &(maps, reduces)): (usize, &(u16, u16))| Pool {
            name: format!("pool-{}", index + 1),
            slots: Slots { maps, reduces },
            about: "jobs of less than 10 s".to_owned(),
        };
        slots.iter().enumerate().map(pool).collect()
    }

    #[test]
    fn shares_add_up_to_the_whole_cluster() {
        assert_eq!(shares(&pools(&[(1, 1), (1, 1), (1, 1)])), [3_333, 3_333, 3_334]);
        assert_eq!(shares(&pools(&[(30, 10)])), [10_000]);
        assert_eq!(percent(3_305), "33.05");
    }

    #[test]
    fn our_own_readers_take_what_is_written() {
        let folder = tempfile::tempdir().expect("make a folder");
        make_dirs(folder.path()).expect("make a folder");
        write(folder.path(), &pools(&[(3, 2), (5, 4)])).expect("write the files");
        let site = Site::read(Some(&folder.path().join("mapred-site.xml")), None).expect("it reads");
        assert_eq!(site.scheduler(), Some("fair"));
        assert_eq!(site.queue_names(), ["pool-1", "pool-2"]);
        let params = policies::with_files("fair", &site.under(Params::new())).expect("the pools read");
        assert!(params.values().any(|value| value.contains("<maxMaps>5</maxMaps>")), "{params:?}");
        policies::make("fair", &params).expect("a scheduler");
        let queues = folder.path().join("capacity-scheduler.xml").display().to_string();
        let params = policies::with_files("capacity", &[("allocation.file".to_owned(), queues)].into());
        policies::make("capacity", &params.expect("the queues read")).expect("a scheduler");
    }

    #[test]
    fn yarns_queues_hang_below_the_root() {
        let text = yarn(&pools(&[(3, 1), (1, 0)]));
        let value = |name: &str| {
            let at = text.find(&format!("<name>yarn.scheduler.capacity.root.{name}</name>")).expect("the property");
            text[at..].split("<value>").nth(1).and_then(|rest| rest.split('<').next()).expect("its value").to_owned()
        };
        assert_eq!(
            (value("queues"), value("pool-1.capacity"), value("pool-2.capacity")),
            ("pool-1,pool-2".to_owned(), "80.00".to_owned(), "20.00".to_owned())
        );
        assert_eq!(value("pool-2.maximum-capacity"), "20.00");
    }
}
