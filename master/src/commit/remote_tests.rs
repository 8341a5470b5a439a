//! Promotion and clearing in an HDFS in the test's own process, and the same steps as in directories of this machine.

use std::collections::BTreeMap;

use howdah_webhdfs::fake::{FakeHdfs, Mood};
use howdah_webhdfs::{MARK_PROPERTY, RemotePath, USER_PROPERTY, server_property};

use super::*;

/// The output of a job with this mark.
fn output(hdfs: &FakeHdfs, mark: &str) -> Output {
    let path: RemotePath = "hdfs://nn:8020/data/out".parse().unwrap();
    let properties = [(server_property(&path), hdfs.address()), (USER_PROPERTY.to_owned(), "ann".to_owned())];
    let mark = (MARK_PROPERTY.to_owned(), mark.to_owned());
    Output::new(&path.to_string(), &BTreeMap::from_iter(properties.into_iter().chain([mark])))
}

fn promotion(output: &Output) -> Promotion {
    let winner = |attempt: &str, prefix: &str| (attempt.to_owned(), prefix.to_owned());
    let winners = vec![winner("a_0", "part-r-00000"), winner("b_1", "part-r-00001")];
    Promotion { output: output.clone(), winners, is_lazy: false, mark_success: true, sync: true }
}

/// A reserved output with what two winners and a loser wrote.
fn written(hdfs: &FakeHdfs) -> Output {
    let output = output(hdfs, "mine");
    reserve(&output, || Ok(())).unwrap();
    for (file, text) in
        [("a_0/part-r-00000", "a"), ("b_0/part-r-00001", "loser"), ("b_1/part-r-00001.gz", "b"), ("b_1/side/x", "x")]
    {
        hdfs.put(&format!("/data/out/_temporary/{file}"), text, 9);
    }
    output
}

const DONE: [&str; 4] =
    ["/data/out/_SUCCESS", "/data/out/part-r-00000", "/data/out/part-r-00001.gz", "/data/out/side/x"];

#[test]
fn exactly_the_winners_are_promoted_and_it_may_be_repeated() {
    let hdfs = FakeHdfs::start(1);
    let output = written(&hdfs);
    promote(&promotion(&output)).unwrap();
    promote(&promotion(&output)).unwrap();
    assert_eq!(hdfs.files("/"), DONE);
    assert_eq!(hdfs.read(DONE[2]).unwrap(), b"b");
}

#[test]
fn a_promotion_that_breaks_off_anywhere_is_completed_by_the_next_or_taken_back() {
    for n in 0.. {
        let hdfs = FakeHdfs::start(1);
        let output = written(&hdfs);
        hdfs.be(Mood::Leaves(n));
        // As a master that was killed there: what it would do next finds nobody.
        let promoted = promote(&promotion(&output));
        hdfs.be(Mood::Good);
        if promoted.is_ok() {
            assert!(n > 4, "{n} changes make no promotion");
            return;
        }
        let parts = hdfs.files("/data/out").iter().filter(|path| path.contains("/part-")).count();
        promote(&promotion(&output)).unwrap_or_else(|error| panic!("after {n} changes, {parts} files: {error}"));
        assert_eq!(hdfs.files("/"), DONE, "after {n} changes");
        assert!(!hdfs.is_there("/data/out/_temporary"));
    }
}

#[test]
fn answers_that_are_lost_change_nothing() {
    let hdfs = FakeHdfs::start(1);
    let output = written(&hdfs);
    hdfs.be(Mood::Forgetful);
    promote(&promotion(&output)).unwrap();
    assert_eq!(hdfs.files("/"), DONE);
}

#[test]
fn what_fails_takes_back_what_it_promoted_and_leaves_others_files() {
    let hdfs = FakeHdfs::start(1);
    let output = written(&hdfs);
    hdfs.put("/data/out/side", "somebody's", 99);
    let error = promote(&promotion(&output)).unwrap_err();
    assert!(matches!(error, CommitError::Occupied { .. }), "{error}");
    let left: Vec<String> = hdfs.files("/data/out").into_iter().filter(|path| !path.contains("/_temporary/")).collect();
    assert_eq!(left, ["/data/out/side"]);
    abort(&output, true).unwrap();
    assert_eq!(hdfs.files("/"), ["/data/out/side"]);
}

