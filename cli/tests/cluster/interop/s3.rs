//! Inputs in buckets of `moto`, which plays Amazon's store. These tests need a `howdah` with the feature `s3`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use super::python;
use crate::harness::{Cluster, Setup, reference, text};

/// Serves until its input ends; a line `BUCKET KEY FILE` puts an object, and is answered when it is there.
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
    key, path = line.rstrip('\n').split('\t')
    s3.put_object(Bucket='data', Key=key, Body=open(path, 'rb').read())
    print('done', flush=True)
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
        let stdin = self.server.stdin.as_mut().expect("it is piped");
        writeln!(stdin, "{key}\t{}", file.display()).expect("tell the store");
        assert_eq!(self.line(), "done");
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
    assert!(said.contains("property `fs.s3a.endpoint`: `http://169.254.169.254`: jobs of this cluster read"), "{said}");
    let said = refused("s3://data/in/sub", &["-D", "fs.s3a.secret.key=psst"]);
    assert!(
        said.contains("property `fs.s3a.secret.key`") && said.contains("help: ") && !said.contains("psst"),
        "{said}"
    );
    let args = ["submit", "wordcount", "--input", "s3://data/in/sub", "--output", "s3://data/out"];
    let said = cluster.run(&args).expect_code(2).stderr;
    assert!(said.contains("jobs read from buckets and write to none"), "{said}");
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
