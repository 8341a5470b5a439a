//! Output to an HDFS, which here is a small one in the test's own process; `interop/hdfs.rs` has Apache's.

use howdah_webhdfs::fake::{FakeHdfs, Mood};

use crate::harness::{Cluster, Installation, reference, text, wait_for};
use crate::hdfs::beside;

const NAME_NODE: &str = "nn.example:9000";

fn cluster_beside(hdfs: &FakeHdfs) -> Cluster {
    Cluster::start(beside(NAME_NODE, &hdfs.address()))
}

fn at(path: &str) -> String {
    format!("hdfs://{NAME_NODE}{path}")
}

/// Writes a text to `/in/text` and gives it.
fn input(hdfs: &FakeHdfs, cluster: &Cluster, bytes: u64) -> Vec<u8> {
    let local = cluster.output("in.txt");
    text::write_text(local.as_ref(), bytes, &text::words(500), 7);
    let bytes = std::fs::read(&local).expect("read the input");
    hdfs.put("/in/text", bytes.clone(), 40_000);
    bytes
}

fn word_count(cluster: &Cluster, out: &str, reduces: &str) -> String {
    cluster.submit(&["wordcount", "--input", &at("/in"), "--output", &at(out), "--reduces", reduces])
}

/// The part files of an output that is whole, and nothing else is in it.
#[track_caller]
fn parts(hdfs: &FakeHdfs, out: &str) -> Vec<Vec<u8>> {
    let mut files = hdfs.files(out);
    assert_eq!(files.first(), Some(&format!("{out}/_SUCCESS")), "{files:?}");
    assert!(!hdfs.is_there(&format!("{out}/_temporary")), "{files:?}");
    files.remove(0);
    assert!(files.iter().all(|file| file.starts_with(&format!("{out}/part-"))), "{files:?}");
    files.iter().map(|file| hdfs.read(file).expect("it is listed")).collect()
}

#[test]
fn a_word_count_from_an_hdfs_into_it_has_the_bytes_of_the_same_output_here() {
    let hdfs = FakeHdfs::start(3);
    let cluster = cluster_beside(&hdfs);
    let bytes = input(&hdfs, &cluster, 1 << 20);
    let job = word_count(&cluster, "/data/out", "3");
    cluster.wait_job(&job, 0);
    let expected = reference::word_count_parts(&bytes, 3);
    reference::assert_same_parts(&parts(&hdfs, "/data/out"), &expected, "in HDFS");
    let here = ["wordcount", "--input", &at("/in"), "--output", &cluster.output("out"), "--reduces", "3"];
    cluster.wait_job(&cluster.submit(&here), 0);
    reference::assert_same_parts(&reference::read_parts(&cluster.path("out")), &expected, "here");
    // The same directory once more, however it is spelt.
    for again in [at("/data/out"), at("//data/./out/"), format!("webhdfs://{}/data/out", hdfs.address())] {
        let args = ["submit", "wordcount", "--input", &at("/in"), "--output", &again];
        let said = cluster.run(&args).expect_code(2).stderr;
        assert!(said.starts_with(&format!("error: output directory `{}` exists already", at("/data/out"))), "{said}");
        assert!(said.contains("help: choose another output"), "{said}");
    }
    // A map-only job, and its side files, compressed parts by way of the job's own properties.
    let script = cluster.script("side", "echo side > $mapreduce_task_output_dir/side-$mapreduce_task_partition; cat");
    let gzip = ["-D", "mapred.output.compress=true", "-D", "mapred.max.split.size=600000", "--reduces", "0"];
    let args = ["streaming", "--input", &at("/in"), "--output", &at("/data/maps"), "--mapper", &script];
    cluster.wait_job(&cluster.submit(&[&args[..], &gzip].concat()), 0);
    let files = hdfs.files("/data/maps");
    let n_maps = files.iter().filter(|file| file.ends_with(".gz") && file.contains("/part-m-")).count();
    let n_sides = files.iter().filter(|file| file.starts_with("/data/maps/side-")).count();
    assert!(n_maps >= 2 && n_sides == n_maps && files.len() == 2 * n_maps + 1, "{n_maps} {n_sides} {files:?}");
    assert_eq!(hdfs.read("/data/maps/side-0").as_deref(), Some(&b"side\n"[..]));
    cluster.stop_and_replay();
}

