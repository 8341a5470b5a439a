//! Output that its own job deletes, and a file system that hangs.

use std::path::PathBuf;
use std::process::Command;

use howdah_guards::Guard;

use super::{Innocent, Usual, expect_all_live, expect_lasting, narrow, submit_maps, wait_first_map, without};
use crate::disks::{loop_disk, run};
use crate::harness::{Cluster, reference, wait_for};
use crate::permitted::not_tested;

/// Two maps, the second of which deletes the private output of the first once that is over.
fn delete_part(cluster: &Cluster) -> String {
    let (gate, out) = (cluster.output("gate"), cluster.output("out"));
    let body = format!(
        "test \"$(cat)\" = keep && echo kept && exit\n\
         while ! test -e {gate}; do sleep 0.1; done\n\
         find {out}/_temporary -mindepth 1 -maxdepth 1 -type d ! -name \"$mapred_task_id\" -exec rm -r {{}} +"
    );
    let mapper = cluster.script("delete.sh", &body);
    let job = submit_maps(cluster, &mapper, &["keep", "delete"], &out);
    wait_first_map(cluster, &job);
    std::fs::write(gate, "").expect("open the gate");
    job
}

#[test]
fn a_part_that_its_job_deleted_is_made_again_before_there_is_success() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    let job = delete_part(&cluster);
    let innocent = usual.submit(&cluster, "innocent");
    cluster.wait_job(&job, 0);
    innocent.expect_right_bytes(&cluster);
    assert!(cluster.path("out/_SUCCESS").exists());
    assert_eq!(reference::read_parts(&cluster.path("out")).len(), 2);
    let attempts = cluster.attempts(&job);
    let failed: Vec<_> = attempts.iter().filter(|attempt| attempt["state"] == "FAILED").collect();
    assert!(attempts.len() == 3 && failed.len() == 1, "{attempts:?}");
    assert_eq!(failed[0]["cause"], "its output was gone when the job's was to be put in its place");
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn a_job_succeeds_without_a_part_where_nobody_counts_them() {
    let cluster = Cluster::start(without(&[Guard::PromotedParts]));
    let job = delete_part(&cluster);
    cluster.wait_job(&job, 0);
    assert!(cluster.path("out/_SUCCESS").exists());
    assert_eq!(reference::read_parts(&cluster.path("out")).len(), 1);
}

/// A small file system of its own, which can be made to hang whoever writes to it.
struct Share(PathBuf);

impl Share {
    /// `None`, said in a line, where this user may not mount.
    fn mount(cluster: &Cluster) -> Option<Share> {
        let (image, at) = (cluster.path("share.img"), cluster.path("share"));
        std::fs::create_dir(&at).expect("make a directory");
        if let Err(why) = loop_disk(&image, &at, 32 << 20, &[]) {
            not_tested(&format!(
                "a file system that hangs: none can be made and mounted ({why}); run the tests as root"
            ));
            return None;
        }
        Some(Share(at))
    }

    fn freeze(&self) {
        run(Command::new("fsfreeze").arg("--freeze").arg(&self.0)).expect("freeze the file system");
    }

    fn thaw(&self) {
        run(Command::new("fsfreeze").arg("--unfreeze").arg(&self.0)).expect("let it go on");
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        // Also in the middle of a failing test; it is no error if it does not hang.
        let _ = run(Command::new("fsfreeze").arg("--unfreeze").arg(&self.0));
        if let Err(why) = run(Command::new("umount").arg("--lazy").arg(&self.0)) {
            eprintln!("`{}` stays mounted: {why}", self.0.display());
        }
    }
}

/// Kills a job when its output's file system hangs, so that what it left there cannot be cleared away.
fn kill_on(share: &Share, cluster: &Cluster) -> String {
    let mapper = cluster.script("wait.sh", "exec sleep 600");
    let out = share.0.join("out");
    let job = submit_maps(cluster, &mapper, &["one line"], out.to_str().expect("an ordinary path"));
    cluster.wait_running_maps(&job, 1);
    share.freeze();
    cluster.run(&["job", "kill", &job]).expect_code(0);
    job
}

#[test]
fn a_file_system_that_hangs_holds_up_the_jobs_on_it_alone() {
    let cluster = Cluster::start(narrow());
    let Some(share) = Share::mount(&cluster) else { return };
    let usual = Usual::of(&cluster);
    let job = kill_on(&share, &cluster);
    usual.submit(&cluster, "innocent").expect_right_bytes(&cluster);
    let left = share.0.join("out/_temporary");
    assert!(left.exists(), "it hangs");
    share.thaw();
    wait_for("what the job left to be cleared away", || (!left.exists()).then_some(()));
    cluster.wait_job(&job, 1);
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn a_file_system_that_hangs_holds_up_all_jobs_where_one_thread_writes() {
    let cluster = Cluster::start(without(&[Guard::FileThreads]));
    let Some(share) = Share::mount(&cluster) else { return };
    kill_on(&share, &cluster);
    let innocent = Innocent::submit(&cluster, "innocent");
    wait_for("its tasks to end", || {
        let ended = |attempt: &&serde_json::Value| attempt["state"] == "SUCCEEDED";
        (cluster.attempts(&innocent.job).iter().filter(ended).count() == 3).then_some(())
    });
    expect_lasting("no output is promoted", || cluster.status(&innocent.job)["state"] == "COMMITTING");
    share.thaw();
    innocent.expect_right_bytes(&cluster);
}
