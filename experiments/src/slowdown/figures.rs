//! Tables and drawings, one of each for a figure of the paper.

use std::path::PathBuf;

use anyhow::Result;
use howdah_core::models::moments::sorted;
use howdah_core::replay::summary::size;

use super::bench::Bench;
use super::partition_use::Use;
use super::policy::Policy;
use super::runs::LOADS;
use super::scatter::{Main, Shown};
use super::sweep::{Point, Sweeps};
use crate::framework::{Curve, Lab, Plot, Table};

/// Percentiles of Fig. 11.
pub(super) const PERCENTILES: [f64; 10] = [75.0, 80.0, 85.0, 90.0, 92.0, 94.0, 95.0, 96.0, 98.0, 99.0];

fn curve(name: impl Into<String>, points: Vec<(f64, f64)>) -> Curve {
    Curve { name: name.into(), points, joined: true }
}

fn plot(title: impl Into<String>, x_label: &str, y_label: &str, curves: Vec<Curve>) -> Plot {
    Plot {
        title: title.into(),
        x_label: x_label.to_owned(),
        y_label: y_label.to_owned(),
        x_log: false,
        y_log: false,
        curves,
        across: Vec::new(),
    }
}

fn both(lab: &Lab<'_>, name: &str, table: &Table, plot: &Plot) -> Result<[PathBuf; 2]> {
    Ok([lab.write(&format!("{name}.csv"), &table.csv())?, lab.write(&format!("{name}.svg"), &plot.svg()?)?])
}

/// Figure 4: the workload's own properties, over the first repeat.
pub(super) fn workload(lab: &Lab<'_>, bench: &Bench) -> Result<Vec<PathBuf>> {
    let Some(set) = bench.sets.first() else { return Ok(Vec::new()) };
    let mut table = Table::new(&["job", "maps", "reduces", "tasks", "input_bytes", "size_s", "reference_s"]);
    let mut input = Vec::new();
    let mut tasks = Vec::new();
    for (n, (job, reference)) in set.trace.jobs.iter().zip(&set.references).enumerate() {
        let (size_s, n_tasks) = (size(job).as_secs_f64(), u64::from(job.n_maps) + u64::from(job.n_reduces));
        let bytes = job.input_bytes.unwrap_or(0);
        input.push((bytes as f64 / (1u64 << 30) as f64, size_s));
        tasks.push(n_tasks as f64);
        let numbers = [(n + 1) as u64, job.n_maps.into(), job.n_reduces.into(), n_tasks, bytes];
        let mut cells: Vec<String> = numbers.iter().map(u64::to_string).collect();
        cells.extend([format!("{size_s:.3}"), format!("{:.3}", reference.as_secs_f64())]);
        table.row(cells);
    }
    let references: Vec<f64> = set.references.iter().map(|span| span.as_secs_f64()).collect();
    let density = |name: &str, title: &str, values: Vec<f64>| -> Result<PathBuf> {
        let mut drawn = plot(title, name, "share of jobs", vec![curve("jobs", histogram(&values))]);
        drawn.x_log = true;
        drawn
            .svg()
            .and_then(|svg| lab.write(&format!("slowdown-fig4-{}.svg", name.split(' ').next().unwrap_or(name)), &svg))
    };
    let cloud = Curve { name: "jobs".to_owned(), points: input, joined: false };
    let mut scatter = plot("Figure 4 (b): size by input", "input in GiB", "size in slot seconds", vec![cloud]);
    (scatter.x_log, scatter.y_log) = (true, true);
    Ok(vec![
        lab.write("slowdown-fig4.csv", &table.csv())?,
        density("reference run time in s", "Figure 4 (a): reference run times", references)?,
        lab.write("slowdown-fig4-input.svg", &scatter.svg()?)?,
        density("tasks of a job", "Figure 4 (c): tasks of a job", tasks)?,
    ])
}

/// Shares by quarter decade.
fn histogram(values: &[f64]) -> Vec<(f64, f64)> {
    let values = sorted(values.iter().copied().filter(|&value| value > 0.0));
    let mut bins: std::collections::BTreeMap<i32, usize> = Default::default();
    for value in &values {
        *bins.entry(libm::floor(4.0 * libm::log10(*value)) as i32).or_default() += 1;
    }
    let middle = |bin: i32| libm::pow(10.0, (f64::from(bin) + 0.5) / 4.0);
    bins.into_iter().map(|(bin, n)| (middle(bin), n as f64 / values.len() as f64)).collect()
}