#[test]
fn an_output_is_refused_where_its_name_node_is_not_named_or_gives_no_answer() {
    let hdfs = FakeHdfs::start(1);
    let cluster = cluster_beside(&hdfs);
    let input = cluster.text("in.txt", "a b a\n");
    let said = |output: &str, code: i32| {
        cluster.run(&["submit", "wordcount", "--input", &input, "--output", output]).expect_code(code).stderr
    };
    let other = said("hdfs://other:9000/out", 2);
    assert!(
        other.starts_with("error: output directory `hdfs://other:9000/out`: this master writes nothing to"),
        "{other}"
    );
    assert!(other.contains("help: the master's setting `name_nodes`"), "{other}");
    assert!(said(&at("/"), 2).contains("expected one below the root"));
    assert!(said(&at("/a/../b"), 2).contains("without `..`"));
    assert_eq!(hdfs.asked(), [""; 0]);
    hdfs.be(Mood::SafeMode);
    let safe = said(&at("/out"), 3);
    assert!(safe.contains("SafeModeException") && safe.contains("help: nothing was submitted"), "{safe}");
    hdfs.be(Mood::Quota(0));
    assert!(said(&at("/out"), 2).contains("DSQuotaExceededException"));
    assert!(!hdfs.is_there("/out"));
    drop(hdfs);
    let dead = said(&at("/out"), 3);
    assert!(dead.starts_with(&format!("error: output directory `{}` cannot be made: http://", at("/out"))), "{dead}");
    cluster.stop_and_replay();
}

#[test]
fn a_master_that_is_killed_in_the_middle_of_a_promotion_finishes_it_after_its_start() {
    let hdfs = FakeHdfs::start(3);
    let mut cluster = cluster_beside(&hdfs);
    let bytes = input(&hdfs, &cluster, 200_000);
    // The first name that is moved is the mark's, at the submission.
    hdfs.be(Mood::HoldsMoves(3));
    let job = word_count(&cluster, "/out", "4");
    let moves = || hdfs.asked().iter().filter(|line| line.contains("/part-r-") && line.contains("op=RENAME")).count();
    wait_for("the promotion to be held up", || (moves() >= 3).then_some(()));
    cluster.kill_master();
    assert_eq!(hdfs.files("/out").iter().filter(|file| file.starts_with("/out/part-")).count(), 2);
    assert!(!hdfs.is_there("/out/_SUCCESS"));
    hdfs.be(Mood::Good);
    cluster.restart_master();
    cluster.wait_job(&job, 0);
    reference::assert_same_parts(&parts(&hdfs, "/out"), &reference::word_count_parts(&bytes, 4), "promoted twice");
    assert_eq!(moves(), 3 + 2, "each part is moved once, but for the one that was held up");
    cluster.stop_and_replay();
}

#[test]
fn attempts_that_fail_leave_nothing_and_neither_does_a_job() {
    let hdfs = FakeHdfs::start(3);
    let cluster = cluster_beside(&hdfs);
    hdfs.put("/in/text", "b\na\nb\n".repeat(2_000), 4_000);
    // Fails at its end, when its output is whole but for what is written last.
    let reducer = cluster.script("flaky", "uniq -c; case $mapreduce_task_attempt_id in *_0) exit 7;; esac");
    let args = |out: &str, reducer: &str| {
        let output = at(out);
        let args = ["streaming", "--input", &at("/in"), "--output", &output, "--mapper", "cat", "--reducer", reducer];
        cluster.submit(&[&args[..], &["--reduces", "2", "-D", "mapred.reduce.max.attempts=2"]].concat())
    };
    // Another data node goes away under each file.
    hdfs.be(Mood::Fragile(0, 5));
    let job = args("/out", &reducer);
    cluster.wait_job(&job, 0);
    let found = parts(&hdfs, "/out").concat();
    let words: Vec<&str> = std::str::from_utf8(&found).expect("text").split_whitespace().collect();
    assert_eq!(words.len(), 4, "{words:?}");
    for pair in [["2000", "a"], ["4000", "b"]] {
        assert!(words.chunks(2).any(|found| found == pair), "{words:?}");
    }
    let failed = cluster.attempts(&job).into_iter().filter(|attempt| attempt["state"] == "FAILED").count();
    assert_eq!(failed, 2, "the first attempt of each reduce");
    let asked = hdfs.asked();
    assert!(asked.iter().any(|line| line.starts_with("127.0.0.2 PUT")), "{asked:?}");
    assert!(!asked.iter().any(|line| line.contains("_0/part-r-0000") && line.contains("op=RENAME")), "{asked:?}");
    let failing = cluster.script("failing", "cat; exit 7");
    let job = args("/failed/out", &failing);
    cluster.wait_job(&job, 1);
    // It is put aside first, and then removed.
    let is_gone = || !hdfs.is_there("/failed/out") && hdfs.files("/failed").is_empty();
    wait_for("the output to be cleared away", || is_gone().then_some(()));
    cluster.stop_and_replay();
}

