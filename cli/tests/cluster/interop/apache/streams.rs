//! Streaming jobs with `cat` as mapper against Hadoop's local runner: partitions and orders by fields of keys, `aggregate`, and
//! splits of lines and of text. The same bytes in the same part files.
//!
//! Where keys that compare as equal differ, Hadoop leaves their order open; in these inputs they are equal bytes, or end in a
//! field that none shares. How many groups there were tells what compares as equal.

use std::fmt::Write;

use super::java::Java;
use crate::harness::{Cluster, Installation, Setup, reference};

const SOURCE: &str = include_str!("Streams.java");
const COMPARATOR: &str = "org.apache.hadoop.mapred.lib.KeyFieldBasedComparator";
const PARTITIONER: &str = "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner";
const LIB: &str = "org.apache.hadoop.mapred";

/// A job that both run.
struct Case {
    /// What the input's lines are taken for: `keyed`, `aggregate`, `lines` or `text`.
    kind: &'static str,
    input: String,
    reduces: u32,
    /// What Hadoop's properties mean to both.
    properties: Vec<String>,
    /// Into so many splits the input is cut, about: by the size of blocks in Hadoop's old interface, of splits here.
    maps: u64,
}

impl Case {
    fn keyed(input: &str, reduces: u32, properties: &[(&str, &str)]) -> Case {
        let fixed = [("mapreduce.map.output.key.field.separator", ","), ("mapreduce.task.io.sort.mb", "1")];
        let properties = fixed.iter().chain(properties).map(|(name, value)| format!("{name}={value}")).collect();
        Case { kind: "keyed", input: input.to_owned(), reduces, properties, maps: 4 }
    }

    /// Keys in the order of these options, to reduces by those.
    fn ordered(input: &str, reduces: u32, order: &str, partition: &str) -> Case {
        let properties = [
            ("mapreduce.job.output.key.comparator.class", COMPARATOR),
            ("mapreduce.partition.keycomparator.options", order),
            ("mapred.partitioner.class", PARTITIONER),
            ("mapreduce.partition.keypartitioner.options", partition),
        ];
        Case::keyed(input, reduces, &properties)
    }

    fn theirs(&self, output: String) -> Vec<String> {
        let mut words = vec![output, self.kind.to_owned(), self.reduces.to_string(), self.input.clone()];
        words.push(format!("fs.local.block.size={}", self.split_bytes()));
        words.extend(self.properties.iter().cloned());
        words
    }

    /// So that no line begins where a split does: it is that split's in Hadoop 1 and here, and the one's before in Hadoop 2.
    fn split_bytes(&self) -> u64 {
        let files: Vec<Vec<u8>> =
            files(&self.input).iter().map(|file| std::fs::read(file).expect("read the input")).collect();
        let bytes: usize = files.iter().map(Vec::len).sum();
        let is_apart = |size: &usize| {
            let boundaries = files.iter().flat_map(|file| (*size..file.len()).step_by(*size).map(move |at| (file, at)));
            let mut starts =
                boundaries.filter(|(file, at)| file[at - 1] == b'\n' || (file[at - 1] == b'\r' && file[*at] != b'\n'));
            starts.next().is_none()
        };
        let size = (bytes / self.maps as usize..).find(is_apart).expect("sizes beyond the files' have no boundary");
        size as u64
    }

    fn ours(&self, name: &str) -> Vec<String> {
        let mut words = self.properties.clone();
        words.extend([format!("mapreduce.job.name={name}"), format!("mapred.max.split.size={}", self.split_bytes())]);
        let class = match self.kind {
            "lines" => "lib.NLineInputFormat",
            "text" => {
                words.push("stream.map.input.ignoreKey=false".to_owned());
                "TextInputFormat"
            }
            _ => "KeyValueTextInputFormat",
        };
        let mut words: Vec<String> = words.into_iter().flat_map(|property| ["-D".to_owned(), property]).collect();
        let reducer = if self.kind == "aggregate" { "aggregate" } else { "cat" };
        let (input, output) = (format!("file://{}", self.input), format!("/{name}"));
        let (class, reduces) = (format!("{LIB}.{class}"), self.reduces.to_string());
        let rest =
            ["-inputformat", &class, "-input", &input, "-output", &output, "-mapper", "cat", "-reducer", reducer];
        words.extend(rest.iter().map(|&word| word.to_owned()));
        words.extend(["-numReduceTasks".to_owned(), reduces]);
        words
    }
}

