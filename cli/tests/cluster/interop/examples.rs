//! The examples that mrjob brings along, unmodified: what they give on a howdah cluster is what mrjob's own local runner gives.
//!
//! The list of examples is the package's own: one that is neither run nor left out by name is a failure.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::python;
use crate::harness::{Cluster, Finished, Installation, Setup, text};

/// What is not run, and why.
const LEFT_OUT: [(&str, &str); 8] = [
    ("mr_nick_nack", "its output format is a Java class"),
    ("mr_nick_nack_input_format", "its formats are Java classes"),
    ("mr_phone_to_url", "reads crawls of the web, with a package that mrjob does not bring"),
    ("mr_spark_most_used_word", "Spark"),
    ("mr_spark_wordcount", "Spark"),
    ("mr_spark_wordcount_script", "Spark"),
    ("mr_sparkaboom", "Spark"),
    ("spark_wordcount_script", "Spark, and no job of mrjob's"),
];

struct Examples<'a> {
    cluster: &'a Cluster,
    hadoop: Installation<'a>,
    folder: PathBuf,
    /// Those that ran.
    ran: Vec<String>,
}

impl<'a> Examples<'a> {
    fn of(cluster: &'a Cluster) -> Examples<'a> {
        let hadoop = Installation::of(cluster);
        let mut where_are_they = hadoop.command(python());
        where_are_they.args(["-c", "import mrjob.examples; print(list(mrjob.examples.__path__)[0])"]);
        let folder = hadoop.program(&mut where_are_they).expect_code(0).stdout.trim().into();
        Examples { cluster, hadoop, folder, ran: Vec::new() }
    }

    fn run(&self, runner: &str, example: &str, args: &[&str]) -> Finished {
        let mut command: Command = self.hadoop.command(python());
        command.arg(self.folder.join(example).with_extension("py")).args(["--no-conf", "-r", runner]).args(args);
        self.hadoop.program(command.current_dir(self.cluster.path("")))
    }

    /// What an example gives by howdah and by mrjob alone, in order of their bytes.
    fn both(&mut self, example: &str, args: &[&str]) -> [Vec<String>; 2] {
        self.ran.push(example.to_owned());
        let small = ["-D", "mapreduce.input.fileinputformat.split.maxsize=20000", "-D", "mapreduce.job.reduces=2"];
        let ours = self.run("hadoop", example, &[&small[..], args].concat()).expect_code(0);
        let theirs = self.run("local", example, args).expect_code(0);
        [ours, theirs].map(|done| {
            // Hadoop writes the tab of a value that is empty, and mrjob alone does not.
            let mut lines: Vec<String> =
                done.stdout.lines().map(|line| line.trim_end_matches('\t').to_owned()).collect();
            lines.sort_unstable();
            assert!(!lines.is_empty(), "{example}: nothing to compare:\n{}", done.stderr);
            lines
        })
    }

    fn expect_same(&mut self, example: &str, args: &[&str]) {
        let [ours, theirs] = self.both(example, args);
        assert_eq!(ours, theirs, "{example}");
    }

    /// All names of the package's examples.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.folder).expect("list the examples");
        let names = entries.map(|entry| entry.expect("list the examples").path());
        let names = names.filter(|path| path.extension().is_some_and(|end| end == "py"));
        let names = names.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| name != "__init__").collect();
        names.sort();
        names
    }
}

/// Numbers that are sums of others in no certain order differ in their last digits.
fn is_close(a: &serde_json::Value, b: &serde_json::Value) -> bool {
    use serde_json::Value;
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
            (a - b).abs() <= 1e-9 * (1.0 + a.abs())
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_close(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_close(a, b)))
        }
        (a, b) => a == b,
    }
}

/// Values by key, of lines of JSON.
fn by_key(lines: &[String]) -> BTreeMap<String, serde_json::Value> {
    let pair = |line: &String| {
        let (key, value) = line.split_once('\t').expect("a key and a value");
        (key.to_owned(), serde_json::from_str(value).expect("JSON"))
    };
    let found: BTreeMap<String, serde_json::Value> = lines.iter().map(pair).collect();
    assert_eq!(found.len(), lines.len(), "a key twice");
    found
}

fn expect_no_other(examples: &Examples<'_>) {
    let left_out = LEFT_OUT.iter().map(|(name, _)| (*name).to_owned());
    let mut expected: Vec<String> = examples.ran.iter().cloned().chain(left_out).collect();
    expected.sort();
    assert_eq!(examples.names(), expected);
}

