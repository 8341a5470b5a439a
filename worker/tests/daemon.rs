//! The worker as a daemon: lost answers, masters that come and go, stopping, leaving nothing behind.

mod kit;

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use howdah_core::job::JobConf;
use howdah_proto::stop::Stop;
use howdah_proto::v1::AttemptState;
use howdah_proto::v1::directive::Kind;
use howdah_worker::WorkerConfig;
use kit::master::Received;
use kit::{Cluster, FakeMaster, is_alive, job, map, number_in, reduce, until};
use tempfile::TempDir;

#[tokio::test(flavor = "multi_thread")]
async fn the_registration_says_what_the_worker_is() {
    let cluster = Cluster::start_with(job("done", JobConf::default()), |config| {
        config.attributes.insert("gpu".to_owned(), "no".to_owned());
    });
    let cluster = cluster.await;
    let hello = cluster.master.look(|received| received.registrations[0].clone());
    assert_eq!((hello.name.as_str(), hello.host.as_str()), ("worker-1", "localhost"));
    assert_eq!((hello.map_slots, hello.reduce_slots), (4, 2));
    assert_eq!(hello.attributes.get("gpu").map(String::as_str), Some("no"));
    let report = cluster.master.until("a report", |received| received.reports.first().cloned()).await;
    assert_eq!((report.worker, report.incarnation), (3, hello.incarnation));
    assert!(report.accepts_tasks && report.may_park);
    let vitals = report.vitals.expect("vitals");
    assert!(vitals.n_cpus > 0 && vitals.memory_total_kib > 0 && vitals.disk_free_kib > 0, "{vitals:?}");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_of_eight_running_attempts_is_small() {
    let cluster = Cluster::start_with(job("hang", JobConf::default()), |config| {
        config.map_slots = 8;
        // Something new to show in each report.
        config.vitals_interval_ms = 100;
    });
    let cluster = cluster.await;
    for index in 0..8 {
        cluster.master.launch(map(index));
    }
    let counted = |received: &Received| {
        let with =
            received.reports.iter().flat_map(|report| &report.attempts).filter(|status| status.counters.is_some());
        let counted: BTreeSet<u32> = with.filter_map(|status| status.attempt.map(|attempt| attempt.index)).collect();
        (counted.len() == 8).then_some(())
    };
    cluster.master.until("the counters of all", counted).await;
    // The first words on an attempt have its counters and message with them; later ones do not.
    let report = cluster.master.until("a plain report", |received| {
        let report = received.reports.last()?;
        let plain = report.attempts.iter().all(|status| status.progress > 0 && status.counters.is_none());
        (report.attempts.len() == 8 && plain).then(|| report.clone())
    });
    let bytes = prost::Message::encoded_len(&report.await);
    assert!(bytes < 400, "{bytes} bytes");
    // The counters of a few at a time.
    let most = cluster.master.look(|received| {
        let with_counters = |report: &howdah_proto::v1::HeartbeatRequest| {
            report.attempts.iter().filter(|status| status.counters.is_some()).count()
        };
        received.reports.iter().map(with_counters).max()
    });
    assert!(most.is_some_and(|most| most <= 3), "{most:?} attempts with counters in a report");
    // A machine of many cores has much to show, and a program may have many counters: never both at once.
    let (pages, both) = cluster.master.look(|received| {
        let pages =
            received.reports.iter().filter(|r| r.vitals.as_ref().is_some_and(|vitals| vitals.details.is_some()));
        (pages.clone().count(), pages.filter(|r| r.attempts.iter().any(|status| status.counters.is_some())).count())
    });
    assert!(pages > 0 && both == 0, "{both} of {pages}");
    // Whether it has counters or not, and whatever only pages show, it stays below a KiB.
    let most = cluster.master.look(|received| received.reports.iter().map(prost::Message::encoded_len).max());
    assert!(most.is_some_and(|bytes| bytes < 1_024), "{most:?} bytes");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn vitals_agree_with_what_the_kernel_says() {
    let cluster = Cluster::start(job("done", JobConf::default())).await;
    // All of them change all the time, so a report is awaited that says what the files say in the same moment.
    let file = |path: &str| std::fs::read_to_string(path).unwrap();
    let loads = || {
        let text = file("/proc/loadavg");
        let milli = |word: &str| (word.parse::<f64>().unwrap() * 1e3).round() as u32;
        text.split_whitespace().take(3).map(milli).collect::<Vec<u32>>()
    };
    let memory = |name: &str| {
        let text = file("/proc/meminfo");
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let disk_free_kib = || {
        let disk = nix::sys::statvfs::statvfs(cluster.dir.path()).unwrap();
        disk.blocks_available() * disk.fragment_size() / 1_024
    };
    let close = |one: u64, other: u64, of: u64| one.abs_diff(other) <= of / 64;
    let vitals = cluster.master.until("a report that agrees with /proc and the disk", |received| {
        let v = received
            .reports
            .last()?
            .vitals
            .as_ref()
            .filter(|v| [v.load1_milli, v.load5_milli, v.load15_milli][..] == loads())?;
        let free = close(v.memory_free_kib, memory("MemAvailable"), v.memory_total_kib);
        let disk = close(v.disk_free_kib, disk_free_kib(), disk_free_kib());
        (free && disk).then(|| v.clone())
    });
    let vitals = vitals.await;
    let cpuinfo = file("/proc/cpuinfo");
    let cpus = cpuinfo.lines().filter(|l| l.starts_with("processor")).count();
    assert_eq!(vitals.n_cpus as usize, cpus);
    // A quota above this process counts too, and a part of a core is cut off there.
    assert_eq!((vitals.cpus_milli / 1_000).max(1) as usize, std::thread::available_parallelism().unwrap().get());
    assert_eq!(vitals.memory_total_kib, memory("MemTotal"));
    assert!(vitals.foreign_milli <= vitals.run_queue_milli + 1_000);
    let mhz = |line: &str| line.strip_prefix("cpu MHz")?.split_once(':')?.1.trim().parse::<f64>().ok();
    let mhz: Vec<f64> = cpuinfo.lines().filter_map(mhz).collect();
    if !mhz.is_empty() {
        // Cores speed up and slow down; a unit that is wrong is off by a thousand.
        let share = f64::from(vitals.cpu_khz) / 1e3 / (mhz.iter().sum::<f64>() / mhz.len() as f64);
        assert!((0.3..3.0).contains(&share), "{vitals:?} beside {mhz:?} MHz");
    }
    assert!(
        vitals.max_khz >= vitals.cpu_khz * 9 / 10 && vitals.effective_khz <= vitals.max_khz.max(vitals.cpu_khz),
        "{vitals:?}"
    );
    let vitals = cluster.master.until("a full sample", |received| {
        received.reports.iter().filter_map(|report| report.vitals.clone()).find(|v| v.details.is_some())
    });
    let vitals = vitals.await;
    assert_eq!(vitals.core_use_parts.len(), cpus);
    assert!(vitals.core_use_parts.iter().all(|&parts| parts <= 10_000), "{vitals:?}");
    let details = vitals.details.expect("is there");
    assert_eq!(details.source, "host");
    assert_eq!(details.pressure_cpu_parts.is_some(), std::fs::read_to_string("/proc/pressure/cpu").is_ok());
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_script_says_takes_the_place_of_what_is_measured() {
    let cluster = Cluster::start_with(job("done", JobConf::default()), |config| {
        config.vitals_source = howdah_worker::VitalsSource::Script;
        config.vitals_script = "echo foreign_load 41.5; echo load1 7.25; echo cpu_khz 1000000".to_owned();
        config.vitals_interval_ms = 200;
    });
    let cluster = cluster.await;
    let report = cluster.master.until("a report", |received| received.reports.first().cloned()).await;
    let vitals = report.vitals.expect("vitals");
    assert_eq!((vitals.foreign_milli, vitals.load1_milli, vitals.cpu_khz), (41_500, 7_250, 1_000_000));
    assert_eq!(vitals.details.expect("is there").source, "script");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_without_disk_takes_no_tasks() {
    let cluster = Cluster::start_with(job("done", JobConf::default()), |config| {
        config.min_free_disk_bytes = u64::MAX;
    });
    let cluster = cluster.await;
    let report = cluster.master.until("a report", |received| received.reports.first().cloned()).await;
    assert!(!report.accepts_tasks);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_launch_whose_answer_is_lost_runs_once_all_the_same() {
    let cluster = Cluster::start(job("done", JobConf::default())).await;
    cluster.master.lose_answers(1);
    cluster.master.launch(map(0));
    cluster.master.until_state(map(0), AttemptState::Succeeded).await;
    let log = kit::log(&cluster, map(0), "stdout").await.unwrap();
    assert_eq!(log.lines().count(), 1, "{log}");
    assert_eq!(cluster.master.look(|received| received.registrations.len()), 1);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_outlive_an_absence_of_the_master() {
    let mut cluster = Cluster::start(job("commit", JobConf::default())).await;
    cluster.master.launch(map(0));
    let pid = number_in(cluster.logs(map(0)).join("pid")).await;
    cluster.master.go_away().await;
    let before = cluster.master.look(|received| received.reports.len());
    cluster.master.come_back().await;
    cluster.master.until("a report", |received| (received.reports.len() > before).then_some(())).await;
    cluster.master.until_state(map(0), AttemptState::CommitPending).await;
    assert!(is_alive(pid));
    cluster.master.commit(map(0));
    cluster.master.until_state(map(0), AttemptState::Succeeded).await;
    assert_eq!(cluster.master.look(|received| received.registrations.len()), 1);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_that_could_not_be_reported_is_reported_when_the_master_is_back() {
    let mut cluster = Cluster::start(job("commit", JobConf::default())).await;
    cluster.master.launch(map(0));
    cluster.master.until_state(map(0), AttemptState::CommitPending).await;
    let pid = number_in(cluster.logs(map(0)).join("pid")).await;
    cluster.master.go_away().await;
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL).unwrap();
    until("its end", || (!is_alive(pid)).then_some(())).await;
    cluster.master.come_back().await;
    let end = cluster.master.until_state(map(0), AttemptState::Failed).await.end.unwrap();
    assert_eq!(end.signal, Some(9));
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_master_that_forgot_the_worker_makes_it_start_afresh() {
    let cluster = Cluster::start(job("hang", JobConf::default())).await;
    cluster.master.launch(map(0));
    let pid = number_in(cluster.logs(map(0)).join("pid")).await;
    cluster.master.direct([Kind::Reinit(Default::default())]);
    let hellos = cluster.master.until("a second registration", |received| {
        (received.registrations.len() == 2).then(|| received.registrations.clone())
    });
    let hellos = hellos.await;
    assert!(hellos[1].incarnation > hellos[0].incarnation);
    until("the attempt to be gone", || (!is_alive(pid)).then_some(())).await;
    let report = cluster.master.until("a fresh report", |received| {
        received.reports.last().filter(|report| report.incarnation == hellos[1].incarnation).cloned()
    });
    let report = report.await;
    assert_eq!((report.free_maps, report.attempts.len()), (4, 0));
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_reports_to_no_master_of_another_protocol_and_comes_back_to_one_of_its_own() {
    let cluster = Cluster::start(job("hang", JobConf::default())).await;
    cluster.master.until("a report", |received| received.reports.first().cloned()).await;
    cluster.master.speak(howdah_proto::PROTOCOL + 1);
    cluster.master.direct([Kind::Reinit(Default::default())]);
    let refused = cluster.master.until("the worker to try again and again", |received| {
        let tries = received.registrations.len();
        (tries >= 4).then(|| received.registrations[tries - 1].incarnation)
    });
    let refused = refused.await;
    let reports = |received: &Received| received.reports.iter().filter(|r| r.incarnation == refused).count();
    assert_eq!(cluster.master.look(reports), 0);
    cluster.master.speak(howdah_proto::PROTOCOL);
    cluster.master.until("a report again", |received| (reports(received) > 0).then_some(())).await;
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn draining_lets_attempts_end_and_says_goodbye() {
    let cluster = Cluster::start(job("commit", JobConf::default())).await;
    cluster.master.launch(map(0));
    cluster.master.until_state(map(0), AttemptState::CommitPending).await;
    cluster.stop.drain.cancel();
    cluster.master.until("a refusal", |received| (!received.reports.last()?.accepts_tasks).then_some(())).await;
    cluster.master.commit(map(0));
    let (master, _dir, result) = cluster.ended().await;
    result.unwrap();
    master.until_state(map(0), AttemptState::Succeeded).await;
    assert_eq!(master.look(|received| received.goodbyes.len()), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn draining_has_an_end_when_attempts_have_none() {
    let cluster = Cluster::start_with(job("hang", JobConf::default()), |config| config.drain_grace_ms = 200).await;
    cluster.master.launch(map(0));
    let pid = number_in(cluster.logs(map(0)).join("pid")).await;
    cluster.stop.drain.cancel();
    let (master, _dir, result) = cluster.ended().await;
    result.unwrap();
    until("the attempt to be gone", || (!is_alive(pid)).then_some(())).await;
    assert_eq!(master.look(|received| received.goodbyes.len()), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_now_kills_attempts_and_leaves_no_files() {
    let cluster = Cluster::start(job("stubborn", JobConf::default())).await;
    cluster.master.launch(map(0));
    let pid = number_in(cluster.logs(map(0)).join("pid")).await;
    let child = number_in(cluster.logs(map(0)).join("child")).await;
    let (master, dir) = cluster.end().await;
    until("the attempt to be gone", || (!is_alive(pid) && !is_alive(child)).then_some(())).await;
    assert_eq!(master.look(|received| received.goodbyes.len()), 1);
    assert!(kit::logs(dir.path(), map(0)).is_dir(), "logs stay");
    let local = std::fs::read_dir(dir.path().join("local")).map_or(0, Iterator::count);
    assert_eq!(local, 0, "nothing else does");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_cannot_share_a_directory() {
    let cluster = Cluster::start(job("done", JobConf::default())).await;
    let config = kit::config(&cluster.master, cluster.dir.path());
    let error = howdah_worker::run(config, Stop::new()).await.expect_err("the directory is taken");
    assert!(format!("{error:#}").contains("in use"), "{error:#}");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_of_an_older_start_of_the_master_are_not_taken() {
    let cluster = Cluster::start(job("done", JobConf::default())).await;
    let met = |epoch| move |received: &Received| (received.reports.last()?.met?.epoch == epoch).then_some(());
    cluster.master.become_start(2);
    cluster.master.until("the worker to have met it", met(2)).await;
    cluster.master.become_start(1);
    cluster.master.launch(map(0));
    let before = cluster.master.look(|received| received.reports.len());
    let more = |received: &Received| (received.reports.len() > before + 3).then_some(());
    cluster.master.until("the worker to have asked more than once", more).await;
    assert!(cluster.master.look(|received| received.status(map(0)).is_none()), "it started what the older one wanted");
    cluster.master.become_start(3);
    cluster.master.until_state(map(0), AttemptState::Succeeded).await;
    cluster.master.until("the worker to have met it", met(3)).await;
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_master_of_another_cluster_that_began_in_the_same_minute_is_obeyed() {
    let cluster = Cluster::start(job("done", JobConf::default())).await;
    let met = |epoch| move |received: &Received| (received.reports.last()?.met?.epoch == epoch).then_some(());
    cluster.master.become_start(2);
    cluster.master.until("the worker to have met it", met(2)).await;
    cluster.master.become_another_cluster();
    cluster.master.launch(map(0));
    cluster.master.until_state(map(0), AttemptState::Succeeded).await;
    cluster.master.until("the worker to have met it", met(1)).await;
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_of_a_job_is_not_taken_from_an_older_start_of_the_master() {
    let cluster = Cluster::start(job("done", JobConf::default())).await;
    let met = |received: &Received| (received.reports.last()?.met?.epoch == 2).then_some(());
    cluster.master.become_start(2);
    cluster.master.until("the worker to have met it", met).await;
    cluster.master.answer_calls_as(1);
    cluster.master.launch(map(0));
    let asked = |received: &Received| (received.file_requests.len() > 2).then(|| received.file_requests.clone());
    let asked = cluster.master.until("the worker to have asked again and again", asked).await;
    assert!(asked.iter().all(|met| met.is_some_and(|met| met.epoch == 2)), "{asked:?}");
    assert!(!cluster.logs(map(0)).exists(), "it started what the older one's file says");
    cluster.master.answer_calls_as(3);
    cluster.master.until_state(map(0), AttemptState::Succeeded).await;
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_map_outputs_are_not_taken_from_an_older_start_of_the_master() {
    let cluster = Cluster::start(job("events", JobConf::default())).await;
    let met = |received: &Received| (received.reports.last()?.met?.epoch == 2).then_some(());
    cluster.master.become_start(2);
    cluster.master.until("the worker to have met it", met).await;
    cluster.master.launch(reduce(0));
    let followed = |n: usize| move |received: &Received| (received.event_requests.len() > n).then_some(());
    cluster.master.until("the job's events to be followed", followed(0)).await;
    // In the middle of the stream, and again in each one after it.
    cluster.master.answer_calls_as(1);
    cluster.master.map_done(0, map(0), "127.0.0.1:1");
    cluster.master.until("the worker to have asked again and again", followed(2)).await;
    assert!(cluster.master.look(|received| received.event_requests.iter().all(|&from| from == 0)));
    let told = std::fs::read_to_string(cluster.logs(reduce(0)).join("stdout")).unwrap_or_default();
    assert!(!told.contains("127.0.0.1:1"), "{told}");
    cluster.master.answer_calls_as(3);
    cluster.master.map_done(1, map(1), "127.0.0.1:1");
    cluster.master.until_state(reduce(0), AttemptState::Succeeded).await;
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn leftovers_of_an_earlier_run_go_at_the_start() {
    let master = FakeMaster::start(job("done", JobConf::default())).await;
    let dir = TempDir::new().unwrap();
    let stale = dir.path().join("local/job_202611201200_0009/attempt_202611201200_0009_m_000000_0");
    std::fs::create_dir_all(&stale).unwrap();
    let stop = Stop::new();
    let worker = tokio::spawn(howdah_worker::run(kit::config(&master, dir.path()), stop.clone()));
    master.until("a registration", |received| received.registrations.last().cloned()).await;
    assert!(!stale.exists());
    stop.now.cancel();
    worker.await.unwrap().unwrap();
}

/// Name of the variable through which a copy of this test program learns that it is to be a worker.
const CONFIG: &str = "HOWDAH_TEST_WORKER_CONFIG";

/// Not a test of its own: the worker that the next test kills.
#[tokio::test(flavor = "multi_thread")]
async fn serve_as_a_worker_when_told_to() {
    if let Ok(config) = std::env::var(CONFIG) {
        let config: WorkerConfig = serde_json::from_str(&config).unwrap();
        howdah_worker::run(config, Stop::new()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_end_when_their_worker_is_killed() {
    let master = FakeMaster::start(job("hang", JobConf::default())).await;
    let dir = TempDir::new().unwrap();
    let config = serde_json::to_string(&kit::config(&master, dir.path())).unwrap();
    let mut worker = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "serve_as_a_worker_when_told_to"])
        .env(CONFIG, config)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    master.until("a registration", |received| received.registrations.last().cloned()).await;
    let mut pids = Vec::new();
    for index in 0..4 {
        master.launch(map(index));
        pids.push(number_in(kit::logs(dir.path(), map(index)).join("pid")).await);
    }
    assert!(pids.iter().all(|&pid| is_alive(pid)));
    worker.kill().unwrap();
    worker.wait().unwrap();
    // Each sees the end of its umbilical: none of the others holds a copy of the worker's end.
    for pid in pids {
        until("an attempt to end", || (!is_alive(pid)).then_some(())).await;
    }
}
