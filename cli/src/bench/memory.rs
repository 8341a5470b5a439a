//! What jobs take of the master's memory and leave on disks: a task of a job that runs, an attempt that is over, a job that
//! is over.
//!
//! Memory is anonymous resident memory (`RssAnon`) as the kernel counts it, so that what the C library keeps of freed pieces
//! is in it. What the master itself asks for a task is less, and `master/tests/memory.rs` bounds it. The baseline is howdah
//! as it was when this was first measured; its figures are fixed.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use howdah_master::hadoop_history::DIRECTORY as HADOOP_HISTORY;

use super::cluster::{NOOP_SLOTS, Shape, request, stop, submit};
use super::measure::median;
use super::report::{Bar, Report, Row};
use super::setting::Bench;
use crate::client::{Client, is_final, succeeded};
use crate::failure::{Failure, Outcome};
use crate::local::{LocalCluster, proc};

/// Between two looks at the master's memory.
const PAUSE: Duration = Duration::from_millis(50);
/// Writing the history of a large job takes a debug build long.
const PATIENCE: Duration = Duration::from_secs(300);
/// And for each map.
const PATIENCE_OF_ONE: Duration = Duration::from_millis(2);

/// What it was at first: 1.14 GB, 189 MB and 880,000 files for a job of 200,000 empty tasks.
const FIRST_BYTES_A_TASK: f64 = 5_700.0;
const FIRST_HISTORY_BYTES: f64 = 945.0;
const FIRST_FILES: f64 = 4_400.0;

/// 1 GiB for a million tasks.
const MOST_BYTES_A_TASK: f64 = 1_073.0;
const MOST_HISTORY_BYTES: f64 = 150.0;
/// A million attempts leave thousands of files.
const MOST_FILES: f64 = 5.0;
/// Memory after jobs that are over, against before them: it stays where it was.
const MOST_GROWTH: f64 = 1.25;

/// What one turn found.
struct Found {
    running: f64,
    peak: f64,
    history: f64,
    hadoop_history: f64,
    files: f64,
    bytes: f64,
    before: f64,
    after: f64,
}

pub(crate) async fn run(bench: &Bench<'_>) -> Outcome<Report> {
    // The many jobs after it have as many maps in all as the large one has, unless that is larger than usual.
    let (usual, jobs): (u32, u32) = bench.size((20_000, 100), (4_000, 20));
    let n = bench.tasks.unwrap_or(usual);
    let small = n.min(usual) / jobs;
    let mut all = Vec::new();
    for turn in 0..bench.repeats() {
        let found = one(bench, n, jobs, small).await?;
        bench.tell(format!("turn {}: {:.0} B a task of a job that runs", turn + 1, found.running));
        all.push(found);
    }
    let value = |of: fn(&Found) -> f64| median(&all.iter().map(of).collect::<Vec<_>>());
    let row = |measure: &str, unit, of: fn(&Found) -> f64, baseline, bar| Row {
        measure: measure.to_owned(),
        unit,
        howdah: value(of),
        baseline,
        bar,
    };
    let first = Some(FIRST_BYTES_A_TASK);
    let most = |bytes| Some(Bar::ValueAtMost(bytes));
    let after = format!("master's memory after {} jobs that are over (baseline: after the first {jobs})", 2 * jobs);
    let rows = vec![
        row("master's memory, a task of a job that runs", "B", |f| f.running, first, most(MOST_BYTES_A_TASK)),
        row("the most until its history is written, a task", "B", |f| f.peak, first, most(MOST_BYTES_A_TASK)),
        row("history, an attempt", "B", |f| f.history, Some(FIRST_HISTORY_BYTES), most(MOST_HISTORY_BYTES)),
        row("history in Hadoop's form, an attempt", "B", |f| f.hadoop_history, None, None),
        row("files on workers, 1,000 attempts", "files", |f| f.files, Some(FIRST_FILES), most(MOST_FILES)),
        row("bytes on workers, 1,000 attempts", "KiB", |f| f.bytes, None, None),
        Row {
            measure: after,
            unit: "MiB",
            howdah: value(|f| f.after),
            baseline: Some(value(|f| f.before)),
            bar: Some(Bar::AtMost(MOST_GROWTH)),
        },
    ];
    Ok(Report {
        name: "memory",
        title: "What jobs take of the master's memory and leave on disks".to_owned(),
        baseline: "howdah as it was when this was first measured, with 200,000 empty tasks; in the last row, itself",
        rows,
        notes: vec![format!(
            "a job of {} maps that do nothing on 2 workers with {NOOP_SLOTS} map slots each, processes reused; memory is \
             RssAnon of the master, less what it had before the job; then jobs of {small} maps, one after the other",
            crate::units::count(u64::from(n)),
        )],
        repeats: bench.repeats(),
        quick: bench.quick,
    })
}

