//! Inputs and outputs in buckets of `moto`, which plays Amazon's store. These tests need a `howdah` with the feature `s3`.

mod answers;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicI64};

use super::python;
use crate::harness::{Cluster, Setup, reference, text, wait_for};

/// Serves until its input ends. Of a line `put KEY FILE` it puts an object, of `get KEY FILE` it writes one to a file, and of `list
/// PREFIX` it says all keys and, in angle brackets, uploads that nobody completed; fields end at tabs.
const STORE: &str = r#"
import logging, sys
import boto3
from moto.server import ThreadedMotoServer
logging.getLogger('werkzeug').setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)
server.start()
endpoint = 'http://%s:%d' % server.get_host_and_port()
keys = dict(aws_access_key_id='who', aws_secret_access_key='hush', region_name='us-east-1')
s3 = boto3.client('s3', endpoint_url=endpoint, **keys)
s3.create_bucket(Bucket='data')
print(endpoint, flush=True)
for line in sys.stdin:
    verb, key, *path = line.rstrip('\n').split('\t')
    said = 'done'
    if verb == 'put':
        s3.put_object(Bucket='data', Key=key, Body=open(path[0], 'rb').read())
    elif verb == 'remove':
        s3.delete_object(Bucket='data', Key=key)
    elif verb == 'get':
        open(path[0], 'wb').write(s3.get_object(Bucket='data', Key=key)['Body'].read())
    else:
        found = [o['Key'] for o in s3.list_objects_v2(Bucket='data', Prefix=key).get('Contents', [])]
        found += ['<%s>' % u['Key'] for u in s3.list_multipart_uploads(Bucket='data').get('Uploads', [])]
        said = '\t'.join(found)
    print(said, flush=True)
"#;

/// A store with the bucket `data`. It ends with this.
struct Bucket {
    server: Child,
    said: BufReader<std::process::ChildStdout>,
    endpoint: String,
    folder: tempfile::TempDir,
}

impl Bucket {
    fn start() -> Bucket {
        let folder = tempfile::Builder::new().prefix("howdah-s3-").tempdir().expect("make a folder");
        let errors = std::fs::File::create(folder.path().join("store.err")).expect("create a log");
        let mut command = Command::new(python());
        command.args(["-c", STORE]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let mut server = command.spawn().expect("start the store");
        let said = BufReader::new(server.stdout.take().expect("it is piped"));
        let mut bucket = Bucket { server, said, endpoint: String::new(), folder };
        bucket.endpoint = bucket.line();
        bucket
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).expect("read what the store says");
        let errors = || std::fs::read_to_string(self.folder.path().join("store.err")).unwrap_or_default();
        assert!(line.ends_with('\n'), "the store is gone: {}", errors());
        line.trim_end().to_owned()
    }

    fn put(&mut self, key: &str, bytes: &[u8]) {
        let file = self.folder.path().join("object");
        std::fs::write(&file, bytes).expect("write a file");
        assert_eq!(self.tell(&format!("put\t{key}\t{}", file.display())), "done");
    }

    fn get(&mut self, key: &str) -> Vec<u8> {
        let file = self.folder.path().join("object");
        assert_eq!(self.tell(&format!("get\t{key}\t{}", file.display())), "done");
        std::fs::read(&file).expect("read a file")
    }

    /// Keys that begin so, and uploads that nobody completed.
    fn list(&mut self, prefix: &str) -> Vec<String> {
        self.tell(&format!("list\t{prefix}")).split('\t').filter(|key| !key.is_empty()).map(str::to_owned).collect()
    }

    fn tell(&mut self, line: &str) -> String {
        let stdin = self.server.stdin.as_mut().expect("it is piped");
        writeln!(stdin, "{line}").expect("tell the store");
        self.line()
    }

