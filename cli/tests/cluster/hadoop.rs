//! Hadoop's own commands over real daemons: what they do to files and jobs, and the lines that clients parse.

use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;

use crate::harness::reference::{assert_same_parts, read_parts, word_count_parts};
use crate::harness::{Cluster, Installation, Setup, text, wait_for};

/// What a shell in the cluster's folder does, which must go well.
fn shell(cluster: &Cluster, script: &str) {
    let status = Command::new("sh").args(["-ec", script]).current_dir(cluster.path("")).status().expect("start sh");
    assert!(status.success(), "{script}");
}

#[test]
fn streaming_with_shipped_files_and_an_archive_counts_like_the_reference() {
    let cluster = Cluster::start(Setup::default());
    let hadoop = Installation::of(&cluster);
    let input = cluster.output("input.txt");
    text::write_text(input.as_ref(), 256 << 10, &text::words(500), 8);
    cluster.text("rules.sed", "/^$/d\ns/$/\\t1/\n");
    shell(&cluster, "mkdir packed && mv rules.sed packed && tar czf rules.tgz -C packed rules.sed");
    cluster.text("map.sh", "tr -s ' ' '\\n' | sed -f rules/rules.sed\n");
    let sum = r#"$1 != last { if (NR > 1) print last "\t" n; last = $1; n = 0 } { n += $2 } END { if (NR) print last "\t" n }"#;
    let reducer = cluster.script("sum.sh", &format!("awk -F '\\t' '{sum}'"));
    let (map, rules) = (cluster.output("map.sh"), cluster.output("rules.tgz"));
    hadoop.run("hadoop", &["fs", "-mkdir", "-p", "hdfs:///in"]).expect_code(0);
    hadoop.run("hadoop", &["fs", "-put", &input, &map, "hdfs:///in/"]).expect_code(0);
    hadoop.run("hadoop", &["fs", "-mv", "/in/map.sh", "/map.sh"]).expect_code(0);
    let archive = format!("{rules}#rules");
    let done = hadoop
        .streaming(
            &[
                &["-files", "hdfs:///map.sh#the-map.sh", "-archives", &archive][..],
                &["-D", "mapreduce.job.name=shipped", "-input", "/in", "-output", "hdfs:///out"],
                &["-mapper", "sh the-map.sh", "-reducer", &reducer, "-file", &reducer, "-numReduceTasks", "2"],
            ]
            .concat(),
        )
        .expect_code(0);
    let bytes = std::fs::read(&input).expect("read the input");
    assert_same_parts(&read_parts(&hadoop.file("out")), &word_count_parts(&bytes, 2), "shipped word count");

    for line in
        [r"Submitted application application_\d+_\d{4}$", r"Running job: job_\d+_\d{4}$", r" map 100% reduce 100%$"]
    {
        let whole =
            Regex::new(&format!(r"(?m)^\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d,\d{{3}} INFO \S+: {line}")).expect("a pattern");
        assert!(whole.is_match(&done.stderr), "no `{line}` in:\n{}", done.stderr);
    }
    assert!(done.stderr.ends_with("Output directory: hdfs:///out\n"), "{}", done.stderr);
    // The block of counters: as many as it says, each indented below its group.
    let block = Regex::new(r"(?m): Counters: (\d+)\n((?:\t.*\n)+)").expect("a pattern");
    let block = block.captures(&done.stderr).expect("a block of counters");
    let n_counters = block[2].lines().filter(|line| line.starts_with("\t\t")).count();
    assert_eq!(block[1].parse(), Ok(n_counters));
    let n_lines = bytes.iter().filter(|&&byte| byte == b'\n').count() + 1;
    assert!(block[2].contains(&format!("\n\t\tMap input records={n_lines}\n")), "{}", &block[2]);
    assert!(!hadoop.file("tmp/hadoop-yarn/staging").join("x").exists());
    let left = hadoop.run("hadoop", &["fs", "-ls", "-R", "/tmp/hadoop-yarn/staging"]).expect_code(0).stdout;
    assert!(!left.contains("sum.sh") && !left.contains("rules.tgz"), "staged files are left: {left}");
    assert_eq!(cluster.jobs()[0]["name"], "shipped");
    cluster.stop_and_replay();
}

