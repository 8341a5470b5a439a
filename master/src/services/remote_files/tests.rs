//! Listings of an HDFS in the test's own process.

use howdah_webhdfs::fake::{FakeHdfs, Mood};

use super::*;

fn nodes(hdfs: &FakeHdfs) -> NameNodes {
    let table = BTreeMap::from([("nn:9000".to_owned(), format!("http://{}", hdfs.address()))]);
    table.try_into().unwrap()
}

fn listed(hdfs: &FakeHdfs, input: &str, recursive: bool) -> Result<Vec<String>, InputError> {
    let (nodes, cancel) = (nodes(hdfs), Cancel::default());
    let mut found = Vec::new();
    Listing::new(&nodes, "ann", recursive, &cancel).files(input, &mut |file| {
        found.push(format!("{} {}", file.path.path, file.state.length));
        Ok(())
    })?;
    Ok(found)
}

fn sample() -> FakeHdfs {
    let hdfs = FakeHdfs::start(2);
    for (path, text) in [
        ("/in/b", "bb"),
        ("/in/a", "a"),
        ("/in/_SUCCESS", ""),
        ("/in/.x", "x"),
        ("/in/sub/c", "ccc"),
        ("/on/a[1]", "q"),
    ] {
        hdfs.put(path, text, 2);
    }
    hdfs
}

#[test]
fn directories_and_patterns_give_their_files_in_order_without_the_hidden_ones() {
    let hdfs = sample();
    assert_eq!(listed(&hdfs, "hdfs://nn:9000/in", true).unwrap(), ["/in/a 1", "/in/b 2", "/in/sub/c 3"]);
    assert_eq!(listed(&hdfs, "hdfs://nn:9000/in/?", false).unwrap(), ["/in/a 1", "/in/b 2"]);
    assert_eq!(listed(&hdfs, "hdfs://nn:9000/*/a", false).unwrap(), ["/in/a 1"]);
    assert_eq!(listed(&hdfs, "hdfs://nn:9000/i*/s*/c", false).unwrap(), ["/in/sub/c 3"]);
    // A name that looks like a pattern is a name where there is such a file.
    assert_eq!(listed(&hdfs, "hdfs://nn:9000/on/a[1]", false).unwrap(), ["/on/a[1] 1"]);
    assert_eq!(listed(&hdfs, "hdfs://nn:9000/on/a[[]1[]]", false).unwrap(), ["/on/a[1] 1"]);
}

#[test]
fn what_is_not_there_or_not_a_file_is_named() {
    let hdfs = sample();
    let error = |input: &str| listed(&hdfs, input, false).unwrap_err().to_string();
    assert!(error("hdfs://nn:9000/none").contains("FileNotFoundException: File does not exist: /none"));
    assert_eq!(error("hdfs://nn:9000/no*"), "input pattern `hdfs://nn:9000/no*` matches no file");
    assert_eq!(error("hdfs://nn:9000/in"), "input `hdfs://nn:9000/in/sub` is a directory inside an input directory");
    assert_eq!(
        error("hdfs://evil:9000/in"),
        "input `hdfs://evil:9000/in`: this master fetches nothing from hdfs://evil:9000"
    );
    assert_eq!(hdfs.asked().iter().filter(|line| line.contains("evil")).count(), 0);
}

#[test]
fn a_tree_without_end_has_one_here() {
    let hdfs = sample();
    hdfs.be(Mood::Bottomless);
    let error = listed(&hdfs, "hdfs://nn:9000/x", true).unwrap_err();
    assert!(matches!(error, InputError::TooDeep { .. }), "{error}");
    assert!(hdfs.asked().len() < 2 * MAX_DEPTH, "{}", hdfs.asked().len());
}

#[test]
fn nobody_is_asked_once_nobody_waits() {
    let hdfs = sample();
    let (nodes, cancel) = (nodes(&hdfs), Cancel::default());
    drop(super::super::walk::CancelOnDrop(cancel.clone()));
    let error = Listing::new(&nodes, "ann", true, &cancel).files("hdfs://nn:9000/in", &mut |_| Ok(())).unwrap_err();
    assert!(matches!(error, InputError::Cancelled), "{error}");
    assert_eq!(hdfs.asked(), [""; 0]);
}

#[test]
fn without_places_a_job_has_its_files_all_the_same() {
    let hdfs = sample();
    hdfs.be(Mood::Placeless);
    let (nodes, cancel) = (nodes(&hdfs), Cancel::default());
    let mut listing = Listing::new(&nodes, "ann", false, &cancel);
    let mut files = Vec::new();
    listing
        .files("hdfs://nn:9000/in/?", &mut |file| {
            files.push(file);
            Ok(())
        })
        .unwrap();
    assert!(files.iter().all(|file| listing.blocks(file).unwrap().is_empty()));
    let questions = hdfs.asked().iter().filter(|line| line.contains("GET_BLOCK_LOCATIONS")).count();
    assert_eq!((files.len(), questions), (2, 1), "after one refusal nothing more is asked");
}
