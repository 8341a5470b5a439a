//! What the client changes in an HDFS, on good days and on bad ones.

use std::io::{self, Read};
use std::time::Duration;

use howdah_webhdfs::fake::{FakeHdfs, Mood};
use howdah_webhdfs::{Client, Error, FileKind, Patience};

/// So many further tries.
const WAITS: [Duration; 2] = [Duration::from_millis(1); 2];

fn client(hdfs: &FakeHdfs) -> Client {
    client_that_waits(hdfs, &WAITS)
}

fn client_that_waits(hdfs: &FakeHdfs, waits: &'static [Duration]) -> Client {
    let wait = Duration::from_secs(20);
    Client::new(&hdfs.address(), "ann", Patience { connect: wait, idle: wait, answer: wait, waits })
}

fn content() -> Vec<u8> {
    (0..50_000_u32).flat_map(u32::to_be_bytes).collect()
}

/// Writes these bytes; says how often they were opened.
fn write(client: &Client, path: &str, bytes: &[u8]) -> (Result<(), Error>, usize) {
    let mut opened = 0;
    let done = client.write(path, bytes.len() as u64, &mut || {
        opened += 1;
        Ok(Box::new(io::Cursor::new(bytes.to_vec())) as Box<dyn Read>)
    });
    (done, opened)
}

/// How often something was asked for.
fn asked(hdfs: &FakeHdfs, what: &str) -> usize {
    hdfs.asked().iter().filter(|line| line.contains(what)).count()
}

#[test]
fn directories_are_made_files_written_moved_and_removed() {
    let hdfs = FakeHdfs::start(2);
    let client = client(&hdfs);
    client.make_directory("/out/a b").unwrap();
    client.make_directory("/out/a b").unwrap();
    assert_eq!(client.status("/out").unwrap().kind, FileKind::Directory);
    let (done, opened) = write(&client, "/out/a b/f", &content());
    done.unwrap();
    assert_eq!((opened, hdfs.read("/out/a b/f").unwrap() == content()), (1, true));
    write(&client, "/out/a b/empty", b"").0.unwrap();
    client.create("/out/mark", b"mine", "/out/own").unwrap();
    assert_eq!(client.small_file("/out/mark").unwrap(), b"mine");
    client.rename("/out/a b/f", "/out/100%&x").unwrap();
    assert_eq!(hdfs.files("/out"), ["/out/100%&x", "/out/a b/empty", "/out/mark"]);
    assert!(client.remove_if_empty("/out").unwrap_err().is_not_empty());
    client.remove("/out").unwrap();
    client.remove("/out").unwrap();
    client.remove_if_empty("/out").unwrap();
    assert!(!hdfs.is_there("/out"));
}

#[test]
fn nothing_is_replaced_and_no_directory_comes_back_by_a_file() {
    let hdfs = FakeHdfs::start(1);
    let client = client(&hdfs);
    hdfs.put("/d/there", "old", 5);
    hdfs.put("/d/new", "new", 5);
    assert!(client.create("/d/there", b"new", "/d/own").unwrap_err().is_existing());
    assert!(client.rename("/d/new", "/d/there").unwrap_err().is_existing());
    assert!(client.rename("/d/none", "/d/x").unwrap_err().is_missing());
    let error = client.make_directory("/d/there/below").unwrap_err().to_string();
    assert!(error.ends_with("ParentNotDirectoryException: /d/there (is not a directory)"), "{error}");
    assert!(write(&client, "/gone/f", b"x").0.unwrap_err().is_missing());
    assert_eq!((hdfs.read("/d/there").unwrap(), hdfs.files("/gone")), (b"old".to_vec(), Vec::new()));
    // A file goes to the name node and then to a data node.
    for (verb, times) in [("/d/there?op=CREATE", 0), ("op=RENAME", 3), ("/gone/f?op=CREATE", 2), ("op=MKDIRS", 1)] {
        assert_eq!(asked(&hdfs, verb), times, "no second try of {verb}: {:?}", hdfs.asked());
    }
}

#[test]
fn a_data_node_that_goes_away_in_the_middle_is_left_out_and_all_bytes_are_handed_to_another() {
    let hdfs = FakeHdfs::start(3);
    hdfs.put("/out/other", "", 1);
    hdfs.be(Mood::Fragile(0, 100_001));
    let (done, opened) = write(&client(&hdfs), "/out/f", &content());
    done.unwrap();
    assert_eq!((opened, hdfs.read("/out/f").unwrap() == content()), (2, true));
    let name = "&excludedatanodes=127.0.0.2%3A50010";
    assert_eq!((asked(&hdfs, "127.0.0.2 PUT"), asked(&hdfs, name)), (1, 2), "{:?}", hdfs.asked());
    // What is to be there as a whole is not what one of them left.
    client(&hdfs).create("/out/mark", b"much longer", "/out/own").unwrap();
    assert_eq!(hdfs.read("/out/mark").unwrap(), b"much longer");
    // One that takes nothing has no block by which the name node could tell its name.
    hdfs.be(Mood::Dead(0));
    write(&client(&hdfs), "/out/g", &content()).0.unwrap();
    assert!(hdfs.asked().iter().any(|line| line.ends_with("&excludedatanodes=127.0.0.2")), "{:?}", hdfs.asked());
    assert_eq!(hdfs.read("/out/g").unwrap(), content());
}

