//! Several jobs at once: ids, ranges and filters; what waiting says; and names that would steer a terminal.

use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::harness::{Cluster, Setup, wait_for};
use crate::waiting::ended_within;

const HOSTILE: &str = "night\u{1b}[2J\u{202e}ly\u{9b}31m\nerror: not ours";

fn small() -> Setup {
    Setup { workers: 1, map_slots: 1, reduce_slots: 1, ..Setup::default() }
}

fn steers(text: &str) -> bool {
    text.chars().any(|c| c.is_control() && c != '\n' || c == '\u{202e}')
}

#[test]
fn what_a_task_complains_of_does_not_steer_a_terminal_and_programs_get_it_unchanged() {
    let cluster = Cluster::start(small());
    let said = cluster.run(&["submit", "sleep", "-m", "1", "--name", HOSTILE]).expect_code(2);
    assert!(!steers(&said.all()), "{:?}", said.all());
    let (input, out) = (cluster.text("input.txt", "one line\n"), cluster.output("out"));
    let mapper = cluster.script("mapper.sh", r"printf 'on \033[2Jfire\342\200\256\302\2331m\n' >&2; exit 7");
    let tries = ["-D", "mapred.map.max.attempts=1"];
    let args = ["submit", "streaming", "--mapper", &mapper, "--reducer", "cat", "--input", &input, "--output", &out];
    let said = cluster.run(&[&args[..], &tries, &["--wait"]].concat()).expect_code(1);
    assert!(!steers(&said.all()), "{:?}", said.all());
    let job = cluster.jobs()[0]["job"].as_str().expect("an id").to_owned();
    let why = cluster.run(&["job", "why", &job]).expect_code(0);
    assert!(!steers(&why.all()), "{:?}", why.all());
    assert!(why.stdout.contains(r"on \u{1b}[2Jfire\u{202e}\u{9b}1m"), "{}", why.stdout);
    let json = cluster.run(&["job", "why", &job, "--output", "json"]).expect_code(0);
    assert!(!steers(&json.stdout), "{:?}", json.stdout);
    let printed = json.json()["failed_attempts"][0]["stderr_tail"].to_string();
    let tail: String = serde_json::from_str(&printed).expect("a text");
    assert!(tail.contains("on \u{1b}[2Jfire\u{202e}\u{9b}1m"), "{tail:?}");
    // A file's own content passes as it is.
    let log = cluster.run(&["job", "logs", &job, "--stderr"]).expect_code(0);
    assert!(log.stdout.contains('\u{1b}'), "{:?}", log.stdout);
    cluster.stop_and_replay();
}

#[test]
fn ranges_and_filters_name_many_jobs() {
    let cluster = Cluster::start(small());
    let jobs: Vec<String> = (0..4).map(|_| cluster.sleep(1, 600_000, 0)).collect();
    let other = cluster.submit(&["sleep", "-m", "1", "-mt", "600000", "-r", "0", "--name", "other"]);
    cluster.run(&["job", "set-priority", "2-3", &jobs[3], "LOW"]).expect_code(0);
    let low: Vec<String> =
        cluster.jobs().iter().filter(|j| j["priority"] == "LOW").map(|j| j["job"].to_string()).collect();
    assert_eq!(low.len(), 3, "{low:?}");
    cluster.run(&["job", "kill", "1", "3-4"]).expect_code(0);
    let killed = cluster.json(&["job", "list", "--state", "killed"]);
    assert_eq!(killed["jobs"].as_array().map(Vec::len), Some(3), "{killed}");
    let named = cluster.json(&["job", "list", "--name", "OTH"]);
    assert_eq!(named["jobs"][0]["job"], other.as_str());
    assert_eq!(named["jobs"].as_array().map(Vec::len), Some(1));
    let page = cluster.json(&["job", "list", "--last", "2", "--page", "2"]);
    assert_eq!(page["jobs"][0]["job"], jobs[1].as_str(), "{page}");
    cluster.run(&["job", "kill", "--queue", "nobodys"]).expect_code(0);
    assert_eq!(cluster.status(&other)["finish_ms_epoch"], serde_json::Value::Null);
    let said = cluster.run(&["job", "kill", "1", "--all"]).expect_code(2);
    assert!(said.stderr.contains("expected one of both"), "{}", said.stderr);
    cluster.run(&["job", "kill", "--user", "nobody-of-this-name"]).expect_code(0);
    assert_eq!(cluster.status(&other)["finish_ms_epoch"], serde_json::Value::Null);
    let me = cluster.status(&other)["user"].as_str().expect("a user").to_owned();
    let killed = cluster.json(&["job", "kill", "--user", &me]);
    assert_eq!(killed["done"], serde_json::json!([jobs[1], other]), "{killed}");
    assert_eq!(cluster.status(&other)["state"], "KILLED");
    cluster.run(&["job", "kill", "--all"]).expect_code(0);
    cluster.stop_and_replay();
}