#[test]
fn mrjobs_own_examples_give_what_its_local_runner_gives() {
    let cluster = Cluster::start(Setup { map_slots: 3, reduce_slots: 2, ..Setup::default() });
    let mut examples = Examples::of(&cluster);
    let (a, b) = (cluster.output("a.txt"), cluster.output("b.txt"));
    text::write_text(a.as_ref(), 50 << 10, &text::words(200), 3);
    text::write_text(b.as_ref(), 10 << 10, &text::words(90), 4);
    let both = [a.as_str(), &b];
    for example in ["mr_word_freq_count", "mr_words_containing_u_freq_count", "mr_wc", "mr_next_word_stats"] {
        examples.expect_same(example, &both);
    }
    for example in ["mr_most_used_word", "mr_count_lines_right"] {
        examples.expect_same(example, &both);
    }
    let word = std::fs::read_to_string(&a).expect("read the input");
    let word = word.split_whitespace().next().expect("a word");
    examples.expect_same("mr_grep", &["-e", word, &a, &b]);
    // A sample of all lines has all lines, in an order that chance gives.
    examples.expect_same("mr_log_sampler", &["--sample-size", "1000000", &a, &b]);
    // Where the files are is another place here.
    let counts = examples.both("mr_count_lines_by_file", &both).map(|lines| {
        let by_path = by_key(&lines).into_iter();
        let by_name = by_path.map(|(path, n)| (path.trim_matches('"').rsplit('/').next().map(str::to_owned), n));
        by_name.collect::<Vec<_>>()
    });
    assert_eq!(counts[0], counts[1]);
    // Wrong on purpose: each map counts its own lines. There are as many here as there are splits.
    let [ours, theirs] = examples.both("mr_count_lines_wrong", &both).map(|lines| {
        let count = |line: &String| line.split_once('\t').expect("a value").1.parse::<u64>().expect("a count");
        lines.iter().map(count).sum::<u64>()
    });
    assert_eq!(ours, theirs);
    classify(&mut examples);
    count_counts(&mut examples, &a);
    examples.ran.push("mr_boom".to_owned());
    let failed = examples.run("hadoop", "mr_boom", &["-D", "mapreduce.map.maxattempts=1", &b]).expect_code(1);
    let (_, cause) = failed.stderr.split_once("Probable cause of failure:").expect("a probable cause");
    assert!(cause.contains("Exception: BOOM"), "{cause}");
    expect_no_other(&examples);
    cluster.stop_and_replay();
}

/// Whole files for mappers, four steps, and the documents that the package brings along.
fn classify(examples: &mut Examples<'_>) {
    let documents = std::fs::read_dir(examples.folder.join("docs-to-classify")).expect("list the documents");
    let mut documents: Vec<String> =
        documents.map(|entry| entry.expect("list the documents").path().to_string_lossy().into_owned()).collect();
    documents.sort();
    assert!(documents.len() > 10);
    let args: Vec<&str> = documents.iter().map(String::as_str).collect();
    let [ours, theirs] = examples.both("mr_text_classifier", &args).map(|lines| by_key(&lines));
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    for (key, value) in &ours {
        assert!(is_close(value, &theirs[key]), "{key}: {value} and {}", theirs[key]);
    }
}

/// A step that is Hadoop's own example, which mrjob alone cannot run: how many words there are so many times.
fn count_counts(examples: &mut Examples<'_>, input: &str) {
    examples.ran.push("mr_jar_step_example".to_owned());
    let jar = examples.hadoop.home.join("share/hadoop/mapreduce/hadoop-mapreduce-examples-3.3.4.jar");
    let jar = format!("file://{}", jar.display());
    let done = examples.run("hadoop", "mr_jar_step_example", &["--examples-jar", &jar, input]).expect_code(0);
    let text = std::fs::read_to_string(Path::new(input)).expect("read the input");
    let (mut counts, mut expected) = (BTreeMap::<&str, u64>::new(), BTreeMap::<u64, u64>::new());
    text.split_whitespace().for_each(|word| *counts.entry(word).or_default() += 1);
    counts.values().for_each(|&n| *expected.entry(n).or_default() += 1);
    let pair = |line: &str| {
        let (n, words) = line.split_once('\t').expect("a count of counts");
        (n.parse().expect("a number"), words.parse().expect("a number"))
    };
    assert_eq!(done.stdout.lines().map(pair).collect::<BTreeMap<u64, u64>>(), expected);
}
