//! The page, the table and the figure of `makespan-testbed`.

use std::path::PathBuf;

use anyhow::Result;
use howdah_core::job::profile::Trace;

use super::schedule::{SHAPE, Schedule};
use crate::framework::{About, Bars, Check, FIGURE_ONLY, Lab, Page, Series, Table, percent};

/// Writes everything; the page comes first.
pub(super) fn write(
    lab: &Lab<'_>,
    about: &About,
    profile: &Trace,
    seed: u64,
    schedules: &[Schedule],
    checks: &[Check],
) -> Result<Vec<PathBuf>> {
    let mut page = Page::new(about, lab.quick);
    let tasks: u64 = profile.jobs.iter().map(|job| u64::from(job.n_maps) + u64::from(job.n_reduces)).sum();
    page.paragraph(&format!(
        "{} sleeping jobs of {tasks} tasks, shaped as the Facebook jobs of the paper's Table 1 (half as many jobs, a \
         sixteenth of their tasks), ran on {SHAPE} under three schedules, {} trials each, by turns. Draw {seed} of the \
         batch is the first in which pools gain a tenth over Johnson's order in simulation. Each trial is one command, \
         `howdah submit --batch`, on a fresh cluster: Johnson's order and its reverse under FIFO, pools under \
         `balanced-pools`. Orders, pools and simulated makespans come from the profile of one more run alone.",
        profile.jobs.len(),
        schedules.first().map_or(0, |schedule| schedule.measured.len()),
    ));
    page.heading("Makespans");
    page.table(&table(schedules));
    page.image("makespan-testbed.svg", "measured makespans with their range, and simulated ones");
    for schedule in schedules.iter().filter(|schedule| schedule.plan.pools.len() > 1) {
        let pools = schedule.plan.pools.iter().map(|pool| {
            format!("{} jobs on {} map and {} reduce slots", pool.jobs.len(), pool.slots.maps, pool.slots.reduces)
        });
        page.paragraph(&format!("{}: {}.", schedule.name, pools.collect::<Vec<_>>().join(", ")));
    }
    page.paragraph("The paper's (§4.3: 64 workers of 4 + 4 slots, the Facebook workload, five trials):");
    page.table(&paper(schedules));
    page.checks(checks);
    let mut files = vec![lab.write("makespan-testbed.md", page.text())?];
    files.push(lab.write("makespan-testbed.csv", &csv(schedules).csv())?);
    files.push(lab.write("makespan-testbed.svg", &figure(schedules).svg()?)?);
    Ok(files)
}

fn figure(schedules: &[Schedule]) -> Bars {
    let values = |of: fn(&Schedule) -> f64| schedules.iter().map(of).collect();
    let ranges = schedules.iter().map(|one| (one.least(), one.most())).collect();
    Bars {
        title: "Makespan of the batch: measured and simulated".to_owned(),
        y_label: "seconds".to_owned(),
        groups: schedules.iter().map(|one| one.name.to_owned()).collect(),
        series: vec![
            Series { ranges, ..Series::new("measured, mean and range", values(Schedule::mean)) },
            Series::new("simulated", values(Schedule::simulated)),
        ],
    }
}

fn table(schedules: &[Schedule]) -> Table {
    let columns =
        ["schedule", ">measured, mean", ">least", ">most", ">simulated", ">error", ">decisions compared", ">identical"];
    let mut table = Table::new(&columns);
    let s = |value: f64| format!("{value:.3} s");
    for schedule in schedules {
        table.row([
            schedule.name.to_owned(),
            s(schedule.mean()),
            s(schedule.least()),
            s(schedule.most()),
            s(schedule.simulated()),
            percent(schedule.error()),
            schedule.decisions.0.to_string(),
            schedule.decisions.1.to_string(),
        ]);
    }
    table
}

fn paper(schedules: &[Schedule]) -> Table {
    let mut table = Table::new(&["", ">the paper's", ">ours"]);
    let mean = |name: &str| schedules.iter().find(|one| one.name == name).map_or(f64::NAN, Schedule::mean);
    let below = |fast: &str, slow: &str| percent(1.0 - mean(fast) / mean(slow));
    let worst = schedules.iter().map(|one| one.error().abs()).fold(0.0, f64::max);
    table.row([
        "error of simulated makespans".to_owned(),
        "below 4 %".to_owned(),
        format!("{} at most", percent(worst)),
    ]);
    table.row(["pools below Johnson's order".to_owned(), "13 %".to_owned(), below("BalancedPools", "Johnson")]);
    table.row(["pools below the reverse order".to_owned(), "18 %".to_owned(), below("BalancedPools", "R-Johnson")]);
    table.row(["makespans and their spread", FIGURE_ONLY, "above"]);
    table
}

fn csv(schedules: &[Schedule]) -> Table {
    let mut table = Table::new(&["schedule", "trial", "measured_s", "simulated_s"]);
    for schedule in schedules {
        for (trial, measured) in schedule.measured.iter().enumerate() {
            let numbers = [format!("{measured:.3}"), format!("{:.6}", schedule.simulated())];
            table.row([schedule.name.to_owned(), (trial + 1).to_string()].into_iter().chain(numbers));
        }
    }
    table
}
