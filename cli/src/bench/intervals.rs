//! A batch of short jobs under each rule for the heartbeat interval, with parked heartbeats and without.

use std::time::{Duration, Instant};

use super::cluster::{Shape, request, stop, submit, wait};
use super::measure::median;
use super::report::{Report, Row};
use super::setting::Bench;
use crate::failure::Outcome;

/// Names and settings; the third is Hadoop 1.2.1, the baseline, when parking is off.
const RULES: [(&str, &str); 4] = [
    ("Hadoop 0.20.2 (3 s)", r#"{ rule = "hadoop-0.20.2" }"#),
    ("Hadoop 1.2.1 (0.3 s)", r#"{ rule = "hadoop-1.2.1", heartbeats_in_second = 100 }"#),
    ("fixed, 1 s", r#"{ rule = "fixed", interval_ms = 1000 }"#),
    ("adaptive, 20 ms to 3 s", r#"{ rule = "adaptive", min_ms = 20, max_ms = 3000, heartbeats_in_second = 100 }"#),
];
const BASELINE: (usize, bool) = (1, false);

pub(crate) async fn run(bench: &Bench<'_>) -> Outcome<Report> {
    let jobs: u32 = bench.size(20, 6);
    let cases: Vec<(usize, bool)> =
        [false, true].iter().flat_map(|parking| (0..RULES.len()).map(move |rule| (rule, *parking))).collect();
    let mut spans = vec![Vec::new(); cases.len()];
    let mut means = vec![Vec::new(); cases.len()];
    for turn in 0..bench.repeats() {
        for (index, (rule, parking)) in cases.iter().enumerate() {
            let (span, mean) = batch(bench, RULES[*rule].1, *parking, jobs).await?;
            bench.tell(format!("turn {}: {}: {span:.2} s, {mean:.2} s per job", turn + 1, label(*rule, *parking)));
            spans[index].push(span);
            means[index].push(mean);
        }
    }
    let base = cases.iter().position(|case| *case == BASELINE).unwrap_or(0);
    let mut rows = Vec::new();
    for (what, values) in [("whole batch", &spans), ("mean job", &means)] {
        for (index, (rule, parking)) in cases.iter().enumerate() {
            rows.push(Row {
                measure: format!("{what}: {}", label(*rule, *parking)),
                unit: "s",
                howdah: median(&values[index]),
                baseline: Some(median(&values[base])),
                bar: None,
            });
        }
    }
    Ok(Report {
        name: "intervals",
        title: format!("{jobs} short jobs under each interval rule"),
        baseline: "Hadoop 1.2.1's rule without parking",
        rows,
        notes: vec!["jobs of 4 maps of 50 ms and 1 reduce of 20 ms, one submitted every 100 ms; 2 workers with 2 map slots and 1 reduce slot each; finished attempts report at once under every rule".to_owned()],
        repeats: bench.repeats(),
        quick: bench.quick,
    })
}

fn label(rule: usize, parking: bool) -> String {
    format!("{}, parking {}", RULES[rule].0, if parking { "on" } else { "off" })
}

/// Seconds from the first submission to the last end, and the mean from a job's submission to its end.
async fn batch(bench: &Bench<'_>, rule: &str, parking: bool, jobs: u32) -> Outcome<(f64, f64)> {
    let dir = bench.place("intervals-cluster");
    let mut shape = Shape::two(2, 1).with("HOWDAH_MASTER_CLUSTER_HEARTBEAT", rule);
    if !parking {
        shape = shape.with("HOWDAH_MASTER_CLUSTER_MAX_PARKING_MS", "0");
    }
    let cluster = shape.start(&dir).await?;
    let mut client = cluster.client().await?;
    let mut submitted = Vec::new();
    let began = Instant::now();
    for index in 0..jobs {
        let due = began + Duration::from_millis(100) * index;
        tokio::time::sleep_until(due.into()).await;
        submitted
            .push(submit(&mut client, "sleep", &request(&["-m", "4", "-mt", "50", "-r", "1", "-rt", "20"])).await?);
    }
    let mut total = 0.0;
    for job in &submitted {
        total += wait(&mut client, job).await?.seconds();
    }
    let span = began.elapsed().as_secs_f64();
    stop(cluster).await?;
    Ok((span, total / f64::from(jobs)))
}
