//! What is kept of jobs that are over.

use std::path::Path;

use crate::harness::{Cluster, Setup, wait_for};

/// Files of a directory and of those in it that end so, by name.
fn names(folder: &Path, end: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(names(&path, end));
        } else if name.ends_with(end) {
            found.push(name);
        }
    }
    found.sort();
    found
}

#[test]
fn the_oldest_jobs_that_are_over_go_beyond_the_number_that_is_kept_and_do_not_come_back() {
    let master_config = "[master.keep_jobs]\nnumber = 2\n".to_owned();
    let mut cluster = Cluster::start(Setup { workers: 1, master_config, ..Setup::default() });
    let jobs: Vec<String> = (0..4)
        .map(|_| {
            let job = cluster.sleep(1, 10, 0);
            cluster.wait_job(&job, 0);
            job
        })
        .collect();
    let run = std::fs::read_dir(cluster.path("master")).expect("the master's directory");
    let run = run.flatten().map(|entry| entry.path()).find(|path| path.join("header").exists()).expect("a run");
    let files = |jobs: &[&String]| {
        [".json.gz", ".json"].map(|suffix| jobs.iter().map(|job| format!("{job}{suffix}")).collect::<Vec<String>>())
    };
    let kept = || [("history", ".json.gz"), ("jobs", ".json")].map(|(folder, end)| names(&run.join(folder), end));
    let all_gone = || {
        let hadoops = names(&run.join("hadoop-history"), ".jhist");
        (kept() == files(&[&jobs[2], &jobs[3]]) && hadoops.len() == 2).then_some(())
    };
    wait_for("the two oldest jobs to go", all_gone);
    let check = |cluster: &Cluster| {
        assert_eq!(cluster.jobs().len(), 4, "they stay listed");
        let refused = cluster.run(&["job", "history", &jobs[0]]).expect_code(2);
        assert!(refused.stderr.contains("is not kept any more"), "{}", refused.stderr);
        cluster.run(&["job", "history", &jobs[3]]).expect_code(0);
    };
    check(&cluster);
    // Another start does not write them again.
    cluster.kill_master();
    cluster.restart_master();
    check(&cluster);
    let fifth = cluster.sleep(1, 10, 0);
    cluster.wait_job(&fifth, 0);
    wait_for("the third job to go", || (kept() == files(&[&jobs[3], &fifth])).then_some(()));
    cluster.stop_and_replay();
}