/// The files of an input that are no hidden ones.
fn files(input: &str) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(input) else { return vec![input.into()] };
    let entries = entries.map(|entry| entry.expect("list the input"));
    entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"_")).map(|entry| entry.path()).collect()
}

/// Runs all by both and compares. One Java runs all of theirs.
fn compare(cases: &[Case]) {
    let cluster = Cluster::start(Setup::default());
    let hadoop = Installation::of(&cluster);
    let java = Java::new(&cluster.path("java"));
    java.compile("Streams", SOURCE);
    let output = |at: usize| cluster.output(&format!("theirs.{at}"));
    let theirs: Vec<Vec<String>> = cases.iter().enumerate().map(|(at, case)| case.theirs(output(at))).collect();
    let theirs = theirs.join(&"--".to_owned());
    let words: Vec<&str> = theirs.iter().map(String::as_str).collect();
    let said = java.run("Streams", &words).expect_code(0).stdout;
    let groups: Vec<&str> =
        said.lines().map(|line| line.split_once('\t').expect("an output and its groups").1).collect();
    assert_eq!(groups.len(), cases.len(), "{said}");
    for (at, (case, groups)) in cases.iter().zip(groups).enumerate() {
        let name = format!("ours.{at}");
        let what = format!("{} {:?}", case.kind, case.properties);
        let words = case.ours(&name);
        hadoop.streaming(&words.iter().map(String::as_str).collect::<Vec<_>>()).expect_code(0);
        let (mut theirs, mut ours) =
            (reference::read_parts(output(at).as_ref()), reference::read_parts(&hadoop.file(&name)));
        if case.reduces == 0 {
            // Hadoop numbers maps by the length of their splits, and leaves open which of equal ones is first.
            theirs.sort();
            ours.sort();
        }
        assert!(theirs.iter().map(Vec::len).sum::<usize>() > 0, "{what}: nothing to compare");
        reference::assert_same_parts(&ours, &theirs, &what);
        let jobs = cluster.jobs();
        let job =
            jobs.iter().find(|job| job["name"] == name.as_str()).expect("the job")["job"].as_str().expect("an id");
        let counted =
            &cluster.json(&["job", "counters", job])["counters"]["Map-Reduce Framework"]["Reduce input groups"];
        assert_eq!(counted.as_u64().unwrap_or(0).to_string(), groups, "{what}: groups");
    }
    cluster.stop_and_replay();
}

/// A folder for inputs that outlives a cluster.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("make a folder")
}

fn write(folder: &tempfile::TempDir, name: &str, bytes: &[u8]) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("write an input");
    path.to_str().expect("a plain path").to_owned()
}

const PLACES: [&str; 7] = ["oslo", "Zürich", "a", "東京", "new york", "lima", "rome"];

#[test]
fn fields_of_keys_partition_order_and_group_as_in_hadoops_local_runner() {
    // Place, number with and without a fraction, an own number, letters; some keys are longer than 127 bytes, from where their
    // length takes another form.
    let mut lines = String::new();
    for i in 0..12_000_u64 {
        let (number, fraction) = ((i * 104_729 % 2_003) as i64 - 1_000, [".5", "", ".25", ".125"][i as usize % 4]);
        let (place, own) = (PLACES[i as usize % 7], i * 7_919 % 12_007);
        let letters = "ab".repeat(1 + (i % 5) as usize) + &"long".repeat(if i % 101 == 0 { 40 } else { 0 });
        writeln!(lines, "{place},{number}{fraction},{own:06},{letters}\tvalue {i}").expect("a string");
    }
    // Fewer fields than the others, once: in Hadoop, of two such keys each comes before the other.
    lines.push_str("alone\tvalue\n");
    let folder = folder();
    let input = write(&folder, "keyed.txt", lines.as_bytes());
    // Equal keys are equal lines.
    let repeated: String = (0..5_000_u64).map(|i| format!("{},{}\tx\n", PLACES[(i * i % 7) as usize], i % 3)).collect();
    let repeated = write(&folder, "repeated.txt", repeated.as_bytes());
    compare(&[
        Case::ordered(&input, 3, "-k1,1 -k2,2nr -k3,3", "-k1,1"),
        Case::ordered(&input, 7, "-k3,3nr", "-k1,2"),
        Case::ordered(&input, 1, "-k2n,2 -k3r,3", "-k1,1"),
        Case::ordered(&input, 5, "-k3.2,3.4n -k3", "-k 4"),
        Case::ordered(&input, 2, "-nr -k3,3", "-k3.4,3.6"),
        Case::ordered(&input, 3, "-r", "-k2,2 -k4,4"),
        Case::ordered(&input, 4, "-k4.1,4.2r -k1.2,2.1 -k3,3n", "-k1.2,2.1"),
        Case::ordered(&repeated, 3, "-k2,2nr -k1", "-k2"),
        Case::ordered(&repeated, 2, "-k1.1,1.1 -k1r,2", "-k9"),
        Case::keyed(&input, 6, &[("mapred.partitioner.class", PARTITIONER), ("num.key.fields.for.partition", "2")]),
        Case::keyed(&input, 3, &[("mapred.partitioner.class", PARTITIONER)]),
        Case::keyed(&input, 3, &[("mapreduce.job.output.key.comparator.class", COMPARATOR)]),
    ]);
}

