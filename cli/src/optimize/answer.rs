//! The answer of `optimize`: strategies with their makespans, then the plan.

use std::fmt::Write;

use howdah_core::job::profile::Trace;
use howdah_core::time::Span;
use howdah_json::Listing;
use howdah_planning::optimize::{Objective, Plan, Pool};
use serde_json::{Value, json};

use super::found::Found;
use super::{choices, write};
use crate::output::table::Grid;
use crate::output::{Screen, Style};
use crate::units;

/// Jobs of a pool that the table shows.
const SHOWN: usize = 10;

pub(super) fn json(found: &Found<'_>) -> Listing<Value> {
    let mut strategies = vec![row("Min", found.theory.min, None), row("Max", found.theory.max, None)];
    strategies.extend(
        found
            .simulated
            .iter()
            .map(|(method, plan)| row(super::found::strategy(*method), plan.makespan(), Some(plan.mean_delay()))),
    );
    let end = found.replans.last().map_or(found.plan.makespan(), |last| last.end);
    let replans: Vec<Value> = found
        .replans
        .iter()
        .map(|replan| {
            json!({
                "at_s": replan.at.as_secs_f64(),
                "came": replan.came.iter().map(|&job| job_name(found.trace, job)).collect::<Vec<_>>(),
                "end_s": replan.end.as_secs_f64(),
                "end_if_waiting_s": replan.end_if_waiting.as_secs_f64(),
                "pools": pools(found.trace, &replan.plan),
            })
        })
        .collect();
    Listing::new(
        "optimize",
        json!({
            "method": found.method.name(),
            "map_slots": found.args.map_slots,
            "reduce_slots": found.args.reduce_slots,
            "makespan_s": end.as_secs_f64(),
            "mean_delay_s": found.replans.is_empty().then(|| found.plan.mean_delay().as_secs_f64()),
            "floor_s": found.floor.as_secs_f64(),
            "strategies": strategies,
            "better": found.better().map(|(method, plan)| {
                json!({
                    "strategy": super::found::strategy(*method),
                    "method": method.name(),
                    "makespan_s": plan.makespan().as_secs_f64(),
                    "mean_delay_s": plan.mean_delay().as_secs_f64(),
                })
            }),
            "pools": pools(found.trace, &found.plan),
            "replans": replans,
            "wall_s": found.wall_s,
        }),
    )
}

fn row(name: &str, makespan: Span, mean_delay: Option<Span>) -> Value {
    json!({
        "name": name,
        "simulated": mean_delay.is_some(),
        "makespan_s": makespan.as_secs_f64(),
        "mean_delay_s": mean_delay.map(Span::as_secs_f64),
    })
}

fn pools(trace: &Trace, plan: &Plan) -> Vec<Value> {
    let one = |(index, pool): (usize, &Pool)| {
        let jobs: Vec<Value> = pool
            .jobs
            .iter()
            .map(|&job| {
                let template = &trace.jobs[job];
                json!({ "place": job + 1, "id": template.id, "name": template.name })
            })
            .collect();
        json!({
            "name": plan.pool_name(index),
            "queue": write::queue(plan, index),
            "map_slots": pool.slots.maps,
            "reduce_slots": pool.slots.reduces,
            "makespan_s": pool.times.makespan.as_secs_f64(),
            "jobs": jobs,
        })
    };
    plan.pools.iter().enumerate().map(one).collect()
}

/// For people.
pub(super) fn page(screen: &Screen, found: &Found<'_>) -> String {
    let mut grid = Grid::new(&["strategy", ">makespan", ">to MinSim", ">mean delay"]);
    let to = found.simulated[0].1.makespan();
    let change = |makespan: Span| {
        let base = to.as_secs_f64();
        if base > 0.0 { format!("{:+.1} %", 100.0 * (makespan.as_secs_f64() / base - 1.0)) } else { "-".to_owned() }
    };
    let seconds = |span: Span| units::seconds(span.as_secs_f64());
    for (name, makespan) in [("Min", found.theory.min), ("Max", found.theory.max)] {
        grid.row([name.to_owned(), seconds(makespan), change(makespan), "-".to_owned()]);
    }
    for (method, plan) in &found.simulated {
        grid.row([
            super::found::strategy(*method).to_owned(),
            seconds(plan.makespan()),
            change(plan.makespan()),
            seconds(plan.mean_delay()),
        ]);
    }
    if found.replans.is_empty() {
        // Of a batch, all there from the start.
        grid.row(["no schedule below".to_owned(), seconds(found.floor), change(found.floor), "-".to_owned()]);
    }
    let mut text = grid.render(screen);
    if let Some((method, plan)) = found.better() {
        let (what, than) = match choices::objective(&found.args.pools) {
            Objective::Makespan => (format!("is over after {}", seconds(plan.makespan())), "sooner"),
            Objective::MeanDelay => (format!("has a mean delay of {}", seconds(plan.mean_delay())), "shorter"),
        };
        let (name, method) = (super::found::strategy(*method), method.name());
        let _ = write!(text, "\n\n{name} {what}, {than} than the plan below: `--method {method}` takes it");
    }
    for replan in &found.replans {
        let came = units::counted(replan.came.len() as u64, "job");
        let _ = write!(
            text,
            "\n\nat {}: {came} came; all over at {}, or at {} if they wait",
            seconds(replan.at),
            seconds(replan.end),
            seconds(replan.end_if_waiting)
        );
    }
    let _ = write!(text, "\n\n{}", plan(screen, found));
    text
}

fn plan(screen: &Screen, found: &Found<'_>) -> String {
    let mut text = String::new();
    for (index, pool) in found.plan.pools.iter().enumerate() {
        let name = screen.paint(Style::Bold, found.plan.pool_name(index));
        let slots = pool.slots;
        let jobs = units::counted(pool.jobs.len() as u64, "job");
        let end = units::seconds(pool.times.makespan.as_secs_f64());
        let line = format!("{name}  {}+{} slots, {jobs}, over after {end}", slots.maps, slots.reduces);
        let shown = if found.args.all { pool.jobs.len() } else { SHOWN };
        let names: Vec<String> = pool.jobs.iter().take(shown).map(|&job| job_name(found.trace, job)).collect();
        let more = pool.jobs.len().saturating_sub(shown);
        let more = if more > 0 { format!(", … {more} more (--all)") } else { String::new() };
        let _ = write!(text, "{}{line}\n  {}{more}", if index > 0 { "\n" } else { "" }, names.join(", "));
    }
    text
}

/// What people know a job by: its id, or its name and place.
fn job_name(trace: &Trace, job: usize) -> String {
    let template = &trace.jobs[job];
    let place = job + 1;
    match (template.id.as_str(), template.name.as_str()) {
        ("", "") => format!("#{place}"),
        ("", name) if trace.jobs.iter().filter(|other| other.name == name).count() > 1 => format!("{name}#{place}"),
        ("", name) => name.to_owned(),
        (id, _) => id.to_owned(),
    }
}
