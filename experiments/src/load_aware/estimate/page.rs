//! Page, tables and figures of `la-estimate`.

use std::path::PathBuf;

use anyhow::Result;
use howdah_core::models::moments::{percentile, sorted};

use super::found::{Estimate, Found, GOOD};
use crate::calibration::figure;
use crate::framework::{About, Check, Curve, Lab, Page, Plot, Table, percent};

/// Writes everything; the page comes first.
pub(super) fn write(lab: &Lab<'_>, about: &About, found: &Found, checks: &[Check]) -> Result<Vec<PathBuf>> {
    let mut page = Page::new(about, lab.quick);
    page.paragraph(&format!(
        "{} calibration runs: the same sudokus as a process of their own on {} cores while `howdah load` keeps so many other \
         tasks busy. Then a master under Load-Aware with that curve and one worker of one slot, whose tasks of the same kind \
         run one after the other, each beside another load between those. The worker gets its slot once its vitals have \
         settled. Each estimate is the scheduler's own: the recorded run is replayed (`howdah validate --estimates`), and \
         its rule is asked at every launch and every report, with the vitals that the worker had measured. Time that the \
         hypervisor took is left out of every figure, and so is what the machine's own speed changed: neighbours on the \
         other threads of its cores make everything up to half as long again for seconds at a time, which no vital can \
         show. A fixed piece of work, done twenty times a second on each core, measures it; the last row of the table below \
         has it in. Loads are to be steady: {} runs during which other tasks ran or waited \
         on this machine were made again, whatever their times; beside {} of those that count others ran all the same.",
        found.calibration.len(),
        found.machine.cores,
        found.disturbed,
        found.unsteady
    ));
    page.heading("The curve");
    page.table(&fits(found));
    page.image("la-estimate-curve.svg", "time against load, measured and fitted");
    page.heading("Estimates");
    page.table(&errors(&found.estimates));
    let stolen: f64 = found.estimates.iter().map(|one| one.stolen_s).sum();
    let speeds = sorted(found.estimates.iter().map(|one| one.speed));
    let (least, most) = (speeds.first().copied().unwrap_or(1.0), speeds.last().copied().unwrap_or(1.0));
    page.paragraph(&format!(
        "The hypervisor took {stolen:.2} s of these tasks' time in all; the machine's speed was {} to {} of the usual.",
        percent(least),
        percent(most)
    ));
    page.image("la-estimate.svg", "estimated against actual time");
    page.paragraph(
        "The thesis prints two fits, of its own machine: linear below eight cores and `e^(0.12 (Load' − Load))` beyond. \
         The points of its Figures 3.3 to 3.5 are figure only. A scheduler that shares cores fairly makes time grow in \
         proportion to the load beyond the cores, not exponentially; both forms are fitted here, and the better is used.",
    );
    page.checks(checks);
    let mut files = vec![lab.write("la-estimate.md", page.text())?];
    files.push(lab.write("la-estimate.csv", &csv(&found.estimates).csv())?);
    files.push(lab.write("la-estimate-curve.svg", &figure(&found.machine, &found.calibration, &found.fits)?)?);
    files.push(lab.write("la-estimate.svg", &scatter(&found.estimates).svg()?)?);
    Ok(files)
}

fn fits(found: &Found) -> Table {
    let mut table = Table::new(&["curve", ">mean error", ">largest", ">R²"]);
    for fit in &found.fits {
        let curve = format!("`{}`", fit.curve);
        table.row([curve, percent(fit.mean_error), percent(fit.max_error), format!("{:.4}", fit.r_squared)]);
    }
    table
}

fn errors(estimates: &[Estimate]) -> Table {
    let mut table =
        Table::new(&["estimate", ">tasks", ">median error", ">90th percentile", ">largest", ">off by more than 15 %"]);
    let mut row = |what: &str, error: fn(&Estimate) -> Option<f64>| {
        let errors = sorted(estimates.iter().filter_map(error));
        let at = |q| percent(percentile(&errors, q).unwrap_or(0.0));
        let missed = errors.iter().filter(|error| **error > GOOD).count() as f64 / errors.len().max(1) as f64;
        table.row([what.to_owned(), errors.len().to_string(), at(50.0), at(90.0), at(100.0), percent(missed)]);
    };
    row("the scheduler's, at launch (judged)", |one| Some(one.error(one.at_launch_s)));
    row("the scheduler's, midway", |one| Some(one.error(one.midway_s?)));
    row("the curve's, from the loads asked for", |one| Some(one.error(one.by_curve_s)));
    row("the scheduler's, at launch, at the speed that the machine had", |one| {
        let (estimated_s, actual_s) = one.as_it_was_s;
        Some((estimated_s - actual_s).abs() / actual_s)
    });
    table
}

fn csv(estimates: &[Estimate]) -> Table {
    let mut table = Table::new(&[
        "foreign",
        "foreign_reported",
        "estimated_from_foreign",
        "at_launch_s",
        "midway_s",
        "by_curve_s",
        "actual_s",
        "stolen_s",
        "speed",
        "others",
        "error_at_launch",
    ]);
    let seconds = |value: f64| format!("{value:.4}");
    for one in estimates {
        table.row([
            format!("{:.3}", one.foreign),
            format!("{:.3}", one.reported),
            format!("{:.3}", one.from),
            seconds(one.at_launch_s),
            one.midway_s.map_or_else(String::new, seconds),
            seconds(one.by_curve_s),
            seconds(one.actual_s),
            seconds(one.stolen_s),
            format!("{:.4}", one.speed),
            format!("{:.3}", one.others),
            format!("{:.4}", one.error(one.at_launch_s)),
        ]);
    }
    table
}

fn scatter(estimates: &[Estimate]) -> Plot {
    let most = estimates.iter().flat_map(|one| [one.at_launch_s, one.actual_s]).fold(0.0, f64::max);
    let line = |name: &str, slope: f64| Curve {
        name: name.to_owned(),
        points: vec![(0.0, 0.0), (most, most * slope)],
        joined: true,
    };
    let points = estimates.iter().map(|one| (one.actual_s, one.at_launch_s)).collect();
    Plot {
        title: "Estimated against actual time of a task".to_owned(),
        x_label: "actual seconds".to_owned(),
        y_label: "estimated seconds".to_owned(),
        x_log: false,
        y_log: false,
        curves: vec![
            Curve { name: "tasks".to_owned(), points, joined: false },
            line("equal", 1.0),
            line("15 % more", 1.15),
            line("15 % less", 0.85),
        ],
        across: Vec::new(),
    }
}