#[test]
fn a_streaming_job_gets_the_maps_that_it_wishes_for_and_writes_the_same_bytes() {
    let cluster = Cluster::start(Setup::default());
    let hadoop = Installation::of(&cluster);
    let input = cluster.output("input.txt");
    text::write_text(input.as_ref(), 100_000, &text::words(500), 8);
    let all = std::fs::metadata(&input).expect("look at the input").len();
    hadoop.run("hadoop", &["fs", "-put", &input, "/input.txt"]).expect_code(0);
    let run = |name: &str, properties: &[&str]| {
        let output = format!("/{name}");
        let named = format!("mapreduce.job.name={name}");
        let words = ["-D", &named, "-input", "/input.txt", "-output", &output, "-mapper", "cat", "-reducer", "cat"];
        hadoop.streaming(&[properties, &words].concat()).expect_code(0);
        let jobs = cluster.jobs();
        let job = jobs.iter().find(|job| job["name"] == name).expect("the job");
        (job["maps"].as_u64().expect("a number"), read_parts(&hadoop.file(name)))
    };
    let (maps, plain) = run("plain", &[]);
    assert_eq!(maps, 1, "a split a block");
    // A split is a seventh of the input, rounded down; what that leaves over is less than a tenth of one.
    assert!(all % 7 * 10 <= all / 7, "{all} bytes");
    for (name, key) in [("old", "mapred.map.tasks=7"), ("new", "mapreduce.job.maps=7")] {
        let (maps, parts) = run(name, &["-D", key]);
        assert_eq!(maps, 7, "{key}");
        assert_same_parts(&parts, &plain, key);
    }
    cluster.stop_and_replay();
}

#[test]
fn files_are_listed_and_missed_in_the_words_that_clients_parse() {
    let cluster = Cluster::start(Setup { workers: 1, ..Setup::default() });
    let hadoop = Installation::of(&cluster);
    let said = hadoop.run("hadoop", &["version"]).expect_code(0).stdout;
    assert!(said.starts_with("Hadoop 3."), "{said}");
    let note = cluster.text("note", "to be or not to be\n");
    hadoop.run("hdfs", &["dfs", "-mkdir", "-p", "/a/b"]).expect_code(0);
    hadoop.run("hadoop", &["fs", "-put", &note, "hdfs:///a/note"]).expect_code(0);
    let listed = hadoop.run("hadoop", &["fs", "-ls", "hdfs:///a"]).expect_code(0).stdout;
    let form = r"^Found 2 items\ndrwx\S+   - \S+ \S+ +0 \d{4}-\d\d-\d\d \d\d:\d\d hdfs:///a/b\n-rw\S+   1 \S+ \S+ +19 \d{4}-\d\d-\d\d \d\d:\d\d hdfs:///a/note\n$";
    assert!(Regex::new(form).expect("a pattern").is_match(&listed), "{listed}");
    let all = hadoop.run("hadoop", &["fs", "-ls", "-R", "/a"]).expect_code(0).stdout;
    assert!(!all.contains("Found") && all.lines().count() == 2 && all.ends_with(" /a/note\n"), "{all}");
    assert_eq!(hadoop.run("hadoop", &["fs", "-du", "-s", "/a"]).expect_code(0).stdout, "19  19  /a\n");
    let counted = hadoop.run("hadoop", &["fs", "-count", "/a"]).expect_code(0).stdout;
    assert_eq!(counted, "           2            1                 19 /a\n");
    assert_eq!(hadoop.run("hadoop", &["fs", "-cat", "/a/no*"]).expect_code(0).stdout, "to be or not to be\n");
    for (verb, message) in
        [("-ls", "ls: `/x': No such file or directory\n"), ("-rm", "rm: `/x': No such file or directory\n")]
    {
        assert_eq!(hadoop.run("hadoop", &["fs", verb, "/x"]).expect_code(1).stderr, message);
    }
    assert_eq!(hadoop.run("hadoop", &["fs", "-mkdir", "/a"]).expect_code(1).stderr, "mkdir: `/a': File exists\n");
    assert_eq!(
        hadoop.run("hadoop", &["fs", "-rm", "-R", "-f", "-skipTrash", "/a"]).expect_code(0).stdout,
        "Deleted /a\n"
    );
    assert!(!hadoop.file("a").exists());
    for (args, named) in [
        (&["fs", "-setrep", "3", "/a"][..], "-setrep"),
        (&["distcp", "a", "b"], "distcp"),
        (&["fs", "-ls", "-q", "/"], "-q"),
    ] {
        let refused = hadoop.run("hadoop", args).expect_code(2).stderr;
        assert!(refused.contains(named) && refused.contains("not supported here"), "{refused}");
    }
}

