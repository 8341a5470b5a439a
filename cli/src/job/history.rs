//! `job counters` and `job history`: what a job did, and where its time went.

use std::collections::BTreeMap;

use howdah_json::{Attempt, CounterMap, Job, Listing, counter_map, span_s};
use serde_json::json;

use crate::args::Format;
use crate::client::Client;
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::job::args::{CountersArgs, OneJobArgs};
use crate::job::time_spent::TimeSpent;
use crate::job::view::{at_master, card};
use crate::output::Style;
use crate::output::escape::one_line;
use crate::output::table::Grid;
use crate::units;

/// `howdah job counters`
pub(crate) async fn counters(context: &Context, args: &CountersArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.brief(&args.job).await?;
    let job = answer.status.map(|status| status.job).unwrap_or_default();
    let mut map = counter_map(answer.counters.as_ref());
    if let Some(group) = &args.group {
        // Hadoop's job group ends in a space that nobody types.
        map.retain(|name, _| name.trim() == group.trim());
        if map.is_empty() {
            return Err(Failure::usage(format!("job {job} has no counter group `{group}`")));
        }
    }
    if let Some(counter) = &args.counter {
        let value = map.values().find_map(|group| group.get(counter));
        let value = value.ok_or_else(|| Failure::usage(format!("job {job} has no counter `{counter}` there")))?;
        match config.output {
            Format::Json => screen.json(&Listing::new("counter", json!({ "job": job, "value": value })))?,
            Format::Table => screen.line(value.to_string())?,
        }
        return Ok(Exit::Done);
    }
    match config.output {
        Format::Json => screen.json(&Listing::new("counters", json!({ "job": job, "counters": map })))?,
        Format::Table => screen.line(counter_lines(&map))?,
    }
    Ok(Exit::Done)
}

/// What a sudoku job's counters say of the machines: games per second of solving on one slot.
pub(crate) fn games_line(map: &CounterMap) -> Option<String> {
    let group = map.get("Sudoku")?;
    let (games, us) = (*group.get("Games")?, *group.get("SolvingMicroseconds")?);
    let per_second = games as f64 * 1e6 / us.max(1) as f64;
    let solving = crate::units::seconds(us as f64 / 1e6);
    Some(format!("{games} games in {solving} of solving: {per_second:.0} games per second on a slot"))
}

/// Counters as Hadoop's client prints them at a job's end.
pub(crate) fn counter_lines(map: &CounterMap) -> String {
    let total: usize = map.values().map(|group| group.len()).sum();
    let mut lines = vec![format!("Counters: {total}")];
    for (group, counters) in map {
        lines.push(format!("  {}", group.trim_end()));
        lines.extend(counters.iter().map(|(name, value)| format!("    {name}={value}")));
    }
    lines.join("\n")
}

/// `howdah job history`
pub(crate) async fn history(context: &Context, args: &OneJobArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.job(&args.job).await?;
    let status = answer.status.ok_or_else(|| Failure::broke("the master answered without a status"))?;
    let job = Job::from(&status);
    let attempts: Vec<Attempt> = answer.attempts.iter().map(Attempt::from).collect();
    let spent = TimeSpent::of(&attempts);
    if config.output == Format::Json {
        let counters = counter_map(answer.counters.as_ref());
        let body = json!({ "job": job, "slot_time": spent, "attempts": attempts, "counters": counters });
        screen.json(&Listing::new("history", body))?;
        return Ok(Exit::Done);
    }
    screen.line(card(&screen, &job, at_master(answer.now_ms_epoch)))?;
    if attempts.is_empty() {
        return Ok(Exit::Done);
    }
    screen.line(format!("\n{}", screen.paint(Style::Bold, "Course")))?;
    screen.line(course(&job))?;
    screen.line(format!("\n{}", screen.paint(Style::Bold, "Attempts")))?;
    screen.line(attempt_summary(&attempts).render(&screen))?;
    for (cause, n) in causes(&attempts) {
        screen.line(one_line(&format!("  {n} killed: {cause}")))?;
    }
    screen.line(format!("\n{}", screen.paint(Style::Bold, "Where the slots' time went")))?;
    screen.line(time_grid(&[(&job.name, spent)]).render(&screen))?;
    screen.line(format!("\n{}", screen.paint(Style::Bold, "Workers")))?;
    screen.line(by_worker(&attempts).render(&screen))?;
    Ok(Exit::Done)
}