#[test]
fn hadoops_own_commands_write_list_and_read_an_hdfs_that_is_not_their_installation() {
    let hdfs = FakeHdfs::start(2);
    let cluster = Cluster::start(beside("127.0.0.1:9000", &hdfs.address()));
    let hadoop = Installation::of(&cluster);
    let port = hdfs.address().rsplit(':').next().expect("a port").to_owned();
    let site = format!(
        "<configuration><property><name>dfs.namenode.http-address</name><value>0.0.0.0:{port}</value></property>\
         </configuration>"
    );
    std::fs::write(hadoop.home.join("etc/hadoop/hdfs-site.xml"), site).expect("write hdfs-site.xml");
    let fs = |words: &str, code: i32| {
        let words = words.replace("NN", "hdfs://127.0.0.1:9000");
        let args: Vec<&str> = ["fs"].into_iter().chain(words.split(' ')).collect();
        hadoop.run("hadoop", &args).expect_code(code)
    };
    let local = cluster.text("notes.txt", "b\na\nb\n");
    fs("-mkdir NN/a/b", 1);
    fs("-mkdir -p NN/a/b", 0);
    fs("-mkdir NN/a/b", 1);
    fs(&format!("-put {local} NN/a/b"), 0);
    assert_eq!(hdfs.files("/"), ["/a/b/notes.txt"]);
    let said = fs(&format!("-put {local} NN/a/b"), 1).stderr;
    assert!(said.contains("put: `hdfs://127.0.0.1:9000/a/b/notes.txt': File exists"), "{said}");
    fs(&format!("-put -f {local} NN/a/b/notes.txt"), 0);
    assert_eq!(fs("-cat NN/a/b/*.txt", 0).stdout, "b\na\nb\n");
    let listed = fs("-ls NN/a/b", 0).stdout;
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!((lines.len(), lines[0]), (2, "Found 1 items"), "{listed}");
    let words: Vec<&str> = lines[1].split_whitespace().collect();
    assert_eq!(words[..5], ["-rw-r--r--", "1", "ann", "staff", "6"], "{listed}");
    assert_eq!(words[7], "hdfs://127.0.0.1:9000/a/b/notes.txt", "{listed}");
    assert_eq!(fs("-ls -R -C NN/a", 0).stdout.lines().count(), 2);
    for (test, code) in [("-d NN/a", 0), ("-d NN/a/b/notes.txt", 1), ("-e NN/none", 1), ("-z NN/a/b/notes.txt", 1)] {
        fs(&format!("-test {test}"), code);
    }
    let copy = cluster.output("copy");
    fs(&format!("-get NN/a {copy}"), 0);
    assert_eq!(std::fs::read_to_string(cluster.path("copy/b/notes.txt")).expect("the copy"), "b\na\nb\n");
    let output = "hdfs://127.0.0.1:9000/out";
    let args = ["-input", "hdfs://127.0.0.1:9000/a/b", "-output", output, "-mapper", "cat", "-reducer", "uniq -c"];
    hadoop.streaming(&args).expect_code(0);
    let words = fs("-cat NN/out/part-00000 NN/out/part-r-*", 1).stdout;
    assert_eq!(words.split_whitespace().collect::<Vec<_>>(), ["1", "a", "2", "b"]);
    let said = fs("-rm NN/a", 1).stderr;
    assert!(said.contains("rm: `hdfs://127.0.0.1:9000/a': Is a directory"), "{said}");
    assert_eq!(fs("-rm -r NN/a NN/out", 0).stdout.lines().count(), 2);
    fs("-rm NN/a", 1);
    fs("-rm -f NN/a", 0);
    assert_eq!(hdfs.files("/"), [""; 0]);
    let said = fs("-mv NN/a NN/b", 2).stderr;
    assert!(said.contains("hadoop fs -mv: not supported in an HDFS"), "{said}");
    drop(hdfs);
    assert!(fs("-ls NN/", 1).stderr.contains("ls: `hdfs://127.0.0.1:9000/': http://127.0.0.1:"));
    cluster.stop_and_replay();
}

