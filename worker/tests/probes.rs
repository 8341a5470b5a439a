//! Probes of a real worker: what they print becomes attributes, and what goes wrong costs theirs and a warning.

mod kit;

use std::collections::HashMap;
use std::path::Path;

use howdah_core::job::JobConf;
use howdah_proto::v1::{AttemptState, HeartbeatRequest};
use howdah_worker::{VitalsSource, WorkerConfig};
use kit::master::Received;
use kit::{Cluster, is_alive, job, map, number_in, until};

type Map = HashMap<String, String>;

/// The newest word on attributes and warnings.
fn probed(received: &Received) -> (&Map, &Map) {
    let set = received.reports.iter().rev().find_map(|report| report.attributes.as_ref());
    match (set, received.registrations.last()) {
        (Some(set), _) => (&set.attributes, &set.probe_warnings),
        (None, Some(hello)) => (&hello.attributes, &hello.probe_warnings),
        (None, None) => panic!("the kit waits for a registration"),
    }
}

fn has(map: &Map, name: &str, value: &str) -> bool {
    map.get(name).is_some_and(|found| found == value)
}

/// Probes as fast as they may be.
fn quick(config: &mut WorkerConfig, probes: &[(&str, &str)]) {
    config.probes = probes.iter().map(|&(name, command)| (name.to_owned(), command.to_owned())).collect();
    config.probe_interval_ms = 100;
    config.probe_timeout_ms = 20_000;
}

