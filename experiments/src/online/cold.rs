//! `online-cold`: input that is read ahead by forecast against input that maps read themselves, on real daemons, from a disk that
//! the kernel holds back and whose files are cold (§IV-A, beyond the paper's arithmetic).
//!
//! One worker of one map slot; each map reads a file of a MiB and then computes as long as the disk needs for the next one. Pairs
//! by turns, each run on a cluster of its own and a disk that was mounted anew. Only root may hold back a disk.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::framework::{About, Bars, Check, Experiment, Lab, Needs, Outcome, Page, Series, Table, papers, percent};
use crate::live::{Cluster, Policy, Program, Shape, Submission, drive, fresh};
use crate::slow_disk::SlowDisk;

/// The experiment.
pub(crate) struct OnlineCold;

const SHAPE: Shape = Shape { forecast_ms: Some(500), ..Shape::even(1, 1, 1) };
/// Memory that the worker may read ahead into.
const PREFETCH_BYTES: u64 = 64 << 20;
const DISK_BYTES_PER_SECOND: u64 = 2 << 20;
const MAPPER: &str = "#!/bin/sh\ncat > /dev/null\nsleep 0.5\n";
const BOUND: Duration = Duration::from_secs(300);
/// With input read ahead, the job takes at most this share of the time.
const BAR: f64 = 0.85;

/// What a run took, and how many maps found their input read ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Took {
    job_s: f64,
    hits: u64,
}

fn took(list: &Value, workers: &Value) -> Result<Took> {
    let job = list["jobs"].as_array().and_then(|jobs| jobs.first()).context("no job ran")?;
    let time = |key: &str| job[key].as_u64().with_context(|| format!("the job has no {key}"));
    let job_s = time("finish_ms_epoch")?.saturating_sub(time("submit_ms_epoch")?) as f64 / 1e3;
    Ok(Took { job_s, hits: workers["workers"][0]["vitals"]["prefetch"]["hits"].as_u64().unwrap_or(0) })
}

fn run(lab: &Lab<'_>, label: &str, disk: &mut SlowDisk, mapper: &Path, prefetch_bytes: u64) -> Result<Took> {
    disk.cool()?;
    let program = Program::new(&lab.program);
    let dir = fresh(&lab.dir.join("runs").join(label))?;
    let results = tempfile::tempdir_in(&lab.dir).context("make a directory for the job's results")?;
    let shape = Shape { prefetch_bytes, ..SHAPE };
    let mut cluster = Cluster::start(&program, &dir, shape, &Policy::plain("fifo"))?;
    disk.hold_back(cluster.worker_process(1).context("find the worker's process")?)?;
    let input = disk.path().join("input-*.txt").display().to_string();
    let (mapper, output) = (mapper.display().to_string(), results.path().join("out").display().to_string());
    let words = ["streaming", "--mapper", &mapper, "--input", &input, "--output", &output, "-r", "0"];
    let job = Submission { name: "cold".to_owned(), words: words.map(str::to_owned).to_vec(), at: Duration::ZERO };
    drive(&mut cluster, &[job], BOUND, lab.progress, label)?;
    let ask = |what| program.json([what, "list", "--output", "json", "--master", cluster.address()]);
    let found = took(&ask("job")?, &ask("worker")?)?;
    cluster.stop()?;
    Ok(found)
}

impl Experiment for OnlineCold {
    fn about(&self) -> About {
        About {
            name: "online-cold",
            line: "Input read ahead by forecast from a slow disk, in pairs",
            paper: papers::ONLINE,
            figure: "Section IV-A (no figure)",
            needs: Needs::LiveRuns,
            estimate_s: [80, 25],
        }
    }

