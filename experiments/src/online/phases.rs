//! `online-reduces`: running reduces predicted by phase against reduces predicted whole, in the same forecasts.
//!
//! By phase, a reduce that is known to sort, or to reduce, has left what followed in others of its class from there on; whole, it
//! has left its class's time less what has passed since its launch. The difference is the shuffle: whoever shuffled for longer
//! than usual is expected too early when seen whole, and counts as overdue in the end. Hence shuffles here scatter by several shares
//! of their time. Workers report progress with their regular heartbeats, as live ones do, so that a phase is known up to 3 s late.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::{Context, Result};
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{AttemptId, AttemptState, JobId, Phase, TaskKind};
use howdah_core::models::Random;
use howdah_core::replay::{AttemptRecord, Observer, ReplayOptions, Simulation};
use howdah_core::time::{Span, Time};
use howdah_planning::prediction::{
    Changes, Class, Fallback, ForecastOptions, Heartbeats, Part, Sample, TaskHistory, TaskPredictor, by_name, family,
    forecast,
};

use super::world::{Reporting, SCATTER, options, scattered_by};
use crate::framework::{
    About, Check, Curve, Experiment, Lab, Needs, Outcome, Page, Plot, Table, WELL_BELOW, papers, percent,
};

/// The experiment.
pub(crate) struct OnlineReduces;

/// A forecast this often; reduces take about half a minute.
const EVERY: Span = Span::from_secs(5);
const REPORTING: Reporting = Reporting::AtOnce;
/// How far shuffles scatter around their time, as shares of it: as all tasks do, and up to what a shared network does.
const SHUFFLES: [f64; 4] = [SCATTER, 0.15, 0.3, 0.5];
/// From here on a difference is expected.
const WIDE: f64 = 0.3;
const SHUFFLE_MS: f64 = 20_000.0;
const REDUCE_MS: f64 = 12_000.0;
const MAP_MS: f64 = 6_000.0;
/// By phase may be so much worse than whole where both know the same.
const NO_WORSE: f64 = 1.05;

/// The paper's cluster, with workers that report progress.
fn reporting() -> ReplayOptions {
    options("fifo", Reporting::AtOnceAndProgress)
}

/// Jobs of a wave of maps and a wave of reduces, one behind the other.
fn workload(seed: u64, run: u64, n: u32, shuffles: f64) -> Trace {
    let mut random = Random::new(seed, 500 + run);
    let mut times = |n: u32, ms: f64, scatter: f64| -> Vec<u64> {
        (0..n).map(|_| scattered_by(ms, scatter, random.normal())).collect()
    };
    let job = |index: u32| JobTemplate {
        name: format!("index-{index}"),
        n_maps: 12,
        n_reduces: 6,
        map_ms: times(12, MAP_MS, SCATTER),
        map_input_bytes: vec![32 << 20; 12],
        typical_shuffle_ms: times(6, SHUFFLE_MS, shuffles),
        reduce_ms: times(6, REDUCE_MS, SCATTER),
        ..JobTemplate::default()
    };
    Trace { jobs: (1..=n).map(job).collect(), ..Trace::default() }
}

struct Noting(Rc<RefCell<Vec<AttemptRecord>>>);

impl Observer for Noting {
    fn attempt(&mut self, record: &AttemptRecord) {
        self.0.borrow_mut().push(*record);
    }
}

/// One forecast of a job whose reduces run: by how much each way was wrong.
struct Forecast {
    job: JobId,
    /// By phase, then whole.
    finishes: [Time; 2],
}

/// When the phases of running reduces began, as reports told.
type Phases = BTreeMap<AttemptId, [Option<Time>; 2]>;

fn look_at_phases(run: &Simulation<'_>, phases: &mut Phases) {
    for (_, attempt) in run.tracker().state().attempts().iter().filter(|(_, one)| one.id().kind == TaskKind::Reduce) {
        let from = phases.entry(attempt.id()).or_default();
        match attempt.phase() {
            Phase::Sort => from[0] = from[0].or(attempt.phase_from()),
            Phase::Reduce => from[1] = from[1].or(attempt.phase_from()),
            Phase::Starting | Phase::Map | Phase::Shuffle => {}
        }
    }
}

