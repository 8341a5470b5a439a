//! A real master in this process, fake workers and clients through real gRPC on loopback.

mod compaction;
mod every_call;
mod fixture;
mod histories;
mod load;
mod outputs;
mod presence;
mod shown;
mod starts;
mod trouble;

use std::fs;
use std::time::{Duration, Instant};

use fixture::{Cluster, FakeWorker, generated, sleep_job, text_job};
use howdah_master::history::JobHistory;
use howdah_master::replay::replay_decisions;
use howdah_proto::v1;
use tonic::Code;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_runs_to_success_and_its_output_is_promoted_once() {
    let mut cluster = Cluster::start().await;
    let input = cluster.file("in/a", &"word ".repeat(100));
    let output = cluster.path("out");
    let mut worker = FakeWorker::register(&mut cluster, "w1", 2, 1).await;
    let job = cluster.submit(text_job(&input, &output, 1)).await.unwrap();

    let map = worker.next_launch().await;
    assert!(!map.reduce);
    let file = worker.job_file(map.job).await;
    assert_eq!(file["id"], job);
    assert_eq!(file["token"].as_str().map(str::len), Some(32));
    worker.succeed(map, 40).await;
    let reduce = worker.next_launch().await;
    assert!(reduce.reduce);
    let events = worker.map_events(reduce.job).await;
    assert_eq!((events[0].map, events[0].attempt, &events[0].address[..]), (0, Some(map), "127.0.0.1:1"));

    // Output of the winner, and of a zombie that must not be published.
    let printed = job.replace("job_", "attempt_");
    cluster.file(&format!("out/_temporary/{printed}_r_000000_0/part-r-00000"), "word\t100\n");
    cluster.file(&format!("out/_temporary/{printed}_r_000000_7/part-r-00000"), "zombie");
    worker.commit(reduce).await;
    worker.succeed(reduce, 60).await;
    let status = cluster.wait(&job).await;
    assert_eq!(status.state, "SUCCEEDED", "{}", status.why);
    assert_eq!((status.maps_done, status.reduces_done, status.failed_attempts), (1, 1, 0));
    assert_eq!(fs::read_to_string(format!("{output}/part-r-00000")).unwrap(), "word\t100\n");
    assert_eq!(fs::read_dir(&output).unwrap().count(), 2, "_SUCCESS and one part");

    let details = cluster.get(&job).await.unwrap();
    let value = |group: &str, name: &str| fixture::counter(details.counters.as_ref().unwrap(), group, name);
    assert_eq!(value("Map-Reduce Framework", "Map input records"), 100);
    assert_eq!(value("Job Counters ", "Launched map tasks"), 1);
    assert_eq!(value("Job Counters ", "Launched reduce tasks"), 1);
    assert_eq!(details.attempts.len(), 2);
    assert_eq!(details.attempts[0].end.as_ref().unwrap().cpu_us, 40);

    let run = cluster.stop().await;
    let compressed = run.join("history").join(format!("{job}.json.gz"));
    let history = JobHistory::read(&compressed).unwrap();
    assert_eq!(history.attempts.len(), 2);
    let report = replay_decisions(&run).unwrap();
    assert!(report.compared > 5 && report.decisions == 2, "{report:?}");
    assert_eq!((report.identical, report.first_difference, report.torn), (report.compared, None, false));
    // As masters wrote it before.
    std::fs::write(compressed.with_extension(""), serde_json::to_vec_pretty(&history).unwrap()).unwrap();
    std::fs::remove_file(&compressed).unwrap();
    let trace = howdah_master::trace::record(&run).unwrap();
    assert_eq!((trace.jobs.len(), trace.jobs[0].map_ms.len(), trace.jobs[0].reduce_ms.len()), (1, 1, 1));
    assert_eq!(trace.cluster.unwrap().workers[0].map_slots, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_parked_heartbeat_is_answered_when_work_arrives() {
    let mut cluster = Cluster::start().await;
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 0).await;
    // The first report of an idle worker is parked.
    let parked = tokio::spawn(async move {
        let launch = worker.next_launch().await;
        (worker, launch, Instant::now())
    });
    cluster.until(|c| c.live_workers == 1).await;
    let submitted = Instant::now();
    let job = cluster.submit(sleep_job(1)).await.unwrap();
    let (mut worker, launch, answered) = tokio::time::timeout(Duration::from_secs(20), parked).await.unwrap().unwrap();
    assert!(answered.duration_since(submitted) < Duration::from_secs(1));
    worker.succeed(launch, 1).await;
    assert_eq!(cluster.wait(&job).await.state, "SUCCEEDED");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_answer_is_sent_again() {
    let mut cluster = Cluster::start().await;
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 0).await;
    cluster.submit(sleep_job(1)).await.unwrap();
    let before = worker.response_id;
    let launch = worker.next_launch().await;
    // The worker never got that answer: it repeats its report.
    worker.response_id = before;
    let again = worker.next_launch().await;
    assert_eq!(launch, again);
    worker.succeed(launch, 1).await;
    cluster.stop().await;
}

/// Another attempt ends while the answer to the end of the first is on its way to the worker.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_that_crosses_an_answer_gets_launches_for_the_slots_that_it_frees() {
    let mut cluster = Cluster::start().await;
    let mut worker = FakeWorker::register(&mut cluster, "w1", 2, 0).await;
    let job = cluster.submit(sleep_job(4)).await.unwrap();
    let first = [worker.next_launch().await, worker.next_launch().await];
    worker.running(first[0]).await;
    worker.running(first[1]).await;
    let before = worker.response_id;
    worker.succeed(first[0], 1).await;
    let third = worker.next_launch().await;
    worker.response_id = before;
    worker.succeed(first[1], 1).await;
    let second = [worker.next_launch().await, worker.next_launch().await];
    assert!(second.contains(&third), "the answer that may be lost is repeated: {third:?} in {second:?}");
    let fourth =
        second.into_iter().find(|launch| *launch != third).expect("the other slot is filled by the same answer");
    for launch in [third, fourth] {
        worker.running(launch).await;
    }
    worker.succeed(third, 1).await;
    worker.succeed(fourth, 1).await;
    assert_eq!(cluster.wait(&job).await.state, "SUCCEEDED");
    let report = replay_decisions(&cluster.stop().await).unwrap();
    assert_eq!((report.identical, report.first_difference), (report.compared, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failing_task_fails_the_job_with_its_cause_and_clears_its_output() {
    let mut cluster = Cluster::start().await;
    let input = cluster.file("in/a", "x\n");
    let output = cluster.path("out");
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 1).await;
    let job = cluster.submit(text_job(&input, &output, 1)).await.unwrap();
    for _ in 0..4 {
        let map = worker.next_launch().await;
        worker.fail(map, 3, "thread main panicked\nout of cheese").await;
    }
    let status = cluster.wait(&job).await;
    assert_eq!((&status.state[..], status.failed_attempts), ("FAILED", 4));
    for part in ["failed 4 times", "_m_000000_0 on worker w1", "exit code 3", "out of cheese"] {
        assert!(status.why.contains(part), "{}", status.why);
    }
    assert_eq!(status.why.lines().count(), 1);
    cluster.until_gone(&output).await;
    // Standard error that the master kept, since the worker serves nothing.
    let text = cluster.log(&format!("{}_m_000000_0", job.replace("job_", "attempt_")), "stderr").await.unwrap();
    assert!(text.contains("out of cheese") && text.contains("cannot be reached"), "{text}");
    let error = cluster.log(&format!("{}_m_000000_0", job.replace("job_", "attempt_")), "syslog").await.unwrap_err();
    assert_eq!(error.code(), Code::Unavailable);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killing_a_job_stops_its_attempts() {
    let mut cluster = Cluster::start().await;
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 0).await;
    let job = cluster.submit(sleep_job(3)).await.unwrap();
    let launch = worker.next_launch().await;
    worker.running(launch).await;
    cluster.client.kill_job(v1::KillJobRequest { job: job.clone() }).await.unwrap();
    let killed = worker.next_kill().await;
    assert_eq!(killed, launch);
    worker.killed(launch).await;
    assert_eq!(cluster.wait(&job).await.state, "KILLED");
    let again = cluster.client.kill_job(v1::KillJobRequest { job }).await.unwrap_err();
    assert_eq!(again.code(), Code::FailedPrecondition);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_submissions_are_refused_before_anything_runs() {
    let mut cluster = Cluster::start().await;
    let input = cluster.file("in/a", "x\n");
    let out = |name: &str| cluster.path(name);
    let (fresh, taken) = (out("fresh"), out("taken"));
    fs::create_dir(&taken).unwrap();
    let with = |change: &dyn Fn(&mut v1::SubmitJobRequest)| {
        let mut request = text_job(&input, &fresh, 1);
        change(&mut request);
        request
    };
    let cases = [
        (with(&|r| r.inputs = vec!["/no/such/file".to_owned()]), Code::InvalidArgument, "`/no/such/file`"),
        (with(&|r| r.inputs.clear()), Code::InvalidArgument, "no input"),
        (with(&|r| r.output.clone_from(&taken)), Code::AlreadyExists, "exists already\nhelp: "),
        (with(&|r| r.output = "relative".to_owned()), Code::InvalidArgument, "absolute"),
        (with(&|r| r.n_reduces = u32::MAX), Code::InvalidArgument, "reduces"),
        (with(&|r| r.priority = "URGENT".to_owned()), Code::InvalidArgument, "VERY_HIGH"),
        (with(&|r| r.app_json = "{}".to_owned()), Code::InvalidArgument, "app"),
        (
            with(&|r| r.name = "a\nb".to_owned()),
            Code::InvalidArgument,
            "the job's name holds the control character U+000A",
        ),
        (
            with(&|r| r.user = "a\u{202e}b".to_owned()),
            Code::InvalidArgument,
            "the job's user holds the control character",
        ),
        (with(&|r| r.queue = "q".repeat(1_025)), Code::InvalidArgument, "the job's queue has 1025 bytes"),
        (
            with(&|r| drop(r.properties.insert("mapred.map.max.attempts".to_owned(), "0".to_owned()))),
            Code::InvalidArgument,
            "mapred.map.max.attempts",
        ),
        (with(&|r| r.requires.push("disk=".to_owned())), Code::InvalidArgument, "found no value after `=`"),
        (with(&|r| r.requires.push("gpu>x".to_owned())), Code::InvalidArgument, "`x` is no number"),
        (generated(4_000_000), Code::InvalidArgument, "splits"),
    ];
    for (request, code, part) in cases {
        let error = cluster.submit(request).await.unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.message().contains(part), "{error}");
        assert!(!fs::exists(&fresh).unwrap(), "{error}");
    }
    // The first job takes the directory, a second one is told whose it is.
    let first = cluster.submit(text_job(&input, &fresh, 1)).await.unwrap();
    let error = cluster.submit(text_job(&input, &fresh, 1)).await.unwrap_err();
    assert!(error.code() == Code::AlreadyExists && error.message().contains(&first), "{error}");
    assert!(first.ends_with("_0001"), "refused jobs take no numbers: {first}");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_heartbeats_are_answered_with_errors() {
    let mut cluster = Cluster::start().await;
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 1).await;
    let unknown = v1::HeartbeatRequest { worker: 4_000_000_000, ..Default::default() };
    let answer = worker.client.heartbeat(unknown).await.unwrap().into_inner();
    assert!(matches!(answer.directives[0].kind, Some(v1::directive::Kind::Reinit(_))));
    let huge = v1::HeartbeatRequest { worker: 0, free_maps: 70_000, ..Default::default() };
    assert_eq!(worker.client.heartbeat(huge).await.unwrap_err().code(), Code::InvalidArgument);
    let nameless = v1::RegisterRequest { protocol: howdah_proto::PROTOCOL, ..Default::default() };
    assert_eq!(worker.client.register(nameless.clone()).await.unwrap_err().code(), Code::InvalidArgument);
    let painted = v1::RegisterRequest { name: "w\u{1b}[31m".to_owned(), incarnation: 1, ..nameless.clone() };
    let error = worker.client.register(painted).await.unwrap_err();
    assert!(error.message().contains("the worker's name holds the control character U+001B"), "{error}");
    let another = v1::RegisterRequest {
        name: "w2".to_owned(),
        version: "0.0.9".to_owned(),
        protocol: howdah_proto::PROTOCOL + 1,
        ..nameless
    };
    let error = worker.client.register(another).await.unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition);
    let (own, theirs) = (howdah_proto::PROTOCOL, howdah_proto::PROTOCOL + 1);
    let both = [format!("worker `w2` is howdah 0.0.9 with protocol {theirs}"), format!("with protocol {own}")];
    assert!(both.iter().all(|words| error.message().contains(words)), "{error}");
    // The master is still there.
    let workers = cluster.client.list_workers(v1::ListWorkersRequest::default()).await.unwrap().into_inner().workers;
    assert_eq!((workers.len(), &workers[0].name[..], &workers[0].state[..]), (1, "w1", "LIVE"));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_earlier_run_of_a_worker_does_not_take_the_present_ones_answer() {
    let mut cluster = Cluster::start().await;
    let mut zombie = FakeWorker::register(&mut cluster, "w1", 1, 0).await;
    let mut worker = zombie.again("w1", 2).await.unwrap();
    let parked = tokio::spawn(async move { worker.next_launch().await });
    let answer = zombie.beat(vec![]).await.unwrap();
    assert!(matches!(answer.directives[0].kind, Some(v1::directive::Kind::Reinit(_))));
    cluster.submit(sleep_job(1)).await.unwrap();
    tokio::time::timeout(Duration::from_secs(20), parked).await.unwrap().unwrap();
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_that_was_overtaken_is_dropped() {
    let mut cluster = Cluster::start().await;
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 0).await;
    // The newer of two reports under way comes first.
    let mut older = worker.twin();
    (older.sequence, worker.sequence) = (4, 5);
    cluster.submit(sleep_job(1)).await.unwrap();
    worker.next_launch().await;
    assert_eq!(older.beat(vec![]).await.unwrap_err().code(), Code::Aborted);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_masters_never_share_a_directory() {
    let cluster = Cluster::start().await;
    let config = howdah_master::MasterConfig { dir: cluster.master_dir(), ..Default::default() };
    let error = howdah_master::run(config, howdah_proto::stop::Stop::new()).await.unwrap_err();
    assert!(error.to_string().contains("in use by another master"), "{error}");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kind_stop_answers_parked_heartbeats() {
    let mut cluster = Cluster::start().await;
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 0).await;
    let parked = tokio::spawn(async move { worker.beat(vec![]).await });
    cluster.until(|c| c.live_workers == 1).await;
    cluster.client.shutdown(v1::ShutdownRequest {}).await.unwrap();
    let error = tokio::time::timeout(Duration::from_secs(20), parked).await.unwrap().unwrap();
    assert!(error.is_err() || error.is_ok_and(|answer| answer.directives.is_empty()));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_hang_up_while_they_submit_do_no_harm() {
    let mut cluster = Cluster::start().await;
    let input = cluster.file("in/a", "x\n");
    let mut n_sent = 0;
    for us in (0..40).map(|i| i * 100) {
        let output = cluster.path(&format!("out-{us}"));
        let submission = cluster.submit(text_job(&input, &output, 1));
        n_sent += u32::from(tokio::time::timeout(Duration::from_micros(us), submission).await.is_err());
    }
    assert!(n_sent > 0, "some were cut off");
    // Each that got a number has its own file, and numbers go on.
    let last = cluster.submit(sleep_job(1)).await.unwrap();
    let jobs = cluster.client.list_jobs(v1::ListJobsRequest {}).await.unwrap().into_inner().jobs;
    // One that was cut off late may be accepted behind it.
    assert!(jobs.iter().any(|job| job.job == last), "{last} is listed");
    for (at, job) in jobs.iter().enumerate() {
        assert!(job.job.ends_with(&format!("_{:04}", at + 1)), "{}", job.job);
    }
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 0).await;
    for (at, job) in jobs.iter().enumerate() {
        let file = worker.job_file(at as u32 + 1).await;
        assert_eq!((&file["id"], &file["spec"]["name"]), (&job.job.clone().into(), &job.name.clone().into()));
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_of_the_same_name_that_was_started_earlier_is_refused_and_disturbs_nobody() {
    let mut cluster = Cluster::start().await;
    let mut worker = FakeWorker::register_run(&mut cluster, "w1", 1, 0, 5).await;
    let parked = tokio::spawn(async move { worker.next_launch().await });
    cluster.until(|c| c.live_workers == 1).await;
    let error = cluster.register("w1", 4).await.unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition);
    assert!(error.message().contains("`w1`") && error.message().contains("help: "), "{error}");
    cluster.submit(sleep_job(1)).await.unwrap();
    tokio::time::timeout(Duration::from_secs(20), parked).await.unwrap().unwrap();
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_else_can_read_a_jobs_token() {
    use std::os::unix::fs::PermissionsExt;
    let mut cluster = Cluster::start().await;
    let job = cluster.submit(sleep_job(1)).await.unwrap();
    let run = cluster.stop().await;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&run.join("jobs")), 0o700);
    assert_eq!(mode(&run.join("jobs").join(format!("{job}.json"))), 0o600);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_output_directory_of_a_killed_job_can_be_used_again_at_once() {
    let mut cluster = Cluster::start().await;
    let input = cluster.file("in/a", "x\n");
    let output = cluster.path("out");
    for n in 0..50 {
        let job = cluster.submit(text_job(&input, &output, 1)).await.unwrap();
        // What attempts left makes the clearing slower.
        for attempt in 0..20 {
            cluster.file(&format!("out/_temporary/{attempt}/part"), "x");
        }
        cluster.client.kill_job(v1::KillJobRequest { job: job.clone() }).await.unwrap();
        assert_eq!(cluster.get(&job).await.unwrap().status.unwrap().state, "KILLED", "{n}");
    }
    let last = cluster.submit(text_job(&input, &output, 1)).await.unwrap();
    assert!(fs::exists(format!("{output}/_temporary")).unwrap(), "{last}");
    cluster.stop().await;
}
