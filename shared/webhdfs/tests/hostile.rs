//! The client against a name node that behaves, and against ones that do not.

use std::io::Read;
use std::time::{Duration, Instant};

use howdah_webhdfs::fake::{FakeHdfs, Mood};
use howdah_webhdfs::{Client, FileKind, FileReader, Patience};

/// So many further tries.
const WAITS: [Duration; 2] = [Duration::from_millis(1); 2];

fn client(hdfs: &FakeHdfs) -> Client {
    let short = Duration::from_millis(300);
    // An answer of 64 MiB takes a while in a debug build.
    let patience = Patience { connect: short, idle: short, answer: Duration::from_secs(300), waits: &WAITS };
    Client::new(&hdfs.address(), "ann & bob", patience)
}

fn content() -> Vec<u8> {
    (0..10_000_u32).flat_map(u32::to_be_bytes).collect()
}

#[test]
fn files_are_listed_found_and_missed() {
    let hdfs = FakeHdfs::start(2);
    hdfs.put("/in/b c", "12345", 2);
    hdfs.put("/in/d/e", "", 2);
    let client = client(&hdfs);
    let file = client.status("/in/b c").unwrap();
    assert_eq!((file.kind, file.length, file.block_bytes), (FileKind::File, 5, 2));
    let mut names: Vec<String> = client.list("/in").unwrap().into_iter().map(|entry| entry.name).collect();
    names.sort();
    assert_eq!(names, ["b c", "d"]);
    let blocks = client.blocks("/in/b c", 5).unwrap();
    let places: Vec<(u64, u64, &str)> = blocks.iter().map(|b| (b.offset, b.length, b.hosts[0].as_str())).collect();
    assert_eq!(places, [(0, 2, "127.0.0.2"), (2, 2, "127.0.0.3"), (4, 1, "127.0.0.2")]);
    let error = client.status("/none").unwrap_err();
    assert!(error.is_missing(), "{error}");
    assert!(error.to_string().ends_with("FileNotFoundException: File does not exist: /none"), "{error}");
    assert!(hdfs.asked()[0].contains("/in/b%20c?op=GETFILESTATUS&user.name=ann%20%26%20bob"), "{:?}", hdfs.asked());
}

#[test]
fn a_part_is_read_from_its_own_data_node_and_what_lies_beyond_it_from_others() {
    let hdfs = FakeHdfs::start(3);
    hdfs.put("/f", content(), 10_000);
    let mut reader = FileReader::new(client(&hdfs), "/f", 40_000, 9_999, (10_000, 20_000));
    let mut read = Vec::new();
    reader.read_to_end(&mut read).unwrap();
    assert_eq!(read, content()[9_999..]);
    let asked = hdfs.asked();
    let ranges: Vec<&str> = asked.iter().filter(|line| !line.starts_with("127.0.0.1 ")).map(String::as_str).collect();
    assert_eq!(ranges.len(), 3, "{asked:?}");
    assert!(ranges[0].starts_with("127.0.0.2 ") && ranges[0].ends_with("offset=9999&length=1"), "{ranges:?}");
    assert!(ranges[1].starts_with("127.0.0.3 ") && ranges[1].ends_with("offset=10000&length=10000"), "{ranges:?}");
    assert!(ranges[2].starts_with("127.0.0.4 ") && ranges[2].ends_with("offset=20000&length=20000"), "{ranges:?}");
}

#[test]
fn what_breaks_off_is_read_on_from_there() {
    let hdfs = FakeHdfs::start(2);
    hdfs.put("/f", content(), 10_000);
    hdfs.be(Mood::Brittle(7_001));
    let mut read = Vec::new();
    FileReader::new(client(&hdfs), "/f", 40_000, 0, (0, 40_000)).read_to_end(&mut read).unwrap();
    assert_eq!(read, content());
    hdfs.be(Mood::Brittle(0));
    let error = FileReader::new(client(&hdfs), "/f", 40_000, 5, (5, 9)).read_to_end(&mut read).unwrap_err();
    assert!(error.to_string().starts_with("`/f` at byte 5: "), "{error}");
}

#[test]
fn a_data_node_that_died_is_left_out_and_others_are_asked() {
    let hdfs = FakeHdfs::start(3);
    hdfs.put("/f", content(), 10_000);
    hdfs.be(Mood::Dead(1));
    let mut read = Vec::new();
    FileReader::new(client(&hdfs), "/f", 40_000, 0, (0, 10_000)).read_to_end(&mut read).unwrap();
    assert_eq!(read, content());
    let asked = hdfs.asked();
    assert_eq!(asked.iter().filter(|line| line.starts_with("127.0.0.3 ")).count(), 1, "{asked:?}");
    assert!(asked.iter().any(|line| line.contains("&excludedatanodes=127.0.0.3%3A50010")), "{asked:?}");
}

#[test]
fn a_silent_name_node_is_given_up() {
    let hdfs = FakeHdfs::start(1);
    hdfs.be(Mood::Silent);
    let began = Instant::now();
    let error = client(&hdfs).status("/f").unwrap_err().to_string();
    assert!(error.contains("timeout") && began.elapsed() < Duration::from_secs(5), "{error}");
}

#[test]
fn an_answer_without_end_is_cut() {
    let hdfs = FakeHdfs::start(1);
    hdfs.be(Mood::Endless);
    let error = client(&hdfs).status("/f").unwrap_err().to_string();
    assert!(error.ends_with("it has more than 64 MiB"), "{error}");
}

#[test]
fn a_redirect_is_followed_once_over_http_and_never_by_questions() {
    let hdfs = FakeHdfs::start(1);
    hdfs.put("/f", "abc", 3);
    let read = |mood: Mood| {
        hdfs.be(mood);
        let mut reader = FileReader::new(client(&hdfs), "/f", 3, 0, (0, 3));
        reader.read_to_end(&mut Vec::new()).unwrap_err().to_string()
    };
    let error = read(Mood::Elsewhere("https://127.0.0.1/f".to_owned()));
    assert!(error.contains("it leads to `https://127.0.0.1/f`, expected http://HOST:PORT/"), "{error}");
    let before = hdfs.asked().len();
    let error = read(Mood::Elsewhere(format!("http://{}/webhdfs/v1/f?op=OPEN", hdfs.address())));
    assert!(error.ends_with("it leads elsewhere once more"), "{error}");
    assert_eq!(hdfs.asked().len() - before, 2, "one hop, and no other try");
    hdfs.be(Mood::Circular);
    let error = client(&hdfs).status("/f").unwrap_err().to_string();
    assert!(error.contains("HTTP status 307"), "{error}");
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let hdfs = FakeHdfs::start(1);
    hdfs.put("/d/f", "abc", 3);
    for name in ["../x", "a/b", "..", "a\u{1b}[31m"] {
        hdfs.be(Mood::Entry(name.to_owned()));
        let error = client(&hdfs).list("/d").unwrap_err().to_string();
        assert!(error.contains("an entry is called") && !error.contains('\u{1b}'), "{error}");
    }
}