/// Figures 5 to 8.
pub(super) fn sweeps(lab: &Lab<'_>, sweeps: &Sweeps) -> Result<Vec<PathBuf>> {
    let mut table =
        Table::new(&["policy", "load", "partition_1_percent", "limit_s", "median", "p95", "variability", "mean"]);
    for point in &sweeps.points {
        let f = &point.figures;
        let mut cells = vec![
            point.scheduler.to_owned(),
            format!("{:.1}", f64::from(point.load_milli) / 1000.0),
            point.share.to_string(),
            format!("{}", point.limit.as_secs_f64()),
        ];
        cells.extend([f.median, f.p95, f.variability, f.mean].map(|value| format!("{value:.4}")));
        table.row(cells);
    }
    let mut files = vec![lab.write("slowdown-fig5-8.csv", &table.csv())?];
    let mut write = |name: &str, plot: Plot| -> Result<()> {
        files.push(lab.write(&format!("{name}.svg"), &plot.svg()?)?);
        Ok(())
    };
    let best = |scheduler: &str| -> Vec<&Point> {
        let mut shares: Vec<u32> = sweeps.points.iter().map(|point| point.share).filter(|&share| share > 0).collect();
        shares.sort_unstable();
        shares.dedup();
        shares.iter().filter_map(|&share| sweeps.best(&sweeps.of(scheduler, LOADS[0], Some(share)))).collect()
    };
    let by_share = |points: &[&Point], of: fn(&Point) -> f64| -> Vec<(f64, f64)> {
        points.iter().map(|point| (f64::from(point.share), of(point))).collect()
    };
    let limits =
        ["tags", "sita"].map(|policy| curve(policy.to_uppercase(), by_share(&best(policy), |p| p.limit.as_secs_f64())));
    let x = "size of partition 1 in percent";
    write("slowdown-fig5", plot("Figure 5: best time limit", x, "limit in s", limits.to_vec()))?;
    for policy in ["tags", "sita"] {
        let points = best(policy);
        let with_fifo = |of: fn(&Point) -> f64, fifo: f64| {
            let mut all = vec![(0.0, fifo)];
            all.extend(by_share(&points, of));
            all
        };
        let curves = vec![
            curve("median slowdown", with_fifo(|p| p.figures.median, sweeps.fifo[0].median)),
            curve("slowdown variability", with_fifo(|p| p.figures.variability, sweeps.fifo[0].variability)),
        ];
        let title = format!("Figure 6: {} at load 0.7", policy.to_uppercase());
        write(&format!("slowdown-fig6-{policy}"), plot(title, x, "slowdown", curves))?;
    }
    let settings = [
        ("fig7-tags", "tags", 50, 0),
        ("fig7-sita", "sita", 30, 0),
        ("fig8-0.7", "fbq", 0, 0),
        ("fig8-0.9", "fbq", 0, 1),
    ];
    for (name, policy, share, load) in settings {
        let points = sweeps.of(policy, LOADS[load], Some(share));
        let by_limit =
            |of: fn(&Point) -> f64| points.iter().map(|point| (point.limit.as_secs_f64(), of(point))).collect();
        let curves = vec![
            curve("median slowdown", by_limit(|p| p.figures.median)),
            curve("slowdown variability", by_limit(|p| p.figures.variability)),
        ];
        let number = &name[3..4];
        let title = format!("Figure {number}: {} at load {}", policy.to_uppercase(), f64::from(LOADS[load]) / 1000.0);
        let mut drawn = plot(title, "time limit of queue 1 in s", "slowdown", curves);
        drawn.x_log = true;
        write(&format!("slowdown-{name}"), drawn)?;
    }
    Ok(files)
}

/// Figure 9.
pub(super) fn partition_use(lab: &Lab<'_>, uses: &[Use]) -> Result<Vec<PathBuf>> {
    let mut table = Table::new(&["policy", "partition_1_percent", "limit_s", "busy_1", "busy_2", "work_in_1"]);
    for one in uses {
        let mut cells = vec![one.scheduler.to_owned(), one.share.to_string(), format!("{}", one.limit.as_secs_f64())];
        cells.extend([one.busy[0], one.busy[1], one.work_in_first].map(|share| format!("{share:.4}")));
        table.row(cells);
    }
    let of = |scheduler: &str, partition: usize| {
        let uses = uses.iter().filter(|one| one.scheduler == scheduler);
        curve(
            format!("{}, partition {}", scheduler.to_uppercase(), partition + 1),
            uses.map(|one| (f64::from(one.share), one.busy[partition])).collect(),
        )
    };
    let curves = vec![of("tags", 0), of("tags", 1), of("sita", 0), of("sita", 1)];
    let drawn =
        plot("Figure 9: use of the partitions at load 0.7", "size of partition 1 in percent", "share busy", curves);
    Ok(both(lab, "slowdown-fig9", &table, &drawn)?.to_vec())
}

