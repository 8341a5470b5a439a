//! `online-switch`: the scheduler chosen by forecast against each fixed one (§IV-B).
//!
//! Four workloads on the paper's cluster, in replay. Each runs under every candidate to its end, and with a forecast
//! under each candidate every 20 s and soon after each submission, as a live master makes them, where one takes over by the
//! default rule; that run is judged. Beside it stands what comes of every listed rule, also among the paper's policies alone.
//! Task times are learnt from another run of the workload.

use anyhow::{Context, Result};
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::models::Random;
use howdah_core::replay::Simulation;
use howdah_core::time::{Span, Time};
use howdah_core::tracker::SchedulerChoice;
use howdah_planning::prediction::{
    Changes, Fallback, Forecast, ForecastOptions, Heartbeats, RuleName, Switch, SwitchOptions, Switcher, TaskHistory,
    TaskPredictor, by_name, forecast,
};

use super::judge::judge;
use super::world::{Reporting, options};
use crate::framework::{About, Bars, Check, Experiment, Lab, Needs, Outcome, Page, Series, Table, WELL_BELOW, papers};

/// The experiment.
pub(crate) struct OnlineSwitch;

/// What may be in charge: both of the paper's, and the smallest job first.
const CANDIDATES: [&str; 3] = ["fifo", "naive-fair", "shortest"];
/// The paper's alone, of which neither is always the better one.
const PAPERS: [&str; 2] = [CANDIDATES[0], CANDIDATES[1]];
const EVERY: Span = Span::from_secs(20);
/// From a submission to the forecast that it calls for.
const SETTLE: Span = Span::from_ms(100);
/// Workers send heartbeats as in a live cluster.
const REPORTING: Reporting = Reporting::AtOnce;
/// Switching is to be within this of the best fixed policy.
const NEAR: f64 = 0.05;

struct Workload {
    name: &'static str,
    about: &'static str,
    make: fn(&mut Random, u32) -> Vec<JobTemplate>,
}

const WORKLOADS: [Workload; 4] = [
    Workload {
        name: "equal",
        about: "equal jobs, all at once",
        make: |draw, n| (0..n).map(|i| job(draw, "equal", i, 24, 12_000, 0)).collect(),
    },
    Workload {
        name: "large-first",
        about: "a large job, then small ones every 10 s",
        make: |draw, n| {
            let large = job(draw, "large", 0, 120, 15_000, 0);
            let small = (1..=2 * n).map(|i| job(draw, "small", i, 4, 6_000, u64::from(i) * 10_000));
            std::iter::once(large).chain(small.collect::<Vec<_>>()).collect()
        },
    },
    Workload {
        name: "mixed",
        about: "jobs of three sizes in turn, every 25 s",
        make: |draw, n| {
            let sizes = [(48, 12_000), (6, 8_000), (12, 10_000)];
            let of = |i: u32| sizes[i as usize % 3];
            (0..2 * n).map(|i| job(draw, "mixed", i, of(i).0, of(i).1, u64::from(i) * 25_000)).collect()
        },
    },
    Workload {
        name: "phases",
        about: "a batch of equal jobs, then a large one with small ones behind it",
        make: |draw, n| {
            let mut jobs: Vec<JobTemplate> = (0..n).map(|i| job(draw, "equal", i, 12, 12_000, 0)).collect();
            let later = u64::from(n) * 24_000;
            jobs.push(job(draw, "large", 0, 120, 15_000, later));
            jobs.extend((1..=n).map(|i| job(draw, "small", i, 4, 6_000, later + u64::from(i) * 15_000)));
            jobs
        },
    },
];

/// Whose tasks scatter by a tenth around a time.
fn job(draw: &mut Random, name: &str, index: u32, n_maps: u32, map_ms: u64, submit_ms: u64) -> JobTemplate {
    let mut times = |n: u32, ms: u64| -> Vec<u64> {
        (0..n).map(|_| (ms as f64 * (1.0 + 0.1 * draw.normal()).max(0.2)) as u64).collect()
    };
    JobTemplate {
        name: format!("{name}-{n_maps}x-{index}"),
        n_maps,
        n_reduces: 1,
        submit_ms,
        map_ms: times(n_maps, map_ms),
        reduce_ms: times(1, map_ms / 2),
        map_input_bytes: vec![64 << 20; n_maps as usize],
        ..JobTemplate::default()
    }
}

/// Mean completion in seconds, with the switches that were made.
struct Ran {
    mean_s: f64,
    switches: Vec<Switch>,
}

fn mean_s(run: &Simulation<'_>) -> f64 {
    let jobs = run.report().jobs;
    jobs.iter().map(|job| job.completion().as_secs_f64()).sum::<f64>() / jobs.len().max(1) as f64
}

