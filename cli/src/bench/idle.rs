//! How long an idle cluster takes to start a job's first attempt.

use std::time::Duration;

use super::cluster::{Shape, request, stop, submit, wait};
use super::measure::{median, quantile};
use super::report::{Bar, Report, Row};
use super::setting::Bench;
use crate::failure::{Failure, Outcome};
use crate::local::LocalCluster;

pub(crate) async fn run(bench: &Bench<'_>) -> Outcome<Report> {
    let n: u32 = bench.size(200, 40);
    let dir = bench.place("idle-cluster");
    let ours = Shape::two(2, 1).start(&dir.join("ours")).await?;
    let hadoop = Shape::two(2, 1).with("HOWDAH_MASTER_CLUSTER_MAX_PARKING_MS", "0");
    let hadoop = hadoop.start(&dir.join("hadoop")).await?;
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for index in 0..n {
        // Submissions meet heartbeats at any point of their interval.
        let pause = Duration::from_millis(u64::from(index * 37 % 50));
        with.push(one(&ours, pause).await?);
        without.push(one(&hadoop, pause).await?);
    }
    stop(ours).await?;
    stop(hadoop).await?;
    let row = |measure: &str, share: f64, most| Row {
        measure: measure.to_owned(),
        unit: "ms",
        howdah: quantile(&with, share),
        baseline: None,
        bar: Some(Bar::AtMost(most)),
    };
    let compared = Row {
        measure: "median, against Hadoop's way".to_owned(),
        unit: "ms",
        howdah: median(&with),
        baseline: Some(median(&without)),
        bar: None,
    };
    Ok(Report {
        name: "idle",
        title: format!("Submission to first attempt, idle cluster, {n} jobs"),
        baseline: "the same cluster without parked heartbeats: workers ask every 0.3 s, as in Hadoop 1.2.1",
        rows: vec![row("median", 0.5, 20.0), row("99th percentile", 0.99, 100.0), compared],
        notes: vec![
            "from just before the client's call to the start of the attempt's process, both clocks of one machine"
                .to_owned(),
        ],
        repeats: n,
        quick: bench.quick,
    })
}

async fn one(cluster: &LocalCluster, pause: Duration) -> Outcome<f64> {
    let mut client = cluster.client().await?;
    tokio::time::sleep(pause).await;
    let from = jiff::Timestamp::now().as_microsecond() as f64 / 1e3;
    let job = submit(&mut client, "sleep", &request(&["-m", "1", "-mt", "0"])).await?;
    let ran = wait(&mut client, &job).await?;
    let first = ran.attempts.iter().filter_map(|attempt| attempt.started_ms_epoch).min();
    let first = first.ok_or_else(|| Failure::broke("the job's attempt has no start time"))?;
    // The start is in whole milliseconds, rounded down.
    Ok((first as f64 + 0.5 - from).max(0.0))
}
