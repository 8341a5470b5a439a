//! `tune --write-hadoop`: the partitions that were found, as queues of Hadoop's own files.
//!
//! Hadoop has queues that never lend their slots, but none that a job's size chooses. So the files hold the partitions'
//! slots, and say in comments which jobs belong into which, by what `howdah` would hold against the limits.

use std::path::Path;

use howdah_core::schedulers::registry::Params;
use howdah_core::schedulers::size_based::whole_slots;
use howdah_planning::optimize::Slots;
use howdah_planning::tune::Candidate;

use crate::failure::{Failure, Outcome};
use crate::hadoop_files::{self, Pool};
use crate::units;

/// Before the search: whether what it finds can be written.
pub(super) fn check(folder: &Path, scheduler: &str, partitioned: bool, queues: usize, slots: Slots) -> Outcome<()> {
    if !partitioned {
        return Err(Failure::usage(format!(
            "--write-hadoop: found scheduler `{scheduler}`, expected tags or sita: Hadoop's queues each have slots of their own"
        )));
    }
    let Slots { maps, reduces } = slots;
    if usize::from(maps.min(reduces)) < queues {
        return Err(Failure::usage(format!(
            "--write-hadoop: found {maps} map and {reduces} reduce slots, expected at least one of each for {queues} queues"
        )));
    }
    hadoop_files::make_dirs(folder)
}

/// One pool for each queue; none if there are fewer slots of a kind than queues.
pub(super) fn pools(best: &Candidate, scheduler: &str, params: &Params, slots: Slots) -> Vec<Pool> {
    let shares = best.shares_ppm();
    let whole = |slots: u16| whole_slots(&shares, u32::from(slots)).unwrap_or_default();
    // A part of what fits into 16 bits fits too.
    let part = |slots: u32| u16::try_from(slots).unwrap_or(u16::MAX);
    let sizes = whole(slots.maps).into_iter().zip(whole(slots.reduces));
    let pool = |(index, (maps, reduces))| Pool {
        name: format!("queue-{}", index + 1),
        slots: Slots { maps: part(maps), reduces: part(reduces) },
        about: if scheduler == "sita" { of_size(best, index) } else { of_use(best, index, params) },
    };
    sizes.enumerate().map(pool).collect()
}

/// Which jobs are submitted into a queue of `sita`.
fn of_size(best: &Candidate, queue: usize) -> String {
    let limit = |index: usize| best.limits.get(index).map(|limit| units::seconds(limit.as_secs_f64()));
    match (queue.checked_sub(1).and_then(limit), limit(queue)) {
        (None, Some(up_to)) => format!("jobs of up to {up_to} of slot time, as predicted"),
        (Some(above), Some(up_to)) => format!("jobs of more than {above} and up to {up_to} of slot time, as predicted"),
        (Some(above), None) => format!("jobs of more than {above} of slot time, as predicted"),
        (None, None) => String::new(),
    }
}

/// Which jobs are moved from a queue of `tags` to the next, and how.
fn of_use(best: &Candidate, queue: usize, params: &Params) -> String {
    let begins = if queue == 0 { "every job begins here" } else { "jobs from the queue before" };
    let since = if params.get("service").is_some_and(|service| service == "total") { "in all" } else { "here" };
    match best.limits.get(queue) {
        Some(&limit) => format!(
            "{begins}; after {} of slot time {since}: yarn application -movetoqueue ID -queue queue-{} (Hadoop 1.x cannot)",
            units::seconds(limit.as_secs_f64()),
            queue + 2
        ),
        None => begins.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use howdah_core::time::Span;

    use super::*;

    fn candidate(share: u32, limits_s: &[u64]) -> Candidate {
        Candidate { share: Some(share), limits: limits_s.iter().map(|&s| Span::from_secs(s)).collect() }
    }

    #[test]
    fn a_queue_has_the_slots_that_the_policy_gives_its_partition() {
        let slots = Slots { maps: 60, reduces: 20 };
        let found = pools(&candidate(30, &[600]), "sita", &Params::new(), slots);
        let sizes: Vec<_> = found.iter().map(|pool| (pool.name.as_str(), pool.slots)).collect();
        let [small, large] = [Slots { maps: 18, reduces: 6 }, Slots { maps: 42, reduces: 14 }];
        assert_eq!(sizes, [("queue-1", small), ("queue-2", large)]);
        assert_eq!(found[0].about, "jobs of up to 10 min 00 s of slot time, as predicted");
        let three = pools(&candidate(20, &[10, 20]), "sita", &Params::new(), Slots { maps: 10, reduces: 3 });
        let sizes: Vec<_> = three.iter().map(|pool| (pool.slots.maps, pool.slots.reduces)).collect();
        assert_eq!(sizes, [(2, 1), (4, 1), (4, 1)]);
        assert_eq!(three[1].about, "jobs of more than 10.0 s and up to 20.0 s of slot time, as predicted");
    }

    #[test]
    fn where_jobs_are_moved_on_the_files_say_when_and_by_which_command() {
        let slots = Slots { maps: 4, reduces: 4 };
        let total = Params::from([("service".to_owned(), "total".to_owned())]);
        let found = pools(&candidate(50, &[600]), "tags", &total, slots);
        let said = "every job begins here; after 10 min 00 s of slot time in all: \
                    yarn application -movetoqueue ID -queue queue-2 (Hadoop 1.x cannot)";
        assert_eq!(found[0].about, said);
        assert_eq!(found[1].about, "jobs from the queue before");
        assert!(found.iter().all(|pool| !pool.about.contains("--")), "a comment would end");
    }

    #[test]
    fn what_has_no_partitions_or_too_few_slots_is_refused_before_the_search() {
        let folder = tempfile::tempdir().expect("a folder");
        let slots = Slots { maps: 8, reduces: 2 };
        let said = |scheduler, partitioned, queues| {
            check(folder.path(), scheduler, partitioned, queues, slots).map_err(|error| error.to_string())
        };
        assert_eq!(said("sita", true, 2), Ok(()));
        let fbq = "error: --write-hadoop: found scheduler `fbq`, expected tags or sita: Hadoop's queues each have slots of their own";
        assert_eq!(said("fbq", false, 2), Err(fbq.to_owned()));
        let few = "error: --write-hadoop: found 8 map and 2 reduce slots, expected at least one of each for 3 queues";
        assert_eq!(said("tags", true, 3), Err(few.to_owned()));
    }
}