fn fixed(trace: &Trace, scheduler: &str) -> Result<Ran> {
    let mut run = Simulation::new(trace, &options(scheduler, REPORTING)).context("make the cluster")?;
    run.run();
    Ok(Ran { mean_s: mean_s(&run), switches: Vec::new() })
}

/// Starts under the first candidate, and goes on by a rule.
fn switching(trace: &Trace, history: &TaskHistory, candidates: &'static [&'static str], rule: RuleName) -> Result<Ran> {
    let mut run = Simulation::new(trace, &options(candidates[0], REPORTING)).context("make the cluster")?;
    let model = by_name("linear").context("find the paper's model")?;
    let mut switcher = Switcher::new(&SwitchOptions { rule, ..SwitchOptions::default() });
    let mut switches = Vec::new();
    let mut present = 0;
    // The next forecast on the timer; any forecast sets it anew.
    let mut due = Time::ZERO;
    let mut submissions: Vec<Time> = trace.jobs.iter().map(|job| Time::from_ms(job.submit_ms) + SETTLE).collect();
    submissions.sort_unstable();
    let mut submissions = submissions.into_iter().peekable();
    while run.next_time().is_some() {
        let at = submissions.peek().map_or(due, |&next| next.min(due));
        while submissions.next_if(|&next| next <= at).is_some() {}
        run.run_until(at);
        due = at + EVERY;
        if run.tracker().state().n_jobs() == 0 {
            continue;
        }
        let predictor = TaskPredictor::new(history, &*model, Fallback::default());
        let options = ForecastOptions {
            draws: 0,
            starts: 0,
            heartbeats: Heartbeats::Given(REPORTING.heartbeat()),
            ..ForecastOptions::default()
        };
        let under = |(name, index): (&&str, usize)| -> Result<Forecast> {
            let choice = SchedulerChoice { name: (*name).to_owned(), ..SchedulerChoice::default() };
            // The one in charge goes on with what it keeps of the past.
            let scheduler = (index != present).then_some(choice);
            let changes = Changes { scheduler, ..Changes::default() };
            Ok(forecast(run.tracker().fork(), &predictor, &|_| String::new(), &changes, &options)?)
        };
        let forecasts: Result<Vec<Forecast>> = candidates.iter().zip(0..).map(under).collect();
        if let Some(switch) = switcher.consider(present, &forecasts?) {
            present = switch.to;
            let name = candidates[present].to_owned();
            run.set_scheduler(&SchedulerChoice { name, ..SchedulerChoice::default() });
            switches.push(switch);
        }
    }
    Ok(Ran { mean_s: mean_s(&run), switches })
}

/// A run that switched, among these candidates and by this rule.
struct ByRule {
    among: &'static [&'static str],
    rule: RuleName,
    ran: Ran,
}

/// What a workload gave: under each candidate in order, and by each rule, of which the first one is judged.
struct Found {
    name: &'static str,
    about: &'static str,
    fixed_s: Vec<f64>,
    by_rule: Vec<ByRule>,
}

/// Every rule among all candidates and among the paper's; first the default one among all.
fn by_rule(trace: &Trace, history: &TaskHistory) -> Result<Vec<ByRule>> {
    let sets: [&[&str]; 2] = [&CANDIDATES, &PAPERS];
    let all = sets.into_iter().flat_map(|among| RuleName::all().map(move |rule| (among, rule)));
    all.map(|(among, rule)| Ok(ByRule { among, rule, ran: switching(trace, history, among, rule)? })).collect()
}

impl Found {
    fn best(&self) -> f64 {
        self.fixed_s.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn worst(&self) -> f64 {
        self.fixed_s.iter().copied().fold(0.0, f64::max)
    }

    fn judged(&self) -> &Ran {
        &self.by_rule[0].ran
    }
}

impl Experiment for OnlineSwitch {
    fn about(&self) -> About {
        About {
            name: "online-switch",
            line: "The scheduler chosen by forecast against each fixed one",
            paper: papers::ONLINE,
            figure: "Section IV-B (no figure)",
            needs: Needs::Simulation,
            estimate_s: [3, 1],
        }
    }

    fn takes_repeats(&self) -> bool {
        false
    }

