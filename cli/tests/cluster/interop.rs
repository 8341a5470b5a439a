//! Other people's programs, unmodified, on a howdah cluster: `cargo xtask interop` installs them and runs these tests.
//!
//! The step names a Python with the packages in `HOWDAH_INTEROP_PYTHON`; without one these tests fail, so that nobody
//! takes them for passed. `cargo xtask cluster` leaves them out.

mod apache;
mod examples;
#[cfg(feature = "s3")]
mod s3;
mod yarn_api_client;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::harness::{Cluster, Finished, Installation, Setup, text};

fn python() -> PathBuf {
    let named =
        std::env::var_os("HOWDAH_INTEROP_PYTHON").expect("`cargo xtask interop` names the Python of these tests");
    PathBuf::from(named)
}

/// Runs an mrjob script on the cluster.
fn mrjob(cluster: &Cluster, hadoop: &Installation<'_>, script: &str, source: &str, args: &[&str]) -> Finished {
    let path = cluster.text(script, source);
    let mut command = hadoop.command(python());
    // Tasks run `python3` of the worker's PATH, and need nothing but what mrjob ships.
    command.arg(path).args(["--no-conf", "-r", "hadoop"]).args(args).current_dir(cluster.path(""));
    hadoop.program(&mut command)
}

const WORD_COUNT: &str = r#"
from mrjob.job import MRJob

class WordCount(MRJob):
    def mapper(self, _, line):
        self.increment_counter('mine', 'lines', 1)
        for word in line.split():
            yield word, 1

    def combiner(self, word, counts):
        yield word, sum(counts)

    def reducer(self, word, counts):
        yield word, sum(counts)

if __name__ == '__main__':
    WordCount.run()
"#;

#[test]
fn an_mrjob_word_count_with_a_combiner_gives_the_counts_and_the_counters() {
    let cluster = Cluster::start(Setup::default());
    let hadoop = Installation::of(&cluster);
    let input = cluster.output("input.txt");
    text::write_text(input.as_ref(), 64 << 10, &text::words(300), 5);
    let split = ["-D", "mapreduce.input.fileinputformat.split.maxsize=20000", "-D", "mapreduce.job.reduces=2"];
    let done = mrjob(&cluster, &hadoop, "wc.py", WORD_COUNT, &[&split[..], &[&input]].concat()).expect_code(0);
    let text = std::fs::read_to_string(&input).expect("read the input");
    let mut expected = BTreeMap::<&str, u64>::new();
    text.split_whitespace().for_each(|word| *expected.entry(word).or_default() += 1);
    let mut found = BTreeMap::new();
    for line in done.stdout.lines() {
        let (word, count) = line.split_once('\t').expect("a word and its count");
        let word: String = serde_json::from_str(word).expect("a JSON string");
        assert!(found.insert(word, count.parse::<u64>().expect("a count")).is_none(), "twice: {line}");
    }
    assert_eq!(found.len(), expected.len());
    assert!(expected.iter().all(|(word, count)| found.get(*word) == Some(count)), "{found:?}");
    let n_lines = text.bytes().filter(|&byte| byte == b'\n').count() + 1;
    assert!(done.stderr.contains(&format!("\tmine\n\t\tlines={n_lines}\n")), "{}", done.stderr);
    let status = &cluster.jobs()[0];
    assert!(status["maps"].as_u64() >= Some(4) && status["reduces"] == 2, "{status}");
    cluster.stop_and_replay();
}

#[test]
fn steps_sorted_values_and_an_archive_work_together() {
    let source = r#"
from mrjob.job import MRJob
from mrjob.step import MRStep

class Steps(MRJob):
    SORT_VALUES = True
    ARCHIVES = ['words.tar.gz']

    def steps(self):
        return [MRStep(mapper=self.places, reducer=self.spread), MRStep(reducer=self.largest)]

    def places(self, _, line):
        skipped = open('words.tar.gz/skipped').read().split()
        for place, word in enumerate(line.split()):
            if word not in skipped:
                yield word, 9 - place

    def spread(self, word, places):
        places = list(places)
        assert places == sorted(places), places
        yield None, (len(places), word)

    def largest(self, _, words):
        words = list(words)
        assert words == sorted(words), words
        yield 'most', words[-1]

if __name__ == '__main__':
    Steps.run()
"#;
    let cluster = Cluster::start(Setup::default());
    let hadoop = Installation::of(&cluster);
    let input = cluster.text("in", "the owl the cat\nthe cat owl cat\n");
    cluster.text("skipped", "the\n");
    let packed = std::process::Command::new("tar")
        .args(["czf", "words.tar.gz", "skipped"])
        .current_dir(cluster.path(""))
        .status();
    assert!(packed.expect("start tar").success());
    let done = mrjob(&cluster, &hadoop, "steps.py", source, &[&input]).expect_code(0);
    assert_eq!(done.stdout, "\"most\"\t[3, \"cat\"]\n");
    assert_eq!(cluster.jobs().len(), 2);
    cluster.stop_and_replay();
}

#[test]
fn a_raw_mapper_gets_whole_files_a_map_each() {
    let source = r#"
from mrjob.job import MRJob

class Sizes(MRJob):
    def mapper_raw(self, path, uri):
        yield uri.split('/')[-1], len(open(path).read())

if __name__ == '__main__':
    Sizes.run()
"#;
    let cluster = Cluster::start(Setup::default());
    let hadoop = Installation::of(&cluster);
    let (a, b) = (cluster.text("a.txt", "four"), cluster.text("b.txt", "and nine\n"));
    let done = mrjob(&cluster, &hadoop, "sizes.py", source, &[&a, &b]).expect_code(0);
    let mut lines: Vec<&str> = done.stdout.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["\"a.txt\"\t4", "\"b.txt\"\t9"]);
    assert_eq!(cluster.jobs()[0]["maps"], 2);
}

#[test]
fn the_traceback_of_a_failing_mapper_is_shown_as_the_probable_cause() {
    let source = r#"
from mrjob.job import MRJob

class Boom(MRJob):
    def mapper(self, _, line):
        raise ValueError('boom on ' + line)

if __name__ == '__main__':
    Boom.run()
"#;
    let cluster = Cluster::start(Setup { workers: 1, ..Setup::default() });
    let hadoop = Installation::of(&cluster);
    let input = cluster.text("in", "a line\n");
    let failed =
        mrjob(&cluster, &hadoop, "boom.py", source, &["-D", "mapreduce.map.maxattempts=1", &input]).expect_code(1);
    let (_, cause) = failed.stderr.split_once("Probable cause of failure:").expect("a probable cause");
    assert!(cause.contains("Traceback (most recent call last)"), "{cause}");
    assert!(cause.contains("ValueError: boom on a line"), "{cause}");
    assert!(cause.contains("subprocess failed with code 1"), "{cause}");
}
