//! The Load-Aware thesis's examples, played in virtual time under the simplified rules that its text assumes, and what
//! Load-Aware does where its estimates fail.

use std::collections::{BTreeMap, BTreeSet};

use howdah_core::cluster::Vitals;
use howdah_core::job::{AttemptId, JobSpec, Phase, Progress};
use howdah_core::schedulers::by_name;
use howdah_core::tracker::{AttemptReport, Input, SchedulerChoice};

use crate::kit::*;
use crate::play::params;

/// Workers of one core and one slot, each with a time of its own for every map, in virtual time.
pub(crate) struct Stage {
    pub(crate) c: Cluster,
    map_ms: Vec<u64>,
    foreign_milli: Vec<u32>,
    /// Worker, start and end of what runs.
    runs: BTreeMap<AttemptId, (u32, u64, u64)>,
    /// Attempts that hang, and the progress that they stay at, in ten-thousandths.
    hung: BTreeMap<AttemptId, u16>,
    silent: BTreeSet<u32>,
    now_ms: u64,
    /// Launches: when, where, what.
    pub(crate) log: Vec<(u64, u32, AttemptId)>,
}

impl Stage {
    /// A worker for each time in ms; frequencies are in proportion to speed.
    pub(crate) fn new(scheduler: &str, pairs: &[(&str, &str)], map_ms: &[u64]) -> Stage {
        let policy = by_name(scheduler, &params(pairs)).expect("the rule exists");
        Stage {
            c: Cluster::made(|_| {}, policy).workers(map_ms.len() as u32, 1, 0),
            map_ms: map_ms.to_vec(),
            foreign_milli: vec![0; map_ms.len()],
            runs: BTreeMap::new(),
            hung: BTreeMap::new(),
            silent: BTreeSet::new(),
            now_ms: 0,
            log: Vec::new(),
        }
    }

    pub(crate) fn submit(&mut self, n_maps: u32) {
        self.c.submit(JobSpec { ..job_with(n_maps, 0, |conf| conf.commits_output = false) });
    }

    /// From now on a worker's maps take another time, and it reports this foreign load.
    pub(crate) fn load(&mut self, worker: u32, foreign_milli: u32, map_ms: u64) {
        self.foreign_milli[worker as usize] = foreign_milli;
        self.map_ms[worker as usize] = map_ms;
    }

    /// What runs on a worker gets no further.
    pub(crate) fn hang(&mut self, worker: u32) {
        let now = self.now_ms;
        for (&id, run) in self.runs.iter_mut().filter(|(_, run)| run.0 == worker) {
            self.hung.insert(id, parts(run, now));
            run.2 = u64::MAX;
        }
    }

    /// From now on a worker says nothing.
    pub(crate) fn silence(&mut self, worker: u32) {
        self.silent.insert(worker);
    }

    /// A heartbeat with all that the worker's vitals and attempts are now.
    pub(crate) fn beat(&mut self, worker: u32) {
        let now = self.now_ms;
        for (&id, &(_, _, end)) in self.runs.iter().filter(|(_, run)| run.0 == worker) {
            let state = if end <= now { Succeeded } else { Running };
            self.c.puppets[worker as usize].attempts.insert(id, state);
        }
        let mut report = self.c.report_of(worker);
        for status in &mut report.attempts {
            let Some(run) = self.runs.get(&status.attempt) else { continue };
            let parts = self.hung.get(&status.attempt).copied().unwrap_or(parts(run, now));
            *status = AttemptReport { progress: Progress::from_parts(parts), phase: Phase::Map, ..status.clone() };
        }
        report.vitals = Vitals {
            n_cpus: 1,
            cpus_milli: 1_000,
            foreign_milli: self.foreign_milli[worker as usize],
            effective_khz: (180_000_000 / self.map_ms[worker as usize]) as u32,
            ..Vitals::default()
        };
        self.c.puppets[worker as usize].waiting = true;
        self.c.apply(&[Input::Report(Box::new(report))]);
        self.runs.retain(|_, run| run.0 != worker || run.2 > now);
        for (worker, attempt) in self.c.launches() {
            if !self.runs.contains_key(&attempt) {
                let end = now + self.map_ms[worker as usize];
                self.runs.insert(attempt, (worker, now, end));
                self.log.push((now, worker, attempt));
            }
        }
    }

    /// Busy workers report first, then those whose map has ended, then idle ones, by number.
    fn all_beat(&mut self) {
        let rank = |worker: u32| match self.runs.values().find(|run| run.0 == worker) {
            Some(run) if run.2 > self.now_ms => 0,
            Some(_) => 1,
            None => 2,
        };
        let mut workers: Vec<u32> =
            (0..self.map_ms.len() as u32).filter(|worker| !self.silent.contains(worker)).collect();
        workers.sort_by_key(|&worker| rank(worker));
        workers.into_iter().for_each(|worker| self.beat(worker));
    }