    fn run(&self, lab: &Lab<'_>) -> Result<Outcome> {
        let n = lab.size(10, 5);
        let mut found = Vec::new();
        for (workload, stream) in WORKLOADS.iter().zip(1..) {
            lab.progress.step(workload.name);
            let made = |run: u64| Trace {
                jobs: (workload.make)(&mut Random::new(lab.seed, stream * 10 + run), n),
                ..Trace::default()
            };
            let history = judge(&made(1), (CANDIDATES[0], REPORTING), None, TaskHistory::default())?.history;
            let trace = made(2);
            let fixed_s: Result<Vec<f64>> = CANDIDATES.iter().map(|name| Ok(fixed(&trace, name)?.mean_s)).collect();
            let by_rule = by_rule(&trace, &history)?;
            found.push(Found { name: workload.name, about: workload.about, fixed_s: fixed_s?, by_rule });
        }
        let mut checks = Vec::new();
        for one in &found {
            let ours = one.judged().mean_s;
            let check = |what: &str, found, bar| Check {
                what: format!("{}: {what}", one.name),
                found,
                bar,
                judged: !lab.quick,
            };
            checks.push(check("mean completion above the best fixed scheduler's", ours / one.best() - 1.0, NEAR));
            checks.push(check("mean completion over the worst fixed scheduler's", ours / one.worst(), WELL_BELOW));
            checks.push(check("switches", one.judged().switches.len() as f64, 4.0));
        }
        write(lab, &self.about(), &found, checks)
    }
}

/// What came of each workload by each rule.
fn rules_table(found: &[Found]) -> Table {
    let mut rules = Table::new(&["workload", "among", "rule", "mean completion in seconds", "switches"]);
    for (one, ByRule { among, rule, ran }) in found.iter().flat_map(|one| one.by_rule.iter().map(move |by| (one, by))) {
        rules.row([
            one.name.to_owned(),
            among.join(", "),
            rule.to_string(),
            format!("{:.1}", ran.mean_s),
            ran.switches.len().to_string(),
        ]);
    }
    rules
}

/// Every switch by every rule.
fn switches_table(found: &[Found]) -> Table {
    let mut log = Table::new(&["workload", "among", "rule", "at_s", "from", "to", "staying_s", "switching_s"]);
    for (one, ByRule { among, rule, ran }) in found.iter().flat_map(|one| one.by_rule.iter().map(move |by| (one, by))) {
        for switch in &ran.switches {
            log.row([
                one.name.to_owned(),
                among.join(", "),
                rule.to_string(),
                format!("{:.0}", switch.at.since(Time::ZERO).as_secs_f64()),
                among[switch.from].to_owned(),
                among[switch.to].to_owned(),
                format!("{:.1}", switch.staying),
                format!("{:.1}", switch.switching),
            ]);
        }
    }
    log
}

fn write(lab: &Lab<'_>, about: &About, found: &[Found], checks: Vec<Check>) -> Result<Outcome> {
    let SwitchOptions { rule, thresholds, dwell, .. } = SwitchOptions::default();
    let mut page = Page::new(about, lab.quick);
    page.paragraph(&format!(
        "In replay on the paper's 3 workers. Every 20 s and soon after each submission each candidate is simulated from the \
         present state; by the default rule, `{rule}`, the best by mean completion takes over once its gain was {:.0} % of what \
         is still to come in {} forecasts running (a gain of several times that counts as that many forecasts), and no other \
         does for {:.0} s. The paper describes the idea and measures nothing of it; the workloads are ours.",
        thresholds.margin * 100.0,
        thresholds.rounds,
        dwell.as_secs_f64()
    ));
    page.heading("Mean completion in seconds");
    let columns: Vec<&str> =
        ["workload", "what"].into_iter().chain(CANDIDATES).chain(["chosen by forecast", "switches"]).collect();
    let mut table = Table::new(&columns);
    for one in found {
        let mut row = vec![one.name.to_owned(), one.about.to_owned()];
        row.extend(one.fixed_s.iter().map(|s| format!("{s:.1}")));
        row.extend([format!("{:.1}", one.judged().mean_s), one.judged().switches.len().to_string()]);
        table.row(row);
    }
    page.table(&table);
    page.heading("By every switching rule");
    page.paragraph(
        "With the same margin and hold, among all candidates and among the paper's two alone; nothing is asked of these. By \
         `best` a gain of the margin in one forecast is enough. Where one candidate leads clearly from the first moment on, \
         every rule does the same; rules differ where the lead changes sides.",
    );
    let rules = rules_table(found);
    page.table(&rules);
    page.heading("Every switch, with the forecast that justified it");
    let log = switches_table(found);
    page.table(&log);
    let fixed = CANDIDATES
        .iter()
        .zip(0..)
        .map(|(name, index)| Series::new(name, found.iter().map(|one| one.fixed_s[index]).collect()));
    let ours = Series::new("chosen by forecast", found.iter().map(|one| one.judged().mean_s).collect());
    let figure = Bars {
        title: "Mean completion by scheduler".to_owned(),
        y_label: "seconds".to_owned(),
        groups: found.iter().map(|one| one.name.to_owned()).collect(),
        series: fixed.chain([ours]).collect(),
    };
    page.image("online-switch.svg", "mean completion by scheduler");
    page.checks(&checks);
    let files = vec![
        lab.write("online-switch.md", page.text())?,
        lab.write("online-switch.csv", &table.csv())?,
        lab.write("online-switches.csv", &log.csv())?,
        lab.write("online-switch-rules.csv", &rules.csv())?,
        lab.write("online-switch.svg", &figure.svg()?)?,
    ];
    Ok(Outcome { files, checks })
}
