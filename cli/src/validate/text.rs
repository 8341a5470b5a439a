//! What `validate` prints for people.

use howdah_master::recorder::RULES;
use howdah_master::replay::{Beginning, Build, DecisionReport, Difference};
use howdah_planning::accuracy::{Comparison, Kind, Summary};

use super::lost::Lost;
use super::runs::{Repeats, Run};
use crate::job::view::clock;
use crate::output::table::Grid;
use crate::output::{Screen, Style};
use crate::units;

/// More jobs than this are summed up, not listed.
const LISTED: usize = 50;

/// The whole answer.
pub(super) fn text(screen: &Screen, run: &Run, repeats: Option<&Repeats>) -> String {
    let mut lines = decisions(screen, run);
    match &run.simulated {
        Ok(comparison) => {
            let at = lines.len() + 2;
            lines.extend(simulated(screen, comparison, &run.lost));
            lines.splice(at..at, lost(&run.lost));
        }
        Err(error) => lines.push(format!("simulation none: {}", chain(error))),
    }
    if let Some(repeats) = repeats {
        lines.extend(with_repeats(screen, repeats));
    }
    lines.join("\n")
}

fn decisions(screen: &Screen, run: &Run) -> Vec<String> {
    let report = &run.decisions;
    let all = report.compared == report.identical;
    let mark = if all { screen.paint(Style::Good, "identical") } else { screen.paint(Style::Bad, "different") };
    let mut lines = vec![
        format!("run        {}", report.run.display()),
        format!(
            "inputs     {} in {}",
            units::counted(report.inputs, "input"),
            units::counted(report.batches, "batch").replace("batchs", "batches")
        ),
        format!(
            "decisions  {} compared, {} identical, {} of them launches sent to workers: {mark}",
            units::counted(report.compared, "effect"),
            units::count(report.identical),
            units::count(report.decisions),
        ),
    ];
    if let Some(Beginning { batches, time }) = report.beginning {
        let (gone, from) = (units::counted(batches, "batch"), clock(time.as_ms()));
        lines.insert(
            1,
            format!("           verified from {from} on: the inputs of {gone} before are gone (keep_inputs)"),
        );
    }
    if !run.beside.is_empty() {
        let names = run.beside.iter().filter_map(|run| run.file_name()).map(|name| name.to_string_lossy());
        let names = names.collect::<Vec<_>>().join(", ");
        lines.insert(1, format!("           the newest with a job; beside it {names}, which --dir can name"));
    }
    lines.extend(other_build(report));
    if let Some(Difference { batch, time, expected, found }) = &report.first_difference {
        lines.push(format!("first difference in batch {batch}, at {} us", time.as_us()));
        lines.push(format!("  recorded  {expected}"));
        lines.push(format!("  now       {found}"));
    }
    if report.torn {
        lines.push(
            "the journal breaks off in the middle of a frame, as after a crash; all whole frames were used".to_owned(),
        );
    }
    lines
}

/// Said where the rules may have changed since the run was recorded.
pub(super) fn other_build(report: &DecisionReport) -> Option<String> {
    let Build { version, rules } = &report.recorded_by;
    if report.recorded_by.has_our_rules() {
        return None;
    }
    let build = match (rules.is_empty(), version.is_empty()) {
        (true, true) => "an older build of howdah".to_owned(),
        (true, false) => format!("an older build of howdah {version}"),
        (false, _) => format!("another build, howdah {version} with rules {rules} (this one's are {RULES})"),
    };
    let so = if report.compared == report.identical {
        "for this run the rules have not changed since"
    } else {
        "where it differs, a rule may have changed since"
    };
    Some(format!("recorded   by {build}: {so}"))
}

fn simulated(screen: &Screen, comparison: &Comparison, lost: &Lost) -> Vec<String> {
    let summary = comparison.summary();
    let makespan = &comparison.makespan;
    let mut lines = vec![
        format!(
            "makespan   {:.3} s measured, {:.3} s simulated: {}",
            makespan.measured_s,
            makespan.simulated_s,
            signed(makespan.signed_error())
        ),
        format!(
            "errors     of {}: {} mean, {} at most{}",
            units::counted(comparison.jobs.len() as u64, "job"),
            share(summary.mean_error),
            share(summary.max_error),
            theirs(lost)
        ),
    ];
    if comparison.left_out > 0 {
        let jobs = units::counted(comparison.left_out as u64, "job");
        lines.push(format!("left out   {jobs} without success, which the simulation does not have either"));
    }
    if comparison.jobs.len() <= LISTED {
        let mut grid = Grid::new(&["job", "name", ">measured", ">simulated", ">error"]);
        for job in &comparison.jobs {
            let time = &job.completion;
            grid.row([
                job.id.clone(),
                job.name.clone(),
                format!("{:.3} s", time.measured_s),
                format!("{:.3} s", time.simulated_s),
                signed(time.signed_error()),
            ]);
        }
        lines.extend([String::new(), grid.render(screen)]);
    } else {
        lines.push(screen.paint(Style::Dim, "each job's error: --output json"));
    }
    lines
}

/// Which part of the errors is of jobs that met what the simulation has not.
fn theirs(lost: &Lost) -> String {
    if lost.jobs == 0 {
        return String::new();
    }
    let jobs = units::counted(lost.jobs as u64, "job");
    format!("; {:.0} % of them in the {jobs} that lost attempts", lost.share * 100.0)
}