#[test]
fn a_job_that_fails_names_its_attempts_and_leaves_their_logs_where_clients_look() {
    let cluster = Cluster::start(Setup { workers: 1, ..Setup::default() });
    let hadoop = Installation::of(&cluster);
    let input = cluster.text("in", "a line\n");
    let input = format!("file://{input}");
    let args = ["-input", &input, "-output", "/out", "-mapper", "sh -c 'echo bitter >&2; exit 3'", "-reducer", "NONE"];
    let failed = hadoop.streaming(&[&["-D", "mapreduce.map.maxattempts=2"][..], &args].concat()).expect_code(1);
    let attempt = Regex::new(r"(?m): Task Id : (attempt_(\d+_\d{4})_m_000000_0), Status : FAILED\nError: .*code 3")
        .expect("a pattern");
    let found = attempt.captures(&failed.stderr).unwrap_or_else(|| panic!("no failed attempt in:\n{}", failed.stderr));
    assert!(failed.stderr.ends_with("\nStreaming Command Failed!\n"), "{}", failed.stderr);
    let logs = hadoop.home.join("logs/userlogs").join(format!("application_{}", &found[2])).join(&found[1]);
    assert_eq!(std::fs::read_to_string(logs.join("stderr")).expect("a log"), "bitter\n");
    let syslog = std::fs::read_to_string(logs.join("syslog")).expect("a log");
    assert!(syslog.contains("Exception running child : ") && syslog.contains("code 3\n\tat "), "{syslog}");
    let missing = hadoop.streaming(&["-input", "/none", "-output", "/o", "-mapper", "cat"]).expect_code(2);
    assert!(missing.stderr.contains("Input path does not exist: hdfs:///none"), "{}", missing.stderr);
    let there = hadoop.streaming(&["-input", &input, "-output", "/tmp", "-mapper", "cat"]).expect_code(4);
    assert!(there.stderr.contains("Output directory hdfs:///tmp already exists"), "{}", there.stderr);
}

