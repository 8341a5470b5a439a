//! Page, tables and figures of `la-estimate`.

use std::path::PathBuf;

use anyhow::Result;
use howdah_shared::models::moments::{percentile, sorted};

use super::{Estimate, Found};
use crate::calibration::figure;
use crate::framework::{About, Check, Curve, Lab, Page, Plot, Table, percent};

/// Writes everything; the page comes first.
pub(super) fn write(lab: &Lab<'_>, about: &About, found: &Found, checks: &[Check]) -> Result<Vec<PathBuf>> {
    let mut page = Page::new(about, lab.quick);
    page.paragraph(&format!(
        "{} calibration runs: the same sudokus as a process of their own on {} cores while `howdah load` keeps so many other \
         tasks busy. Then a master under Load-Aware with that curve and one worker of one slot, whose tasks of the same kind \
         run one after the other, each beside another load between those. The worker gets its slot once its vitals have \
         settled. Each estimate is the scheduler's own: the recorded run is decided again (`howdah validate --estimates`), and \
         its rule is asked at every launch and every report, with the vitals that the worker had measured. Time that the \
         hypervisor took is left out of every figure. Loads are to be steady: {} runs during which other tasks ran or waited \
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
    page.paragraph(&format!("The hypervisor took {stolen:.2} s of these tasks' time in all."));
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
    let mut table = Table::new(&["estimate", ">tasks", ">median error", ">90th percentile", ">largest"]);
    let mut row = |what: &str, of: fn(&Estimate) -> Option<f64>| {
        let errors = sorted(estimates.iter().filter_map(|one| Some(one.error(of(one)?))));
        let at = |q| percent(percentile(&errors, q).unwrap_or(0.0));
        table.row([what.to_owned(), errors.len().to_string(), at(50.0), at(90.0), at(100.0)]);
    };
    row("the scheduler's, at launch (judged)", |one| Some(one.at_launch_s));
    row("the scheduler's, midway", |one| one.midway_s);
    row("the curve's, from the loads asked for", |one| Some(one.by_curve_s));
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
