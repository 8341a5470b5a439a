//! The guide's reference of JSON fields, held against what every command prints on a real cluster.
//!
//! A field that is printed and not listed fails the test, and so does one that is listed and never printed, has another
//! type, or no meaning. `HOWDAH_WRITE_JSON_FIELDS=1` writes the page anew; meanings are then filled in by hand. That no
//! command with `--output json` is left out is asked of the tree of commands (`cli/src/json_page.rs`).

mod page;
mod seen;

use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::harness::{Cluster, Setup, wait_for};
use page::Page;
use seen::Seen;

/// A cluster, and what its commands and others printed.
struct Reader {
    cluster: Cluster,
    seen: Seen,
}

impl Reader {
    /// Runs `howdah COMMAND ARGS`, all of `command` being the command's name.
    fn see(&mut self, command: &str, args: &[&str]) -> Value {
        let mut words: Vec<&str> = command.split(' ').chain(args.iter().copied()).collect();
        // The output of `submit` is a directory: there the variable decides.
        if !words.starts_with(&["submit"]) {
            words.extend(["--output", "json"]);
        }
        let said = self.cluster.command(&words).env("HOWDAH_OUTPUT", "json").output().expect("it runs");
        let stdout = String::from_utf8_lossy(&said.stdout);
        assert!(said.status.success(), "{words:?}: {stdout}{}", String::from_utf8_lossy(&said.stderr));
        let answers = serde_json::Deserializer::from_str(&stdout).into_iter::<Value>();
        let answers: Vec<Value> = answers.map(|answer| answer.unwrap_or_else(|e| panic!("{words:?}: {e}"))).collect();
        answers.iter().for_each(|answer| self.seen.add(command, answer));
        answers.into_iter().next().unwrap_or_else(|| panic!("{words:?} printed nothing"))
    }
}

fn page_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide/json.md")
}

/// Jobs that succeeded, failed and run, and everything that can be asked of them.
fn see_jobs(reader: &mut Reader) {
    let cluster = &reader.cluster;
    let (input, out) = (cluster.text("in.txt", "to be or not to be\n"), cluster.output("out"));
    let fails = cluster.script("fails.sh", "echo no >&2; exit 3");
    let (failed, again) = (cluster.output("failed"), cluster.output("again"));
    let batch = "[[job]]\nname = \"a\"\napp = \"wordcount\"\n".to_owned();
    let batch =
        cluster.text("batch.toml", &format!("{batch}input = [\"{input}\"]\noutput = \"{}\"\n", cluster.output("of-a")));
    reader.see("submit", &["wordcount", "--input", &input, "--output", &out, "-D", "my.own=1", "--wait"]);
    let words = ["submit", "streaming", "--mapper", &fails, "--input", &input, "--output", &failed];
    let once = ["-D", "mapred.map.max.attempts=1", "--wait"];
    reader.cluster.run(&[&words[..], &once].concat()).expect_code(1);
    reader.see("job resubmit", &["1", "--to", &again, "--wait"]);
    reader.see("submit --batch", &[&batch, "--order", "asis", "--wait"]);
    let running = reader.cluster.sleep(3, 600_000, 1);
    reader.cluster.wait_running_maps(&running, 3);
    wait_for("a forecast of the running job", || {
        reader.cluster.json(&["predict"])["forecast"]["jobs"].as_array().filter(|jobs| !jobs.is_empty()).map(|_| ())
    });
    for job in ["1", "2", &running] {
        reader.see("job status", &[job]);
        reader.see("job attempts", &[job]);
    }
    reader.see("job list", &[]);
    reader.see("job wait", &["1"]);
    reader.see("job counters", &["1"]);
    reader.see("job counters", &["1", "Map-Reduce Framework", "Map input records"]);
    reader.see("job history", &["1"]);
    reader.see("job why", &["2"]);
    reader.see("job explain", &[&running]);
    reader.see("predict", &[]);
    let words = ["--submit", "wordcount", "--maps", "2", "--reduces", "1", "--deadline", "10m"];
    reader.see("what-if", &[&words[..], &["--deadline", &format!("{running}=1h")]].concat());
    reader.see("job set-priority", &[&running, "HIGH"]);
    reader.see("job move", &[&running, "default"]);
    for (command, n) in [("job kill-attempt", 0), ("job fail-attempt", 1)] {
        let attempt = reader.cluster.attempts(&running)[n]["attempt"].as_str().expect("an attempt").to_owned();
        reader.see(command, &[&attempt]);
    }
    reader.see("job kill", &[&running]);
    reader.cluster.wait_job(&running, 1);
}

