//! What it costs that nothing acknowledged is lost: submissions against the disk's own rate of syncs, and attempts with
//! the journal against attempts without one.
//!
//! A master without a journal exists for this comparison only: `howdah master --without-journal` is not in the help, and
//! no later start goes on with what it ran.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use tokio::task::JoinSet;

use super::cluster::{NOOP_SLOTS, Shape, request, run_noops, submit};
use super::measure::{beside, median};
use super::report::{Bar, Report, Row};
use super::setting::Bench;
use crate::failure::{Failure, Outcome};
use crate::units;

/// Clients that submit at a time.
const CLIENTS: u32 = 32;
/// About what the frame of a submission takes.
const FRAME_BYTES: usize = 512;
/// Room for frames in the file of the bare loop, which is made before it is timed, as the journal's segments are.
const FRAMES: u32 = 4_096;

/// Rates by turn, in 1/s.
#[derive(Default)]
struct Rates {
    syncs: Vec<f64>,
    alone: Vec<f64>,
    together: Vec<f64>,
    with: Vec<f64>,
    without: Vec<f64>,
}

pub(crate) async fn run(bench: &Bench<'_>) -> Outcome<Report> {
    let (n_syncs, n_jobs, n) = (bench.size(2_000, 200), bench.size(4_000, 320), bench.size(10_000, 1_000));
    let mut rates = Rates::default();
    for turn in 0..bench.repeats() {
        let path = bench.place("syncs");
        rates.syncs.push(beside(move || syncs(&path, n_syncs)).await?);
        let [alone, together] = submissions(bench, n_jobs).await?;
        rates.alone.push(alone);
        rates.together.push(together);
        // Whoever comes second finds the machine otherwise than whoever came first.
        for journal in [turn % 2 == 0, turn % 2 == 1] {
            let rate = attempts(bench, journal, n).await?;
            if journal { &mut rates.with } else { &mut rates.without }.push(rate);
        }
        let last = |rates: &[f64]| rates.last().copied().unwrap_or(f64::NAN);
        bench.tell(format!(
            "turn {}: {:.0} syncs/s; submissions {alone:.0}/s and {together:.0}/s; attempts {:.0}/s with the journal, {:.0}/s without",
            turn + 1,
            last(&rates.syncs),
            last(&rates.with),
            last(&rates.without)
        ));
    }
    Ok(report(bench, &rates, n))
}

fn report(bench: &Bench<'_>, rates: &Rates, n: u32) -> Report {
    let row = |measure: String, howdah: &[f64], baseline: &[f64], bar| Row {
        measure,
        unit: "1/s",
        howdah: median(howdah),
        baseline: Some(median(baseline)),
        bar,
    };
    let n = units::count(u64::from(n));
    Report {
        name: "journal",
        title: "What the journal costs".to_owned(),
        baseline: "for submissions, a bare loop that overwrites 512 bytes and syncs them; for attempts, the same master without its journal",
        rows: vec![
            row("acknowledged submissions, one client".to_owned(), &rates.alone, &rates.syncs, None),
            row(format!("acknowledged submissions, {CLIENTS} clients"), &rates.together, &rates.syncs, None),
            row(format!("{n} attempts that do nothing"), &rates.with, &rates.without, Some(Bar::AtLeast(0.85))),
        ],
        notes: vec![
            "a submission is acknowledged when the job's file and then the journal's frame are on disk, which those that come at a time share; no worker takes tasks meanwhile".to_owned(),
            format!("attempts run in reused processes on 2 workers with {NOOP_SLOTS} map slots each, with and without the journal in turn"),
        ],
        repeats: bench.repeats(),
        quick: bench.quick,
    }
}

/// The disk's own rate: one small write after the other, each on disk before the next.
fn syncs(path: &Path, n: u32) -> Outcome<f64> {
    let loops = || -> std::io::Result<f64> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        let frame = [1_u8; FRAME_BYTES];
        file.write_all_at(&vec![0; FRAME_BYTES * FRAMES as usize], 0)?;
        file.sync_all()?;
        path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())?;
        let began = Instant::now();
        for index in 0..n {
            file.write_all_at(&frame, u64::from(index % FRAMES) * FRAME_BYTES as u64)?;
            file.sync_data()?;
        }
        Ok(f64::from(n) / began.elapsed().as_secs_f64())
    };
    loops().map_err(|error| crate::local::cannot("write", path, &error))
}

/// Acknowledged submissions of one client, and of many at a time, to a master without workers.
async fn submissions(bench: &Bench<'_>, n: u32) -> Outcome<[f64; 2]> {
    let cluster = Shape { workers: 0, ..Shape::two(1, 1) }.start(&bench.place("journal-submissions")).await?;
    let mut rates = [0.0; 2];
    for (rate, n_clients) in rates.iter_mut().zip([1, CLIENTS]) {
        let each = if n_clients == 1 { n / 8 } else { n / n_clients };
        let mut clients = Vec::new();
        for _ in 0..n_clients {
            clients.push(cluster.client().await?);
        }
        let mut submitting = JoinSet::new();
        let began = Instant::now();
        for mut client in clients {
            submitting.spawn(async move {
                for _ in 0..each {
                    let submitted = submit(&mut client, "sleep", &request(&["-m", "1", "-mt", "0"])).await;
                    submitted.map_err(|failure| failure.to_string())?;
                }
                Ok::<(), String>(())
            });
        }
        while let Some(ended) = submitting.join_next().await {
            ended.map_err(|error| Failure::broke(format!("a client: {error}")))?.map_err(Failure::broke)?;
        }
        *rate = f64::from(each * n_clients) / began.elapsed().as_secs_f64();
    }
    // Stopped at once: its jobs have no workers.
    drop(cluster);
    Ok(rates)
}

/// Attempts a second, over the whole job.
async fn attempts(bench: &Bench<'_>, journal: bool, n: u32) -> Outcome<f64> {
    let mut shape = Shape::two(NOOP_SLOTS, 1);
    if !journal {
        shape = shape.with_master("--without-journal");
    }
    let ran = run_noops(&shape, &bench.place("journal-attempts"), n, true).await?;
    Ok(f64::from(n) / ran.seconds())
}