/// Figures 10 to 13.
pub(super) fn main(lab: &Lab<'_>, main: &Main) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut jobs = Table::new(&["figure", "policy", "load", "repeat", "size_s", "slowdown"]);
    for (figure, shown) in [("10", &main.best), ("10, the paper's parameters", &main.papers), ("13", &main.four)] {
        for one in shown.iter() {
            add_jobs(&mut jobs, figure, one);
        }
    }
    files.push(lab.write("slowdown-fig10-13.csv", &jobs.csv())?);
    for shown in main.best.iter().chain(&main.four) {
        let four = main.four.iter().any(|one| std::ptr::eq(one, shown));
        let name = if four {
            format!("fig13-{}", file_name(&shown.policy))
        } else {
            format!("fig10-{}", shown.policy.scheduler)
        };
        let load = f64::from(shown.load_milli) / 1000.0;
        files.push(lab.write(&format!("slowdown-{name}-{load}.svg"), &cloud(shown, load).svg()?)?);
    }
    let at_07: Vec<&Shown> = main.best.iter().filter(|shown| shown.load_milli == LOADS[0]).collect();
    let mut eleven = Table::new(&["policy", "percentile", "slowdown", "variability"]);
    for shown in &at_07 {
        for q in PERCENTILES {
            eleven.row([
                shown.policy.label.clone(),
                q.to_string(),
                format!("{:.4}", shown.at(q)),
                format!("{:.4}", shown.variability_at(q)),
            ]);
        }
    }
    let curves = at_07
        .iter()
        .map(|shown| curve(&shown.policy.label, PERCENTILES.iter().map(|&q| (q, shown.variability_at(q))).collect()));
    let mut drawn = plot("Figure 11: slowdown variability at load 0.7", "percentile", "variability", curves.collect());
    (drawn.x_log, drawn.y_log) = (false, false);
    files.extend(both(lab, "slowdown-fig11", &eleven, &drawn)?);
    let mut twelve = Table::new(&["policy", "from_s", "jobs", "mean_slowdown"]);
    for shown in &at_07 {
        for range in shown.by_size() {
            let (from, mean) = (format!("{:.1}", range.begin_s()), format!("{:.4}", range.mean));
            twelve.row([shown.policy.label.clone(), from, range.jobs.to_string(), mean]);
        }
    }
    let curves = at_07.iter().map(|shown| {
        curve(&shown.policy.label, shown.by_size().iter().map(|range| (range.begin_s(), range.mean)).collect())
    });
    let mut drawn =
        plot("Figure 12: mean slowdown by size at load 0.7", "from this size in s", "mean slowdown", curves.collect());
    drawn.x_log = true;
    files.extend(both(lab, "slowdown-fig12", &twelve, &drawn)?);
    Ok(files)
}

fn file_name(policy: &Policy) -> String {
    policy.label.to_lowercase().replace(", ", "-").replace(' ', "-")
}

fn add_jobs(table: &mut Table, figure: &str, shown: &Shown) {
    for (n, played) in shown.repeats.iter().enumerate() {
        for (size, slowdown) in &played.jobs {
            table.row([
                figure.to_owned(),
                shown.policy.label.clone(),
                format!("{:.1}", f64::from(shown.load_milli) / 1000.0),
                (n + 1).to_string(),
                format!("{size:.3}"),
                format!("{slowdown:.4}"),
            ]);
        }
    }
}

fn cloud(shown: &Shown, load: f64) -> Plot {
    let points = shown.repeats.first().map(|played| played.jobs.clone()).unwrap_or_default();
    let jobs = Curve { name: "jobs".to_owned(), points, joined: false };
    let mut drawn =
        plot(format!("{} at load {load}", shown.policy.label), "size in slot seconds", "slowdown", vec![jobs]);
    (drawn.x_log, drawn.y_log) = (true, true);
    drawn.across = vec![("median".to_owned(), shown.figures.median), ("95th percentile".to_owned(), shown.figures.p95)];
    drawn
}
