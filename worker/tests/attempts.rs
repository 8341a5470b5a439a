//! Attempts as the master sees them: launched, reported, killed, committed, reused.

mod kit;

use howdah_core::job::JobConf;
use howdah_proto::v1::AttemptState;
use howdah_proto::v1::directive::Kind;
use kit::{Cluster, get, is_alive, job, map, number_in, reduce, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_launched_attempt_runs_and_its_end_is_reported_with_what_it_cost() {
    let cluster = Cluster::start(job("done", JobConf::default())).await;
    cluster.master.launch(map(0));
    let status = cluster.master.until_state(map(0), AttemptState::Succeeded).await;
    let end = status.end.expect("the end of a finished attempt");
    assert_eq!((end.exit_code, end.signal), (Some(0), None));
    assert!(end.cpu_us > 0 && end.peak_memory_kib > 0, "{end:?}");
    assert!(end.started_ms_epoch > 0 && end.finished_ms_epoch >= end.started_ms_epoch, "{end:?}");
    assert!(end.stderr_tail.is_empty() && end.diagnostics.is_empty(), "{end:?}");
    assert_eq!(status.counters.expect("final counters").groups[0].counters[0].value, 7);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_counters_and_message_of_a_running_attempt_reach_the_master() {
    let cluster = Cluster::start(job("hang", JobConf::default())).await;
    cluster.master.launch(map(0));
    let status =
        cluster.master.until("the status", |received| received.status(map(0)).filter(|s| s.progress > 0).cloned());
    let status = status.await;
    assert_eq!((status.state(), status.progress), (AttemptState::Running, 5_000));
    let counters = |h: &kit::master::Received| {
        h.reports.iter().flat_map(|r| &r.attempts).any(|s| s.message == "half" && s.counters.is_some()).then_some(())
    };
    cluster.master.until("counters and message", counters).await;
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slot_is_taken_while_an_attempt_runs_and_free_when_its_end_is_reported() {
    let cluster = Cluster::start(job("commit", JobConf::default())).await;
    cluster.master.launch(reduce(0));
    cluster.master.until("a full slot", |received| (received.reports.last()?.free_reduces == 1).then_some(())).await;
    cluster.master.until_state(reduce(0), AttemptState::CommitPending).await;
    cluster.master.commit(reduce(0));
    cluster.master.until_state(reduce(0), AttemptState::Succeeded).await;
    cluster.master.until("free slots", |received| (received.reports.last()?.free_reduces == 2).then_some(())).await;
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_tells_what_the_task_said_and_the_end_of_its_standard_error() {
    let cluster = Cluster::start(job("fail", JobConf::default())).await;
    cluster.master.launch(map(0));
    let end = cluster.master.until_state(map(0), AttemptState::Failed).await.end.unwrap();
    assert_eq!(end.exit_code, Some(1));
    assert_eq!((&end.diagnostics[..], &end.stderr_tail[..]), ("no such luck", "about to fail\n"));
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_early_exit_and_a_crash_tell_their_code_or_signal() {
    let cluster = Cluster::start(job("exit", JobConf::default())).await;
    cluster.master.launch(map(0));
    let end = cluster.master.until_state(map(0), AttemptState::Failed).await.end.unwrap();
    assert_eq!((end.exit_code, end.signal), (Some(3), None));
    assert_eq!((&end.diagnostics[..], &end.stderr_tail[..]), ("process exited with code 3", "leaving early\n"));
    cluster.end().await;

    let cluster = Cluster::start(job("crash", JobConf::default())).await;
    cluster.master.launch(map(0));
    let end = cluster.master.until_state(map(0), AttemptState::Failed).await.end.unwrap();
    assert_eq!((end.exit_code, end.signal), (None, Some(11)));
    assert_eq!(end.diagnostics, "process was killed by signal 11 (SIGSEGV)");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_speaks_another_language_fails() {
    let cluster = Cluster::start(job("garbage", JobConf::default())).await;
    cluster.master.launch(map(0));
    let end = cluster.master.until_state(map(0), AttemptState::Failed).await.end.unwrap();
    let expected = "the attempt's process sent a message that is not one: expected ident at line 1 column 2";
    assert_eq!(end.diagnostics, expected);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_ends_a_stubborn_process_and_its_children() {
    let cluster = Cluster::start(job("stubborn", JobConf::default())).await;
    cluster.master.launch(map(0));
    let child = number_in(cluster.logs(map(0)).join("child")).await;
    cluster.master.kill(map(0));
    let end = cluster.master.until_state(map(0), AttemptState::Killed).await.end.unwrap();
    assert_eq!(end.signal, Some(9));
    until("the child to be gone", || (!is_alive(child)).then_some(())).await;
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_that_says_nothing_for_too_long_fails() {
    let conf = JobConf { task_timeout_ms: 300, ..JobConf::default() };
    let cluster = Cluster::start(job("hang", conf)).await;
    cluster.master.launch(map(0));
    let end = cluster.master.until_state(map(0), AttemptState::Failed).await.end.unwrap();
    assert_eq!(end.diagnostics, "failed to report status for 0 seconds (mapred.task.timeout); killed");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_without_a_job_fails_and_says_why() {
    let cluster = Cluster::start(job("done", JobConf::default())).await;
    let mut of_other_job = map(0);
    of_other_job.job.0 = 2;
    cluster.master.launch(of_other_job);
    let end = cluster.master.until_state(of_other_job, AttemptState::Failed).await.end.expect("an end");
    assert_eq!(end.diagnostics, "the job's file could not be fetched");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_does_not_exist_fails_the_attempt_and_names_it() {
    let cluster = Cluster::start_with(job("done", JobConf::default()), |config| {
        config.task_command = vec!["/nonexistent/program".to_owned()];
    });
    let cluster = cluster.await;
    cluster.master.launch(map(0));
    let end = cluster.master.until_state(map(0), AttemptState::Failed).await.end.unwrap();
    assert_eq!(end.diagnostics, "start `/nonexistent/program`: No such file or directory (os error 2)");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_runs_several_attempts_when_the_job_asks_for_that() {
    let conf = JobConf { reuse_tasks: -1, ..JobConf::default() };
    let mut file = job("reuse", conf);
    file.properties.insert("mapred.job.reuse.jvm.num.tasks".to_owned(), "-1".to_owned());
    let cluster = Cluster::start(file).await;
    let mut pids = Vec::new();
    for index in 0..3 {
        cluster.master.launch(map(index));
        let status = cluster.master.until_state(map(index), AttemptState::Succeeded).await;
        pids.push(status.counters.unwrap().groups[0].counters[0].value);
        assert_eq!(status.end.unwrap().exit_code, Some(0));
    }
    assert!(pids.iter().all(|&pid| pid == pids[0]), "{pids:?}");
    let logs = [0, 1, 2].map(|index| kit::log(&cluster, map(index), "stdout"));
    let mut said = Vec::new();
    for log in logs {
        said.push(log.await.unwrap());
    }
    let first = format!("the log of {}\n", kit::CLUSTER.attempt(map(0)));
    assert_eq!(said, [first.as_str(), "", ""], "what it said in its first attempt is that one's");
    // It waits for more only for a short while.
    until("the idle process to end", || (!is_alive(pids[0] as i32)).then_some(())).await;
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reused_process_that_dies_before_it_speaks_of_its_next_attempt_fails_that_one() {
    let cluster = Cluster::start(job("once", JobConf { reuse_tasks: -1, ..JobConf::default() })).await;
    cluster.master.launch(map(0));
    cluster.master.until_state(map(0), AttemptState::Succeeded).await;
    cluster.master.launch(map(1));
    let end = cluster.master.until_state(map(1), AttemptState::Failed).await.end.unwrap();
    assert_eq!(end.signal, Some(9), "{end:?}");
    // Its slot and its process's place are free again.
    cluster.master.launch(map(2));
    cluster.master.until_state(map(2), AttemptState::Succeeded).await;
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reused_process_that_does_not_exit_when_told_to_is_killed() {
    let cluster = Cluster::start(job("stay", JobConf { reuse_tasks: -1, ..JobConf::default() })).await;
    cluster.master.launch(map(0));
    let status = cluster.master.until_state(map(0), AttemptState::Succeeded).await;
    let pid = status.counters.unwrap().groups[0].counters[0].value as i32;
    until("the idle process to end", || (!is_alive(pid)).then_some(())).await;
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reused_process_that_does_not_read_holds_up_neither_heartbeats_nor_other_attempts() {
    let mut file = job("stay", JobConf { reuse_tasks: -1, ..JobConf::default() });
    // More than a socket takes, so that a write of it waits for a reader.
    file.properties.insert("padding".to_owned(), "x".repeat(600_000));
    let cluster = Cluster::start(file).await;
    cluster.master.launch(map(0));
    cluster.master.until_state(map(0), AttemptState::Succeeded).await;
    let given = std::time::Instant::now();
    cluster.master.launch(map(1));
    cluster.master.until_state(map(1), AttemptState::Running).await;
    cluster.master.launch(map(2));
    cluster.master.until_state(map(2), AttemptState::Succeeded).await;
    let (elapsed, bound) = (given.elapsed(), std::time::Duration::from_secs(15));
    assert!(elapsed < bound, "{elapsed:?}, less than the 20 s that a reader has");
    let end = cluster.master.until_state(map(1), AttemptState::Failed).await.end.unwrap();
    assert!(end.diagnostics.contains("did not read its next attempt within 20 s"), "{end:?}");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_got_away_does_not_hold_its_attempt() {
    let cluster = Cluster::start(job("leave", JobConf::default())).await;
    cluster.master.launch(map(0));
    cluster.master.until_state(map(0), AttemptState::Succeeded).await;
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_an_earlier_masters_attempt_is_not_taken_for_that_of_a_new_one_with_its_id() {
    let cluster = Cluster::start(job("linger", JobConf::default())).await;
    cluster.master.launch(map(0));
    cluster.master.until_state(map(0), AttemptState::Running).await;
    let pid = number_in(cluster.logs(map(0)).join("pid")).await;
    cluster.master.forget_worker();
    cluster.master.until("another registration", |received| (received.registrations.len() == 2).then_some(())).await;
    let before = cluster.master.look(|received| received.reports.len());
    cluster.master.launch(map(0));
    // The keeper of the first process notices its end a second later, since a child of it holds the umbilical.
    until("the first process to be reaped", || (!std::fs::exists(format!("/proc/{pid}")).unwrap()).then_some(())).await;
    let now = cluster.master.look(|received| received.reports.len());
    cluster.master.until("some more reports", |received| (received.reports.len() > now + 3).then_some(())).await;
    let states = |received: &kit::master::Received| {
        let said = received.reports[before..].iter().flat_map(|report| &report.attempts);
        said.map(|status| status.state()).collect::<Vec<_>>()
    };
    let states = cluster.master.look(states);
    assert!(states.contains(&AttemptState::Running) && !states.contains(&AttemptState::Failed), "{states:?}");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_without_an_end_fails_the_attempt_and_not_the_worker() {
    let cluster = Cluster::start(job("endless", JobConf::default())).await;
    cluster.master.launch(map(0));
    let end = cluster.master.until_state(map(0), AttemptState::Failed).await.end.unwrap();
    let expected = "the attempt's process sent a line of more than 1048576 bytes on its umbilical";
    assert_eq!(end.diagnostics, expected);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_attempt_leaves_running_ends_with_it() {
    let cluster = Cluster::start(job("lingering", JobConf::default())).await;
    cluster.master.launch(map(0));
    // The child holds the process's end of the umbilical.
    cluster.master.until_state(map(0), AttemptState::Succeeded).await;
    let child = number_in(cluster.logs(map(0)).join("child")).await;
    until("the child to be gone", || (!is_alive(child)).then_some(())).await;
    cluster.end().await;
}

/// Where this machine lets us make control groups; `None` elsewhere.
fn cgroup_root() -> Option<std::path::PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    let mount = mounts.lines().find(|line| line.split(' ').nth(2) == Some("cgroup2"))?.split(' ').nth(1)?.to_owned();
    let own = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let root = std::path::Path::new(&mount).join(own.lines().find_map(|line| line.strip_prefix("0::/"))?);
    let probe = root.join(format!("howdah-test-{}", std::process::id()));
    std::fs::create_dir(&probe).ok()?;
    let usable = probe.join("cgroup.kill").exists();
    std::fs::remove_dir(probe).ok()?;
    assert!(usable, "control groups without `cgroup.kill`, expected Linux 5.14 or newer");
    Some(root)
}

/// Where no groups can be made, a worker that is told to make them says so and does not start.
async fn control_groups_are_refused() {
    let master = kit::master::FakeMaster::start(job("escape", JobConf::default())).await;
    let dir = tempfile::TempDir::new().unwrap();
    let config = howdah_worker::WorkerConfig { cgroups: true, ..kit::config(&master, dir.path()) };
    let refusal = howdah_worker::run(config, howdah_proto::stop::Stop::new()).await.unwrap_err();
    assert!(format!("{refusal:#}").contains("control group"), "{refusal:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_control_group_catches_what_leaves_the_process_group() {
    let Some(root) = cgroup_root() else { return control_groups_are_refused().await };
    // Left by a worker that was killed: no process has this number.
    let stale = root.join("howdah-4294967295/attempt");
    std::fs::create_dir_all(&stale).unwrap();
    let cluster = Cluster::start_with(job("escape", JobConf::default()), |config| config.cgroups = true).await;
    assert!(!stale.exists());
    cluster.master.launch(map(0));
    let child = number_in(cluster.logs(map(0)).join("child")).await;
    let group = root.join(format!("howdah-{}", std::process::id()));
    assert!(group.join(kit::CLUSTER.attempt(map(0))).is_dir());
    cluster.master.kill(map(0));
    let end = cluster.master.until_state(map(0), AttemptState::Killed).await.end.unwrap();
    assert!(end.cpu_us > 0);
    until("the child to be gone", || (!is_alive(child)).then_some(())).await;
    cluster.end().await;
    assert!(!group.exists(), "nothing is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn reduces_hear_of_map_outputs_and_their_fetch_failures_are_reported() {
    let cluster = Cluster::start(job("events", JobConf::default())).await;
    cluster.master.map_done(0, map(0), "127.0.0.1:1");
    cluster.master.launch(reduce(0));
    let failed = |received: &kit::master::Received| {
        let statuses = received.reports.iter().flat_map(|report| &report.attempts);
        statuses.flat_map(|status| &status.fetch_failures).next().copied()
    };
    assert_eq!(cluster.master.until("a fetch failure", failed).await, map(0).into());
    // A reduce that comes later receives everything, and both receive what is new.
    cluster.master.launch(reduce(1));
    until("the first event", || {
        let log = std::fs::read_to_string(cluster.logs(reduce(1)).join("stdout")).ok()?;
        log.contains("127.0.0.1:1").then_some(())
    })
    .await;
    cluster.master.map_done(1, map(1), "127.0.0.1:1");
    cluster.master.until_state(reduce(0), AttemptState::Succeeded).await;
    cluster.master.until_state(reduce(1), AttemptState::Succeeded).await;
    assert_eq!(cluster.master.look(|received| received.event_requests.clone()), [0], "one stream serves both");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_can_be_read_while_and_after_the_job_runs_and_files_go_with_the_job() {
    let cluster = Cluster::start(job("done", JobConf::default())).await;
    let address = cluster.master.look(|received| format!("127.0.0.1{}", received.registrations[0].http_address));
    cluster.master.launch(map(0));
    cluster.master.until_state(map(0), AttemptState::Succeeded).await;
    assert!(cluster.local(map(0)).is_dir(), "a map's output stays until the job is over");
    cluster.master.direct([Kind::ForgetJob(1)]);
    until("the job's files to go", || (!cluster.local(map(0)).exists()).then_some(())).await;
    let name = kit::CLUSTER.attempt(map(0));
    let (code, body) = get(&address, &format!("/logs/{name}/stdout"), None).await;
    assert_eq!((code, body), (200, format!("the log of {name}\n").into_bytes()));
    let (code, body) = get(&address, &format!("/logs/{name}/stdout?tail=3"), None).await;
    assert_eq!((code, body), (200, b"_0\n".to_vec()));
    for path in [format!("/logs/{name}/pid"), format!("/logs/{name}/..%2f..%2flock"), "/logs/x/stdout".to_owned()] {
        let (code, _) = get(&address, &path, None).await;
        assert!((400..=404).contains(&code), "{path}: {code}");
    }
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_of_many_attempts_leaves_one_file_of_logs() {
    let cluster = Cluster::start(job("quiet", JobConf::default())).await;
    for wave in 0..5 {
        for index in wave * 4..wave * 4 + 4 {
            cluster.master.launch(map(index));
        }
        for index in wave * 4..wave * 4 + 4 {
            cluster.master.until_state(map(index), AttemptState::Succeeded).await;
        }
    }
    cluster.master.direct([Kind::ForgetJob(1)]);
    let userlogs = cluster.dir.path().join("userlogs");
    let names = || std::fs::read_dir(&userlogs).unwrap().flatten().map(|e| e.file_name().into_string().unwrap());
    let one = [format!("{}.logs", kit::CLUSTER.job(howdah_core::job::JobId(1)))];
    until("the attempts' own files to go", || names().eq(one.iter().cloned()).then_some(())).await;
    for index in 0..20 {
        let log = kit::log(&cluster, map(index), "stdout").await.unwrap();
        assert_eq!(log, format!("the log of {}\n", kit::CLUSTER.attempt(map(index))));
    }
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn map_output_is_served_to_who_has_the_token() {
    let cluster = Cluster::start(job("done", JobConf::default())).await;
    let address = cluster.master.look(|received| format!("127.0.0.1{}", received.registrations[0].http_address));
    cluster.master.launch(map(0));
    cluster.master.until_state(map(0), AttemptState::Succeeded).await;
    let file = job("done", JobConf::default());
    let path = format!("/shuffle/{}/{}/0", file.id, kit::CLUSTER.attempt(map(0)));
    assert_eq!(get(&address, &path, Some("wrong")).await.0, 403);
    assert_eq!(get(&address, &path, None).await.0, 403);
    // This map has left no output.
    assert_eq!(get(&address, &path, Some(&file.token)).await.0, 404);
    let other = format!("/shuffle/{}/{}/0", file.id, kit::CLUSTER.attempt(map(1)));
    assert_eq!(get(&address, &other, Some(&file.token)).await.0, 404);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_of_attempts_runs_each_once() {
    let cluster = Cluster::start(job("done", JobConf::default())).await;
    // Four slots, launches repeated as an impatient master would.
    for wave in 0..10 {
        for index in wave * 4..wave * 4 + 4 {
            cluster.master.launch(map(index));
            cluster.master.launch(map(index));
        }
        for index in wave * 4..wave * 4 + 4 {
            cluster.master.until_state(map(index), AttemptState::Succeeded).await;
        }
    }
    for index in 0..40 {
        let log = kit::log(&cluster, map(index), "stdout").await.unwrap();
        assert_eq!(log.lines().count(), 1, "{log}");
    }
    cluster.end().await;
}