/// What a finished task teaches: its whole time, and what was left of it from its phases on.
fn learn(record: &AttemptRecord, trace: &Trace, phases: &Phases, history: &mut TaskHistory) {
    if record.state != AttemptState::Succeeded {
        return;
    }
    let template = &trace.jobs[record.attempt.job.0 as usize - 1];
    let all: u64 = template.map_input_bytes.iter().sum();
    let mut add = |part, bytes, since: Time| {
        let class = Class { application: String::new(), family: family(&template.name), part };
        let worker = format!("worker-{}", record.worker.0 + 1);
        history.add(class, Sample { bytes: Some(bytes), time: record.end.since(since), worker, place: None });
    };
    if record.attempt.kind == TaskKind::Map {
        return add(Part::Map, template.map_input_bytes[record.attempt.index as usize], record.start);
    }
    let bytes = all / u64::from(template.n_reduces);
    add(Part::LaterReduce, bytes, record.start);
    let known = phases.get(&record.attempt).copied().unwrap_or_default();
    for (part, from) in [Part::AfterShuffle, Part::AfterSort].into_iter().zip(known) {
        if let Some(from) = from {
            add(part, bytes, from);
        }
    }
}

/// Mean errors in seconds of the ends of jobs whose reduces all run: by phase, and whole.
#[derive(Clone, Copy, Debug)]
struct Errors {
    n: usize,
    by_phase_s: f64,
    whole_s: f64,
}

/// Runs a workload with what was learnt before; `every` makes forecasts on the way.
fn run(trace: &Trace, every: Option<Span>, history: &mut TaskHistory) -> Result<Option<Errors>> {
    let mut run = Simulation::new(trace, &reporting()).context("make the cluster")?;
    let records = Rc::new(RefCell::new(Vec::new()));
    run.observe(Box::new(Noting(Rc::clone(&records))));
    let (mut phases, mut forecasts, mut due) = (Phases::new(), Vec::new(), Time::ZERO);
    while let Some(next) = run.next_time() {
        if let Some(every) = every
            && next > due
        {
            forecasts.extend(both_ways(&run, history)?);
            due += every;
            continue;
        }
        run.step();
        look_at_phases(&run, &mut phases);
        records.borrow_mut().drain(..).for_each(|record| learn(&record, trace, &phases, history));
    }
    let outcomes = run.report().jobs;
    let error = |way: usize| {
        let off = |one: &Forecast| {
            let actual = outcomes[one.job.0 as usize - 1].finish;
            one.finishes[way].since(actual).max(actual.since(one.finishes[way])).as_secs_f64()
        };
        forecasts.iter().map(off).sum::<f64>() / forecasts.len().max(1) as f64
    };
    let errors = Errors { n: forecasts.len(), by_phase_s: error(0), whole_s: error(1) };
    Ok((errors.n > 0).then_some(errors))
}

/// The job at the front, if all of its reduces run, forecast both ways.
fn both_ways(run: &Simulation<'_>, history: &TaskHistory) -> Result<Option<Forecast>> {
    let state = run.tracker().state();
    let reduces = |job: JobId| {
        state.attempts().iter().filter(|(_, one)| one.id().job == job && one.id().kind == TaskKind::Reduce).count()
    };
    let in_reduces = |job: &&howdah_core::cluster::Job| {
        job.tasks(TaskKind::Map).n_left() == 0 && reduces(job.id()) as u32 == job.tasks(TaskKind::Reduce).n_left()
    };
    let Some(job) = state.jobs().find(in_reduces).map(|job| job.id()) else { return Ok(None) };
    let model = by_name("linear").context("find the paper's model")?;
    let predictor = TaskPredictor::new(history, &*model, Fallback::default());
    let finish = |whole_reduces: bool| -> Result<Option<Time>> {
        let heartbeats = Heartbeats::Given(REPORTING.heartbeat());
        let options = ForecastOptions { draws: 0, starts: 0, heartbeats, whole_reduces, ..ForecastOptions::default() };
        let made = forecast(run.tracker().fork(), &predictor, &|_| String::new(), &Changes::default(), &options)?;
        Ok(made.jobs.iter().find(|one| one.job == job).and_then(|one| one.finish))
    };
    Ok(finish(false)?.zip(finish(true)?).map(|(by_phase, whole)| Forecast { job, finishes: [by_phase, whole] }))
}

