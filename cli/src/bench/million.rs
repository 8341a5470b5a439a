//! A job of a million tasks, and a thousand jobs of a thousand, one after the other: what the master holds meanwhile and then.
//!
//! The same measure as `memory`, at the size that the project's bars name. It takes most of an hour, so `all` leaves it out.

use super::cluster::{NOOP_SLOTS, Shape, stop};
use super::measure::median;
use super::memory::{run_job, settled};
use super::report::{Bar, Report, Row};
use super::setting::Bench;
use crate::failure::Outcome;
use crate::units::count;

const MIB: f64 = 1_048_576.0;
/// Of master, for all of it.
const MOST_MIB: f64 = 1_024.0;
/// Memory after all jobs, against after the first tenth of them: it stays where it was.
const MOST_GROWTH: f64 = 1.25;

struct Found {
    most: f64,
    left: f64,
    early: f64,
    late: f64,
}

pub(crate) async fn run(bench: &Bench<'_>) -> Outcome<Report> {
    let (tasks, jobs, small): (u32, u32, u32) = bench.size((1_000_000, 1_000, 1_000), (4_000, 20, 100));
    let turns = bench.repeats.unwrap_or(1);
    let mut all = Vec::new();
    for _ in 0..turns {
        let (most, left) = large(bench, tasks).await?;
        bench.tell(format!("{} tasks: {most:.0} MiB at most, {left:.0} MiB when it is over", count(u64::from(tasks))));
        let (early, late) = many(bench, jobs, small).await?;
        bench.tell(format!("{jobs} jobs: {early:.1} MiB after a tenth of them, {late:.1} MiB after all"));
        all.push(Found { most, left, early, late });
    }
    let value = |of: fn(&Found) -> f64| median(&all.iter().map(of).collect::<Vec<_>>());
    let row = |measure: String, howdah, baseline, bar| Row { measure, unit: "MiB", howdah, baseline, bar };
    let (n, each) = (count(u64::from(tasks)), count(u64::from(small)));
    let after =
        format!("after {} jobs of {each} maps (baseline: after the first {})", count(u64::from(jobs)), jobs / 10);
    let rows = vec![
        row(
            format!("master's memory, the most from a job of {n} maps until its history is written"),
            value(|f| f.most),
            None,
            Some(Bar::ValueAtMost(MOST_MIB)),
        ),
        row("once that job has left it".to_owned(), value(|f| f.left), None, None),
        row(after, value(|f| f.late), Some(value(|f| f.early)), Some(Bar::AtMost(MOST_GROWTH))),
    ];
    Ok(Report {
        name: "million",
        title: "A million tasks in a master's memory".to_owned(),
        baseline: "in the last row, the master itself",
        rows,
        notes: vec![format!(
            "maps that do nothing on 2 workers with {NOOP_SLOTS} map slots each, processes reused; memory is RssAnon of the \
             master, all of it; a fresh cluster for the large job and one for the small ones, which run one after the other"
        )],
        repeats: turns,
        quick: bench.quick,
    })
}

/// The most and what is left, in MiB.
async fn large(bench: &Bench<'_>, tasks: u32) -> Outcome<(f64, f64)> {
    let dir = bench.place("million-cluster");
    let limit = tasks.to_string();
    let cluster = Shape::two(NOOP_SLOTS, 1).with("HOWDAH_MASTER_LIMITS_TASKS_PER_JOB", &limit).start(&dir).await?;
    let mut client = cluster.client().await?;
    let job = run_job(&cluster, &mut client, &dir, tasks).await?;
    let left = settled(&cluster).await?;
    stop(cluster).await?;
    Ok((job.most as f64 / MIB, left as f64 / MIB))
}

/// What is held after a tenth of the jobs, and after all, in MiB.
async fn many(bench: &Bench<'_>, jobs: u32, tasks: u32) -> Outcome<(f64, f64)> {
    let dir = bench.place("million-cluster");
    let cluster = Shape::two(NOOP_SLOTS, 1).start(&dir).await?;
    let mut client = cluster.client().await?;
    let mut early = 0;
    for number in 1..=jobs {
        run_job(&cluster, &mut client, &dir, tasks).await?;
        if number == jobs / 10 {
            early = settled(&cluster).await?;
        }
    }
    let late = settled(&cluster).await?;
    stop(cluster).await?;
    Ok((early as f64 / MIB, late as f64 / MIB))
}
