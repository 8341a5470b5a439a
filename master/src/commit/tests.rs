//! Promotion and clearing in directories of this machine.

use std::collections::BTreeMap;

use super::*;

fn here(output: &Path) -> Output {
    Output::new(output.to_str().unwrap(), &BTreeMap::new())
}

/// An output that is a job's, as after its submission.
fn marked(output: &Path) {
    reserve(&here(output), || Ok(())).unwrap();
    mark(&here(output), "job_1_0001").unwrap();
}

fn private(output: &Path, attempt: &str, file: &str, text: &str) {
    let dir = output.join(TEMPORARY).join(attempt);
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join(file), text).unwrap();
}

fn promotion(output: &Path) -> Promotion {
    let winner = |attempt: &str, prefix: &str| (attempt.to_owned(), prefix.to_owned());
    Promotion {
        output: here(output),
        winners: vec![winner("a_0", "part-r-00000"), winner("b_1", "part-r-00001")],
        is_lazy: false,
        mark_success: true,
        sync: true,
    }
}

#[test]
fn exactly_the_winners_are_promoted_and_it_may_be_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    reserve(&here(&output), || Ok(())).unwrap();
    private(&output, "a_0", "part-r-00000", "a");
    private(&output, "b_0", "part-r-00001", "zombie");
    private(&output, "b_1", "part-r-00001.gz", "b");
    let promotion = promotion(&output);
    promote(&promotion).unwrap();
    promote(&promotion).unwrap();
    let mut names: Vec<_> = fs::read_dir(&output).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["_SUCCESS", "part-r-00000", "part-r-00001.gz"]);
    assert_eq!(fs::read_to_string(output.join("part-r-00001.gz")).unwrap(), "b");
}

#[test]
fn a_promotion_interrupted_in_the_middle_is_completed() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    reserve(&here(&output), || Ok(())).unwrap();
    private(&output, "b_1", "part-r-00001", "b");
    fs::write(output.join("part-r-00000"), "a").unwrap();
    promote(&promotion(&output)).unwrap();
    assert!(output.join("_SUCCESS").exists() && output.join("part-r-00001").exists());
}

#[test]
fn lost_output_is_an_error_and_not_a_success() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    marked(&output);
    private(&output, "a_0", "part-r-00000", "a");
    let error = promote(&promotion(&output)).unwrap_err();
    let CommitError::Gone { attempts, .. } = &error else { panic!("{error}") };
    assert_eq!(attempts, &["b_1"]);
    assert!(!output.join("_SUCCESS").exists());
    // What is there waits for what runs again.
    assert!(output.join("_temporary/a_0/part-r-00000").exists() && !output.join("part-r-00000").exists());
    private(&output, "b_2", "part-r-00001", "b");
    let mut again = promotion(&output);
    again.winners[1].0 = "b_2".to_owned();
    promote(&again).unwrap();
    assert_eq!(names(&output), ["_SUCCESS", "part-r-00000", "part-r-00001"]);
}

#[test]
fn what_an_interrupted_promotion_had_moved_is_gone_too_when_a_part_is() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    marked(&output);
    private(&output, "a_0", "part-r-00000", "a");
    // The rename of the other part was the last thing that an earlier start did.
    fs::create_dir_all(output.join("_temporary/b_1")).unwrap();
    fs::write(output.join("part-r-00001"), "b").unwrap();
    let mut promotion = promotion(&output);
    promotion.winners.push(("c_0".to_owned(), "part-r-00002".to_owned()));
    let error = promote(&promotion).unwrap_err();
    let CommitError::Gone { attempts, .. } = &error else { panic!("{error}") };
    assert_eq!(attempts, &["c_0", "b_1"]);
    assert_eq!(names(&output), ["_temporary"]);
    // Interrupted once more, it says the same.
    let error = promote(&promotion).unwrap_err();
    let CommitError::Gone { attempts, .. } = &error else { panic!("{error}") };
    assert_eq!(attempts, &["b_1", "c_0"]);
    abort(&here(&output), true).unwrap();
    assert!(!output.exists(), "nothing of a killed job is left");
}

#[test]
fn where_no_attempt_could_start_again_lost_output_fails_the_job() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    marked(&output);
    private(&output, "a_0", "part-r-00000", "a");
    fs::remove_file(output.join(OUTPUT_MARK)).unwrap();
    assert!(matches!(promote(&promotion(&output)), Err(CommitError::Missing { .. })));
    fs::remove_dir_all(output.join(TEMPORARY)).unwrap();
    assert!(matches!(promote(&promotion(&output)), Err(CommitError::Missing { .. })));
}

