//! Forecasts of a live cluster, and of a moment of its recording.

use serde_json::Value;

use crate::harness::{Cluster, Setup, wait_for};

/// Jobs of one family: the first to learn from, the others to tell.
const NAPS: [&str; 8] = ["sleep", "-m", "8", "-mt", "600", "-r", "1", "-rt"];

fn nap(cluster: &Cluster, number: u32) -> String {
    let name = format!("nap-{number}");
    cluster.submit(&[&NAPS[..], &["300", "--name", &name]].concat())
}

fn job<'a>(forecast: &'a Value, id: &str) -> &'a Value {
    let jobs = forecast["jobs"].as_array().expect("a list of jobs");
    jobs.iter().find(|job| job["job"] == id).unwrap_or_else(|| panic!("{id} is not in {forecast}"))
}

#[test]
fn a_live_cluster_tells_when_its_jobs_will_end_and_its_recording_tells_the_same_later() {
    let cluster = Cluster::start(Setup::default());
    let first = nap(&cluster, 1);
    cluster.wait_job(&first, 0);
    wait_for("what the first job taught", || {
        cluster.json(&["predict"])["made"]["tasks_learnt"].as_u64().filter(|&n| n >= 9)
    });
    let jobs = [nap(&cluster, 2), nap(&cluster, 3), nap(&cluster, 4)];
    let told = cluster.json(&["predict", "--starts", "100"]);
    let ends: Vec<u64> = jobs
        .iter()
        .map(|id| {
            let job = job(&told["forecast"], id);
            assert_eq!(job["seen"], true, "{told}");
            let end = |key: &str| job[key].as_u64().unwrap_or_else(|| panic!("no {key}: {told}"));
            assert!(end("low_ms_epoch") <= end("finish_ms_epoch") && end("finish_ms_epoch") <= end("high_ms_epoch"));
            end("finish_ms_epoch")
        })
        .collect();
    assert!(ends.windows(2).all(|pair| pair[0] <= pair[1]), "under FIFO they end in order: {told}");
    assert!(told["forecast"]["starts"].as_array().is_some_and(|starts| !starts.is_empty()), "{told}");

    let worse = cluster.json(&["what-if", "--workers", "-1"]);
    assert!(worse["changed"]["makespan_s"].as_f64() > worse["present"]["makespan_s"].as_f64(), "{worse}");
    let thought = cluster.json(&["what-if", "--submit", "sleep", "--name", "nap-9", "--maps", "8", "--reduces", "1"]);
    let added = thought["changed"]["jobs"].as_array().and_then(|jobs| jobs.last()).expect("it is listed");
    assert!(added["hypothetical"] == true && added["seen"] == true && added["finish_ms_epoch"].is_u64(), "{thought}");
    let killed = cluster.json(&["what-if", "--kill", &jobs[1]]);
    assert!(killed["changed"]["jobs"].as_array().is_some_and(|left| left.iter().all(|job| job["job"] != jobs[1])));
    let refused = cluster.run(&["what-if", "--scheduler", "nobody"]).expect_code(2);
    assert!(refused.stderr.contains("scheduler `nobody`: no such scheduler"), "{}", refused.stderr);

    for id in &jobs {
        cluster.wait_job(id, 0);
    }
    let last = cluster.json(&["job", "status", &jobs[2]])["finish_ms_epoch"].as_u64().expect("it is over");
    let took = last.saturating_sub(told["forecast"]["at_ms_epoch"].as_u64().expect("an instant")) as f64;
    let error = (last as f64 - ends[2] as f64).abs();
    assert!(error < 0.5 * took + 2_000.0, "told {error} ms wrong of {took} ms: {told}");

    let dir = cluster.output("master");
    let at = cluster.json(&["predict", "--dir", &dir, "--at", "1s"]);
    assert!(at["forecast"]["jobs"].as_array().is_some_and(|jobs| jobs.len() == 1), "{at}");
    let score = cluster.json(&["predict", "score", "--dir", &dir, "--every", "500ms"]);
    assert!(score["score"]["tasks"]["n"].as_u64().is_some_and(|n| n >= 27), "{score}");
    assert!(score["jobs"].as_array().is_some_and(|jobs| jobs.len() > 3), "{score}");
    // Nothing of all that is in the decisions.
    let report = cluster.stop_and_validate();
    assert_eq!(report["decisions"]["identical"], report["decisions"]["compared"], "{report}");
}
