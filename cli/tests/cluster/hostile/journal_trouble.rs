//! A journal that cannot be written for a while: something stands in its way, or the machine has no descriptor, no space or
//! no right to write left.
//!
//! Nothing is acknowledged meanwhile and nothing lost: what ran goes on, and counts once the trouble is over.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use howdah_guards::Guard;

use super::{Innocent, Usual, expect_all_live, narrow, without};
use crate::disks::{fill, loop_disk, run};
use crate::harness::{Allocations, Cluster, Finished, Setup, wait_for};
use crate::permitted::not_tested;

/// The smallest segments that there are: the journal needs a new file all the time.
fn small_segments(setup: Setup) -> Setup {
    Setup { master_config: "[master]\njournal_segment_bytes = 65536\n".to_owned(), ..setup }
}

fn journal(cluster: &Cluster) -> PathBuf {
    let runs = std::fs::read_dir(cluster.path("master")).expect("the master's directory").flatten();
    let mut journals = runs.map(|run| run.path().join("journal")).filter(|path| path.is_dir());
    journals.next().expect("a run with a journal")
}

/// Puts files with data where the next segments would be.
fn stand_in_the_way(journal: &Path) -> Vec<PathBuf> {
    let plant = |path: &PathBuf| std::fs::File::create_new(path).and_then(|mut file| file.write_all(b"in the way"));
    let places = (1..).map(|number| journal.join(format!("{number:08}.seg")));
    places.filter(|path| plant(path).is_ok()).take(2).collect()
}