#[test]
fn the_eight_functions_of_aggregate_give_what_they_give_in_hadoops_local_runner() {
    let functions = [
        "LongValueSum",
        "LongValueMax",
        "LongValueMin",
        "DoubleValueSum",
        "StringValueMax",
        "StringValueMin",
        "UniqValueCount",
        "ValueHistogram",
    ];
    let mut lines = String::new();
    for i in 0..20_000_u64 {
        let function = functions[i as usize % 8];
        let name = PLACES[(i / 8) as usize % 7];
        let n = (i * 104_729 % 2_003) as i64 - 1_000;
        let value = match function {
            // Such sums are exact in whatever order they are made, and some are written with an exponent.
            "DoubleValueSum" if name == "a" => format!("{}e9", n * 8),
            "DoubleValueSum" => (n as f64 / 8.0).to_string(),
            "StringValueMax" | "StringValueMin" | "UniqValueCount" => {
                format!("{} {}", PLACES[(i % 5) as usize], n % 37)
            }
            "ValueHistogram" if i % 3 == 0 => format!("{}\t{}", PLACES[(i * i % 7) as usize], 1 + i % 9),
            "ValueHistogram" => PLACES[(i * i % 7) as usize].to_owned(),
            _ => n.to_string(),
        };
        writeln!(lines, "{function}:{name}\t{value}").expect("a string");
    }
    let folder = folder();
    let input = write(&folder, "aggregate.txt", lines.as_bytes());
    let case = |reduces| Case { kind: "aggregate", input: input.clone(), reduces, properties: Vec::new(), maps: 5 };
    compare(&[case(1), case(3)]);
}

#[test]
fn splits_of_text_and_of_so_many_lines_are_those_of_hadoops_local_runner() {
    let folder = folder();
    let several = folder.path().join("several");
    std::fs::create_dir(&several).expect("make a folder");
    // Lines of many lengths with ends of all kinds, so that boundaries fall on and between them; one is longer than a split.
    let mut bytes = Vec::new();
    for i in 0..400_usize {
        bytes.extend("line \u{fc} ".repeat(i * 31 % 7).bytes());
        bytes.extend_from_slice(&[b'0' + (i % 10) as u8, 0xff]);
        bytes.extend_from_slice(if i == 200 { &[b'w'; 5_000] } else { b"" });
        bytes.extend_from_slice([&b"\n"[..], b"\r\n", b"\r", b"\n\n"][i % 4]);
    }
    bytes.extend_from_slice(b"no end");
    let one = write(&folder, "one.txt", &bytes);
    std::fs::write(several.join("a.txt"), &bytes).expect("write an input");
    std::fs::write(several.join("b.txt"), [b"\xef\xbb\xbfmarked\n", &bytes[..3_000]].concat()).expect("write an input");
    std::fs::write(several.join("c"), b"").expect("write an input");
    std::fs::write(several.join("d.txt"), b"x").expect("write an input");
    std::fs::write(several.join("_hidden"), b"hidden\n").expect("write an input");
    let several = several.to_str().expect("a plain path");
    let text =
        |input: &str, maps| Case { kind: "text", input: input.to_owned(), reduces: 0, properties: Vec::new(), maps };
    let lines = |input: &str, n: u32| Case {
        kind: "lines",
        input: input.to_owned(),
        reduces: 0,
        properties: vec![format!("mapreduce.input.lineinputformat.linespermap={n}")],
        maps: 1,
    };
    compare(&[
        text(&one, 1),
        text(&one, 3),
        text(&one, 10),
        text(&one, 23),
        text(several, 6),
        lines(&one, 1_000),
        lines(&one, 7),
        lines(several, 50),
    ]);
}