    fn run(&self, lab: &Lab<'_>) -> Result<Outcome> {
        let folder = tempfile::tempdir_in(&lab.dir).context("make a folder for the disk")?;
        let mut disk = SlowDisk::make(folder.path(), 64, DISK_BYTES_PER_SECOND)
            .context("hold back a disk, which takes root's rights")?;
        for n in 1..=lab.size(10, 6) {
            let path = disk.path().join(format!("input-{n:02}.txt"));
            std::fs::write(&path, "one line of many\n".repeat((1 << 20) / 17))
                .with_context(|| format!("write `{}`", path.display()))?;
        }
        let mapper = lab.write("mapper.sh", MAPPER)?;
        std::fs::set_permissions(&mapper, std::fs::Permissions::from_mode(0o755))
            .with_context(|| format!("make `{}` executable", mapper.display()))?;
        let n = lab.repeats.unwrap_or(lab.size(4, 1)).max(1);
        let mut pairs: Vec<[Took; 2]> = Vec::new();
        for pair in 1..=n {
            lab.progress.step(&format!("pair {pair} of {n}"));
            let mut both = [None; 2];
            // By turns, so that a machine that slows down slows neither.
            for ahead in if pair % 2 == 1 { [0, 1] } else { [1, 0] } {
                let label = format!("cold-{}-{pair}", ["without", "ahead"][ahead]);
                both[ahead] = Some(run(lab, &label, &mut disk, &mapper, [0, PREFETCH_BYTES][ahead])?);
            }
            if let [Some(without), Some(ahead)] = both {
                pairs.push([without, ahead]);
            }
        }
        write(lab, &self.about(), &pairs)
    }
}

fn write(lab: &Lab<'_>, about: &About, pairs: &[[Took; 2]]) -> Result<Outcome> {
    let mut page = Page::new(about, lab.quick);
    page.paragraph(&format!(
        "Live, on {SHAPE} with a round of forecasts twice a second: one job, a map for each of {} cold files of 1 MiB, on a disk that \
         the kernel holds back to {} MiB/s; each map reads its file and then computes for 0.5 s.",
        lab.size(10, 6),
        DISK_BYTES_PER_SECOND >> 20,
    ));
    let mut table = Table::new(&["pair", ">without s", ">read ahead s", ">maps that found their input"]);
    for ([without, ahead], pair) in pairs.iter().zip(1_u32..) {
        let figures = [format!("{:.2}", without.job_s), format!("{:.2}", ahead.job_s), ahead.hits.to_string()];
        table.row(std::iter::once(pair.to_string()).chain(figures));
    }
    page.table(&table);
    let shares: Vec<f64> = pairs.iter().map(|[without, ahead]| ahead.job_s / without.job_s.max(1e-3)).collect();
    let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
    let most = shares.iter().copied().fold(0.0, f64::max);
    page.paragraph(&format!(
        "Read ahead, the job takes {} of the time, {} to {} from pair to pair.",
        percent(mean),
        percent(least),
        percent(most)
    ));
    let figure = Bars {
        title: "One job over cold files".to_owned(),
        y_label: "seconds".to_owned(),
        groups: (1..=pairs.len()).map(|pair| pair.to_string()).collect(),
        series: vec![
            Series::new("without", pairs.iter().map(|pair| pair[0].job_s).collect()),
            Series::new("read ahead", pairs.iter().map(|pair| pair[1].job_s).collect()),
        ],
    };
    page.image("online-cold.svg", "one job over cold files");
    let what = "time of the job with its input read ahead over without, mean of the pairs".to_owned();
    let checks = vec![Check { what, found: mean, bar: BAR, judged: !lab.quick }];
    page.checks(&checks);
    let files = page.write(lab, "online-cold", &table, figure.svg())?;
    Ok(Outcome { files, checks })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_is_the_jobs_time_and_the_maps_that_found_their_input() {
        let list = json!({ "jobs": [{ "submit_ms_epoch": 1_000, "finish_ms_epoch": 7_500 }] });
        let workers = json!({ "workers": [{ "vitals": { "prefetch": { "hits": 8 } } }] });
        assert_eq!(took(&list, &workers).unwrap(), Took { job_s: 6.5, hits: 8 });
        assert_eq!(took(&list, &json!({})).unwrap().hits, 0);
        assert!(took(&json!({ "jobs": [] }), &workers).is_err());
    }
}
