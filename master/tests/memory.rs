//! What the master's memory holds for each task of a job that is not over, and what is left of jobs that are.
//!
//! An executable of its own: its allocator counts what the whole process holds, and other tests would be counted too. The
//! worker here reports as real ones do, ends of attempts with their counters and times; what it holds itself is little.

#[allow(dead_code, reason = "shared with the tests of live masters, which use all of it")]
#[path = "live/fixture.rs"]
mod fixture;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};
use std::time::{Duration, Instant};

use fixture::{Cluster, FakeWorker, generated};
use howdah_core::job::counters::KNOWN;
use howdah_master::MasterConfig;
use howdah_proto::v1;

/// Bytes that the process holds.
static HELD: AtomicIsize = AtomicIsize::new(0);
/// The most of them since this was set.
static MOST: AtomicIsize = AtomicIsize::new(0);
struct Counting;

fn count(layout: Layout, sign: isize) {
    let size = sign * layout.size() as isize;
    let held = HELD.fetch_add(size, Ordering::Relaxed) + size;
    MOST.fetch_max(held, Ordering::Relaxed);
}

#[expect(unsafe_code, reason = "an allocator is unsafe by its trait; this one counts and passes on")]
// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout, 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout, -1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What the core keeps is in it. It is 223, and was 364 when the journal kept a buffer of the size of its last snapshot.
const MOST_BYTES_A_TASK: isize = 300;
/// To say how a job is, without its attempts; a tenth of a megabyte that any call takes is in it.
const MOST_BYTES_A_TASK_ASKED: isize = 20;
/// What is left of a job that is over and too large to stay, for each of its tasks; what is learnt of task times is in it.
const MOST_BYTES_A_TASK_LEFT: isize = 50;
/// Rounds of so many jobs of so many tasks, of which the second is compared with the last.
const ROUNDS: u32 = 6;
const JOBS: u32 = 25;
const TASKS: u32 = 200;
/// For a hundred jobs and their twenty thousand tasks: the core remembers what became of each job, and what is learnt of task
/// times fills its windows. A byte of a task would be 20 KB.
const MOST_BYTES_MORE: isize = 300_000;
/// Maps of the worker at a time.
const SLOTS: u32 = 100;