    /// What daemons need to read from it.
    fn environment(&self) -> Vec<(&'static str, String)> {
        let pairs = [("AWS_ENDPOINT_URL", self.endpoint.as_str()), ("AWS_ACCESS_KEY_ID", "who")];
        let pairs = pairs.into_iter().chain([("AWS_SECRET_ACCESS_KEY", "hush")]);
        pairs.map(|(name, value)| (name, value.to_owned())).collect()
    }

    fn cluster(&self) -> Cluster {
        Cluster::start(Setup { environment: self.environment(), ..Setup::default() })
    }

    fn kill(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        self.kill();
    }
}

#[test]
fn a_word_count_of_a_bucket_gives_the_bytes_of_the_same_files_here() {
    let mut bucket = Bucket::start();
    let cluster = bucket.cluster();
    let local = cluster.output("in.txt");
    text::write_text(local.as_ref(), 3 << 20, &text::words(500), 7);
    let bytes = std::fs::read(&local).expect("read the input");
    let (front, back) = bytes.split_at(bytes.len() / 3 * 2);
    // A directory with what stands for it, hidden names, a line across two maps, and a compressed object.
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(back).expect("compress");
    let gz = gz.finish().expect("compress");
    let hidden = b"hidden words".as_slice();
    for (key, bytes) in
        [("in/", &[][..]), ("in/a b.txt", front), ("in/z.gz", &gz), ("in/_SUCCESS", &[]), ("in/.x", hidden)]
    {
        bucket.put(key, bytes);
    }
    let count = |input: &str, out: &str, more: &[&str]| {
        let out = cluster.output(out);
        let args = ["wordcount", "--input", input, "--output", &out, "--reduces", "2"];
        let small = ["-D", "mapred.max.split.size=100000"];
        let job = cluster.submit(&[&args[..], &small, more].concat());
        cluster.wait_job(&job, 0);
        cluster.status(&job)
    };
    // The compressed file begins a line of its own, as a file does.
    let expected = reference::word_count_parts(&[front, b"\n", back].concat(), 2);
    let status = count("s3://data/in", "out", &[]);
    reference::assert_same_parts(&reference::read_parts(&cluster.path("out")), &expected, "from a bucket");
    let n_maps = front.len().div_ceil(100_000) as u64;
    assert!(status["maps"].as_u64() >= Some(n_maps), "{status}");
    count("s3a://data/i*/[az]*", "again", &["-D", &format!("fs.s3a.endpoint={}", bucket.endpoint)]);
    reference::assert_same_parts(&reference::read_parts(&cluster.path("again")), &expected, "by a pattern");
    cluster.stop_and_replay();
}

#[test]
fn what_is_not_in_the_bucket_or_not_the_jobs_to_say_is_refused() {
    let mut bucket = Bucket::start();
    bucket.put("in/sub/a", b"a\n");
    let cluster = bucket.cluster();
    let refused = |input: &str, more: &[&str]| {
        let out = cluster.output("none");
        let args = ["submit", "wordcount", "--input", input, "--output", &out];
        cluster.run(&[&args[..], more].concat()).expect_code(2).stderr
    };
    let said = refused("s3://data/none", &[]);
    assert!(said.starts_with("error: input `s3://data/none`: there is nothing of this name in the bucket"), "{said}");
    let said = refused("s3://data/in/s", &[]);
    assert!(said.contains("there is nothing of this name"), "{said}");
    let said = refused("s3://data/in", &[]);
    assert!(said.contains("input `s3://data/in/sub` is a directory inside an input directory"), "{said}");
    let said = refused("s3://data/x*", &[]);
    assert!(said.contains("input pattern `s3://data/x*` matches no file"), "{said}");
    let said = refused("s3://data/in/sub", &["-D", "fs.s3a.endpoint=http://169.254.169.254"]);
    assert!(said.contains("property `fs.s3a.endpoint`: `http://169.254.169.254`: jobs of this cluster use"), "{said}");
    let said = refused("s3://data/in/sub", &["-D", "fs.s3a.secret.key=psst"]);
    assert!(
        said.contains("property `fs.s3a.secret.key`") && said.contains("help: ") && !said.contains("psst"),
        "{said}"
    );
    let local = cluster.text("in", "a\n");
    let out = |out: &str, more: &[&str]| {
        let args = ["submit", "wordcount", "--input", &local, "--output", out];
        cluster.run(&[&args[..], more].concat()).expect_code(2).stderr
    };
    for taken in ["s3://data/in", "s3a://data/in/sub/a"] {
        let said = out(taken, &[]);
        let named = taken.replace("s3a:", "s3:");
        assert!(said.starts_with(&format!("error: output directory `{named}` exists already\nhelp: ")), "{said}");
    }
    assert!(out("s3://data", &[]).contains("expected one below the bucket"));
    // No job may have a secret, wherever its files are.
    for output in ["s3://data/out".to_owned(), cluster.output("here")] {
        let said = out(&output, &["-D", "fs.s3a.access.key=psst"]);
        assert!(said.starts_with("error: property `fs.s3a.access.key`") && !said.contains("psst"), "{said}");
    }
    assert_eq!(bucket.list(""), ["in/sub/a"]);
    // Who asks is looked for in the daemons' own environment.
    let nobody = Cluster::start(Setup { environment: bucket.environment()[..1].to_vec(), ..Setup::default() });
    let out = nobody.output("none");
    let said = nobody.run(&["submit", "wordcount", "--input", "s3://data/in/sub", "--output", &out]);
    let said = said.expect_code(2).stderr;
    assert!(said.contains("expected the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"), "{said}");
}

