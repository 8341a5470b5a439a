//! What is reported without asking: properties that nothing reads, a scheduler that does nothing special, workers
//! that went silent, names for their shells.

use std::process::Command;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::harness::{Cluster, Finished, Setup, wait_for};

fn small() -> Setup {
    Setup { workers: 1, map_slots: 1, reduce_slots: 1, ..Setup::default() }
}

#[test]
fn properties_that_nothing_reads_are_in_the_jobs_status() {
    let cluster = Cluster::start(small());
    let define = ["-D", "io.sort.mbb=200", "-D", "my.own=1", "-D", "io.sort.mb=10"];
    let job = cluster.submit(&[&["sleep", "-m", "1", "-r", "0"][..], &define].concat());
    let status = cluster.status(&job);
    let expected = serde_json::json!([
        { "property": "io.sort.mbb", "meant": "io.sort.mb" },
        { "property": "my.own", "meant": null },
    ]);
    assert_eq!(status["unread_properties"], expected, "{status}");
    let card = cluster.run(&["job", "status", &job]).expect_code(0).stdout;
    assert!(card.contains("unread io.sort.mbb (did you mean io.sort.mb?), my.own"), "{card}");
    let plain = cluster.sleep(1, 1, 0);
    assert_eq!(cluster.status(&plain)["unread_properties"], serde_json::json!([]));
    assert!(!cluster.run(&["job", "status", &plain]).expect_code(0).stdout.contains("unread"));
    for job in [&job, &plain] {
        cluster.wait_job(job, 0);
    }
    cluster.stop_and_replay();
}

#[test]
fn a_wish_for_maps_is_unread_where_it_means_nothing() {
    let cluster = Cluster::start(small());
    let (input, out) = (cluster.text("words", "to be or not to be\n"), cluster.output("out"));
    let wish = ["-D", "mapred.map.tasks=3", "--input", &input, "--output", &out];
    let counted = cluster.submit(&[&["wordcount"][..], &wish].concat());
    // While it runs and when it is over, which the master reads from its history.
    for _ in 0..2 {
        let unread = cluster.status(&counted)["unread_properties"].clone();
        assert_eq!(unread, serde_json::json!([{ "property": "mapred.map.tasks", "meant": null }]));
        cluster.wait_job(&counted, 0);
    }
    assert_eq!(cluster.status(&counted)["maps"], 1);
    let out = cluster.output("streamed");
    let wish = ["-D", "mapred.map.tasks=3", "--input", &input, "--output", &out, "--mapper", "cat"];
    let streamed = cluster.submit(&[&["streaming"][..], &wish].concat());
    let status = cluster.status(&streamed);
    // 19 bytes: 6, 6, 6, and the last one is more than a tenth.
    assert_eq!((&status["unread_properties"], &status["maps"]), (&serde_json::json!([]), &serde_json::json!(4)));
    cluster.wait_job(&streamed, 0);
    cluster.stop_and_replay();
}

#[test]
fn a_jobs_name_and_priority_may_be_properties_of_hadoops_names() {
    let cluster = Cluster::start(small());
    let define = ["-D", "mapred.job.priority=LOW", "-D", "mapreduce.job.name=nightly"];
    let job = cluster.submit(&[&["sleep", "-m", "1", "-r", "0"][..], &define].concat());
    let status = cluster.status(&job);
    assert_eq!((&status["priority"], &status["name"]), (&"LOW".into(), &"nightly".into()), "{status}");
    let flags = ["--priority", "HIGH", "--name", "daily"];
    let job = cluster.submit(&[&["sleep", "-m", "1", "-r", "0"][..], &define, &flags].concat());
    let status = cluster.status(&job);
    assert_eq!((&status["priority"], &status["name"]), (&"HIGH".into(), &"daily".into()), "{status}");
    let wrong = ["submit", "sleep", "-m", "1", "-D", "mapred.job.priority=urgent"];
    let said = cluster.run(&wrong).expect_code(2).stderr;
    assert!(said.contains("property `mapred.job.priority`: "), "{said}");
    cluster.stop_and_replay();
}