    /// Plays until a time, all reporting whenever a map ends.
    pub(crate) fn until(&mut self, ms: u64) {
        self.all_beat();
        while let Some(next) = self.runs.values().map(|run| run.2).min().filter(|&next| next <= ms) {
            self.c.advance(next - self.now_ms);
            self.now_ms = next;
            self.all_beat();
        }
        self.c.advance(ms - self.now_ms);
        self.now_ms = ms;
    }

    /// The same, and all report at least every ten seconds.
    pub(crate) fn beating_until(&mut self, ms: u64) {
        while self.now_ms < ms {
            self.until((self.now_ms + 10_000).min(ms));
        }
        self.all_beat();
    }

    /// What started at a time.
    pub(crate) fn at(&self, ms: u64) -> Vec<(u32, AttemptId)> {
        self.log.iter().filter(|launch| launch.0 == ms).map(|&(_, worker, attempt)| (worker, attempt)).collect()
    }

    pub(crate) fn copies(&self) -> Vec<AttemptId> {
        self.log.iter().map(|launch| launch.2).filter(|attempt| attempt.number > 0).collect()
    }
}

/// How far a run is that nothing holds up, in ten-thousandths.
fn parts(&(_, start, end): &(u32, u64, u64), now: u64) -> u16 {
    ((now - start) * 10_000 / (end - start).max(1)).min(10_000) as u16
}

pub(crate) const MINUTE: u64 = 60_000;

/// No minimum age, and a threshold that lets any task through that is behind at all.
pub(crate) fn simple(rule: &'static str) -> Vec<(&'static str, &'static str)> {
    let gap = (rule != "late").then_some(("speculation.gap", "0.05"));
    [("speculation", rule), ("speculation.age", "0")].into_iter().chain(gap).collect()
}

/// Thesis Fig. 1.1: two workers, the first 1.5 times as fast; job one has 4 tasks, job two has 2.
fn figure_1_1(rule: &'static str) -> Stage {
    let mut stage = Stage::new("fifo", &simple(rule), &[MINUTE, MINUTE * 3 / 2]);
    stage.submit(4);
    stage.submit(2);
    stage.until(10 * MINUTE);
    stage
}

#[test]
fn figure_1_1_a_copy_that_ends_with_its_original_is_not_started() {
    let stage = figure_1_1("load-aware");
    assert_eq!(stage.at(MINUTE * 3 / 2), [(1, map(1, 3, 0))], "job one's last task, until minute 3");
    assert_eq!(stage.at(2 * MINUTE), [(0, map(2, 0, 0))], "a copy would end at minute 3 too: job two's task instead");
    assert_eq!(stage.copies(), []);
    let costs = *stage.c.state().costs();
    assert_eq!((costs.launched, costs.won, costs.lost), (0, 0, 0));
    let stage = figure_1_1("hadoop");
    assert_eq!(stage.at(2 * MINUTE), [(0, map(1, 3, 1))], "Hadoop's rule makes the copy and job two waits");
}

/// Thesis Fig. 2.5: five tasks on workers of 3000, 1000 and 1666 MHz, which take 1, 3 and 1.8 minutes.
fn figure_2_5(more: &[(&'static str, &'static str)], rule: &'static str) -> Stage {
    let pairs = [simple(rule), more.to_vec()].concat();
    let mut stage = Stage::new("fifo", &pairs, &[MINUTE, 3 * MINUTE, MINUTE * 9 / 5]);
    stage.submit(5);
    stage.until(10 * MINUTE);
    stage
}

#[test]
fn figure_2_5_the_copy_goes_to_task_5_as_one_of_task_2_would_not_help() {
    let stage = figure_2_5(&[("load-aware.pending", "all")], "load-aware");
    assert_eq!(stage.at(MINUTE * 9 / 5), [(2, map(1, 4, 0))], "task 5 until minute 3.6");
    assert_eq!(stage.at(2 * MINUTE), [(0, map(1, 4, 1))], "task 2 ends at minute 3, as its copy would");
    let late = [
        ("speculation.slow-task-percentile", "100"),
        ("speculation.slow-node-percentile", "0"),
        ("speculation.cap", "none"),
    ];
    let stage = figure_2_5(&late, "late");
    assert_eq!(stage.at(2 * MINUTE), [(0, map(1, 4, 1))], "the longest time left: 1.6 minutes, and 1 of task 2");
    let stage = figure_2_5(&[], "hadoop");
    assert_eq!(stage.at(2 * MINUTE), [(0, map(1, 1, 1))], "Hadoop's rule takes the first that is behind");
}

