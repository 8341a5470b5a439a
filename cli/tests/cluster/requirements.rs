//! Jobs wait for workers whose probes say what they require, over real daemons.

use serde_json::Value;

use crate::harness::{Cluster, Finished, Mark, PATIENCE, Setup, howdah, wait_for};

/// Two workers whose probe reads a file in the worker's directory.
fn probing() -> Cluster {
    let worker_config = "[worker]\nprobe_interval_ms = 100\nprobe_timeout_ms = 20000\n[worker.attributes]\nroom = \
                         \"cellar\"\n[worker.probes]\ngpu = \"cat gpu\"\n";
    Cluster::start(Setup { map_slots: 1, worker_config: worker_config.to_owned(), ..Setup::default() })
}

fn worker(cluster: &Cluster, name: &str) -> Value {
    cluster.workers().into_iter().find(|worker| worker["name"] == name).expect("it registered")
}

fn explain(cluster: &Cluster, job: &str) -> String {
    cluster.run(&["job", "explain", job]).expect_code(0).stdout
}

fn set_gpu(cluster: &Cluster, worker: &str, value: &str) {
    // In one step, so that the probe never reads a half.
    let path = cluster.path(worker).join("gpu");
    std::fs::write(path.with_extension("new"), value).expect("written");
    std::fs::rename(path.with_extension("new"), path).expect("renamed");
}

#[test]
fn a_job_waits_for_the_worker_whose_probe_says_what_it_requires() {
    let cluster = probing();
    wait_for("both probes' warnings", || {
        let warned = |name| worker(&cluster, name)["probe_warnings"]["gpu"].as_str().map(str::to_owned);
        let both = [warned("worker-1")?, warned("worker-2")?];
        both.iter().all(|warning| warning.starts_with("exited with code 1")).then_some(())
    });
    let list = cluster.run(&["worker", "list"]).expect_code(0).stdout;
    assert!(list.contains("room=cellar") && list.contains("worker-2: probe gpu: exited with code 1"), "{list}");

    let job = cluster.submit(&["sleep", "-m", "2", "-mt", "50", "--requires", "gpu>=1", "--requires", "room=cellar"]);
    assert_eq!(cluster.status(&job)["requires"], serde_json::json!(["gpu>=1", "room=cellar"]));
    let said = explain(&cluster, &job);
    assert!(said.contains("No live worker meets gpu>=1 (of 2: 2 have no gpu)."), "{said}");
    let other = cluster.sleep(4, 20, 0);
    cluster.wait_job(&other, 0);

    set_gpu(&cluster, "worker-1", "0");
    wait_for("the page to say so", || {
        explain(&cluster, &job).contains("No live worker meets gpu>=1 (of 2: 1 has no gpu, 1 has gpu=0).").then_some(())
    });
    set_gpu(&cluster, "worker-2", "2");
    cluster.wait_job(&job, 0);
    let attempts = cluster.attempts(&job);
    assert!(attempts.len() == 2 && attempts.iter().all(|attempt| attempt["worker"] == "worker-2"), "{attempts:?}");
    assert_eq!(worker(&cluster, "worker-2")["attributes"], serde_json::json!({"gpu": "2", "room": "cellar"}));
    as_simulated(&cluster, &job);
    cluster.stop_and_replay();
}

/// The trace of the run keeps what the job required and what the workers said when, so that a replay of it waits as long,
/// for the same reason, and runs in the same place.
fn as_simulated(cluster: &Cluster, job: &str) {
    let path = |name: &str| cluster.path(name).to_str().expect("a plain path").to_owned();
    let (trace, decisions) = (path("run.jsonl"), path("simulated.jsonl"));
    let run = |args: &[&str]| Finished::of(howdah(&Mark::new()).args(args), PATIENCE).expect_code(0).stdout;
    run(&["trace", "record", "--dir", &path("master"), "-o", &trace]);
    let text = std::fs::read_to_string(&trace).expect("it was written");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let recorded = lines.iter().find(|line| line["id"] == job).expect("the job is there");
    assert_eq!(recorded["requires"], serde_json::json!(["gpu>=1", "room=cellar"]));
    let workers = lines[0]["cluster"]["workers"].as_array().expect("a list").clone();
    let second = workers.iter().find(|worker| worker["name"] == "worker-2").expect("it registered");
    assert_eq!(second["attributes"], serde_json::json!({"room": "cellar"}), "before its probe found anything");
    let changes = second["attribute_changes"].as_array().expect("a list").clone();
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(changes[0]["attributes"], serde_json::json!({"gpu": "2", "room": "cellar"}));
    let changed_ms = changes[0]["at_ms"].as_u64().expect("an instant");
    let question = format!("{job}@{}ms", changed_ms - 1);
    let said = run(&["replay", &trace, "--explain", &question]);
    assert!(said.contains("No live worker meets gpu>=1 (of 2: 1 has no gpu, 1 has gpu=0)."), "{said}");
    run(&["replay", &trace, "--decisions", &decisions]);
    let text = std::fs::read_to_string(&decisions).expect("it was written");
    let launches = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let own: Vec<Value> = launches.filter(|line| line["job"] == job).collect();
    assert!(own.len() == 2 && own.iter().all(|line| line["worker"] == "worker-2"), "{own:?}");
    let changed_s = changed_ms as f64 / 1e3;
    assert!(own.iter().all(|line| line["at_s"].as_f64().expect("an instant") >= changed_s), "{own:?}");
}

#[test]
fn what_runs_goes_on_when_its_workers_attribute_goes() {
    let cluster = probing();
    set_gpu(&cluster, "worker-1", "1");
    let job = cluster.submit(&["sleep", "-m", "2", "-mt", "10000", "--requires", "gpu"]);
    cluster.wait_running_maps(&job, 1);
    std::fs::remove_file(cluster.path("worker-1").join("gpu")).expect("removed");
    wait_for("the attribute to go", || worker(&cluster, "worker-1")["attributes"]["gpu"].is_null().then_some(()));
    wait_for("the first map to end", || (cluster.status(&job)["maps_done"] == 1).then_some(()));
    let status = cluster.status(&job);
    assert_eq!((&status["maps_running"], &status["killed_attempts"]), (&0.into(), &0.into()), "{status}");
    let said = explain(&cluster, &job);
    assert!(said.contains("No live worker meets gpu (of 2: 2 have no gpu)."), "{said}");
    set_gpu(&cluster, "worker-2", "yes");
    cluster.wait_job(&job, 0);
    cluster.stop_and_replay();
}

#[test]
fn what_is_no_requirement_is_refused_before_anything_is_sent() {
    let cluster = Cluster::start(Setup::default());
    let said = cluster.run(&["submit", "sleep", "--requires", "gpu>=fast"]).expect_code(2).stderr;
    assert!(said.contains("requirement `gpu>=fast`: `fast` is no number, expected one such as 4 or 1.5"), "{said}");
    assert!(cluster.jobs().is_empty());
}