#[test]
fn jobs_are_applications_that_are_listed_looked_at_and_killed() {
    let cluster = Cluster::start(Setup { workers: 1, ..Setup::default() });
    let hadoop = Installation::of(&cluster);
    let input = cluster.text("in", "b\na\nb\n");
    hadoop.run("hadoop", &["fs", "-put", &input, "/in"]).expect_code(0);
    let jar = hadoop.home.join("share/hadoop/mapreduce/hadoop-mapreduce-examples-3.3.4.jar");
    let jar = jar.to_str().expect("a plain path");
    hadoop.run("hadoop", &["jar", jar, "wordcount", "/in", "/counts"]).expect_code(0);
    assert_eq!(hadoop.run("hadoop", &["fs", "-cat", "/counts/part*"]).expect_code(0).stdout, "a\t1\nb\t2\n");
    let counted = cluster.jobs()[0]["job"].as_str().expect("an id").to_owned();
    let counter = ["job", "-counter", &counted, "Map-Reduce Framework", "Map input records"];
    assert_eq!(hadoop.run("mapred", &counter).expect_code(0).stdout, "3\n");
    let status = hadoop.run("mapred", &["job", "-status", &counted]).expect_code(0).stdout;
    assert!(status.contains("\nmap() completion: 1.0\n") && status.contains("\nJob state: SUCCEEDED\n"), "{status}");
    hadoop.run("mapred", &["job", "-status", "job_197001010000_0001"]).expect_code(255);
    let sleeper = cluster.sleep(1, 600_000, 0);
    let app = sleeper.replace("job", "application");
    let moved = hadoop.run("yarn", &["application", "-movetoqueue", &app, "-queue", "default"]).expect_code(0).stdout;
    assert_eq!(moved, format!("Moving application {app} to queue default\nSuccessfully completed move.\n"));
    let refused = hadoop.run("yarn", &["application", "-appId", &app, "-changeQueue", "none"]).expect_code(2).stderr;
    assert!(refused.contains("queue `none` does not exist"), "{refused}");
    cluster.run(&["job", "kill", &sleeper]).expect_code(0);
    let refused = hadoop.run("hadoop", &["jar", jar, "join", "2", "3"]).expect_code(2).stderr;
    assert!(refused.contains("example `join`: not supported here"), "{refused}");
    let pi = hadoop.run("hadoop", &["jar", jar, "pi", "10", "100"]).expect_code(0).stdout;
    assert!(pi.starts_with("Number of Maps  = 10\nSamples per Map = 100\n"), "{pi}");
    assert!(pi.ends_with("\nEstimated value of Pi is 3.14800000000000000000\n"), "{pi}");
    assert_eq!(hadoop.run("hadoop", &["fs", "-ls", "-C", "QuasiMonteCarlo*"]).code, Some(1), "its directory is left");
    hadoop.run("hadoop", &["jar", jar, "pi", "0", "100"]).expect_code(2);

    let sleeper = cluster.sleep(1, 600_000, 0);
    cluster.wait_running_maps(&sleeper, 1);
    let application = sleeper.replace("job_", "application_");
    let listed = hadoop.run("yarn", &["application", "-list"]).expect_code(0).stdout;
    assert!(listed.starts_with("Total number of applications (") && listed.contains("and tags: []):1\n"), "{listed}");
    assert!(listed.contains(&application) && !listed.contains(&counted[4..]), "{listed}");
    let jobs = hadoop.run("mapred", &["job", "-list"]).expect_code(0).stdout;
    assert!(jobs.starts_with("Total jobs:1\n") && jobs.contains(&sleeper), "{jobs}");
    let queues = hadoop.run("mapred", &["queue", "-list"]).expect_code(0).stdout;
    let expected = "======================\nQueue Name : default \nQueue State : running \n\
        Scheduling Info : Running jobs: 1, Waiting jobs: 0 \n";
    assert_eq!(queues, expected);
    let shown = hadoop.run("mapred", &["queue", "-info", "default", "-showJobs"]).expect_code(0).stdout;
    assert_eq!(shown, format!("{expected}{jobs}"));
    let none = hadoop.run("hadoop", &["queue", "-info", "nightly"]).expect_code(0).stdout;
    assert_eq!(none, "Queue \"nightly\" does not exist.\n");
    let acls = hadoop.run("mapred", &["queue", "-showacls"]).expect_code(2).stderr;
    assert!(acls.contains("queue -showacls: not supported here"), "{acls}");
    let killed = hadoop.run("yarn", &["application", "-kill", &application]).expect_code(0).stdout;
    assert_eq!(killed, format!("Killing application {application}\n"));
    cluster.wait_job(&sleeper, 1);
    let status = hadoop.run("yarn", &["application", "-status", &application]).expect_code(0).stdout;
    assert!(status.contains("\tState : KILLED\n\tFinal-State : KILLED\n"), "{status}");
    cluster.stop_and_replay();
}

/// The only file below a directory whose name ends so.
fn only_file(directory: &Path, end: &str) -> Option<PathBuf> {
    let mut open = vec![directory.to_owned()];
    let mut found = Vec::new();
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).ok()? {
            let path = entry.ok()?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.to_string_lossy().ends_with(end) {
                found.push(path);
            }
        }
    }
    (found.len() == 1).then(|| found.remove(0))
}

