//! One machine and the attempts that work on it: how fast each advances, when the next is done, how far each is.
//!
//! All attempts on a machine advance alike, by its *clock*: the work that an attempt would have done that had worked
//! there all the time. An attempt that begins at clock `c` with so much work is done when the clock shows `c + work`, so
//! that a change of speed (an attempt more or less, a step of foreign load) changes no attempt and one number.
//! **Exact: the clock counts millionths of millionths of a microsecond, and its speed is rounded up by less than one of
//! these in a microsecond, so that an end that falls on a whole microsecond is found there.**

use super::options::{SimWorker, WorkersView};
use crate::cluster::Vitals;
use crate::job::{AttemptId, AttemptState, Phase, Progress, TaskKind};
use crate::models::LoadCurve;
use crate::time::{Span, Time};

/// A microsecond of work, and a plain worker's speed.
const WHOLE: u128 = 1_000_000_000_000;
/// A speed or a factor of one, in millionths.
const PLAIN: u32 = 1_000_000;
const ALL: u128 = Progress::DONE.parts() as u128;

/// An attempt at work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) attempt: AttemptId,
    /// How it ends.
    pub(super) state: AttemptState,
    /// Work until its end.
    pub(super) work: Span,
    /// Its task's work until it has shuffled and sorted; zero for maps.
    pub(super) shuffle: Span,
    /// Its task's work in all, of which an attempt that fails does a part.
    pub(super) total: Span,
    /// Whether it held its slot until the maps were done.
    pub(super) waited: bool,
    /// Whether somebody wants to know when it has sorted.
    pub(super) tells_sorted: bool,
    /// What the machine's clock showed when it began.
    pub(super) since: u128,
}

impl Run {
    /// What the clock shows when something next happens to it.
    fn target(&self) -> u128 {
        let sorts = self.tells_sorted && self.shuffle <= self.work;
        let left = if sorts { self.shuffle } else { self.work };
        self.since + u128::from(left.as_us()) * WHOLE
    }

    /// What it does and how far it is when the clock shows this.
    ///
    /// A reduce's progress is Hadoop's thirds: shuffle, sort, reduce. Templates know the first two as one time. A reduce
    /// that waited has its first third by the maps that are done, so that its own shuffle counts as the second; that of
    /// a later one counts as both.
    fn progress(&self, clock: u128) -> (Phase, Progress) {
        let done = clock.saturating_sub(self.since);
        let [shuffle, total] = [self.shuffle, self.total].map(|work| u128::from(work.as_us()) * WHOLE);
        let share = |done: u128, of: u128| (done * ALL).checked_div(of).unwrap_or(0).min(ALL);
        let (phase, parts) = if self.attempt.kind == TaskKind::Map {
            (Phase::Map, share(done, total))
        } else if done >= shuffle {
            (Phase::Reduce, (2 * ALL + share(done - shuffle, total.saturating_sub(shuffle))) / 3)
        } else if self.waited {
            (Phase::Sort, (ALL + share(done, shuffle)) / 3)
        } else {
            (if 2 * done < shuffle { Phase::Shuffle } else { Phase::Sort }, 2 * share(done, shuffle) / 3)
        };
        // It is all done when it says so.
        (phase, Progress::from_parts(parts.min(ALL - 1) as u16))
    }
}

/// From an instant on.
#[derive(Clone, Copy, Debug)]
struct Step {
    at: Time,
    speed_ppm: u32,
    foreign_milli: u32,
}

/// What has become of an attempt at work.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// It has shuffled and sorted.
    Sorted(AttemptId),
    /// It has ended.
    Done(Run),
}

#[derive(Clone, Debug)]
pub(super) struct MachineModel {
    /// What never changes.
    vitals: Vitals,
    /// What the curve takes for its cores, in thousandths.
    cores_milli: u32,
    /// A core's, after the quota.
    khz: u32,
    /// The frequency at which work that is inverse in it would take as long here as real work does.
    pace_khz: u32,
    plain_khz: u32,
    curve: LoadCurve,
    /// The curve under the reference load.
    reference_ppm: u64,
    /// Ascending; the first at [`Time::ZERO`].
    steps: Vec<Step>,
    /// The present one.
    step: usize,
    /// When the clock was last put right.
    at: Time,
    clock: u128,
    /// By how much the clock advances in a microsecond.
    speed: u128,
    runs: Vec<Run>,
}