/// As a worker reports a map that went well.
fn succeeded(attempt: v1::AttemptId) -> v1::AttemptStatus {
    let now = 1_790_000_000_000 + u64::from(attempt.index);
    v1::AttemptStatus {
        attempt: Some(attempt),
        state: v1::AttemptState::Succeeded.into(),
        phase: v1::Phase::Map.into(),
        progress: 10_000,
        counters: Some(v1::Counters {
            groups: Vec::new(),
            known: (0..KNOWN.len() as u32).collect(),
            known_values: (0..KNOWN.len() as i64).map(|n| n * 1_000 + 1).collect(),
        }),
        end: Some(v1::AttemptEnd {
            exit_code: Some(0),
            cpu_us: 12_345,
            peak_memory_kib: 4_567,
            started_ms_epoch: now,
            finished_ms_epoch: now + 1_234,
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// Does maps until so many of its jobs are done.
async fn work(worker: &mut FakeWorker, until: u32) {
    let (mut done, mut running) = (0, Vec::new());
    while done < until {
        let ends: Vec<v1::AttemptStatus> = running.drain(..).map(succeeded).collect();
        done += ends.len() as u32;
        running = launches(&worker.beat(ends).await.unwrap());
        worker.directives.clear();
    }
}

fn launches(answer: &v1::HeartbeatResponse) -> Vec<v1::AttemptId> {
    let launch = |directive: &v1::Directive| match &directive.kind {
        Some(v1::directive::Kind::Launch(launch)) => launch.attempt,
        _ => None,
    };
    answer.directives.iter().filter_map(launch).collect()
}

/// Waits until no more is held than this; the prediction thread learns what ended once a second, and holds it until then.
async fn until_held(at_most: isize, what: &str) {
    let began = Instant::now();
    while HELD.load(Ordering::Relaxed) > at_most {
        let held = HELD.load(Ordering::Relaxed);
        assert!(began.elapsed() < Duration::from_secs(60), "{what}: {held} bytes are held, expected {at_most}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Its worker says nothing while the test looks, which on a busy machine is long, and stays.
async fn start(change: impl FnOnce(&mut MasterConfig)) -> Cluster {
    Cluster::start_with(|config| {
        config.cluster.expiry_ms = 3_600_000;
        change(config);
    })
    .await
}

/// One after the other, or each would be counted for the other.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

#[tokio::test]
async fn a_task_of_a_live_job_takes_little_memory() {
    let _turn = TURN.lock().await;
    // A forecast of that moment would be counted with its copy of the core.
    let mut cluster = start(|config| config.prediction.every_ms = 0).await;
    let mut worker = FakeWorker::register(&mut cluster, "worker-1", SLOTS, 0).await;
    let n = 10_000;
    let before = HELD.load(Ordering::Relaxed);
    // With a reduce, which no slot will be there for: whoever has one is told where each map's output is.
    let job = cluster.submit(v1::SubmitJobRequest { n_reduces: 1, ..generated(n) }).await.unwrap();
    work(&mut worker, n - SLOTS).await;
    until_held(before + MOST_BYTES_A_TASK * n as isize, "a job of 10,000 maps, nearly done").await;
    // Other threads go on with what they do, but not all the time.
    let mut more = isize::MAX;
    for _ in 0..20 {
        let held = HELD.load(Ordering::Relaxed);
        MOST.store(held, Ordering::Relaxed);
        let request = v1::GetJobRequest { job: job.clone(), brief: true };
        let brief = cluster.client.get_job(request).await.unwrap().into_inner();
        assert_eq!(brief.status.map(|status| status.maps_done), Some(n - SLOTS));
        more = more.min(MOST.load(Ordering::Relaxed) - held);
    }
    assert!(more < MOST_BYTES_A_TASK_ASKED * n as isize, "{more} bytes to say how the job is");
    work(&mut worker, SLOTS).await;
    cluster.stop().await;
}

#[tokio::test]
async fn a_large_job_leaves_the_memory_when_it_is_over_though_it_is_the_last() {
    let _turn = TURN.lock().await;
    let n = 4_000;
    let mut cluster = start(|config| config.limits.finished_tasks = n - 1).await;
    let mut worker = FakeWorker::register(&mut cluster, "worker-1", SLOTS, 0).await;
    // What the first one leaves behind is learnt of its times.
    let (mut before, mut job) = (0, String::new());
    for done in 1..=2 {
        job = cluster.submit(generated(n)).await.unwrap();
        work(&mut worker, n).await;
        cluster.wait(&job).await;
        histories_written(&cluster, done).await;
        if done == 1 {
            until_left(&mut cluster, &job).await;
            before = HELD.load(Ordering::Relaxed);
        }
    }
    until_held(before + MOST_BYTES_A_TASK_LEFT * n as isize, "a job of 4,000 maps that is over").await;
    // All of it is there, on disk.
    assert_eq!(cluster.get(&job).await.unwrap().attempts.len(), n as usize);
    cluster.stop().await;
}

#[tokio::test]
async fn jobs_that_are_over_leave_the_memory_as_it_was() {
    let _turn = TURN.lock().await;
    let keep_few = |config: &mut MasterConfig| {
        (config.limits.finished_jobs, config.limits.listed_jobs) = (10, 20);
    };
    let mut cluster = start(keep_few).await;
    let mut worker = FakeWorker::register(&mut cluster, "worker-1", SLOTS, 0).await;
    let mut before = 0;
    for round in 1..=ROUNDS {
        for _ in 0..JOBS {
            cluster.submit(generated(TASKS)).await.unwrap();
        }
        work(&mut worker, JOBS * TASKS).await;
        cluster.until(|c| c.jobs_done == round * JOBS).await;
        histories_written(&cluster, round * JOBS).await;
        if round == 2 {
            before = HELD.load(Ordering::Relaxed);
        }
    }

    until_held(before + MOST_BYTES_MORE, "more jobs that are over").await;
    cluster.stop().await;
}

/// Waits until a job that is over is in the memory no more.
async fn until_left(cluster: &mut Cluster, job: &str) {
    let attempt = format!("{}_m_000000_0", job.replace("job_", "attempt_"));
    let began = Instant::now();
    loop {
        let kill = v1::KillAttemptRequest { attempt: attempt.clone(), fail: false };
        let refused = cluster.client.kill_attempt(kill).await.unwrap_err();
        if refused.message().ends_with("its job SUCCEEDED") {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "it stays: {refused}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Until then the thread that writes them holds the jobs.
async fn histories_written(cluster: &Cluster, n: u32) {
    let began = Instant::now();
    let master = cluster.master_dir();
    let written = || {
        let runs = std::fs::read_dir(&master).unwrap().flatten();
        let folders = runs.filter_map(|run| std::fs::read_dir(run.path().join("history")).ok());
        folders
            .flat_map(|folder| folder.flatten())
            .filter(|file| file.path().extension().is_some_and(|e| e == "gz"))
            .count()
    };
    while written() < n as usize {
        assert!(began.elapsed() < Duration::from_secs(60), "{} histories, expected {n}", written());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