#[test]
fn with_lazy_output_only_an_empty_directory_proves_that_there_was_none() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    marked(&output);
    private(&output, "a_0", "part-r-00000", "a");
    let promotion = Promotion { is_lazy: true, ..promotion(&output) };
    let error = promote(&promotion).unwrap_err();
    assert!(matches!(error, CommitError::Gone { .. }), "{error}");
    private(&output, "a_0", "part-r-00000", "a");
    fs::create_dir_all(output.join("_temporary/b_1")).unwrap();
    promote(&promotion).unwrap();
    // Nor is there any proof left when it is done once more.
    promote(&promotion).unwrap();
    assert_eq!(names(&output), ["_SUCCESS", "part-r-00000"]);
}

#[test]
fn the_file_of_a_task_with_a_longer_number_is_no_proof() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    marked(&output);
    fs::write(output.join("part-m-100000"), "").unwrap();
    let winners = vec![("a_0".to_owned(), "part-m-10000".to_owned())];
    let promotion = Promotion { output: here(&output), winners, is_lazy: false, mark_success: true, sync: true };
    assert!(matches!(promote(&promotion), Err(CommitError::Gone { .. })));
    fs::write(output.join("part-m-10000.gz"), "").unwrap();
    promote(&promotion).unwrap();
}

#[test]
fn a_loser_that_still_writes_does_not_fail_the_job() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    reserve(&here(&output), || Ok(())).unwrap();
    private(&output, "a_0", "part-r-00000", "a");
    private(&output, "b_1", "part-r-00001", "b");
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let zombie = output.join(TEMPORARY).join("z_3");
            let mut n = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = fs::create_dir_all(&zombie);
                let _ = fs::write(zombie.join((n % 8).to_string()), "z");
                n += 1;
            }
        });
        let promoted = promote(&promotion(&output));
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        promoted.unwrap();
    });
    assert_eq!(fs::read_to_string(output.join("part-r-00000")).unwrap(), "a");
    assert!(output.join("_SUCCESS").exists());
}

#[test]
fn aborting_removes_only_what_the_job_made() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    reserve(&here(&output), || Ok(())).unwrap();
    private(&output, "a_0", "part-r-00000", "a");
    abort(&here(&output), true).unwrap();
    assert!(!output.exists());
    abort(&here(&output), true).unwrap();
    reserve(&here(&output), || Ok(())).unwrap();
    fs::write(output.join("mine"), "").unwrap();
    abort(&here(&output), true).unwrap();
    assert!(output.join("mine").exists() && !output.join(TEMPORARY).exists());
}

/// A file elsewhere, which nothing may touch.
fn innocent(dir: &Path) -> PathBuf {
    let path = dir.join("innocent");
    fs::write(&path, "mine").unwrap();
    path
}

fn names(output: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(output).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_link_in_the_place_of_success_is_neither_followed_nor_taken_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let (output, mine) = (dir.path().join("out"), innocent(dir.path()));
    reserve(&here(&output), || Ok(())).unwrap();
    private(&output, "a_0", "part-r-00000", "a");
    private(&output, "b_1", "part-r-00001", "b");
    std::os::unix::fs::symlink(&mine, output.join("_SUCCESS")).unwrap();
    assert!(promote(&promotion(&output)).is_err());
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine", "truncated through the link");
    abort(&here(&output), true).unwrap();
    assert!(!output.exists() && mine.exists());
}

#[test]
fn links_in_private_output_are_refused_and_what_was_promoted_is_taken_back() {
    let dir = tempfile::tempdir().unwrap();
    let (output, mine) = (dir.path().join("out"), innocent(dir.path()));
    reserve(&here(&output), || Ok(())).unwrap();
    private(&output, "a_0", "part-r-00000", "a");
    fs::create_dir(output.join("_temporary/b_1")).unwrap();
    std::os::unix::fs::symlink(&mine, output.join("_temporary/b_1/part-r-00001")).unwrap();
    let error = promote(&promotion(&output)).unwrap_err();
    assert!(matches!(error, CommitError::Special { kind: "a symbolic link", .. }), "{error}");
    assert_eq!(names(&output), ["_temporary"], "part files are left");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
}