impl MachineModel {
    pub(super) fn new(worker: &SimWorker, view: &WorkersView) -> MachineModel {
        let slots = u32::from(worker.map_slots) + u32::from(worker.reduce_slots);
        let cpus_milli = if worker.cores_milli == 0 { slots.max(1) * 1_000 } else { worker.cores_milli };
        let khz = if worker.khz == 0 { view.plain_khz } else { worker.khz };
        let vitals = Vitals {
            n_cpus: u16::try_from(cpus_milli.div_ceil(1_000)).unwrap_or(u16::MAX),
            cpus_milli,
            cpu_khz: khz,
            max_khz: khz,
            ..Vitals::default()
        };
        let cores_milli = vitals.load_cores_milli(worker.map_slots);
        let khz = vitals.effective_khz_for(worker.map_slots);
        let mut model = MachineModel {
            vitals,
            cores_milli,
            khz,
            pace_khz: if khz == 0 { 0 } else { view.frequency.as_inverse_khz(khz, view.plain_khz) },
            plain_khz: view.plain_khz,
            curve: view.curve,
            reference_ppm: view.curve.factor_ppm(view.reference_milli, cores_milli),
            steps: steps(worker),
            step: 0,
            at: Time::ZERO,
            clock: 0,
            speed: 0,
            runs: Vec::new(),
        };
        model.speed = model.speed_now();
        model
    }

    /// Whether an attempt's speed is the worker's own at all times, whatever else works there.
    pub(super) fn is_plain(&self, worker: &SimWorker) -> bool {
        let most = 1_000 * (u32::from(worker.map_slots) + u32::from(worker.reduce_slots));
        let flat = |load| self.curve.factor_ppm(load, self.cores_milli) == self.reference_ppm;
        // The curve only grows, so that its ends say all.
        self.pace_khz == self.plain_khz
            && worker.foreign.iter().all(|&(_, load)| load == 0)
            && flat(1_000)
            && flat(most)
    }

    /// How fast an attempt advances now, rounded up.
    fn speed_now(&self) -> u128 {
        let Step { speed_ppm, .. } = self.steps[self.step];
        let slow = self.curve.factor_ppm(self.load_milli(), self.cores_milli);
        let fast = u128::from(speed_ppm) * u128::from(self.pace_khz) * u128::from(self.reference_ppm);
        (fast * (WHOLE / u128::from(PLAIN))).div_ceil(u128::from(slow) * u128::from(self.plain_khz))
    }

    /// Tasks that work here now, in thousandths: its attempts, and those of others.
    fn load_milli(&self) -> u32 {
        let own = u32::try_from(self.runs.len() * 1_000).unwrap_or(u32::MAX);
        self.steps[self.step].foreign_milli.saturating_add(own)
    }

    /// Puts clock and speed right. Between two calls lies no step, unless nothing works here.
    fn settle(&mut self, now: Time) {
        if !self.runs.is_empty() {
            self.clock += self.speed * u128::from(now.since(self.at).as_us());
        }
        self.at = now;
        let passed = self.steps[self.step + 1..].partition_point(|step| step.at <= now);
        if passed > 0 {
            self.step += passed;
            self.speed = self.speed_now();
        }
    }

    /// An attempt begins to work.
    pub(super) fn begin(&mut self, now: Time, run: Run) {
        self.settle(now);
        self.runs.push(Run { since: self.clock, ..run });
        self.speed = self.speed_now();
    }

    /// An attempt stops, if it works here.
    pub(super) fn stop(&mut self, now: Time, attempt: AttemptId) -> bool {
        let Some(index) = self.runs.iter().position(|run| run.attempt == attempt) else { return false };
        self.settle(now);
        self.runs.swap_remove(index);
        self.speed = self.speed_now();
        true
    }

    /// All attempts stop.
    pub(super) fn stop_all(&mut self, now: Time) {
        self.settle(now);
        self.runs.clear();
        self.speed = self.speed_now();
    }