#[test]
fn lost_output_is_an_error_and_not_a_success() {
    let hdfs = FakeHdfs::start(1);
    let output = output(&hdfs, "mine");
    reserve(&output, || Ok(())).unwrap();
    hdfs.put("/data/out/_temporary/a_0/part-r-00000", "a", 9);
    let error = promote(&promotion(&output)).unwrap_err();
    assert!(matches!(error, CommitError::Gone { .. }), "{error}");
    assert!(!hdfs.is_there("/data/out/_SUCCESS") && !hdfs.is_there("/data/out/part-r-00000"));
    assert!(hdfs.is_there("/data/out/_temporary/a_0/part-r-00000"), "it waits for what runs again");
}

#[test]
fn one_of_two_jobs_has_a_directory_and_the_other_touches_nothing_of_it() {
    let hdfs = FakeHdfs::start(1);
    let (mine, theirs) = (written(&hdfs), output(&hdfs, "theirs"));
    let before = hdfs.files("/");
    assert_eq!(reserve(&theirs, || Ok(())).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    let error = promote(&promotion(&theirs)).unwrap_err().to_string();
    assert!(error.ends_with("`_temporary/_job` in it is the mark of another job"), "{error}");
    abort(&theirs, true).unwrap();
    assert_eq!(hdfs.files("/"), before);
    abort(&mine, true).unwrap();
    abort(&mine, true).unwrap();
    assert!(!hdfs.is_there("/data/out"));
    reserve(&theirs, || Ok(())).unwrap();
}

#[test]
fn what_cannot_be_reserved_leaves_no_directory_and_says_why_in_a_line() {
    let hdfs = FakeHdfs::start(1);
    hdfs.put("/data/in", "x", 1);
    hdfs.be(Mood::Quota(0));
    let error = reserve(&output(&hdfs, "mine"), || Ok(())).unwrap_err().to_string();
    assert!(error.contains("DSQuotaExceededException") && error.lines().count() == 1, "{error}");
    assert!(!hdfs.is_there("/data/out"));
    hdfs.be(Mood::SafeMode);
    let error = reserve(&output(&hdfs, "mine"), || Ok(())).unwrap_err();
    assert!(error.to_string().contains("SafeModeException"), "{error}");
}

#[test]
fn a_clearing_that_breaks_off_anywhere_is_completed_by_the_next() {
    for n in 0.. {
        let hdfs = FakeHdfs::start(1);
        let output = written(&hdfs);
        hdfs.be(Mood::Leaves(n));
        let cleared = abort(&output, true);
        hdfs.be(Mood::Good);
        abort(&output, true).unwrap();
        // No directory is left either, of which nobody could say whose it is.
        for left in ["/data/out", "/data/_out-mine"] {
            assert!(!hdfs.is_there(left), "{left} after {n} changes");
        }
        if cleared.is_ok() {
            assert!(n > 4, "{n} changes clear nothing away");
            return;
        }
    }
}

#[test]
fn a_reservation_that_breaks_off_anywhere_stands_or_is_in_nobodys_way() {
    for n in 0.. {
        let hdfs = FakeHdfs::start(1);
        let (mine, next) = (output(&hdfs, "mine"), output(&hdfs, "next"));
        hdfs.be(Mood::Leaves(n));
        let reserved = reserve(&mine, || Ok(()));
        hdfs.be(Mood::Good);
        if reserved.is_ok() {
            assert!(n > 1, "{n} changes make no reservation");
            assert_eq!(hdfs.files("/"), ["/data/out/_temporary/_job"]);
            return;
        }
        reserve(&next, || Ok(())).unwrap_or_else(|error| panic!("after {n} changes: {error}"));
        abort(&mine, true).unwrap();
        assert_eq!(hdfs.files("/"), ["/data/out/_temporary/_job"], "after {n} changes");
        assert!(!hdfs.is_there("/data/_out-mine"), "after {n} changes");
    }
}

#[test]
fn what_somebody_puts_into_an_output_stays_when_it_is_cleared_away() {
    let hdfs = FakeHdfs::start(1);
    let output = written(&hdfs);
    hdfs.put("/data/out/notes", "somebody's", 99);
    abort(&output, true).unwrap();
    assert_eq!(hdfs.files("/"), ["/data/out/notes"]);
    // Between the last look and the move, as a master that broke off there would find it.
    hdfs.put("/data/_out-mine/notes", "somebody's", 99);
    hdfs.put("/data/_out-mine/_temporary/_job", "mine", 99);
    assert!(abort(&output, true).is_err(), "there is something in its place");
    assert!(hdfs.is_there("/data/_out-mine/notes"));
}