#[test]
fn links_in_the_place_of_directories_are_not_entered() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = dir.path().join("elsewhere");
    let victim = elsewhere.join("a_0/part-r-00000");
    for planted in ["_temporary", "_temporary/a_0"] {
        let output = dir.path().join("out");
        fs::create_dir_all(victim.parent().unwrap()).unwrap();
        fs::write(&victim, "mine").unwrap();
        reserve(&here(&output), || Ok(())).unwrap();
        let target = if planted == "_temporary" { elsewhere.clone() } else { elsewhere.join("a_0") };
        let _ = fs::remove_dir(output.join(planted));
        std::os::unix::fs::symlink(target, output.join(planted)).unwrap();
        assert!(promote(&promotion(&output)).is_err());
        abort(&here(&output), true).unwrap();
        assert!(victim.exists() && !output.exists(), "{planted}");
    }
    // The output itself exchanged for a link.
    let output = dir.path().join("out");
    fs::create_dir(elsewhere.join("_temporary")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &output).unwrap();
    assert!(promote(&promotion(&output)).is_err() && abort(&here(&output), true).is_err());
    assert!(victim.exists() && elsewhere.join("_temporary").exists());
}

#[test]
fn reserved_names_and_files_of_others_are_never_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    reserve(&here(&output), || Ok(())).unwrap();
    private(&output, "a_0", "_SUCCESS", "");
    private(&output, "a_0", "part-r-00000", "a");
    private(&output, "b_1", "part-r-00001", "b");
    let error = promote(&promotion(&output)).unwrap_err();
    assert!(matches!(error, CommitError::Reserved { .. }), "{error}");
    fs::remove_file(output.join("_temporary/a_0/_SUCCESS")).unwrap();
    private(&output, "a_0", "part-r-00000", "a");
    private(&output, "b_1", "part-r-00001", "b");
    private(&output, "b_1", "part-r-00000", "b writes over a");
    let error = promote(&promotion(&output)).unwrap_err();
    assert!(matches!(error, CommitError::Occupied { .. }), "{error}");
    assert_eq!(names(&output), ["_temporary"]);
}

#[test]
fn a_file_in_the_way_stays_when_the_rest_is_taken_back() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    reserve(&here(&output), || Ok(())).unwrap();
    private(&output, "a_0", "part-r-00000", "a");
    private(&output, "b_1", "part-r-00001", "b");
    fs::write(output.join("part-r-00001"), "somebody's").unwrap();
    let error = promote(&promotion(&output)).unwrap_err();
    assert!(matches!(error, CommitError::Occupied { .. }), "{error}");
    assert_eq!(names(&output), ["_temporary", "part-r-00001"]);
    assert_eq!(fs::read_to_string(output.join("part-r-00001")).unwrap(), "somebody's");
}

#[test]
fn a_file_in_the_way_stays_when_a_part_is_gone_and_its_winner_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    marked(&output);
    private(&output, "a_0", "part-r-00000", "ours");
    fs::write(output.join("part-r-00000"), "somebody's").unwrap();
    let error = promote(&promotion(&output)).unwrap_err();
    let CommitError::Gone { attempts, .. } = &error else { panic!("{error}") };
    assert_eq!(attempts, &["b_1"]);
    assert_eq!(fs::read_to_string(output.join("part-r-00000")).unwrap(), "somebody's");
    // A second link to its own file is what an interrupted move left, and takes nothing away.
    fs::remove_file(output.join("part-r-00000")).unwrap();
    fs::hard_link(output.join("_temporary/a_0/part-r-00000"), output.join("part-r-00000")).unwrap();
    let error = promote(&promotion(&output)).unwrap_err();
    let CommitError::Gone { attempts, .. } = &error else { panic!("{error}") };
    assert_eq!((attempts.as_slice(), names(&output)), (&["b_1".to_owned()][..], vec!["_temporary".to_owned()]));
    assert!(output.join("_temporary/a_0/part-r-00000").exists());
}

#[test]
fn what_is_left_is_cleared_later_and_what_somebody_made_in_its_place_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    marked(&output);
    let of = here(&output);
    let rest = of.rest().unwrap();
    // Another program's private output has no mark of ours.
    fs::rename(output.join(TEMPORARY), dir.path().join("away")).unwrap();
    fs::create_dir_all(output.join("_temporary/0/task")).unwrap();
    clear_rest(&of, rest, true).unwrap();
    assert!(output.join("_temporary/0/task").exists());
    fs::remove_dir_all(output.join(TEMPORARY)).unwrap();
    fs::rename(dir.path().join("away"), output.join(TEMPORARY)).unwrap();
    clear_rest(&of, rest, true).unwrap();
    assert!(!output.exists());
}