    /// When something next happens to an attempt here, or the speed of one changes by a step; [`Time::MAX`] when
    /// nothing does.
    pub(super) fn next_time(&self) -> Time {
        let Some(target) = self.runs.iter().map(Run::target).min() else { return Time::MAX };
        let left = target.saturating_sub(self.clock);
        let due = match (left, self.speed) {
            (0, _) => self.at,
            (_, 0) => Time::MAX,
            _ => self.at + Span::from_us(u64::try_from(left.div_ceil(self.speed)).unwrap_or(u64::MAX)),
        };
        self.steps.get(self.step + 1).map_or(due, |step| due.min(step.at))
    }

    /// What happens at `now`, which is [`MachineModel::next_time`].
    pub(super) fn take_at(&mut self, now: Time, mut each: impl FnMut(Event)) {
        self.settle(now);
        let (clock, before) = (self.clock, self.runs.len());
        self.runs.retain_mut(|run| {
            if run.tells_sorted && run.shuffle <= run.work && run.target() <= clock {
                run.tells_sorted = false;
                each(Event::Sorted(run.attempt));
            }
            let done = run.target() <= clock;
            if done {
                each(Event::Done(*run));
            }
            !done
        });
        if self.runs.len() < before {
            self.speed = self.speed_now();
        }
    }

    /// What an attempt does at `now`, not after [`MachineModel::next_time`], and how far it is; `None` if it does not work
    /// here.
    pub(super) fn progress(&self, now: Time, attempt: AttemptId) -> Option<(Phase, Progress)> {
        let run = self.runs.iter().find(|run| run.attempt == attempt)?;
        Some(run.progress(self.clock + self.speed * u128::from(now.since(self.at).as_us())))
    }

    /// What the worker measures at `now`: the present load, not a smoothed one.
    pub(super) fn vitals(&mut self, now: Time) -> Vitals {
        self.settle(now);
        let Step { speed_ppm, foreign_milli, .. } = self.steps[self.step];
        let load = self.load_milli();
        let used = u64::from(load.min(self.vitals.cpus_milli)) * ALL as u64;
        let khz = u64::from(self.khz) * u64::from(speed_ppm) / u64::from(PLAIN);
        Vitals {
            load1_milli: load,
            load5_milli: load,
            load15_milli: load,
            cpu_use_parts: (used / u64::from(self.vitals.cpus_milli)) as u16,
            run_queue_milli: load,
            foreign_milli,
            effective_khz: u32::try_from(khz).unwrap_or(u32::MAX),
            ..self.vitals
        }
    }
}