#[test]
fn a_finished_job_leaves_a_history_in_hadoops_form_with_its_hosts_times_and_counters() {
    let cluster = Cluster::start(Setup { own_hosts: true, ..Setup::default() });
    let input = cluster.output("input.txt");
    text::write_text(input.as_ref(), 64 << 10, &text::words(300), 5);
    let (out, attribute) = (cluster.output("out"), "mapred.max.split.size=30000");
    let args =
        ["wordcount", "--input", &input, "--output", &out, "--reduces", "1", "-D", attribute, "-D", "note=a<b&c"];
    let job = cluster.submit(&args);
    cluster.wait_job(&job, 0);
    let (bytes, counters) =
        (std::fs::metadata(&input).expect("the input").len(), cluster.json(&["job", "counters", &job]));
    let run = std::fs::read_dir(cluster.path("master")).expect("list the master's directory");
    let run = run.filter_map(Result::ok).map(|entry| entry.path());
    let run = run.into_iter().find(|path| path.join("history").is_dir()).expect("a run");
    let done = run.join("hadoop-history/done");
    let path = wait_for("the history", || only_file(&done, ".jhist"));
    let place = path.strip_prefix(&done).expect("below it").to_string_lossy().into_owned();
    let form = format!(r"^\d{{4}}/\d\d/\d\d/000000/{job}-\d+-\w+-wordcount-\d+-3-1-SUCCEEDED-default-\d+\.jhist$");
    assert!(Regex::new(&form).expect("a pattern").is_match(&place), "{place}");
    let conf = std::fs::read_to_string(path.with_file_name(format!("{job}_conf.xml"))).expect("its configuration");
    assert!(conf.contains("<name>note</name><value>a&lt;b&amp;c</value>"), "{conf}");

    let text = std::fs::read_to_string(&path).expect("the history");
    let mut notes = howdah_traces::ImportNotes::default();
    let trace = howdah_traces::jhist::read(text.as_bytes(), &mut notes).expect("a history");
    assert!(notes.is_empty(), "{notes:?}");
    let read = &trace.jobs[0];
    let attempts = cluster.attempts(&job);
    let ms = |attempt: &serde_json::Value| {
        let at = |key: &str| attempt[key].as_u64().expect("an instant");
        at("ended_ms_epoch") - at("assigned_ms_epoch")
    };
    let of = |kind: &str| {
        attempts.iter().filter(|a| a["attempt"].as_str().expect("an id").contains(kind)).collect::<Vec<_>>()
    };
    assert_eq!(read.map_ms, of("_m_").into_iter().map(ms).collect::<Vec<_>>());
    assert_eq!((read.n_maps, read.n_reduces, read.outcome.as_str()), (3, 1, "SUCCEEDED"));
    assert!(read.input_bytes.is_some_and(|read| read >= bytes), "{:?} of {bytes}", read.input_bytes);
    for name in ["Map input records", "Reduce output records"] {
        let value = counters["counters"]["Map-Reduce Framework"][name].as_i64().expect("a counter");
        let constant = name.to_uppercase().replace(' ', "_");
        let expected_counter = format!(r#"{{"displayName":"{name}","name":"{constant}","value":{value}}}"#);
        let end = text.lines().rfind(|line| line.contains("JOB_FINISHED")).expect("the end");
        assert!(end.contains(&expected_counter), "no {expected_counter} in {end}");
    }
    for attempt in &attempts {
        let (id, worker) = (attempt["attempt"].as_str().expect("an id"), attempt["worker"].as_str().expect("a name"));
        let end = text.lines().find(|line| line.contains("ATTEMPT_FINISHED") && line.contains(id)).expect("its end");
        // Each worker of this cluster is a host of its own name.
        assert!(
            end.contains(&format!(r#""hostname":"{worker}""#)) && end.contains(r#""rackname":"/default-rack""#),
            "{end}"
        );
    }
    cluster.stop_and_replay();
}

#[test]
fn a_secondary_sort_gives_each_reduce_its_keys_in_the_comparators_order() {
    let cluster = Cluster::start(Setup::default());
    let hadoop = Installation::of(&cluster);
    // City, temperature, sensor: by city upwards, then by temperature as a number downwards.
    let readings: Vec<(String, i64, u64)> =
        (0..6_000_u64).map(|i| (format!("city{}", i * 7919 % 11), (i * 104_729 % 2_003) as i64 - 1_000, i)).collect();
    let lines: String = readings.iter().map(|(city, degrees, id)| format!("{city}.{degrees}\tsensor {id}\n")).collect();
    let input = format!("file://{}", cluster.text("readings", &lines));
    let arguments = [
        &["-D", "mapred.output.key.comparator.class=org.apache.hadoop.mapred.lib.KeyFieldBasedComparator"][..],
        &["-D", "mapred.text.key.comparator.options=-k1,1 -k2,2nr", "-D", "map.output.key.field.separator=."],
        &["-D", "mapreduce.partition.keypartitioner.options=-k1,1", "-D", "io.sort.mb=1", "-D", "io.sort.factor=2"],
        &["-D", "mapred.max.split.size=30000", "-partitioner", "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner"],
        &["-input", &input, "-output", "/sorted", "-mapper", "cat", "-reducer", "cat", "-numReduceTasks", "3"],
    ]
    .concat();
    hadoop.streaming(&arguments).expect_code(0);
    let parts = read_parts(&hadoop.file("sorted"));
    assert_eq!(parts.len(), 3);
    let mut found = Vec::new();
    for part in &parts {
        let text = String::from_utf8(part.clone()).expect("text");
        let keys = text.lines().map(|line| {
            let (key, sensor) = line.split_once('\t').expect("a value");
            let (city, degrees) = key.split_once('.').expect("two fields");
            (
                city.to_owned(),
                degrees.parse::<i64>().expect("a number"),
                sensor["sensor ".len()..].parse().expect("an id"),
            )
        });
        let keys: Vec<(String, i64, u64)> = keys.collect();
        assert!(keys.is_sorted_by_key(|(city, degrees, _)| (city.clone(), -degrees)), "out of order: {text}");
        found.extend(keys);
    }
    found.sort_by_key(|(_, _, id)| *id);
    assert_eq!(found, readings, "each record once");
    let job = cluster.jobs()[0]["job"].as_str().expect("an id").to_owned();
    let groups = ["job", "-counter", &job, "Map-Reduce Framework", "Reduce input groups"];
    let distinct: std::collections::BTreeSet<_> = readings.iter().map(|(city, degrees, _)| (city, degrees)).collect();
    assert_eq!(hadoop.run("mapred", &groups).expect_code(0).stdout, format!("{}\n", distinct.len()));

    let wrong = ["-D", "mapred.output.key.comparator.class=org.apache.hadoop.io.LongWritable$DecreasingComparator"];
    let refused = hadoop.streaming(&[&wrong[..], &["-input", &input, "-output", "/o", "-mapper", "cat"]].concat());
    assert!(refused.expect_code(2).stderr.contains("`org.apache.hadoop.io.LongWritable$DecreasingComparator`"));

    // Few of so many reduces get a key, and the others leave no file.
    let lazy =
        ["-input", &input, "-output", "/lazy", "-mapper", "cut -d. -f1", "-reducer", "uniq", "-numReduceTasks", "40"];
    hadoop.streaming(&[&["-lazyOutput"][..], &lazy].concat()).expect_code(0);
    let files: Vec<_> =
        std::fs::read_dir(hadoop.file("lazy")).expect("list").map(|e| e.expect("entry").path()).collect();
    assert!(files.iter().any(|path| path.ends_with("_SUCCESS")), "{files:?}");
    let parts: Vec<String> = files
        .iter()
        .filter(|path| !path.ends_with("_SUCCESS"))
        .map(|path| std::fs::read_to_string(path).expect("a part"))
        .collect();
    assert!(parts.iter().all(|part| !part.is_empty()) && parts.len() <= 11, "{files:?}");
    let mut cities: Vec<&str> = parts.iter().flat_map(|part| part.lines()).map(str::trim_end).collect();
    cities.sort_unstable();
    let mut expected: Vec<&str> = readings.iter().map(|(city, ..)| city.as_str()).collect();
    expected.sort_unstable();
    expected.dedup();
    assert_eq!(cities, expected);
    cluster.stop_and_replay();
}