/// Mean errors over several seeds, the second run of each after one to learn from.
fn found(seed: u64, seeds: u64, n: u32, shuffles: f64) -> Result<Errors> {
    let (mut all, mut sums) = (0, [0.0; 2]);
    for seed in seed..seed + seeds {
        let mut history = TaskHistory::default();
        run(&workload(seed, 1, n, shuffles), None, &mut history)?;
        if let Some(errors) = run(&workload(seed, 2, n, shuffles), Some(EVERY), &mut history)? {
            all += errors.n;
            sums[0] += errors.n as f64 * errors.by_phase_s;
            sums[1] += errors.n as f64 * errors.whole_s;
        }
    }
    let [by_phase_s, whole_s] = sums.map(|sum| sum / all.max(1) as f64);
    Ok(Errors { n: all, by_phase_s, whole_s })
}

impl Experiment for OnlineReduces {
    fn about(&self) -> About {
        About {
            name: "online-reduces",
            line: "Running reduces predicted by phase against reduces predicted whole",
            paper: papers::ONLINE,
            figure: "Section II-A (no figure)",
            needs: Needs::Simulation,
            estimate_s: [20, 3],
        }
    }

    fn takes_repeats(&self) -> bool {
        false
    }

    fn run(&self, lab: &Lab<'_>) -> Result<Outcome> {
        let (seeds, n) = (lab.size(5, 1), lab.size(10, 4));
        let mut rows = Vec::new();
        for shuffles in SHUFFLES {
            lab.progress.step(&format!("shuffles that scatter by {}", percent(shuffles)));
            rows.push((shuffles, found(lab.seed, seeds, n, shuffles)?));
        }
        write(lab, &self.about(), &rows)
    }
}

fn write(lab: &Lab<'_>, about: &About, rows: &[(f64, Errors)]) -> Result<Outcome> {
    let mut page = Page::new(about, lab.quick);
    page.paragraph(&format!(
        "In replay: 3 workers of 2 map and 2 reduce slots, FCFS, jobs of 12 maps and then 6 reduces, which shuffle for {:.0} s and \
         reduce for {:.0} s; all but the shuffles scatter by {}. A forecast every {:.0} s while all reduces of a job run, after \
         a run to learn from. The paper predicts reduces whole.",
        SHUFFLE_MS / 1e3,
        REDUCE_MS / 1e3,
        percent(SCATTER),
        EVERY.as_secs_f64()
    ));
    let mut table = Table::new(&[
        "shuffles scatter by",
        ">forecasts",
        ">by phase: mean error of the end",
        ">whole",
        ">by phase over whole",
    ]);
    let (mut checks, mut curves) = (Vec::new(), [Vec::new(), Vec::new()]);
    for &(shuffles, Errors { n, by_phase_s, whole_s }) in rows {
        let share = by_phase_s / whole_s;
        let seconds = |s: f64| format!("{s:.2} s");
        table.row([percent(shuffles), n.to_string(), seconds(by_phase_s), seconds(whole_s), percent(share)]);
        let bar = if shuffles >= WIDE { WELL_BELOW } else { NO_WORSE };
        let what = format!("shuffles scatter by {}: mean error by phase over whole", percent(shuffles));
        checks.push(Check { what, found: share, bar, judged: !lab.quick });
        curves[0].push((100.0 * shuffles, by_phase_s));
        curves[1].push((100.0 * shuffles, whole_s));
    }
    page.table(&table);
    page.paragraph(
        "By phase is what the master does. It needs reports: a reduce whose phase nobody has told of is predicted whole, and so is one \
         that still shuffles, as nobody knows for how long it will.",
    );
    let curve = |(name, points): (&str, Vec<(f64, f64)>)| Curve { name: name.to_owned(), points, joined: true };
    let plot = Plot {
        title: "Mean error of a job's end while its reduces run".to_owned(),
        x_label: "scatter of shuffles in %".to_owned(),
        y_label: "seconds".to_owned(),
        x_log: false,
        y_log: false,
        curves: ["by phase", "whole"].into_iter().zip(curves).map(curve).collect(),
        across: Vec::new(),
    };
    page.image("online-reduces.svg", "mean error of a job's end while its reduces run");
    page.checks(&checks);
    let files = page.write(lab, "online-reduces", &table, plot.svg())?;
    Ok(Outcome { files, checks })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduces_that_shuffled_for_long_are_predicted_better_by_phase() {
        let Errors { n, by_phase_s, whole_s } = found(7, 1, 4, 0.5).unwrap();
        assert!(
            n > 10 && by_phase_s < WELL_BELOW * whole_s,
            "{n} forecasts: {by_phase_s} s by phase, {whole_s} s whole"
        );
    }
}
