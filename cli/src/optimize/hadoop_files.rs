//! A plan as Hadoop's own files, for a cluster of one's own: pools with fixed slots, each in the order of submission.
//!
//! The Fair Scheduler of Hadoop 1.x holds a pool at a number of slots; the Capacity Schedulers hold a queue at a share of
//! the cluster, in percent, so that there a share is rounded to a hundredth. What is written is read back by `--mapred-site`.

use std::fmt::Write;

use howdah_planning::optimize::{Plan, Slots};

/// Names and texts of the files.
pub(crate) fn files(plan: &Plan) -> Vec<(&'static str, String)> {
    vec![
        ("mapred-site.xml", mapred_site(plan)),
        ("fair-scheduler.xml", fair(plan)),
        ("capacity-scheduler.xml", capacity(plan)),
        ("yarn/capacity-scheduler.xml", yarn(plan)),
    ]
}

fn names(plan: &Plan) -> Vec<String> {
    (0..plan.pools.len()).map(|pool| plan.pool_name(pool)).collect()
}

/// A configuration file of these properties. Names of pools need no escape: they are ours.
fn properties(about: &str, all: &[(String, String)]) -> String {
    let mut text = format!("<?xml version=\"1.0\"?>\n<!-- {about} -->\n<configuration>\n");
    for (name, value) in all {
        let _ = writeln!(text, "  <property>\n    <name>{name}</name>\n    <value>{value}</value>\n  </property>");
    }
    text + "</configuration>\n"
}

fn mapred_site(plan: &Plan) -> String {
    let property = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    properties(
        "Hadoop 1.x: put it among the JobTracker's properties, with fair-scheduler.xml beside it.",
        &[
            property("mapred.jobtracker.taskScheduler", "org.apache.hadoop.mapred.FairScheduler"),
            property("mapred.fairscheduler.allocation.file", "fair-scheduler.xml"),
            property("mapred.fairscheduler.poolnameproperty", "mapred.job.queue.name"),
            property("mapred.queue.names", &names(plan).join(",")),
        ],
    )
}

fn fair(plan: &Plan) -> String {
    let mut text = "<?xml version=\"1.0\"?>\n<!-- Hadoop 1.x: pools with fixed slots, each job after the other. -->\n\
        <allocations>\n"
        .to_owned();
    for (name, pool) in names(plan).iter().zip(&plan.pools) {
        let Slots { maps, reduces } = pool.slots;
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
fn shares(plan: &Plan) -> Vec<u64> {
    let of = |slots: Slots| u64::from(slots.maps) + u64::from(slots.reduces);
    let all = plan.pools.iter().map(|pool| of(pool.slots)).sum::<u64>().max(1);
    let mut shares: Vec<u64> = plan.pools.iter().map(|pool| of(pool.slots) * 10_000 / all).collect();
    let given: u64 = shares.iter().rev().skip(1).sum();
    if let Some(last) = shares.last_mut() {
        *last = 10_000 - given;
    }
    shares
}

fn percent(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn capacity(plan: &Plan) -> String {
    let queue = |(name, share): (&String, u64)| {
        let key = |rest: &str| format!("mapred.capacity-scheduler.queue.{name}.{rest}");
        [
            (key("capacity"), percent(share)),
            (key("maximum-capacity"), percent(share)),
            (key("supports-priority"), "false".to_owned()),
        ]
    };
    let all: Vec<_> = names(plan).iter().zip(shares(plan)).flat_map(queue).collect();
    properties("Hadoop 1.x: queues at fixed shares, for org.apache.hadoop.mapred.CapacityTaskScheduler.", &all)
}

fn yarn(plan: &Plan) -> String {
    let root = "yarn.scheduler.capacity.root";
    let queue = |(name, share): (&String, u64)| {
        let key = |rest: &str| format!("{root}.{name}.{rest}");
        [
            (key("capacity"), percent(share)),
            (key("maximum-capacity"), percent(share)),
            (key("ordering-policy"), "fifo".to_owned()),
            (key("state"), "RUNNING".to_owned()),
        ]
    };
    let mut all = vec![(format!("{root}.queues"), names(plan).join(","))];
    all.extend(names(plan).iter().zip(shares(plan)).flat_map(queue));
    properties("Hadoop 2 and 3: queues at fixed shares, for the ResourceManager's CapacityScheduler.", &all)
}

#[cfg(test)]
mod tests {
    use howdah_core::schedulers::registry::Params;
    use howdah_master::policies;
    use howdah_planning::optimize::{Pool, Times};

    use super::*;
    use crate::mapred_site::Site;

    fn plan(slots: &[(u16, u16)]) -> Plan {
        let pool = |&(maps, reduces): &(u16, u16)| Pool {
            slots: Slots { maps, reduces },
            jobs: Vec::new(),
            times: Times::default(),
        };
        Plan { pools: slots.iter().map(pool).collect() }
    }

    #[test]
    fn shares_add_up_to_the_whole_cluster() {
        assert_eq!(shares(&plan(&[(1, 1), (1, 1), (1, 1)])), [3_333, 3_333, 3_334]);
        assert_eq!(shares(&plan(&[(30, 10)])), [10_000]);
        assert_eq!(percent(3_305), "33.05");
    }

    #[test]
    fn our_own_readers_take_what_is_written() {
        let folder = tempfile::tempdir().expect("make a folder");
        for (name, text) in files(&plan(&[(3, 2), (5, 4)])) {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("make a folder");
            std::fs::write(path, text).expect("write a file");
        }
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
        let text = yarn(&plan(&[(3, 1), (1, 0)]));
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
