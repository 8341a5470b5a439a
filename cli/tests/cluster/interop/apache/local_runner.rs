//! Hadoop's own word count by its local runner, against the cluster's: the same bytes in the same part files.

use super::java::Java;
use crate::harness::{Cluster, Setup, reference, text};

const SOURCE: &str = include_str!("WordCount.java");
const REDUCES: [&str; 3] = ["1", "3", "7"];

#[test]
fn part_files_are_byte_for_byte_those_of_hadoops_local_runner() {
    let cluster = Cluster::start(Setup::default());
    let input = cluster.output("in.txt");
    text::write_text(input.as_ref(), 4 << 20, &text::words(3_000), 21);
    // Line ends of all kinds, empty lines, blanks in a row, bytes beyond ASCII, and a last line without an end.
    let mut bytes = std::fs::read(&input).expect("read the input");
    bytes.extend_from_slice("\r\n\n  ein  Ärger\tmit Größen\r\n\u{65e5}\u{672c} ein\rlast\nend".as_bytes());
    std::fs::write(&input, &bytes).expect("write the input");
    let java = Java::new(&cluster.path("java"));
    java.compile("WordCount", SOURCE);
    let theirs = cluster.output("theirs");
    java.run("WordCount", &[&[input.as_str(), &theirs, "1000003"], &REDUCES[..]].concat()).expect_code(0);
    for reduces in REDUCES {
        let ours = cluster.output(&format!("ours.{reduces}"));
        let split = ["-D", "mapred.max.split.size=700001"];
        let job = cluster
            .submit(&[&["wordcount", "--input", &input, "--output", &ours, "--reduces", reduces], &split[..]].concat());
        cluster.wait_job(&job, 0);
        let theirs = reference::read_parts(format!("{theirs}.{reduces}").as_ref());
        assert_eq!(theirs.len().to_string(), reduces);
        assert!(theirs.iter().all(|part| !part.is_empty()));
        reference::assert_same_parts(&reference::read_parts(ours.as_ref()), &theirs, "Hadoop's");
    }
    cluster.stop_and_replay();
}