/// The same, where Load-Aware also looks after pending tasks (Alg. 2 line 11).
#[test]
fn figure_2_5_does_not_come_about_where_task_5_waits_for_the_fast_worker() {
    let mut stage = Stage::new("fifo", &simple("load-aware"), &[MINUTE, 3 * MINUTE, MINUTE * 9 / 5]);
    stage.submit(5);
    stage.until(MINUTE * 19 / 10);
    assert_eq!(stage.at(MINUTE * 9 / 5), [], "until minute 3.6 there, until minute 3 if it waits");
    let why = stage.c.tracker.explain(howdah_core::job::JobId(1)).to_string();
    let wanted = "Load-Aware declined worker `w2`: a map would end there in 108.000 s; the job's own 2 slots will have \
                  done all of it, the 1 that waits included, in 72.000 s.";
    assert_eq!(why, wanted);
    stage.until(10 * MINUTE);
    assert_eq!(stage.at(2 * MINUTE), [(0, map(1, 4, 0))]);
    assert_eq!(stage.copies(), []);
}

/// Thesis Fig. 2.6, whose numbers are not in the text: the first worker helps neither task 2 nor task 5.
#[test]
fn figure_2_6_no_copy_where_none_would_help() {
    let play = |rule, more: &[(&'static str, &'static str)]| {
        let pairs = [simple(rule), more.to_vec()].concat();
        let mut stage = Stage::new("fifo", &pairs, &[MINUTE, 3 * MINUTE, MINUTE * 6 / 5]);
        stage.submit(5);
        stage.until(2 * MINUTE);
        stage
    };
    let stage = play("load-aware", &[("load-aware.pending", "all")]);
    assert_eq!(stage.at(MINUTE * 6 / 5), [(2, map(1, 4, 0))], "task 5 until minute 2.4");
    assert_eq!(stage.at(2 * MINUTE), [], "task 2 ends at minute 3, a copy of it not earlier");
    assert_eq!(play("hadoop", &[]).at(2 * MINUTE), [(0, map(1, 1, 1))]);
}

/// Thesis §4.2: a worker whose load has gone is good again at once, and one whose load has come is seen before its map
/// is late, where rates over whole lives still say the opposite.
#[test]
fn a_load_that_moves_is_seen_with_the_next_heartbeat() {
    let mut stage = Stage::new("fifo", &simple("load-aware"), &[MINUTE, MINUTE]);
    stage.load(0, 3_000, 4 * MINUTE);
    stage.submit(3);
    // One of four on the first worker's core, which takes a quarter of it; the second does two maps meanwhile.
    stage.until(2 * MINUTE);
    assert_eq!(stage.at(MINUTE), [(1, map(1, 2, 0))]);
    assert_eq!(stage.at(2 * MINUTE), [(1, map(1, 0, 1))], "half of the first map is left, two minutes for it");
    assert_eq!(stage.copies().len(), 1);
    // The same, but the foreign load ends with minute 2: what is left takes half a minute, and a copy one.
    let mut stage = Stage::new("fifo", &simple("load-aware"), &[MINUTE, MINUTE]);
    stage.load(0, 3_000, 4 * MINUTE);
    stage.submit(3);
    stage.until(2 * MINUTE - 1);
    stage.load(0, 0, 4 * MINUTE);
    stage.until(2 * MINUTE);
    assert_eq!(stage.copies(), []);
}

/// `howdah calibrate` ends with a `scheduler set`: what had finished before it still says how long tasks take.
#[test]
fn finished_tasks_are_remembered_when_parameters_change() {
    for change in [("load-aware.curve", "below=0.5,linear=1"), ("speculation.cap", "5")] {
        for scheduler in ["load-aware", "capacity"] {
            let pairs = [("speculation", "load-aware"), ("speculation.age", "90s")];
            let mut stage = Stage::new(scheduler, &pairs, &[MINUTE, 4 * MINUTE]);
            stage.submit(2);
            // The first map has ended, and it is too early for a copy of the second.
            stage.until(70_000);
            assert_eq!(stage.copies(), []);
            let params = params(&[&pairs[..], &[change]].concat());
            let choice = SchedulerChoice { name: scheduler.to_owned(), params };
            stage.c.apply(&[Input::SetScheduler(Box::new(choice))]);
            stage.until(100_000);
            stage.until(100_001);
            assert_eq!(stage.at(100_000), [(0, map(1, 1, 1))], "{scheduler}, {change:?}: it takes a minute there");
        }
    }
}