async fn one(bench: &Bench<'_>, n: u32, jobs: u32, small: u32) -> Outcome<Found> {
    let dir = bench.place("memory-cluster");
    // As many tasks as all the jobs before the first look have, so that those after it find the memory full.
    let shape = Shape::two(NOOP_SLOTS, 1).with("HOWDAH_MASTER_LIMITS_FINISHED_TASKS", &(small * jobs / 2).to_string());
    // What a master takes unless told otherwise.
    let most = n.max(howdah_master::Limits::default().tasks_per_job);
    let shape = shape.with("HOWDAH_MASTER_LIMITS_TASKS_PER_JOB", &most.to_string());
    let cluster = shape.start(&dir).await?;
    let mut client = cluster.client().await?;
    // Whatever is made once is made.
    run_job(&cluster, &mut client, &dir, 100).await?;
    let start = settled(&cluster).await?;
    let left = Left::on_workers(&dir);
    let job = run_job(&cluster, &mut client, &dir, n).await?;
    let tasks = f64::from(n);
    // What only the job needed goes a moment later.
    settled(&cluster).await?;
    let more = Left::on_workers(&dir);
    let [history, in_hadoops_form] = written(&dir, &job.id);
    let mut memory = [0; 2];
    for held_then in &mut memory {
        for _ in 0..jobs {
            run_job(&cluster, &mut client, &dir, small).await?;
        }
        *held_then = settled(&cluster).await?;
    }
    stop(cluster).await?;
    Ok(Found {
        running: job.running.saturating_sub(start) as f64 / tasks,
        peak: job.most.saturating_sub(start) as f64 / tasks,
        history: history.bytes as f64 / tasks,
        hadoop_history: in_hadoops_form.bytes as f64 / tasks,
        files: more.files.saturating_sub(left.files) as f64 / tasks * 1e3,
        bytes: more.bytes.saturating_sub(left.bytes) as f64 / tasks * 1e3 / 1_024.0,
        before: memory[0] as f64 / f64::from(1 << 20),
        after: memory[1] as f64 / f64::from(1 << 20),
    })
}

/// A job that ran and whose history is written, with what the master held meanwhile.
pub(super) struct JobRun {
    id: String,
    /// The last that was seen before its end.
    running: u64,
    pub(super) most: u64,
}