/// With no wait at all, as when somebody waits for the answer to a submission.
#[test]
fn a_data_node_that_died_is_asked_again_and_again_if_the_name_node_sends_there_and_costs_no_try() {
    for (misled, reached) in [(3, true), (4, false)] {
        let hdfs = FakeHdfs::start(2);
        hdfs.put("/out/other", "", 1);
        hdfs.be(Mood::Misleads(misled));
        let (done, opened) = write(&client_that_waits(&hdfs, &[]), "/out/f", &content());
        assert_eq!((done.is_ok(), opened), (reached, 4));
    }
}

#[test]
fn when_no_data_node_takes_a_file_all_are_asked_again_and_the_error_says_so() {
    let hdfs = FakeHdfs::start(1);
    hdfs.put("/out/other", "", 1);
    hdfs.be(Mood::Brittle(1_000));
    let (done, opened) = write(&client(&hdfs), "/out/f", &content());
    let error = done.unwrap_err();
    // Each of three tries asks the data node, and finds no further one.
    assert!(matches!(error, Error::Unreached { .. } | Error::Refused { .. }) && opened == 6, "{opened}: {error}");
    assert_eq!(error.to_string().lines().count(), 1);
    hdfs.be(Mood::Good);
    write(&client(&hdfs), "/out/f", &content()).0.unwrap();
    assert_eq!(hdfs.read("/out/f").unwrap(), content(), "a later writer replaces what was left half written");
}

#[test]
fn a_quota_is_an_error_at_once_and_a_safe_mode_after_all_tries() {
    let hdfs = FakeHdfs::start(1);
    let client = client(&hdfs);
    hdfs.put("/out/other", "", 1);
    hdfs.be(Mood::Quota(1_000));
    let (done, opened) = write(&client, "/out/f", &content());
    let error = done.unwrap_err().to_string();
    assert!(error.contains("DSQuotaExceededException: The DiskSpace quota of /out is exceeded"), "{error}");
    assert_eq!((error.lines().count(), opened), (1, 1));
    hdfs.be(Mood::SafeMode);
    let error = client.make_directory("/out/d").unwrap_err();
    assert!(error.is_trouble() && error.to_string().contains("SafeModeException: Cannot change /out/d"), "{error}");
    assert_eq!(asked(&hdfs, "op=MKDIRS"), 3);
    assert_eq!(write(&client, "/out/f", b"x").1, 3);
}

#[test]
fn what_was_done_and_not_answered_is_not_done_twice() {
    let hdfs = FakeHdfs::start(1);
    let client = client(&hdfs);
    hdfs.put("/d/f", "x", 1);
    hdfs.be(Mood::Forgetful);
    client.make_directory("/d/new").unwrap();
    client.rename("/d/f", "/d/g").unwrap();
    client.create("/d/mark", b"mine", "/d/own").unwrap();
    client.remove("/d/new").unwrap();
    assert_eq!((asked(&hdfs, "/d/f?op=RENAME"), asked(&hdfs, "op=MKDIRS")), (2, 2));
    assert_eq!(hdfs.files("/d"), ["/d/g", "/d/mark"]);
    // Another's file of that name is another's, also when the first answer was lost.
    hdfs.put("/d/theirs", "theirs", 9);
    assert!(client.create("/d/theirs", b"mine", "/d/own").unwrap_err().is_existing());
    assert_eq!(hdfs.files("/d"), ["/d/g", "/d/mark", "/d/theirs"]);
    assert_eq!(hdfs.read("/d/theirs").unwrap(), b"theirs");
}

#[test]
fn bytes_that_cannot_be_read_here_are_no_fault_of_the_data_nodes() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let hdfs = FakeHdfs::start(2);
    hdfs.put("/out/other", "", 1);
    let error = client(&hdfs).write("/out/f", 9, &mut || Ok(Box::new(Broken) as Box<dyn Read>)).unwrap_err();
    assert!(error.to_string().ends_with("/out/f: what was to be written: the disk is gone"), "{error}");
    assert!(!error.is_trouble() && asked(&hdfs, "127.0.0.2 PUT") == 1, "{:?}", hdfs.asked());
}