#[test]
fn a_store_that_goes_away_fails_the_job_by_its_address_and_the_next_submission_is_worth_another_try() {
    let mut bucket = Bucket::start();
    let cluster = bucket.cluster();
    bucket.put("in", &b"a b\n".repeat(200_000));
    let slow = cluster.script("slow", "sleep 1; cat");
    let out = cluster.output("out");
    let once = ["-D", "mapred.map.max.attempts=1", "-D", "mapred.max.split.size=50000"];
    let args = ["streaming", "--input", "s3://data/in", "--output", &out, "--mapper", &slow];
    let job = cluster.submit(&[&args[..], &once].concat());
    cluster.wait_running_maps(&job, 1);
    bucket.kill();
    cluster.wait_job(&job, 1);
    let why = cluster.run(&["job", "why", &job]).expect_code(0).stdout;
    assert!(why.contains("s3://data/in") && why.contains(&bucket.endpoint), "{why}");
    let said = cluster.run(&["submit", "wordcount", "--input", "s3://data/in", "--output", &cluster.output("none")]);
    let said = said.expect_code(3).stderr;
    assert!(said.starts_with(&format!("error: input `s3://data/in`: {}: ", bucket.endpoint)), "{said}");
    assert!(said.contains("help: nothing was submitted; does the store run"), "{said}");
    cluster.stop_and_replay();
}

#[test]
fn an_object_that_is_replaced_under_a_job_fails_it() {
    let mut bucket = Bucket::start();
    let cluster = bucket.cluster();
    bucket.put("in", &b"a b\n".repeat(50_000));
    let slow = cluster.script("slow", "sleep 1; cat");
    let out = cluster.output("out");
    let once = ["-D", "mapred.map.max.attempts=1", "-D", "mapred.max.split.size=20000"];
    let args = ["streaming", "--input", "s3://data/in", "--output", &out, "--mapper", &slow];
    let job = cluster.submit(&[&args[..], &once].concat());
    cluster.wait_running_maps(&job, 1);
    bucket.put("in", &b"c d\n".repeat(40_000));
    cluster.wait_job(&job, 1);
    let why = cluster.run(&["job", "why", &job]).expect_code(0).stdout;
    assert!(why.contains("input `s3://data/in` has"), "{why}");
    cluster.stop_and_replay();
}

/// Passes connections on to a store, and from the moment on that so many uploads were completed breaks all of them off: the next
/// one's request is not passed on, or its answer.
struct Between {
    address: String,
    shared: Arc<Shared>,
}