#[test]
fn a_policy_of_deadlines_says_that_there_are_none() {
    let master_config = "[master]\nscheduler = \"minedf\"\n".to_owned();
    let cluster = Cluster::start(Setup { master_config, ..small() });
    let said = "no job that is not over has a deadline: `minedf` serves them in order of submission";
    let shown = || cluster.run(&["scheduler", "show"]).expect_code(0).stdout;
    assert!(shown().contains("minedf decides") && !shown().contains(said), "without jobs: {}", shown());
    let long = ["-m", "1", "-mt", "600000", "-r", "0"];
    let first = cluster.run(&[&["submit", "sleep"][..], &long].concat()).expect_code(0);
    assert!(first.stderr.contains(&format!("warning: {said}")), "{}", first.all());
    assert!(shown().contains(said), "{}", shown());
    let json = cluster.json(&["scheduler", "show"]);
    assert_eq!((&json["schema"], &json["scheduler"]), (&"howdah/scheduler/v1".into(), &"minedf".into()));
    assert!(json["warnings"][0].as_str().is_some_and(|warning| warning.starts_with(said)), "{json}");
    let second = cluster.run(&[&["submit", "--deadline", "1h", "sleep"][..], &long].concat()).expect_code(0);
    assert!(!second.stderr.contains("warning: "), "{}", second.all());
    assert!(!shown().contains(said), "{}", shown());
    cluster.run(&["job", "kill", "1-2"]).expect_code(0);
    for job in cluster.jobs() {
        cluster.wait_job(job["job"].as_str().expect("an id"), 1);
    }
    cluster.stop_and_replay();
}

#[test]
fn the_clusters_card_counts_silent_workers_apart_from_live_ones() {
    let cluster = Cluster::start(Setup { map_slots: 1, ..Setup::default() });
    cluster.halt_worker(1);
    wait_for("a silent worker", || (cluster.worker_state(1).as_deref() == Some("SILENT")).then_some(()));
    let json = cluster.json(&["cluster"]);
    assert_eq!((&json["live_workers"], &json["silent_workers"]), (&1.into(), &1.into()), "{json}");
    let card = cluster.run(&["cluster"]).expect_code(0).stdout;
    assert!(card.contains("workers 1 live, 1 silent"), "{card}");
    cluster.signal_worker(1, Signal::SIGCONT);
    wait_for("both to be live", || (cluster.json(&["cluster"])["live_workers"] == 2).then_some(()));
    cluster.stop_and_replay();
}

/// What bash would offer for the last of these words.
fn offered(cluster: &Cluster, words: &[&str]) -> Vec<String> {
    let howdah = cluster.command(&[]);
    let own = std::path::Path::new(howdah.get_program()).parent().expect("it lies in a folder");
    let path = format!("{}:{}", own.display(), std::env::var("PATH").expect("a shell needs a path"));
    let script = r#"eval "$(howdah completions bash)"
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _howdah_names howdah "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\n' "${COMPREPLY[@]}""#;
    let mut bash = Command::new("bash");
    bash.args(["-c", script, "bash"]).args(words).env("PATH", path);
    let said = Finished::of(&mut bash, Duration::from_secs(60)).expect_code(0);
    said.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn a_shell_completes_the_names_of_jobs_and_workers() {
    let cluster = Cluster::start(small());
    let [first, second] = [cluster.sleep(1, 1, 0), cluster.sleep(1, 1, 0)];
    let (host, port) = cluster.address.split_once(':').expect("host and port");
    // As bash splits it.
    let master = ["--master", host, ":", port];
    let of = |words: &[&str], last: &str| offered(&cluster, &[&["howdah"], words, &master, &[last]].concat());
    assert_eq!(of(&["job", "status"], ""), [second.clone(), first.clone()]);
    assert_eq!(of(&["job", "wait", &second], &first), std::slice::from_ref(&first));
    assert_eq!(of(&["worker", "drain"], "work"), ["worker-1"]);
    assert!(of(&["job", "status"], "--ou").contains(&"--output".to_owned()));
    // Nobody there: nothing of ours is offered, and nothing is said.
    assert!(
        offered(&cluster, &["howdah", "job", "kill", "--master", "127.0.0.1", ":", "1", "job_"]).concat().is_empty()
    );
    for job in [&first, &second] {
        cluster.wait_job(job, 0);
    }
    cluster.stop_and_replay();
}