#[test]
fn waiting_for_several_names_each_and_says_who_is_queued() {
    let cluster = Cluster::start(small());
    let (first, second) = (cluster.sleep(1, 1_500, 0), cluster.sleep(1, 100, 0));
    let said = cluster.run(&["job", "wait", &first, &second]).expect_code(0);
    for job in [&first, &second] {
        assert!(said.stdout.contains(&format!("{job}  map 100% reduce ")), "{}", said.stdout);
    }
    let ended = cluster.json(&["job", "wait", "1-2"]);
    assert_eq!(ended["jobs"].as_array().map(Vec::len), Some(2), "{ended}");
    let waited = cluster.run(&["submit", "sleep", "-m", "1", "-mt", "10", "-r", "0", "--wait"]).expect_code(0);
    assert!(waited.stdout.contains("Job complete") && waited.stdout.contains(", took "), "{}", waited.stdout);
    let blocker = cluster.sleep(1, 600_000, 0);
    cluster.wait_running_maps(&blocker, 1);
    let queued = cluster.sleep(1, 10, 0);
    let said = cluster.run(&["job", "wait", &queued, "--timeout", "2s"]).expect_code(4);
    assert!(said.stdout.contains(&format!("Queued job: {queued}, in queue default")), "{}", said.stdout);
    assert!(!said.stdout.contains("Running job"), "{}", said.stdout);
    cluster.run(&["job", "kill", "--all"]).expect_code(0);
    cluster.stop_and_replay();
}

#[test]
fn ctrl_c_says_what_goes_on_and_how_to_end_it() {
    let cluster = Cluster::start(small());
    let job = cluster.sleep(1, 600_000, 0);
    cluster.wait_running_maps(&job, 1);
    let mut wait = cluster.command(&["job", "wait", &job]);
    let mut child = wait.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let pid = Pid::from_raw(child.id() as i32);
    // It listens for Ctrl-C once it caught the signal's number.
    wait_for("the command to listen", || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?.trim().to_owned();
        (u64::from_str_radix(&caught, 16).ok()? >> (Signal::SIGINT as i32 - 1) & 1 == 1).then_some(())
    });
    kill(pid, Signal::SIGINT).expect("it is there");
    let output = ended_within(&mut child, "`job wait` after Ctrl-C");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains(&format!("job {job} goes on running")), "{said}");
    assert!(said.contains(&format!("help: `howdah job kill {job}`")), "{said}");
    assert_eq!(cluster.status(&job)["state"], "RUNNING");
    cluster.run(&["job", "kill", &job]).expect_code(0);
    cluster.stop_and_replay();
}

#[test]
fn a_job_moves_to_another_queue_with_what_it_runs_and_is_there_after_a_restart() {
    let folder = tempfile::tempdir().expect("make a folder");
    let file = folder.path().join("queues.toml");
    std::fs::write(&file, "[queues.a]\ncapacity = 50\n[queues.b]\ncapacity = 50\n").expect("write the queues");
    let master_config = format!(
        "[master]\nhttp_listen = \"127.0.0.1:0\"\nscheduler = \"capacity\"\n[master.scheduler_params]\n\
         \"allocation.file\" = {:?}\n",
        file.display().to_string()
    );
    let mut cluster = Cluster::start(Setup { workers: 1, map_slots: 4, master_config, ..Setup::default() });
    let queues = |cluster: &Cluster| {
        let all = cluster.json(&["queue", "list"]);
        let of = |name: &str| {
            let queue = all["queues"].as_array().and_then(|all| all.iter().find(|queue| queue["name"] == name));
            queue.map_or(0, |queue| queue["share"]["running_maps"].as_u64().expect("a number"))
        };
        (of("a"), of("b"))
    };
    let job = cluster.submit(&["sleep", "-m", "9", "-mt", "600000", "-r", "0", "--queue", "a"]);
    wait_for("the job to have its queue's slots", || (queues(&cluster) == (2, 0)).then_some(()));
    let refused = cluster.run(&["job", "move", &job, "nowhere"]).expect_code(2).stderr;
    assert!(refused.contains("queue `nowhere` does not exist, expected one of a, b"), "{refused}");
    assert_eq!(cluster.status(&job)["queue"], "a");
    let said = cluster.run(&["job", "move", "1", "b"]).expect_code(0).stdout;
    assert!(said.contains(&format!("job {job} is in queue b")), "{said}");
    assert_eq!(cluster.status(&job)["queue"], "b");
    wait_for("the job to count in its new queue", || (queues(&cluster) == (0, 2)).then_some(()));
    // Its old queue has room for another.
    let other = cluster.submit(&["sleep", "-m", "9", "-mt", "600000", "-r", "0", "--queue", "a"]);
    wait_for("the other job to start", || (queues(&cluster) == (2, 2)).then_some(()));
    let path = format!("/ws/v1/cluster/apps/{}/queue", other.replace("job", "application"));
    let put = |body| cluster.request("PUT", &path, body);
    assert_eq!(put(r#"{"queue":"nowhere"}"#).0, 400);
    assert_eq!(put(r#"{"queue":7}"#).0, 400);
    assert_eq!(put(r#"{"queue":"b"}"#), (200, serde_json::json!({ "queue": "b" })));
    wait_for("both jobs to count in one queue", || (queues(&cluster) == (0, 4)).then_some(()));
    cluster.kill_master();
    cluster.restart_master();
    assert_eq!((&cluster.status(&job)["queue"], &cluster.status(&other)["queue"]), (&"b".into(), &"b".into()));
    wait_for("their attempts to count there", || (queues(&cluster) == (0, 4)).then_some(()));
    cluster.run(&["job", "kill", "--queue", "b"]).expect_code(0);
    assert_eq!(cluster.json(&["job", "history", &job])["job"]["queue"], "b");
    let over = cluster.run(&["job", "move", &job, "a"]).expect_code(2).stderr;
    assert!(over.contains("KILLED"), "{over}");
    cluster.stop_and_replay();
}