/// Speed and foreign load as steps of both.
fn steps(worker: &SimWorker) -> Vec<Step> {
    let instants = worker.speed.iter().chain(&worker.foreign).map(|&(at, _)| at);
    let mut instants: Vec<Time> = instants.chain([Time::ZERO]).collect();
    instants.sort_unstable();
    instants.dedup();
    let value = |list: &[(Time, u32)], at, first| {
        let passed = list.partition_point(|step| step.0 <= at);
        passed.checked_sub(1).map_or(first, |last| list[last].1)
    };
    let step =
        |at| Step { at, speed_ppm: value(&worker.speed, at, PLAIN), foreign_milli: value(&worker.foreign, at, 0) };
    instants.into_iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::JobId;

    fn view(curve: &str) -> WorkersView {
        WorkersView { curve: curve.parse().expect("it reads"), ..WorkersView::default() }
    }

    fn worker(cores: u32, foreign: &[(u64, u32)]) -> SimWorker {
        let foreign = foreign.iter().map(|&(s, load)| (Time::from_ms(s * 1_000), load * 1_000)).collect();
        SimWorker { map_slots: 4, cores_milli: cores * 1_000, foreign, ..SimWorker::default() }
    }

    fn map(index: u32, work_s: u64) -> Run {
        Run {
            attempt: AttemptId { job: JobId(1), kind: TaskKind::Map, index, number: 0 },
            state: AttemptState::Succeeded,
            work: Span::from_secs(work_s),
            shuffle: Span::ZERO,
            total: Span::from_secs(work_s),
            waited: false,
            tells_sorted: false,
            since: 0,
        }
    }

    /// When which attempt ends, in seconds, of those that begin at these times.
    fn ends(model: &mut MachineModel, begins: &[(u64, Run)]) -> Vec<(f64, u32)> {
        let mut ends = Vec::new();
        let mut begins = begins.iter().peekable();
        loop {
            let next = model.next_time();
            let begin = begins.peek().map_or(Time::MAX, |(s, _)| Time::from_ms(s * 1_000));
            if next.min(begin) == Time::MAX {
                return ends;
            }
            if next <= begin {
                model.take_at(next, |event| {
                    let Event::Done(run) = event else { panic!("maps do not sort") };
                    ends.push((next.as_us() as f64 / 1e6, run.attempt.index));
                });
            } else {
                model.begin(begin, begins.next().expect("it was there").1);
            }
        }
    }

    // Two tasks share a core: the first has it alone for 10 s and half of it for 20 s, the second half of it for 20 s
    // and all of it for 10 s.
    #[test]
    fn attempts_slow_each_other_down_while_they_share_a_core() {
        let mut model = MachineModel::new(&worker(1, &[]), &view("below=0,linear=1"));
        assert_eq!(ends(&mut model, &[(0, map(0, 20)), (10, map(1, 20))]), [(30.0, 0), (40.0, 1)]);
    }

    // On two cores with a foreign load of 3, a task takes e^(0.12 × 2) of its time.
    #[test]
    fn a_loaded_worker_takes_what_its_curve_says() {
        let view = view("below=0.1,exponential=0.12");
        let mut model = MachineModel::new(&worker(2, &[(0, 3)]), &view);
        let factor = view.curve.factor_ppm(4_000, 2_000);
        assert!(factor > 1_390_000 && factor < 1_400_000);
        assert_eq!(ends(&mut model, &[(0, map(0, 100))]), [(factor as f64 / 1e4, 0)]);
    }

    // Foreign load 1 on one core from 10 s to 40 s: 10 s of work, then 15 s in 30 s, then the last 5 s.
    #[test]
    fn foreign_load_slows_down_from_its_first_step_to_its_last() {
        let mut model = MachineModel::new(&worker(1, &[(10, 1), (40, 0)]), &view("below=0,linear=1"));
        assert_eq!(ends(&mut model, &[(0, map(0, 30))]), [(45.0, 0)]);
    }

    #[test]
    fn thirds_and_sevenths_of_a_speed_end_where_arithmetic_ends_them() {
        // The curve's factors are whole millionths: 5/3 is 1.666666.
        for (cores, foreign, expected) in [(1, 2, 210.0), (3, 4, 116.66662), (7, 9, 99.99997)] {
            let mut model = MachineModel::new(&worker(cores, &[(0, foreign)]), &view("below=0,linear=1"));
            assert_eq!(ends(&mut model, &[(0, map(0, 70))]), [(expected, 0)], "on {cores} cores");
        }
        let (fast, slow) =
            (SimWorker { khz: 1_500_000, ..worker(4, &[]) }, SimWorker { khz: 700_000, ..worker(4, &[]) });
        let end = |worker| ends(&mut MachineModel::new(worker, &WorkersView::default()), &[(0, map(0, 210))])[0].0;
        assert_eq!((end(&fast), end(&slow)), (140.0, 300.0));
    }

    // 30 s of 60 s do not change with the frequency.
    #[test]
    fn a_slower_core_takes_what_the_frequency_curve_says() {
        let frequency = "fixed=0.5,khz=1000000".parse().expect("it reads");
        let view = WorkersView { frequency, ..WorkersView::default() };
        let end = |worker| ends(&mut MachineModel::new(&worker, &view), &[(0, map(0, 60))])[0].0;
        assert_eq!(end(SimWorker { khz: 500_000, ..worker(4, &[]) }), 89.999_956, "to a millionth: 666,667 kHz");
        assert_eq!(end(SimWorker { khz: 2_000_000, ..worker(4, &[]) }), 45.000_012);
        let quota = SimWorker { map_slots: 1, cores_milli: 250, ..worker(0, &[]) };
        assert_eq!(end(SimWorker { cores_milli: 250, ..quota }), 150.0, "a quota is a slower core: 30 s and 4 × 30 s");
        let constant = WorkersView { frequency: "fixed=1,khz=9".parse().expect("it reads"), ..view.clone() };
        let slow = SimWorker { khz: 500_000, ..worker(4, &[]) };
        assert!(
            MachineModel::new(&slow, &constant).is_plain(&slow) && !MachineModel::new(&slow, &view).is_plain(&slow)
        );
        assert_eq!(
            MachineModel::new(&slow, &constant).vitals(Time::ZERO).effective_khz,
            500_000,
            "it still says its own"
        );
    }

    #[test]
    fn a_worker_is_plain_if_nothing_there_can_change_a_speed() {
        let is_plain = |worker: &SimWorker, view: &WorkersView| MachineModel::new(worker, view).is_plain(worker);
        let plain = WorkersView::default();
        assert!(is_plain(&worker(4, &[]), &plain) && is_plain(&worker(0, &[]), &plain));
        assert!(is_plain(&worker(4, &[(3, 0)]), &plain) && is_plain(&worker(6, &[]), &view("below=0,linear=3")));
        assert!(!is_plain(&worker(3, &[]), &plain), "four slots on three cores");
        assert!(!is_plain(&worker(8, &[(3, 1)]), &plain), "somebody else works there");
        assert!(!is_plain(&worker(8, &[]), &view("below=0.1,linear=1")), "the curve has a slope");
        assert!(!is_plain(&SimWorker { khz: 2_000_000, ..worker(4, &[]) }, &plain), "another frequency");
        assert!(is_plain(&SimWorker { speed: vec![(Time::ZERO, 5)], ..worker(4, &[]) }, &plain), "a speed of its own");
    }

    #[test]
    fn progress_is_the_share_of_the_work_and_thirds_for_reduces() {
        let mut model = MachineModel::new(&worker(4, &[]), &WorkersView::default());
        let reduce = |index, waited| {
            let attempt = AttemptId { kind: TaskKind::Reduce, ..map(index, 1).attempt };
            let shuffle = Span::from_secs(40);
            Run { attempt, shuffle, waited, ..map(index, 100) }
        };
        let runs = [map(0, 100), reduce(1, false), reduce(2, true), Run { work: Span::from_secs(80), ..map(3, 160) }];
        runs.iter().for_each(|&run| model.begin(Time::ZERO, run));
        let at = |s: u64| runs.map(|run| model.progress(Time::from_ms(s * 1_000), run.attempt).expect("it works"));
        let reported = |s| at(s).map(|(phase, progress)| (phase, progress.parts()));
        use Phase::{Map, Reduce, Shuffle, Sort};
        assert_eq!(reported(0), [(Map, 0), (Shuffle, 0), (Sort, 3_333), (Map, 0)]);
        assert_eq!(reported(10), [(Map, 1_000), (Shuffle, 1_666), (Sort, 4_166), (Map, 625)]);
        assert_eq!(reported(30), [(Map, 3_000), (Sort, 5_000), (Sort, 5_833), (Map, 1_875)]);
        assert_eq!(reported(40), [(Map, 4_000), (Reduce, 6_666), (Reduce, 6_666), (Map, 2_500)]);
        assert_eq!(reported(70), [(Map, 7_000), (Reduce, 8_333), (Reduce, 8_333), (Map, 4_375)]);
    }

    #[test]
    fn vitals_tell_load_cores_and_what_a_quota_leaves_of_the_frequency() {
        let half = SimWorker { map_slots: 1, cores_milli: 500, khz: 2_000_000, ..worker(0, &[(5, 2)]) };
        let half = SimWorker { cores_milli: 500, speed: vec![(Time::from_ms(7_000), 500_000)], ..half };
        let mut model = MachineModel::new(&half, &WorkersView::default());
        model.begin(Time::ZERO, map(0, 1));
        let vitals = model.vitals(Time::from_ms(500));
        assert_eq!((vitals.run_queue_milli, vitals.foreign_milli, vitals.load1_milli), (1_000, 0, 1_000));
        assert_eq!((vitals.cpus_milli, vitals.n_cpus, vitals.cpu_use_parts), (500, 1, 10_000));
        assert_eq!((vitals.cpu_khz, vitals.effective_khz), (2_000_000, 1_000_000));
        assert_eq!(model.next_time(), Time::from_ms(1_000), "half of twice a plain worker's frequency");
        model.take_at(Time::from_ms(1_000), |_| {});
        let later = model.vitals(Time::from_ms(8_000));
        assert_eq!((later.run_queue_milli, later.foreign_milli, later.effective_khz), (2_000, 2_000, 500_000));
    }
}