pub(super) async fn run_job(cluster: &LocalCluster, client: &mut Client, dir: &Path, n: u32) -> Outcome<JobRun> {
    let mut request = request(&["-m", &n.to_string(), "-mt", "0"]);
    request.properties.insert("mapred.job.reuse.jvm.num.tasks".to_owned(), "-1".to_owned());
    let id = submit(client, "sleep", &request).await?;
    let patience = PATIENCE + PATIENCE_OF_ONE * n;
    let (mut running, mut most) = (0, 0);
    let began = Instant::now();
    loop {
        let status = client.status(&id).await?;
        let now = held(cluster)?;
        most = most.max(now);
        if !is_final(&status.state) {
            running = now;
        } else if !succeeded(&status) {
            return Err(Failure::broke(format!("{} ended {}: {}", status.name, status.state, status.why)));
        } else if written(dir, &id).iter().all(|history| history.files > 0) {
            return Ok(JobRun { id, running, most });
        }
        if began.elapsed() > patience {
            return Err(Failure::broke(format!("{id} is not over, or has no history, after {} s", patience.as_secs())));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The least that is held within some seconds: what is freed goes back to the system a moment later.
pub(super) async fn settled(cluster: &LocalCluster) -> Outcome<u64> {
    let mut least = held(cluster)?;
    for _ in 0..60 {
        tokio::time::sleep(PAUSE).await;
        least = least.min(held(cluster)?);
    }
    Ok(least)
}

fn held(cluster: &LocalCluster) -> Outcome<u64> {
    let access = cluster.access();
    let found = access.pids.first().and_then(|&master| proc::anonymous_kib(master));
    let found = found.ok_or_else(|| Failure::broke("the kernel does not say how much memory the master has"))?;
    Ok(found * 1_024)
}

/// Where the only run of the cluster's master has its histories.
fn histories(dir: &Path) -> PathBuf {
    let runs = std::fs::read_dir(dir.join("master")).into_iter().flatten().flatten().map(|entry| entry.path());
    let run = runs.into_iter().find(|path| path.join("journal").is_dir()).unwrap_or_else(|| dir.join("master"));
    run.join("history")
}

/// A job's histories, as far as they are written: the master's own, and in Hadoop's form.
fn written(dir: &Path, job: &str) -> [Left; 2] {
    let own = histories(dir);
    let in_hadoops_form = own.with_file_name(HADOOP_HISTORY);
    [own, in_hadoops_form].map(|folder| Left::of(&folder, &|path| is_of(path, job)))
}

/// Whether a file is the finished history of a job.
fn is_of(path: &Path, job: &str) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.starts_with(job) && (name.ends_with(".gz") || name.ends_with(".jhist"))
}

/// Files, folders among them, and what they hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Left {
    files: u64,
    bytes: u64,
}

impl Left {
    /// In the folders of all workers.
    fn on_workers(dir: &Path) -> Left {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_worker =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("worker-"));
        let mut left = Left::default();
        entries.filter(is_worker).for_each(|worker| left.add(&worker, &|_| true));
        left
    }

    /// Below a folder, of what is `counted`.
    fn of(folder: &Path, counted: &dyn Fn(&Path) -> bool) -> Left {
        let mut left = Left::default();
        left.add(folder, counted);
        left
    }

    fn add(&mut self, folder: &Path, counted: &dyn Fn(&Path) -> bool) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            // What goes meanwhile is not left.
            let Ok(metadata) = entry.metadata() else { continue };
            let path = entry.path();
            if counted(&path) {
                self.files += 1;
                self.bytes += if metadata.is_file() { metadata.len() } else { 0 };
            }
            if metadata.is_dir() {
                self.add(&path, counted);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_of_workers_are_counted_and_a_masters_are_not() {
        let dir = tempfile::tempdir().expect("make a folder");
        for folder in ["worker-1/userlogs", "worker-2", "master/run-1/journal"] {
            std::fs::create_dir_all(dir.path().join(folder)).expect("make a folder");
        }
        for (file, bytes) in [("worker-1/userlogs/job_1.logs", 7), ("worker-2/a", 5), ("master/b", 100)] {
            std::fs::write(dir.path().join(file), vec![b'x'; bytes]).expect("write a file");
        }
        assert_eq!(Left::on_workers(dir.path()), Left { files: 3, bytes: 12 });
        assert_eq!(histories(dir.path()), dir.path().join("master/run-1/history"));
    }

    #[test]
    fn a_history_that_is_still_written_is_not_there_yet() {
        assert!(is_of(Path::new("h/job_1_0002.json.gz"), "job_1_0002"));
        assert!(is_of(Path::new("done/job_1_0002-17-root.jhist"), "job_1_0002"));
        assert!(
            !is_of(Path::new("h/job_1_0002.json.gz.tmp"), "job_1_0002")
                && !is_of(Path::new("job_1_0003.json.gz"), "job_1_0002")
        );
    }
}