/// Has the master run into the trouble with an innocent job under way, which ends as it would have after `mend`. Nothing
/// where the trouble cannot be made.
#[track_caller]
fn expect_nothing_lost<T>(begin: impl FnOnce(&Cluster) -> Option<T>, mend: impl FnOnce(&Cluster, T)) {
    let cluster = Cluster::start(small_segments(narrow()));
    let usual = Usual::of(&cluster);
    let busy = cluster.sleep(5_000, 1, 0);
    // Its turn comes when the busy one is over.
    let innocent = usual.submit(&cluster, "innocent");
    let Some(trouble) = begin(&cluster) else { return };
    wait_for("the master to run into the trouble", || {
        cluster.master_log().contains("the journal cannot be written").then_some(())
    });
    mend(&cluster, trouble);
    wait_for("the master to go on", || cluster.master_log().contains("the journal can be written again").then_some(()));
    cluster.run(&["job", "kill", &busy]).expect_code(0);
    innocent.expect_right_bytes(&cluster);
    usual.submit(&cluster, "after").expect_right_bytes(&cluster);
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn a_file_in_the_place_of_the_next_segment_stops_acknowledgements_and_not_the_master() {
    let begin = |cluster: &Cluster| Some(stand_in_the_way(&journal(cluster)));
    expect_nothing_lost(begin, |cluster, planted| {
        // Whoever comes is told, and questions are answered.
        let (input, out) = (cluster.text("late.txt", "one line\n"), cluster.output("late.out"));
        let late = ["submit", "wordcount", "--input", &input, "--output", &out];
        let refused = Finished::of(&mut cluster.command(&late), std::time::Duration::from_secs(120)).expect_code(3);
        assert!(refused.stderr.contains("it exists already and holds data"), "{}", refused.stderr);
        assert_eq!(cluster.jobs().len(), 3);
        planted.iter().for_each(|path| std::fs::remove_file(path).expect("clear the way"));
    });
}

#[test]
fn a_file_in_the_place_of_the_next_segment_ends_the_master_where_trouble_is_not_waited_for() {
    let mut cluster = Cluster::start(small_segments(without(&[Guard::JournalTrouble])));
    stand_in_the_way(&journal(&cluster));
    let innocent = Innocent::submit(&cluster, "innocent");
    cluster.sleep(5_000, 1, 0);
    let ended = wait_for("the master to end", || cluster.master_ended());
    assert!(!ended.success(), "{ended}");
    cluster.run(&["job", "status", &innocent.job]).expect_code(3);
}

#[test]
fn an_allocation_file_that_changes_while_the_journal_cannot_be_written_is_taken_over_afterwards() {
    let allocations = Allocations::of("2.0");
    let mut setup = small_segments(narrow());
    setup.master_config += &allocations.config();
    let cluster = Cluster::start(setup);
    let busy = cluster.submit(&["sleep", "-m", "5000", "-mt", "1", "-D", "mapred.fairscheduler.pool=prod"]);
    let planted = stand_in_the_way(&journal(&cluster));
    wait_for("the master to run into the trouble", || {
        cluster.master_log().contains("the journal cannot be written").then_some(())
    });
    allocations.write("5.0");
    wait_for("the master to put the file off", || {
        cluster.master_log().contains("cannot be taken over yet").then_some(())
    });
    planted.iter().for_each(|path| std::fs::remove_file(path).expect("clear the way"));
    wait_for("the master to take the file over", || (allocations.weight(&cluster) == Some(5.0)).then_some(()));
    assert!(!cluster.master_log().contains("invalid"), "{}", cluster.master_log());
    cluster.run(&["job", "kill", &busy]).expect_code(0);
    cluster.stop_and_replay();
}

/// How many descriptors the master may have from now on.
fn limit_descriptors(cluster: &Cluster, most: &str) {
    let pid = cluster.master_pid().to_string();
    run(Command::new("prlimit").args(["--pid", &pid, &format!("--nofile={most}:")])).expect("set the limit");
}

#[test]
fn a_master_without_descriptors_goes_on_once_there_are_some() {
    let begin = |cluster: &Cluster| {
        // Whatever it opens next is refused, and it holds more than these already.
        limit_descriptors(cluster, "8");
        Some(())
    };
    expect_nothing_lost(begin, |cluster, ()| limit_descriptors(cluster, "1024"));
}

/// A file system of its own over the journal's directory: open segments stay where they are, new ones are made there.
struct Over(PathBuf);

impl Over {
    /// `None`, said in a line, where this user may not mount.
    fn mount(cluster: &Cluster, what: &str, mount: impl FnOnce(&Path) -> Result<(), String>) -> Option<Over> {
        let at = journal(cluster);
        match mount(&at) {
            Ok(()) => Some(Over(at)),
            Err(why) => {
                let what = format!("a journal that cannot be written ({what}): nothing can be mounted ({why})");
                not_tested(&format!("{what}; run the tests as root"));
                None
            }
        }
    }

    fn read_only(cluster: &Cluster) -> Option<Over> {
        Over::mount(cluster, "read-only", |at| {
            run(Command::new("mount").args(["-t", "tmpfs", "-o", "ro", "tmpfs"]).arg(at))
        })
    }

    /// A disk, of a file, on which there is no space left.
    fn full(cluster: &Cluster) -> Option<Over> {
        let image = cluster.path("disk.img");
        Over::mount(cluster, "full", |at| {
            // Full before it comes to where the journal is: the master must find no moment in which there is space.
            let beside = cluster.path("disk");
            std::fs::create_dir(&beside).map_err(|error| error.to_string())?;
            loop_disk(&image, &beside, 2 << 20, &["-m", "0"])?;
            let filled = fill_up(&beside.join("filler"));
            let bound = filled.and_then(|()| run(Command::new("mount").arg("--bind").arg(&beside).arg(at)));
            bound.and(run(Command::new("umount").arg("--lazy").arg(&beside)))
        })
    }
}

/// Writes until nothing more fits, and makes sure that it is for want of space.
fn fill_up(path: &Path) -> Result<(), String> {
    let mut file = fill(path).map_err(|error| error.to_string())?;
    match file.write_all(&[7]) {
        Err(error) if error.kind() == std::io::ErrorKind::StorageFull => Ok(()),
        other => Err(format!("the disk is not full: {other:?}")),
    }
}

impl Drop for Over {
    fn drop(&mut self) {
        if let Err(why) = run(Command::new("umount").arg("--lazy").arg(&self.0)) {
            eprintln!("`{}` stays mounted: {why}", self.0.display());
        }
    }
}

#[test]
fn a_full_disk_under_the_next_segment_stops_acknowledgements_until_there_is_space() {
    expect_nothing_lost(Over::full, |_, over| drop(over));
}

#[test]
fn a_disk_that_became_read_only_stops_acknowledgements_until_it_can_be_written() {
    expect_nothing_lost(Over::read_only, |_, over| drop(over));
}