fn course(job: &Job) -> String {
    let from = job.submit_ms_epoch.unwrap_or(0);
    let steps = [
        ("first launch", job.launch_ms_epoch),
        ("maps done", job.maps_done_ms_epoch),
        ("finished", job.finish_ms_epoch),
    ];
    let mut lines = Vec::new();
    for (name, at) in steps {
        let after = at.and_then(|at| span_s(from, at)).map_or("-".to_owned(), |s| format!("+{}", units::seconds(s)));
        lines.push(format!("  {name:<14}{after:>10}"));
    }
    lines.join("\n")
}

/// Why attempts were killed, and how many of them.
fn causes(attempts: &[Attempt]) -> BTreeMap<&str, usize> {
    let mut causes = BTreeMap::new();
    for attempt in attempts.iter().filter(|attempt| attempt.state == "KILLED") {
        *causes.entry(attempt.cause.as_deref().unwrap_or("for a reason that is not known")).or_default() += 1;
    }
    causes
}

fn attempt_summary(attempts: &[Attempt]) -> Grid {
    let mut grid = Grid::new(&["kind", ">succeeded", ">failed", ">killed", ">shortest", ">median", ">longest"]);
    for kind in ["map", "reduce"] {
        let these: Vec<&Attempt> = attempts.iter().filter(|a| a.kind == kind).collect();
        if these.is_empty() {
            continue;
        }
        let count = |state: &str| these.iter().filter(|a| a.state == state).count().to_string();
        let mut times: Vec<f64> = these
            .iter()
            .filter(|a| a.state == "SUCCEEDED")
            .filter_map(|a| span_s(a.started_ms_epoch?, a.finished_ms_epoch?))
            .collect();
        times.sort_by(f64::total_cmp);
        let at = |index: usize| times.get(index).map_or("-".to_owned(), |s| units::seconds(*s));
        grid.row([
            kind.to_owned(),
            count("SUCCEEDED"),
            count("FAILED"),
            count("KILLED"),
            at(0),
            at(times.len() / 2),
            at(times.len().saturating_sub(1)),
        ]);
    }
    grid
}

/// One row per job: slot seconds by what they were spent on.
pub(crate) fn time_grid(rows: &[(&str, TimeSpent)]) -> Grid {
    let mut grid = Grid::new(&["job", ">map", ">shuffle", ">sort", ">reduce", ">overhead", ">cpu", ">peak memory"])
        .leaving(&["peak memory", "cpu", "sort"]);
    for (name, spent) in rows {
        let total = spent.total_s().max(1e-9);
        let part = |s: f64| {
            if s <= 0.0 { "-".to_owned() } else { format!("{} ({:.0} %)", units::seconds(s), 100.0 * s / total) }
        };
        let mut row = vec![(*name).to_owned()];
        row.extend(spent.parts().iter().map(|(_, s)| part(*s)));
        row.push(units::seconds(spent.cpu_s));
        row.push(units::bytes(spent.peak_memory_kib.saturating_mul(1024)));
        grid.row(row);
    }
    grid
}

fn by_worker(attempts: &[Attempt]) -> Grid {
    let mut names: Vec<&str> = attempts.iter().map(|a| a.worker.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut grid = Grid::new(&["worker", ">maps", ">reduces", ">failed", ">cpu"]);
    for name in names {
        let these: Vec<&Attempt> = attempts.iter().filter(|a| a.worker == name).collect();
        let count = |wanted: &dyn Fn(&Attempt) -> bool| these.iter().filter(|a| wanted(a)).count().to_string();
        let cpu: f64 = these.iter().filter_map(|a| a.cpu_s).sum();
        grid.row([
            name.to_owned(),
            count(&|a| a.kind == "map" && a.state == "SUCCEEDED"),
            count(&|a| a.kind == "reduce" && a.state == "SUCCEEDED"),
            count(&|a| a.state == "FAILED"),
            units::seconds(cpu),
        ]);
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_per_second_are_said_of_sudoku_jobs_only() {
        let group = |name: &str, pairs: &[(&str, i64)]| {
            let counters = pairs.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
            CounterMap::from([(name.to_owned(), counters)])
        };
        let sudoku = group("Sudoku", &[("Games", 9_000), ("SolvingMicroseconds", 4_500_000)]);
        let line = games_line(&sudoku).expect("both are there");
        assert_eq!(line, "9000 games in 4.50 s of solving: 2000 games per second on a slot");
        assert_eq!(games_line(&group("Words", &[("Games", 1)])), None);
        assert_eq!(games_line(&group("Sudoku", &[("Solved", 1)])), None);
    }
}