fn see_cluster(reader: &mut Reader) {
    reader.see("worker list", &[]);
    wait_for("vitals", || {
        reader.cluster.json(&["worker", "vitals", "worker-1"])["past"]
            .as_array()
            .filter(|past| !past.is_empty())
            .map(|_| ())
    });
    reader.see("worker vitals", &["worker-1"]);
    // Fair's pools have shares, which other schedulers' queues have not.
    reader.see("scheduler set", &["fair"]);
    reader.see("queue list", &[]);
    reader.see("scheduler list", &[]);
    reader.see("scheduler show", &[]);
    reader.see("cluster", &[]);
    reader.see("wait", &["--workers", "2"]);
    let doctor = reader.cluster.command(&["doctor", "--output", "json"]).output().expect("it runs");
    // What is wrong with this machine is no matter here.
    reader.seen.add("doctor", &serde_json::from_slice(&doctor.stdout).expect("JSON"));
    let refused = reader.cluster.run(&["job", "status", "99", "--output", "json"]);
    let refused = serde_json::from_str(&refused.stderr).unwrap_or_else(|e| panic!("{e}: {}", refused.all()));
    reader.seen.add("… (an error, on standard error)", &refused);
    reader.see("worker drain", &["worker-2"]);
    reader.see("worker enable", &["worker-2"]);
    reader.cluster.stop_worker(1, Signal::SIGTERM);
    reader.see("worker remove", &["worker-2"]);
}

/// Commands over what a cluster recorded.
fn see_recordings(reader: &mut Reader) {
    let (master, trace) = (reader.cluster.output("master"), reader.cluster.output("run.jsonl"));
    let (db, short) = (reader.cluster.output("traces.db"), reader.cluster.output("short.jsonl"));
    reader.cluster.run(&["trace", "record", "--dir", &master, "-o", &trace]).expect_code(0);
    reader.cluster.run(&["trace", "add", &trace, "--db", &db]).expect_code(0);
    reader.see("replay", &[&trace]);
    reader.see("replay --explain", &["1@1s", &trace]);
    reader.see("compare", &[&trace, "--scheduler", "fifo", "--scheduler", "fair"]);
    reader.see("optimize", &[&trace, "--map-slots", "2", "--reduce-slots", "2"]);
    // Of the run's own jobs another order may be better or not, as its times are.
    let two = reader.cluster.output("two.jsonl");
    reader.cluster.run(&["trace", "generate", "example-two-jobs", "-o", &two]).expect_code(0);
    for method in ["johnson", "reverse-johnson"] {
        reader.see("optimize", &[&two, "--map-slots", "30", "--reduce-slots", "30", "--method", method]);
    }
    reader.see("tune", &["fbq", &trace, "--limits", "1,2", "--no-refine"]);
    reader.see("trace info", &[&trace]);
    reader.see("trace fit", &[&trace]);
    reader.see("trace compare", &[&trace, &trace]);
    reader.see("trace fold", &[&trace, "--jobs", "2", "-o", &short]);
    reader.see("trace import", &[&trace, "-o", &short]);
    reader.see("trace list", &["--db", &db]);
    reader.see("trace query", &["SELECT name, n_jobs FROM traces", "--db", &db]);
    reader.see("predict", &["--dir", &master, "--at", "100ms"]);
    reader.see("what-if", &["--dir", &master, "--at", "100ms", "--workers", "1"]);
    reader.see("predict score", &["--dir", &master, "--every", "1s"]);
}

/// Commands that need neither cluster nor recording.
fn see_machine(reader: &mut Reader) {
    reader.see("trace generate --list", &[]);
    reader.see("trace generate --properties", &["slowdown-swim"]);
    reader.see("experiment list", &[]);
    reader.see("config show", &[]);
    reader.see("load", &["--load", "0.1", "--for", "1s"]);
    reader.see("calibrate", &["--loads", "0,1", "--task", "50ms", "--frequency", "none"]);
    reader.see("bench", &["vitals", "--quick"]);
}

/// Commands over what the daemons left, once they have ended.
fn see_leftovers(reader: &mut Reader) {
    let [master, worker] = ["master", "worker-1"].map(|daemon| reader.cluster.output(daemon));
    reader.see("cluster clean", &[&worker, "--dry-run", "--older-than", "0s"]);
    reader.see("validate", &["--dir", &master, "--repeat", &master]);
    for command in ["journal check", "journal dump", "journal repair"] {
        reader.see(command, &[&master]);
    }
}

#[test]
fn the_guides_reference_of_json_fields_is_what_every_command_prints() {
    let cluster = Cluster::start(Setup { own_hosts: true, ..Setup::default() });
    let mut reader = Reader { cluster, seen: Seen::default() };
    see_jobs(&mut reader);
    see_cluster(&mut reader);
    see_recordings(&mut reader);
    see_machine(&mut reader);
    reader.cluster.stop();
    see_leftovers(&mut reader);

    let before = std::fs::read_to_string(page_path()).expect("read docs/guide/json.md");
    let page = Page::read(&before);
    if std::env::var_os("HOWDAH_WRITE_JSON_FIELDS").is_some() {
        std::fs::write(page_path(), page.written(&before, &reader.seen)).expect("write docs/guide/json.md");
        return;
    }
    let wrong = page.complaints(&reader.seen);
    assert!(wrong.is_empty(), "docs/guide/json.md:\n{}", wrong.join("\n"));
}