#[test]
fn promotions_at_a_name_node_that_hangs_hold_up_none_at_another() {
    let (hangs, serves) = (FakeHdfs::start(1), FakeHdfs::start(1));
    let mut setup = beside(NAME_NODE, &hangs.address());
    setup.master_config.push_str(&format!("\"other.example:9000\" = \"http://{}\"\n", serves.address()));
    let cluster = Cluster::start(setup);
    let (input, go) = (cluster.text("in.txt", "a b a\n"), cluster.output("go"));
    let mapper = cluster.script("mapper", &format!("while [ ! -e {go} ]; do sleep 0.1; done; cat"));
    let submit = |out: &str| {
        let args = ["streaming", "--input", &input, "--output", out, "--mapper", &mapper, "--reduces", "0"];
        cluster.submit(&args)
    };
    // More than there are threads for one of them, or were for all.
    for n in 0..9 {
        submit(&at(&format!("/out/{n}")));
    }
    hangs.be(Mood::HoldsMoves(0));
    std::fs::write(&go, "").expect("write a file");
    let moves = || hangs.asked().iter().filter(|line| line.contains("op=RENAME") && line.contains("part-m")).count();
    wait_for("promotions that hang", || (moves() >= 4).then_some(()));
    wait_for("all jobs to be at their promotion", || {
        cluster.jobs().iter().all(|job| job["state"] == "COMMITTING").then_some(())
    });
    let began = std::time::Instant::now();
    let job = submit("hdfs://other.example:9000/out");
    cluster.wait_job(&job, 0);
    assert!(began.elapsed() < std::time::Duration::from_secs(60), "{:?}", began.elapsed());
    assert!(!parts(&serves, "/out").is_empty());
}

/// How many outputs the master has noted as those that are to be cleared away.
fn n_owed(cluster: &Cluster) -> usize {
    std::fs::read_dir(cluster.path("master/clearing")).map_or(0, |entries| entries.count())
}

#[test]
fn what_a_name_node_that_was_away_has_of_dead_jobs_goes_when_it_is_back_after_any_number_of_starts() {
    let hdfs = FakeHdfs::start(1);
    let mut cluster = cluster_beside(&hdfs);
    let input = cluster.text("in.txt", "a b a\n");
    let args =
        |out: &str| ["streaming", "--input", &input, "--output", &at(out), "--mapper", "sleep 600"].map(str::to_owned);
    let words = |args: &[String; 7]| args.iter().map(String::as_str).map(str::to_owned).collect::<Vec<_>>();
    let done = args("/done");
    let done = ["wordcount", "--input", &done[2], "--output", &done[4]];
    cluster.wait_job(&cluster.submit(&done), 0);
    let killed = words(&args("/killed"));
    let killed = cluster.submit(&killed.iter().map(String::as_str).collect::<Vec<_>>());
    cluster.wait_running_maps(&killed, 1);
    assert_eq!(n_owed(&cluster), 0, "a job has an output, and nothing of it is to be cleared away");
    // One that gets no further than what is made beside its output.
    hdfs.be(Mood::HoldsMoves(0));
    let moves = || hdfs.asked().iter().filter(|line| line.contains("op=RENAME") && line.contains("/_late-")).count();
    let late = words(&args("/late"));
    let late = [&["submit".to_owned()][..], &late].concat();
    let mut submitting = cluster.command(&late.iter().map(String::as_str).collect::<Vec<_>>());
    let mut submitting = submitting.stderr(std::process::Stdio::null()).spawn().expect("start a submission");
    wait_for("the submission to be held up", || (moves() > 0).then_some(()));
    hdfs.be(Mood::SafeMode);
    cluster.run(&["job", "kill", &killed]).expect_code(0);
    cluster.wait_job(&killed, 1);
    wait_for("the killed job's output to be noted", || (n_owed(&cluster) == 2).then_some(()));
    let left = || hdfs.files("/").iter().filter(|file| !file.starts_with("/done/")).count();
    for _ in 0..2 {
        cluster.kill_master();
        cluster.restart_master();
    }
    assert_eq!((n_owed(&cluster), left()), (2, 2), "{:?}", hdfs.files("/"));
    cluster.kill_master();
    let _ = submitting.kill();
    let _ = submitting.wait();
    hdfs.be(Mood::Good);
    cluster.restart_master();
    wait_for("both outputs to go", || (n_owed(&cluster) == 0).then_some(()));
    assert!(!hdfs.is_there("/killed") && left() == 0, "{:?}", hdfs.files("/"));
    assert!(hdfs.is_there("/done/_SUCCESS"));
    cluster.stop_and_replay();
}