fn with_repeats(screen: &Screen, repeats: &Repeats) -> Vec<String> {
    let mut grid = Grid::new(&["prediction", ">jobs", ">mean error", ">largest error", ">makespan, mean"]);
    for kind in Kind::ALL {
        if let Some((jobs, summary)) = repeats.summary(kind) {
            grid.row([
                kind.name().to_owned(),
                units::count(jobs as u64),
                share(summary.mean_error),
                share(summary.max_error),
                share(repeats.makespan_error(kind)),
            ]);
        }
    }
    let mut lines = vec![String::new(), grid.render(screen), String::new()];
    let names = repeats.by_name();
    if repeats.spread.runs > 1 && names.len() <= LISTED {
        let mut grid = Grid::new(&["name", ">jobs", ">spread of repeats", ">cross-run, mean", ">largest"]);
        for of in names {
            let error =
                |pick: fn(&Summary) -> f64| of.across.as_ref().map_or_else(|| "-".to_owned(), |e| share(pick(e)));
            grid.row([
                of.name.to_owned(),
                units::count(of.jobs as u64),
                share(of.spread),
                error(|summary| summary.mean_error),
                error(|summary| summary.max_error),
            ]);
        }
        lines.extend([grid.render(screen), String::new()]);
    }
    let spread = &repeats.spread;
    if spread.runs > 1 {
        lines.push(format!(
            "spread     {} runs alike: makespan {}, jobs {} mean, {} at most (largest minus smallest over the median)",
            spread.runs,
            share(spread.makespan),
            share(spread.mean()),
            share(spread.max())
        ));
        lines.extend(repeats.verdict().map(|said| format!("           {said}")));
    } else {
        lines.push("spread     unknown: no other run has this one's shape and policy".to_owned());
    }
    if repeats.left_out > 0 {
        let jobs = units::counted(repeats.left_out as u64, "job");
        lines.push(format!("left out   {jobs}, of all runs together, that another run has no like of:"));
        lines.push(
            "           the simulations give them their own durations and slots, and nothing is compared with them"
                .to_owned(),
        );
    }
    for other in &repeats.others {
        let report = &other.decisions;
        let [compared, identical] = [report.compared, report.identical].map(units::count);
        lines.push(format!("repeat     {}: {compared} effects compared, {identical} identical", report.run.display()));
        lines.extend(other_build(report));
    }
    lines
}

/// What failures and losses the simulation has, and what of the error is theirs.
fn lost(lost: &Lost) -> Vec<String> {
    if lost.is_nothing() {
        return Vec::new();
    }
    let attempts = |n: usize| units::counted(n as u64, "attempt");
    let mut lines = Vec::new();
    if lost.failed + lost.killed > 0 {
        let (failed, killed) = (lost.failed, lost.killed);
        lines.push(format!(
            "lost       {failed} failed and {killed} killed attempts, which end so in the simulation too"
        ));
    }
    if lost.speculative > 0 {
        let speculative = attempts(lost.speculative);
        lines.push(format!("           {speculative} for speculation, which the simulation leaves to the policy"));
    }
    if !lost.causes.is_empty() {
        let causes: Vec<String> = lost.causes.iter().map(|(cause, n)| format!("{n} {cause}")).collect();
        lines.push(format!("           by cause: {}", causes.join("; ")));
    }
    if lost.workers > 0 {
        let workers = units::counted(lost.workers, "worker");
        lines.push(format!(
            "           {workers} gone while jobs ran, which the simulation does not have: they stay, \
                            with what they held"
        ));
    }
    if lost.drained > 0 {
        let workers = units::counted(lost.drained, "worker");
        lines.push(format!(
            "           {workers} drained while jobs ran, which the simulation does not have: they go on taking tasks"
        ));
    }
    if lost.jobs > 0 {
        let (jobs, these, others) = (units::counted(lost.jobs as u64, "job"), lost.of_these, lost.of_others);
        lines.push(format!(
            "           errors of the {jobs} with such attempts: {} mean, {} at most; of the others: {} mean, {} at most",
            share(these.mean_error),
            share(these.max_error),
            share(others.mean_error),
            share(others.max_error)
        ));
    }
    lines
}

/// An error and everything behind it, in one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text += &format!(": {next}");
        cause = next.source();
    }
    text
}

fn share(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn signed(share: f64) -> String {
    format!("{:+.2} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(version: &str, rules: &str, identical: u64) -> DecisionReport {
        let recorded_by = Build { version: version.to_owned(), rules: rules.to_owned() };
        DecisionReport { recorded_by, compared: 5, identical, ..DecisionReport::default() }
    }

    #[test]
    fn a_recording_of_another_build_says_so_and_what_that_means() {
        assert_eq!(other_build(&report("0.1.0", RULES, 4)), None);
        let said = |version, rules, identical| other_build(&report(version, rules, identical)).expect("said");
        assert_eq!(
            said("0.1.0", "", 5),
            "recorded   by an older build of howdah 0.1.0: for this run the rules have not changed since"
        );
        assert_eq!(
            said("", "", 4),
            "recorded   by an older build of howdah: where it differs, a rule may have changed since"
        );
        assert_eq!(
            said("0.2.0", "0123456789abcdef", 4),
            format!(
                "recorded   by another build, howdah 0.2.0 with rules 0123456789abcdef (this one's are {RULES}): where it \
                 differs, a rule may have changed since"
            )
        );
    }
}