fn write(path: &Path, text: &str) {
    // In one step, so that a probe never reads a half.
    let other = path.with_extension("new");
    std::fs::write(&other, text).unwrap();
    std::fs::rename(other, path).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_probes_print_is_told_at_once_and_each_change_of_it() {
    let cluster = Cluster::start_with(job("hang", JobConf::default()), |config| {
        config.attributes = [("disk".to_owned(), "ssd".to_owned())].into();
        std::fs::write(config.dir.join("n"), "1").unwrap();
        quick(config, &[("gpu", "cat n"), ("room", "echo cellar")]);
    });
    let cluster = cluster.await;
    let all = |gpu: &'static str| {
        move |received: &Received| {
            let (attributes, warnings) = probed(received);
            let whole = has(attributes, "gpu", gpu) && has(attributes, "room", "cellar");
            (whole && has(attributes, "disk", "ssd") && warnings.is_empty()).then_some(())
        }
    };
    cluster.master.until("the attributes", all("1")).await;
    cluster.master.launch(map(0));
    cluster.master.until_state(map(0), AttemptState::Running).await;
    write(&cluster.dir.path().join("n"), "2");
    cluster.master.until("the other number", all("2")).await;
    let still = cluster.master.look(|received| received.status(map(0)).map(|status| status.state()));
    assert_eq!(still, Some(AttemptState::Running), "what runs goes on");
    assert_eq!(cluster.master.look(|received| received.registrations.len()), 1, "nobody registers for that");
    // Once it is confirmed, reports are as small as before.
    cluster
        .master
        .until("a plain report", |received| received.reports.last()?.attributes.is_none().then_some(()))
        .await;
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_loses_no_change_and_a_registration_tells_all() {
    let cluster = Cluster::start_with(job("done", JobConf::default()), |config| {
        std::fs::write(config.dir.join("n"), "1").unwrap();
        quick(config, &[("gpu", "cat n")]);
    });
    let cluster = cluster.await;
    cluster.master.until("the attribute", |received| has(probed(received).0, "gpu", "1").then_some(())).await;
    cluster
        .master
        .until("a plain report", |received| received.reports.last()?.attributes.is_none().then_some(()))
        .await;
    cluster.master.lose_answers(1);
    write(&cluster.dir.path().join("n"), "2");
    let twice = |received: &Received| {
        let carries =
            |report: &&HeartbeatRequest| report.attributes.as_ref().is_some_and(|set| has(&set.attributes, "gpu", "2"));
        (received.reports.iter().filter(carries).count() >= 2).then_some(())
    };
    cluster.master.until("the change again, as nobody answered", twice).await;
    cluster.master.forget_worker();
    let hello = cluster.master.until("another registration", |received| received.registrations.get(1).cloned()).await;
    assert!(has(&hello.attributes, "gpu", "2"), "{hello:?}");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_that_hangs_fails_or_prints_garbage_costs_its_attribute_and_delays_no_other() {
    let cluster = Cluster::start_with(job("done", JobConf::default()), |config| {
        let probes = [
            ("hangs", "echo $$ >> pids; sleep 600 & wait"),
            ("garbage", "printf 'a\\001b'"),
            ("vanished", "no-such-probe-anywhere"),
            ("endless", "yes"),
            ("sound", "echo yes; sleep 600 &"),
        ];
        quick(config, &probes);
        config.attributes = [("hangs".to_owned(), "no".to_owned())].into();
        config.probe_timeout_ms = 1_500;
    });
    let cluster = cluster.await;
    // Before the one that hangs was killed.
    cluster.master.until("the sound one", |received| has(probed(received).0, "sound", "yes").then_some(())).await;
    let warnings = |received: &Received| {
        let (attributes, warnings) = probed(received);
        (warnings.len() == 4).then(|| (attributes.clone(), warnings.clone()))
    };
    let (attributes, warnings) = cluster.master.until("four warnings", warnings).await;
    assert_eq!(attributes, [("sound".to_owned(), "yes".to_owned())].into(), "nor does a fixed one stand in");
    assert_eq!(warnings["hangs"], "did not end within 1.5 s and was killed");
    assert_eq!(warnings["garbage"], "printed control characters");
    assert!(warnings["vanished"].starts_with("exited with code 127: "), "{warnings:?}");
    assert_eq!(warnings["endless"], "printed more than 64 KiB");
    let first = number_in_first_line(&cluster.dir.path().join("pids")).await;
    until("the killed one's end", || (!is_alive(first)).then_some(())).await;
    // The worker goes on working.
    cluster.master.launch(map(0));
    cluster.master.until_state(map(0), AttemptState::Succeeded).await;
    cluster.end().await;
}

async fn number_in_first_line(path: &Path) -> i32 {
    until("a process id", || std::fs::read_to_string(path).ok()?.lines().next()?.trim().parse().ok()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_that_recovers_brings_its_attribute_back() {
    let cluster = Cluster::start_with(job("done", JobConf::default()), |config| quick(config, &[("gpu", "cat n")]));
    let cluster = cluster.await;
    let warned = |received: &Received| probed(received).1.get("gpu").cloned();
    let warning = cluster.master.until("a warning", warned).await;
    assert!(warning.starts_with("exited with code 1: "), "{warning}");
    write(&cluster.dir.path().join("n"), "4");
    let back =
        |received: &Received| (has(probed(received).0, "gpu", "4") && probed(received).1.is_empty()).then_some(());
    cluster.master.until("the attribute", back).await;
    std::fs::remove_file(cluster.dir.path().join("n")).unwrap();
    cluster.master.until("the warning again", warned).await;
    assert!(cluster.master.look(|received| probed(received).0.is_empty()), "and the attribute is gone");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_probes_file_is_followed_and_a_bad_one_changes_nothing() {
    let cluster =
        Cluster::start_with(job("done", JobConf::default()), |config| quick(config, &[("room", "echo cellar")]));
    let cluster = cluster.await;
    let file = cluster.dir.path().join("probes.toml");
    write(&file, "gpu = 'echo 1'\n");
    cluster.master.until("the file's probe", |received| has(probed(received).0, "gpu", "1").then_some(())).await;
    write(&file, "gpu = 'echo 2'\nssd =\n");
    let warning =
        cluster.master.until("a word on the file", |received| probed(received).1.get("probes_file").cloned()).await;
    assert!(warning.starts_with("line 2: "), "{warning}");
    assert!(cluster.master.look(|received| has(probed(received).0, "gpu", "1")), "the old probes stay");
    write(&file, "gpu = 'echo 3'\nssd = 'echo yes'\n");
    let both = |received: &Received| {
        (has(probed(received).0, "gpu", "3") && has(probed(received).0, "ssd", "yes")).then_some(())
    };
    cluster.master.until("the mended file's probes", both).await;
    std::fs::remove_file(&file).unwrap();
    let gone =
        |received: &Received| (*probed(received).0 == [("room".to_owned(), "cellar".to_owned())].into()).then_some(());
    cluster.master.until("the configuration's alone", gone).await;
    assert!(cluster.master.look(|received| probed(received).1.is_empty()), "who removes a probe is not warned");
    cluster.end().await;
}

/// Otherwise only the worker's log would say that what it tells of its load is not what the script says.
#[tokio::test(flavor = "multi_thread")]
async fn a_script_of_vitals_that_fails_is_warned_of_until_it_works() {
    let cluster = Cluster::start_with(job("done", JobConf::default()), |config| {
        config.vitals_source = VitalsSource::Script;
        config.vitals_script = format!("cat {}", config.dir.join("said").display());
        config.vitals_interval_ms = 100;
    });
    let cluster = cluster.await;
    let warned = |received: &Received| probed(received).1.get("vitals_script").cloned();
    let warning = cluster.master.until("a warning", warned).await;
    assert_eq!(warning, "it ended with exit status: 1");
    write(&cluster.dir.path().join("said"), "foreign_load 41.5");
    cluster.master.until("no warning", |received| probed(received).1.is_empty().then_some(())).await;
    let said = |received: &Received| {
        Some(received.reports.last()?.vitals.as_ref()?.foreign_milli).filter(|&load| load == 41_500)
    };
    cluster.master.until("what it says", said).await;
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_stops_takes_its_running_probes_with_it() {
    let cluster = Cluster::start_with(job("done", JobConf::default()), |config| {
        quick(config, &[("hangs", "sleep 600 & echo $! > child; echo $$ > own; wait")]);
    });
    let cluster = cluster.await;
    let own = number_in(cluster.dir.path().join("own")).await;
    let child = number_in(cluster.dir.path().join("child")).await;
    assert!(is_alive(own) && is_alive(child));
    let (_master, _dir) = cluster.end().await;
    until("their end", || (!is_alive(own) && !is_alive(child)).then_some(())).await;
}

#[test]
fn settings_that_no_probe_can_have_are_refused() {
    let config = |change: &dyn Fn(&mut WorkerConfig)| {
        let mut config = WorkerConfig { master: "m:1".to_owned(), dir: "d".into(), ..WorkerConfig::default() };
        change(&mut config);
        config.check().map_err(|error| error.to_string())
    };
    let pair = |name: &str, value: &str| [(name.to_owned(), value.to_owned())].into();
    assert_eq!(config(&|c| c.probes = pair("gpu", "echo 1")), Ok(()));
    let said = config(&|c| c.probes = pair("a b", "echo 1")).unwrap_err();
    assert!(said.starts_with("setting `probes`: probe `a b`: not an attribute's name, expected letters"), "{said}");
    let said = config(&|c| c.attributes = pair("gpu", " 1")).unwrap_err();
    assert!(said.starts_with("setting `attributes`: the value of `gpu` will not do, expected"), "{said}");
    let said = config(&|c| c.probe_interval_ms = 0).unwrap_err();
    assert_eq!(said, "setting `probe_interval_ms`: 0 is too short, expected at least 100");
}