struct Shared {
    store: String,
    left: AtomicI64,
    loses_answers: bool,
}

impl Between {
    fn of(endpoint: &str, loses_answers: bool) -> Between {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("it listens"));
        let store = endpoint.trim_start_matches("http://").to_owned();
        let shared = Arc::new(Shared { store, left: AtomicI64::new(i64::MAX), loses_answers });
        let theirs = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&theirs);
                let Ok(store) = TcpStream::connect(&shared.store) else { continue };
                std::thread::spawn(move || pass(client, store, &shared));
            }
        });
        Between { address, shared }
    }
}

fn pass(mut client: TcpStream, mut store: TcpStream, shared: &Shared) {
    let loses = Arc::new(AtomicBool::new(false));
    let (mut answers, mut back) = (store.try_clone().expect("a handle"), client.try_clone().expect("a handle"));
    let is_lost = Arc::clone(&loses);
    std::thread::spawn(move || {
        let mut piece = [0; 64 << 10];
        while let Ok(n @ 1..) = answers.read(&mut piece) {
            if is_lost.load(SeqCst) || back.write_all(&piece[..n]).is_err() {
                break;
            }
        }
        let _ = back.shutdown(Shutdown::Both);
    });
    let mut piece = [0; 64 << 10];
    while let Ok(n @ 1..) = client.read(&mut piece) {
        let asked = String::from_utf8_lossy(&piece[..n.min(2_000)]).into_owned();
        let completes =
            asked.starts_with("POST ") && asked.lines().next().is_some_and(|line| line.contains("uploadId="));
        let last = completes && shared.left.fetch_sub(1, SeqCst) == 0;
        loses.fetch_or(last && shared.loses_answers, SeqCst);
        let breaks_off = shared.left.load(SeqCst) < 0 && !loses.load(SeqCst);
        if breaks_off || store.write_all(&piece[..n]).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
    // Its answer may still come.
    if !loses.load(SeqCst) {
        let _ = store.shutdown(Shutdown::Both);
    }
}

/// A word count with side files whose output goes to the bucket.
fn counting(cluster: &Cluster, input: &str, more: &[&str]) -> String {
    let reducer = cluster.script("reducer", "echo side > $mapreduce_task_output_dir/of-$mapreduce_task_partition; cat");
    let args = ["streaming", "--input", input, "--output", "s3://data/out", "--mapper", "cat", "--reducer", &reducer];
    cluster.submit(&[&args[..], &["--reduces", "3"], more].concat())
}

const DONE: [&str; 7] =
    ["out/_SUCCESS", "out/of-0", "out/of-1", "out/of-2", "out/part-r-00000", "out/part-r-00001", "out/part-r-00002"];

/// The lines of all parts, in order.
fn lines(bucket: &mut Bucket) -> Vec<String> {
    let parts: Vec<String> = DONE[4..].iter().map(|key| String::from_utf8(bucket.get(key)).expect("text")).collect();
    let mut lines: Vec<String> =
        parts.iter().flat_map(|part| part.lines()).map(|line| line.trim().to_owned()).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn output_in_a_bucket_has_the_bytes_of_one_here_and_is_there_at_once_or_not_at_all() {
    let mut bucket = Bucket::start();
    let cluster = bucket.cluster();
    let local = cluster.output("in.txt");
    text::write_text(local.as_ref(), 1 << 20, &text::words(500), 7);
    let bytes = std::fs::read(&local).expect("read the input");
    let args = ["wordcount", "--input", &local, "--output", "s3a://data/a//out", "--reduces", "2"];
    let job = cluster.submit(&args);
    cluster.wait_job(&job, 0);
    assert_eq!(bucket.list("a/"), ["a/out/_SUCCESS", "a/out/part-r-00000", "a/out/part-r-00001"]);
    let here = cluster.path("here");
    std::fs::create_dir(&here).expect("make a folder");
    for part in ["part-r-00000", "part-r-00001", "_SUCCESS"] {
        std::fs::write(here.join(part), bucket.get(&format!("a/out/{part}"))).expect("write a file");
    }
    reference::assert_same_parts(&reference::read_parts(&here), &reference::word_count_parts(&bytes, 2), "in a bucket");
    let said = cluster.run(&[&["submit"], &args[..]].concat()).expect_code(2).stderr;
    assert!(said.contains("output directory `s3://data/a/out` exists already"), "{said}");
    // Of a job that fails go the uploads of those that were done, too.
    let go = cluster.output("go");
    let reducer =
        format!("if [ $mapreduce_task_partition = 1 ]; then while [ ! -e {go} ]; do sleep 0.1; done; exit 1; fi; cat");
    let reducer = cluster.script("reducer", &reducer);
    let args = ["streaming", "--input", &local, "--output", "s3://data/none", "--mapper", "cat", "--reducer", &reducer];
    let job = cluster.submit(&[&args[..], &["--reduces", "3", "-D", "mapred.reduce.max.attempts=1"]].concat());
    let done = ["<none/part-r-00000>", "<none/part-r-00002>"];
    wait_for("two uploads that are not completed", || {
        let found = bucket.list("none/");
        done.iter().all(|upload| found.iter().any(|one| one == upload)).then_some(())
    });
    assert!(bucket.list("none/").iter().all(|key| key.starts_with('<') || key.starts_with("none/_temporary/")));
    std::fs::write(&go, "").expect("write a file");
    cluster.wait_job(&job, 1);
    wait_for("the output of a failed job to go", || bucket.list("none/").is_empty().then_some(()));
    cluster.stop_and_replay();
}

#[test]
fn a_promotion_that_breaks_off_anywhere_is_completed_after_the_masters_next_start() {
    let mut bucket = Bucket::start();
    bucket.put("in", b"b\na\nc\nb\n");
    for (n, loses_answers) in [(0, false), (0, true), (1, false), (2, true), (3, false), (5, true), (5, false)] {
        let between = Between::of(&bucket.endpoint, loses_answers);
        let mut environment = bucket.environment();
        environment[0].1.clone_from(&between.address);
        let mut cluster = Cluster::start(Setup { environment, ..Setup::default() });
        between.shared.left.store(n, SeqCst);
        let job = counting(&cluster, "s3://data/in", &[]);
        wait_for("the promotion to break off", || (between.shared.left.load(SeqCst) < 0).then_some(()));
        cluster.kill_master();
        let so_far = bucket.list("out/");
        assert!(!so_far.contains(&DONE[0].to_owned()), "it is not whole: {so_far:?}");
        between.shared.left.store(i64::MAX, SeqCst);
        cluster.restart_master();
        cluster.wait_job(&job, 0);
        assert_eq!(bucket.list("out/"), DONE, "after {n} files, {loses_answers}");
        assert_eq!(lines(&mut bucket), ["a", "b", "b", "c"], "after {n} files, {loses_answers}");
        for key in DONE {
            bucket.tell(&format!("remove\t{key}"));
        }
    }
}

#[test]
fn a_job_that_is_killed_leaves_neither_objects_nor_uploads() {
    let mut bucket = Bucket::start();
    let cluster = bucket.cluster();
    bucket.put("in", b"b\na\n");
    let mapper = cluster.script("last", "cat; sleep 600");
    let args = ["streaming", "--input", "s3://data/in", "--output", "s3://data/out", "--mapper", &mapper];
    let job = cluster.submit(&[&args[..], &["--reduces", "0"]].concat());
    cluster.wait_running_maps(&job, 1);
    assert_eq!(bucket.list("out/"), ["out/_temporary/_job"]);
    cluster.run(&["job", "kill", &job]).expect_code(0);
    wait_for("the output to go", || bucket.list("out/").is_empty().then_some(()));
    let job = counting(&cluster, "s3://data/in", &[]);
    cluster.wait_job(&job, 0);
    assert_eq!(bucket.list("out/"), DONE);
    cluster.stop_and_replay();
}
