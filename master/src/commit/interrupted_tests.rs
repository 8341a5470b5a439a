//! Promotions that are killed before each of their steps, and what of them is on the disk when.

use std::collections::BTreeMap;

use rustix::io::Errno;

use super::steps::{Refused, is_over_before, refusing, refusing_once, steps_of};
use super::*;

/// An output with three winners, one of which has a second file and a folder, and with attempts that do not count.
fn ready(output: &Path, sync: bool) -> Promotion {
    let of = Output { job: "job_1_0001".to_owned(), ..Output::new(output.to_str().unwrap(), &BTreeMap::new()) };
    reserve(&of, || Ok(())).unwrap();
    mark(&of, "job_1_0001").unwrap();
    let files = [
        ("a_0", "part-r-00000", "a"),
        ("b_0", "part-r-00001", "a zombie's"),
        ("b_1", "part-r-00001.gz", "b"),
        ("c_0", "part-r-00002", "c"),
        ("c_0", "index", "beside"),
        ("c_0", "deep/er", "below"),
        ("d_0", "deep/er/and/er", "a zombie's"),
    ];
    for (attempt, file, text) in files {
        let path = output.join(TEMPORARY).join(attempt).join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let winners = [("a_0", "part-r-00000"), ("b_1", "part-r-00001"), ("c_0", "part-r-00002")];
    let winners = winners.map(|(attempt, prefix)| (attempt.to_owned(), prefix.to_owned())).to_vec();
    Promotion { output: of, winners, is_lazy: false, mark_success: true, sync }
}

/// All files below a directory with their texts, and empty directories.
fn tree(directory: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let inner = tree(&path);
            if inner.is_empty() {
                found.insert(path, "an empty directory".to_owned());
            } else {
                found.extend(inner);
            }
        } else {
            let text = fs::read_to_string(&path).unwrap();
            found.insert(path, text);
        }
    }
    found
}

/// In a directory that is made anew for each: promotions that are killed before each step, once more after the next start if
/// `twice`, and go on. Gives how many steps there were.
fn killed_before_each_step(sync: bool, refused: Option<Refused>, twice: bool) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    ready(&output, sync);
    let promotion = ready_again(&output, sync);
    promote(&promotion).unwrap();
    let right = tree(&output);
    let names: Vec<_> = right.keys().map(|path| path.strip_prefix(&output).unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["_SUCCESS", "deep/er", "index", "part-r-00000", "part-r-00001.gz", "part-r-00002"]);
    let mut first = 0;
    loop {
        let mut second = 0;
        loop {
            ready_again(&output, sync);
            let is_over = is_over_before(first, refused, || promote(&promotion).unwrap());
            // The master starts again.
            let is_over_then = !twice || is_over_before(second, refused, || promote(&promotion).unwrap());
            if !is_over || !is_over_then {
                promote(&promotion).unwrap();
            }
            assert_eq!(tree(&output), right, "killed before step {first}, then before step {second}");
            if is_over {
                return first;
            }
            if is_over_then {
                break;
            }
            second += 1;
        }
        first += 1;
    }
}

fn ready_again(output: &Path, sync: bool) -> Promotion {
    fs::remove_dir_all(output).unwrap();
    ready(output, sync)
}

#[test]
fn a_promotion_that_is_killed_before_any_of_its_steps_ends_with_the_same_files() {
    let steps = killed_before_each_step(true, None, false);
    // Five names moved, four attempts and what is in them removed, `_SUCCESS` made, four syncs.
    assert!(steps >= 18, "{steps} steps");
}

#[test]
fn a_promotion_that_is_killed_a_second_time_before_any_of_its_steps_ends_with_the_same_files() {
    killed_before_each_step(false, None, true);
}

#[test]
fn where_names_are_moved_by_second_links_it_may_be_killed_before_any_step_as_well() {
    let steps = killed_before_each_step(false, Some((|step| step.starts_with("move part"), Errno::INVAL)), false);
    assert!(steps >= 20, "{steps} steps");
}

#[test]
fn parts_are_on_the_disk_before_anything_is_removed_and_success_before_the_job_counts() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    let promotion = ready(&output, true);
    let (promoted, steps) = steps_of(|| promote(&promotion));
    promoted.unwrap();
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let kinds: Vec<&str> = steps.iter().map(|step| step.split(' ').next().unwrap()).collect();
    let mut order = kinds.clone();
    order.dedup();
    // What is removed may have to be moved first.
    order.retain(|kind| *kind != "rename");
    order.dedup();
    assert_eq!(order, ["sync", "move", "sync", "remove", "create", "sync"], "{steps:?}");
    assert_eq!(steps[0], "sync ..", "the output's own name");
    assert_eq!(steps[steps.len() - 3..], ["create _SUCCESS", "sync _SUCCESS", "sync ."]);
    assert_eq!(kinds.iter().filter(|kind| **kind == "move").count(), 5, "{steps:?}");
    // Done once more, as by a master that was killed before it said so, it is on the disk again before it counts.
    let (promoted, steps) = steps_of(|| promote(&promotion));
    promoted.unwrap();
    assert_eq!(steps, ["sync ..", "sync .", "create _SUCCESS", "sync _SUCCESS", "sync ."]);
}

#[test]
fn a_job_that_wants_no_syncs_has_none() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    let promotion = ready(&output, false);
    let (promoted, steps) = steps_of(|| promote(&promotion));
    promoted.unwrap();
    assert!(steps.len() > 5 && !steps.iter().any(|step| step.starts_with("sync")), "{steps:?}");
}

#[test]
fn a_file_system_that_syncs_no_directories_is_good_enough_and_a_disk_that_fails_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    let promotion = ready(&output, true);
    refusing((|step| step.starts_with("sync"), Errno::INVAL), || promote(&promotion)).unwrap();
    assert!(output.join("_SUCCESS").exists());
    let fail: [fn(&str) -> bool; 3] =
        [|step| step == "sync ..", |step| step == "sync .", |step| step == "sync _SUCCESS"];
    for (at, fails) in fail.into_iter().enumerate() {
        let promotion = ready_again(&output, true);
        let error = refusing((fails, Errno::IO), || promote(&promotion)).unwrap_err();
        assert!(matches!(error, CommitError::Unsynced { .. }), "{at}: {error}");
        let left = tree(&output);
        let in_place = left.keys().filter(|path| !path.starts_with(output.join(TEMPORARY)));
        assert_eq!(in_place.count(), 0, "{at}: what did not come to the disk is taken back: {left:?}");
        abort(&promotion.output, true).unwrap();
        assert!(!output.exists(), "{at}");
        fs::create_dir(&output).unwrap();
    }
}

#[test]
fn a_share_that_is_away_for_a_moment_costs_no_part() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    let fail: [fn(&str) -> bool; 5] = [
        |step| step == "sync ..",
        |step| step.starts_with("move part-r-00002"),
        |step| step == "sync .",
        |step| step == "create _SUCCESS",
        |step| step == "sync _SUCCESS",
    ];
    ready(&output, true);
    for is_lazy in [false, true] {
        let promotion = Promotion { is_lazy, ..ready_again(&output, true) };
        promote(&promotion).unwrap();
        let right = tree(&output);
        for (at, fails) in fail.into_iter().enumerate() {
            let promotion = Promotion { is_lazy, ..ready_again(&output, true) };
            refusing_once((fails, Errno::STALE), || promote(&promotion)).unwrap();
            assert_eq!(tree(&output), right, "{at}, lazy: {is_lazy}");
        }
    }
}
