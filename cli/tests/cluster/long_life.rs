//! A master that lives for months: jobs that are over leave its memory.
//!
//! What the allocator is asked for is counted in `master/tests/memory.rs`, with a worker that is none. Here whole daemons run,
//! and the kernel says what the master holds.

use crate::harness::{Cluster, Setup, wait_for};

/// One after the other, before the first look and between it and the last.
const JOBS: usize = 100;
const MAPS: u32 = 100;
/// With all of them kept (`finished_jobs`) it was 1,788 KiB more, as measured, and 272 with these limits: what is meant to stay
/// is a line of each job, and what the allocator has in pieces.
const MOST_KIB_MORE: u64 = 1_000;

fn run_jobs(cluster: &Cluster) {
    let maps = MAPS.to_string();
    let sleep = ["submit", "sleep", "-m", &maps, "-mt", "0", "-D", "mapred.job.reuse.jvm.num.tasks=-1", "--wait"];
    for _ in 0..JOBS {
        cluster.run(&sleep).expect_code(0);
    }
}

/// The least that the master holds within some looks: what is freed goes back to the system a moment later.
fn settled_kib(cluster: &Cluster) -> u64 {
    let mut looks = Vec::new();
    wait_for("the master to settle", || {
        looks.push(cluster.master_anonymous_kib());
        (looks.len() >= 20).then(|| looks.iter().copied().min().expect("there are some"))
    })
}

#[test]
fn jobs_one_after_the_other_leave_the_masters_memory_where_it_was() {
    // Full after the first few, so that those between the looks find it so.
    let master_config = "[master.limits]\nfinished_jobs = 10\nlisted_jobs = 20\n".to_owned();
    let cluster = Cluster::start(Setup { master_config, map_slots: 8, ..Setup::default() });
    run_jobs(&cluster);
    let before = settled_kib(&cluster);
    run_jobs(&cluster);
    let after = settled_kib(&cluster);
    eprintln!("{before} KiB after {JOBS} jobs of {MAPS} maps, {after} KiB after as many again");
    assert!(after < before + MOST_KIB_MORE, "{before} KiB after {JOBS} jobs, {after} KiB after as many again");
    cluster.stop_and_replay();
}