#[test]
fn what_another_master_has_promoted_stays_whole_when_ours_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    reserve(&here(&output), || Ok(())).unwrap();
    for (attempt, part) in [("a_0", "part-r-00000"), ("b_1", "part-r-00001")] {
        private(&output, attempt, part, "ours");
        fs::write(output.join(part), "theirs").unwrap();
    }
    let error = promote(&promotion(&output)).unwrap_err();
    assert!(matches!(error, CommitError::Occupied { .. }), "{error}");
    assert_eq!(names(&output), ["_temporary", "part-r-00000", "part-r-00001"]);
}

#[test]
fn a_move_by_a_second_link_that_was_interrupted_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    reserve(&here(&output), || Ok(())).unwrap();
    private(&output, "a_0", "part-r-00000", "a");
    private(&output, "b_1", "part-r-00001", "b");
    fs::hard_link(output.join("_temporary/a_0/part-r-00000"), output.join("part-r-00000")).unwrap();
    promote(&promotion(&output)).unwrap();
    assert_eq!(names(&output), ["_SUCCESS", "part-r-00000", "part-r-00001"]);
}

#[test]
fn a_directory_that_is_another_jobs_now_is_neither_promoted_into_nor_cleared() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    marked(&output);
    private(&output, "a_0", "part-r-00000", "theirs");
    fs::write(output.join("part-r-00001"), "theirs").unwrap();
    let of = |job: &str| Output { job: job.to_owned(), ..here(&output) };
    let mut promotion = promotion(&output);
    promotion.output = of("job_1_0007");
    let error = promote(&promotion).unwrap_err();
    assert!(error.to_string().ends_with("is the output of job `job_1_0001` now, as the mark in it says"), "{error}");
    abort(&of("job_1_0007"), true).unwrap();
    assert_eq!(names(&output), ["_temporary", "part-r-00001"]);
    assert!(output.join("_temporary/a_0/part-r-00000").exists());
    fs::remove_file(output.join("part-r-00001")).unwrap();
    abort(&of("job_1_0001"), true).unwrap();
    assert!(!output.exists());
}

#[test]
fn an_output_that_a_power_cut_took_is_made_again_and_what_others_have_there_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("deep/out");
    let of = Output { job: "job_1_0007".to_owned(), ..here(&output) };
    let mark = || fs::read_to_string(output.join(OUTPUT_MARK)).unwrap();
    // The directory, the private part, the mark or its text.
    let lose: [fn(&Path); 4] = [
        |output| fs::remove_dir_all(output).unwrap(),
        |output| fs::remove_dir_all(output.join(TEMPORARY)).unwrap(),
        |output| fs::remove_file(output.join(OUTPUT_MARK)).unwrap(),
        |output| fs::write(output.join(OUTPUT_MARK), "").unwrap(),
    ];
    for lose in lose {
        let _ = fs::create_dir_all(output.join(TEMPORARY));
        let _ = fs::write(output.join(OUTPUT_MARK), "job_1_0007\n");
        lose(&output);
        assert!(make_again(&of).unwrap());
        assert_eq!(mark(), "job_1_0007\n");
        assert!(!make_again(&of).unwrap(), "it is there");
    }
    // Another job's, another program's, somebody's files.
    fs::write(output.join(OUTPUT_MARK), "job_1_0008\n").unwrap();
    assert!(!make_again(&of).unwrap());
    assert_eq!(mark(), "job_1_0008\n");
    fs::remove_file(output.join(OUTPUT_MARK)).unwrap();
    fs::create_dir(output.join("_temporary/0")).unwrap();
    assert!(!make_again(&of).unwrap());
    fs::remove_dir_all(output.join(TEMPORARY)).unwrap();
    fs::write(output.join("theirs"), "").unwrap();
    assert!(!make_again(&of).unwrap());
    assert_eq!(names(&output), ["theirs"]);
    // A link leads elsewhere.
    fs::remove_file(output.join("theirs")).unwrap();
    fs::create_dir(output.join(TEMPORARY)).unwrap();
    let victim = innocent(dir.path());
    std::os::unix::fs::symlink(&victim, output.join(OUTPUT_MARK)).unwrap();
    make_again(&of).unwrap_err();
    assert_eq!(fs::read_to_string(victim).unwrap(), "mine");
}

#[test]
fn a_tree_of_any_depth_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("out");
    reserve(&here(&output), || Ok(())).unwrap();
    // Deeper than a path can be long, or a process have descriptors.
    let mut at = Folder::open(&output.join(TEMPORARY)).unwrap();
    for _ in 0..5_000 {
        at.make_folder("d").unwrap();
        at = at.folder("d".as_ref()).unwrap();
        at.make_file("f").unwrap();
    }
    abort(&here(&output), true).unwrap();
    assert!(!output.exists());
}
