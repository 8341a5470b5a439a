//! A forecast with the times that tasks then take against the run that follows: the same ends and the same starts, to the
//! microsecond; and a live state that no forecast touches.

use std::cell::RefCell;
use std::rc::Rc;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{AttemptId, JobId, JobSpec, JobState, Locality, WorkerId};
use howdah_core::replay::{Observer, ReplayOptions, SimHeartbeat, SimWorker, Simulation, View, WorkersView, job_spec};
use howdah_core::time::{Span, Time};
use howdah_planning::prediction::{
    Changes, Class, Fallback, ForecastOptions, Heartbeats, Hypothetical, JobForecast, OfJob, Part, Sample, TaskHistory,
    TaskPredictor, TaskTimes, by_name, forecast, outlook,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// The times that the trace says, in the place of a predictor's.
struct Truth<'t> {
    trace: &'t Trace,
    /// The trace's place of each job, by number less 1.
    places: Vec<usize>,
}

fn cycle(list: &[u64], index: usize) -> Span {
    Span::from_ms(list[index % list.len()])
}

impl TaskTimes for Truth<'_> {
    fn time(&mut self, of: OfJob<'_>, part: Part, index: u32, _worker: Option<&str>) -> Span {
        let job = &self.trace.jobs[self.places[of.job.0 as usize - 1]];
        let index = index as usize;
        let both = |shuffle: Span| shuffle + cycle(&job.reduce_ms, index);
        match part {
            Part::Map => cycle(&job.map_ms, index),
            Part::FirstReduce => both(cycle(&job.first_shuffle_ms, index)),
            Part::LaterReduce => {
                let later = index.checked_sub(job.first_shuffle_ms.len()).unwrap_or(index);
                both(cycle(&job.typical_shuffle_ms, later))
            }
            Part::AfterShuffle | Part::AfterSort => unreachable!("a replay reports no phases"),
        }
    }

    fn varies(&self) -> bool {
        true
    }

    fn commit(&mut self, _of: OfJob<'_>) -> Span {
        Span::ZERO
    }

    // One that has ended already is reported with its worker's next heartbeat.
    fn overdue(&mut self, _expected: Span) -> Span {
        Span::ZERO
    }
}

/// Launches of waiting tasks, in order.
struct Launching(Rc<RefCell<Vec<(Time, AttemptId, WorkerId)>>>);

impl Observer for Launching {
    fn launched(&mut self, at: Time, attempt: AttemptId, worker: WorkerId, _: Locality, _: bool) {
        self.0.borrow_mut().push((at, attempt, worker));
    }
}

prop_compose! {
    fn job()(
        n_maps in 0..20_u32,
        n_reduces in 0..6_u32,
        times in [vec(1..5_000_u64, 1..6), vec(1..3_000_u64, 1..6), vec(1..900_u64, 1..6), vec(1..2_000_u64, 1..6)],
        submit_ms in prop_oneof![3 => Just(0), 1 => 0..20_000_u64],
        slowstart in prop_oneof![Just(50_000), Just(1_000_000), Just(0)],
    ) -> JobTemplate {
        let [map_ms, reduce_ms, first_shuffle_ms, typical_shuffle_ms] = times;
        JobTemplate {
            n_maps, n_reduces, map_ms, reduce_ms, first_shuffle_ms, typical_shuffle_ms, submit_ms,
            slowstart_ppm: Some(slowstart), ..JobTemplate::default()
        }
    }
}

fn view(slots: &[(u16, u16)], heartbeat: SimHeartbeat) -> View {
    let worker = |(index, &(map_slots, reduce_slots)): (usize, &(u16, u16))| SimWorker {
        name: format!("w{index}"),
        host: format!("h{index}"),
        rack: "/r".to_owned(),
        map_slots,
        reduce_slots,
        ..SimWorker::default()
    };
    let workers = slots.iter().enumerate().map(worker).collect();
    View::Workers(WorkersView { workers, heartbeat, ..WorkersView::default() })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn with_the_true_times_a_forecast_is_what_happens(
        jobs in vec(job(), 1..7),
        slots in vec((1..4_u16, 1..3_u16), 1..6),
        interval_ms in prop_oneof![2 => Just(0), 1 => Just(3_000), 1 => 100..900_u64],
        out_of_band in any::<bool>(),
        policy in prop_oneof![Just("fifo"), Just("fair"), Just("naive-fair"), Just("capacity")],
        stop_s in 0..30_u64,
    ) {
        let trace = Trace { jobs, ..Trace::default() };
        let heartbeat = SimHeartbeat { interval: Span::from_ms(interval_ms), out_of_band };
        let options =
            ReplayOptions { scheduler: policy.to_owned(), view: view(&slots, heartbeat), ..ReplayOptions::default() };
        let mut run = Simulation::new(&trace, &options).expect("slots of both kinds");
        run.run_until(Time::from_ms(stop_s * 1_000));
        let submitted = run.report().jobs;
        let mut places: Vec<usize> = submitted.iter().map(|job| job.template as usize).collect();
        let mut to_come: Vec<usize> = (0..trace.jobs.len()).filter(|place| !places.contains(place)).collect();
        to_come.sort_by_key(|&place| (trace.jobs[place].submit_ms, place));
        let arrivals: Vec<(Time, JobSpec)> = to_come
            .iter()
            .map(|&place| (Time::from_ms(trace.jobs[place].submit_ms), job_spec(&trace.jobs[place], None, None, true)))
            .collect();
        places.extend(to_come);
        let day = Span::from_secs(86_400);
        let options = ForecastOptions {
            horizon: day, draws: 0, starts: 10_000, heartbeats: Heartbeats::Given(heartbeat),
            ..ForecastOptions::default()
        };
        let predicted = outlook(run.tracker().fork(), &mut Truth { trace: &trace, places }, &arrivals, &options);

        let launches = Rc::new(RefCell::new(Vec::new()));
        let running: Vec<JobId> = run.tracker().state().jobs().map(|job| job.id()).collect();
        run.observe(Box::new(Launching(Rc::clone(&launches))));
        run.run();
        let starts: Vec<_> = predicted.starts.iter().map(|start| (start.at, start.attempt, start.worker)).collect();
        prop_assert_eq!(&starts, &*launches.borrow(), "starts");
        for job in &predicted.jobs {
            let actual = run.report().jobs.into_iter().find(|outcome| outcome.id == job.job).expect("it was known");
            prop_assert_eq!((actual.state, Some(actual.finish)), (JobState::Succeeded, job.finish), "{:?}", job.job);
        }
        prop_assert_eq!(predicted.jobs.len(), running.len() + arrivals.len());
    }
}

fn batch() -> Trace {
    let job = |n_maps| JobTemplate {
        name: format!("wordcount-{n_maps}"),
        n_maps,
        n_reduces: 2,
        map_ms: vec![10_000],
        first_shuffle_ms: vec![1_000],
        typical_shuffle_ms: vec![2_000],
        reduce_ms: vec![3_000],
        ..JobTemplate::default()
    };
    Trace { jobs: vec![job(12), job(4), job(8)], ..Trace::default() }
}

fn at<'t>(trace: &'t Trace, scheduler: &str, s: u64) -> Simulation<'t> {
    let (scheduler, view) = (scheduler.to_owned(), view(&[(2, 2); 3], SimHeartbeat::default()));
    let options = ReplayOptions { scheduler, view, ..ReplayOptions::default() };
    let mut run = Simulation::new(trace, &options).expect("slots of both kinds");
    run.run_until(Time::from_ms(s * 1_000));
    run
}

fn at_20_s(trace: &Trace) -> Simulation<'_> {
    at(trace, "fifo", 20)
}

fn predicted(run: &Simulation<'_>, history: &TaskHistory, changes: &Changes) -> howdah_planning::prediction::Forecast {
    let model = by_name("linear").expect("it is listed");
    let predictor = TaskPredictor::new(history, &*model, Fallback::default());
    let options =
        ForecastOptions { heartbeats: Heartbeats::Given(SimHeartbeat::default()), ..ForecastOptions::default() };
    forecast(run.tracker().fork(), &predictor, &|_| String::new(), changes, &options).expect("the changes can be made")
}

#[test]
fn a_forecast_leaves_the_live_state_bit_for_bit_as_it_was() {
    let trace = batch();
    let mut run = at_20_s(&trace);
    let digest = |run: &Simulation<'_>| format!("{:?}", run.tracker().state());
    let before = (digest(&run), run.report());
    let deadlines = vec![(JobId(3), Span::from_secs(9))];
    let changes = Changes { workers: 2, kill: vec![JobId(2)], deadlines, ..Changes::default() };
    let history = TaskHistory::default();
    predicted(&run, &history, &Changes::default());
    predicted(&run, &history, &changes);
    assert!((digest(&run), run.report()) == before, "a forecast changed the state that it was made from");
    let mut untouched = at_20_s(&trace);
    run.run();
    untouched.run();
    assert_eq!(run.report().decisions_digest, untouched.report().decisions_digest);
}

#[test]
fn one_state_and_history_have_one_forecast() {
    let trace = batch();
    let run = at_20_s(&trace);
    let history = TaskHistory::default();
    assert_eq!(predicted(&run, &history, &Changes::default()), predicted(&run, &history, &Changes::default()));
}

#[test]
fn an_unseen_application_is_told_with_a_wide_interval_and_an_empty_cluster_without_jobs() {
    let trace = batch();
    let run = at_20_s(&trace);
    let forecast = predicted(&run, &TaskHistory::default(), &Changes::default());
    assert_eq!(forecast.jobs.len(), 3);
    for job in &forecast.jobs {
        let (low, finish) = (job.low.expect("some draws are short"), job.finish.expect("the default is short"));
        assert!(!job.seen && low < finish, "{job:?}");
        let until = job.high.map_or(Span::MAX, |high| high.since(forecast.at));
        assert!(until > Span::from_us(2 * finish.since(forecast.at).as_us()), "{job:?}");
    }
    let nothing = Trace::default();
    let empty = Simulation::new(&nothing, &ReplayOptions::default()).expect("no jobs");
    let forecast = predicted(&empty, &TaskHistory::default(), &Changes::default());
    assert!(forecast.jobs.is_empty() && forecast.starts.is_empty(), "{forecast:?}");
}

#[test]
fn more_workers_bring_the_end_nearer_fewer_push_it_away_and_a_killed_job_is_waited_for_no_more() {
    let trace = batch();
    let run = at_20_s(&trace);
    let history = TaskHistory::default();
    let end = |changes: Changes| predicted(&run, &history, &changes).makespan().expect("within the hour");
    let now = end(Changes::default());
    assert!(end(Changes { workers: 3, ..Changes::default() }) < now);
    assert!(end(Changes { workers: -2, ..Changes::default() }) > now);
    let killed = predicted(&run, &history, &Changes { kill: vec![JobId(3)], ..Changes::default() });
    let left: Vec<JobId> = killed.jobs.iter().map(|job| job.job).collect();
    assert!(killed.makespan().expect("within the hour") < now, "{left:?}");
    assert_eq!(left, [JobId(1), JobId(2)]);
}

#[test]
fn a_job_that_is_only_thought_of_has_an_end_and_shows_whom_it_delays() {
    let trace = batch();
    let run = at_20_s(&trace);
    let history = TaskHistory::default();
    let job = Hypothetical { name: "report".to_owned(), n_maps: 6, n_reduces: 1, ..Hypothetical::default() };
    let changes = Changes { submit: vec![job], ..Changes::default() };
    let with = predicted(&run, &history, &changes);
    let last = with.jobs.last().expect("it is listed");
    assert!(last.hypothetical && last.finish.is_some() && last.job == JobId(4), "{last:?}");
    // Under FIFO nobody ends later because of it.
    let without = predicted(&run, &history, &Changes::default());
    for (job, other) in without.jobs.iter().zip(&with.jobs) {
        assert_eq!((job.job, job.finish), (other.job, other.finish));
    }
}

/// Word counts of 40 maps on six free slots, asked for as by `what-if --submit wordcount --maps 40`: what is said of the job, and in
/// how many seconds it ends, at the earliest, most likely, and at the latest.
fn told_of_wordcount(finished: &[(u64, Span)], bytes_per_map: u64) -> (JobForecast, [f64; 3]) {
    let nothing = Trace::default();
    let options = ReplayOptions { view: view(&[(2, 2); 3], SimHeartbeat::default()), ..ReplayOptions::default() };
    let mut run = Simulation::new(&nothing, &options).expect("slots of both kinds");
    run.run_until(Time::from_ms(1_000));
    let mut history = TaskHistory::default();
    for &(bytes, time) in finished {
        let class = Class { application: String::new(), family: "wordcount".to_owned(), part: Part::Map };
        history.add(class, Sample { bytes: Some(bytes), time, worker: "w0".to_owned(), place: None });
    }
    let name = "wordcount".to_owned();
    let job = Hypothetical { name, n_maps: 40, bytes_per_map, ..Hypothetical::default() };
    let forecast = predicted(&run, &history, &Changes { submit: vec![job], ..Changes::default() });
    let job = forecast.jobs.last().expect("it is listed").clone();
    let ends = [job.low, job.finish, job.high];
    (job, ends.map(|end| end.expect("within the hour").since(forecast.at).as_secs_f64()))
}

// With `--split-size` and without.
#[test]
fn a_job_whose_input_is_of_unknown_size_takes_the_mean_of_its_like_with_a_wide_interval() {
    let finished: Vec<(u64, Span)> = (1..=60).map(|mib| (mib << 20, Span::from_ms(1_000 + 100 * mib))).collect();
    let told = |bytes_per_map| {
        let (job, [low, finish, high]) = told_of_wordcount(&finished, bytes_per_map);
        (job, finish, (high - low) / finish)
    };
    // Seven waves on six slots.
    let (sized, ends_s, width) = told(10 << 20);
    assert!((ends_s - 14.0).abs() < 0.1 && width < 0.2 && sized.sized, "{ends_s} s, {width} of it wide: {sized:?}");
    let (unsized_job, ends_s, width) = told(0);
    assert!((ends_s - 7.0 * 4.05).abs() < 0.1, "the mean, not the intercept: {ends_s} s");
    assert!(width > 0.5, "{width} of {ends_s} s: {unsized_job:?}");
    assert!(unsized_job.seen && !unsized_job.sized && unsized_job.drawn.is_none(), "no scale says anything of it");
}

// The first job of a newcomer has a few lines for input, the second what he came for.
#[test]
fn a_job_with_much_more_input_than_any_that_finished_is_marked_and_told_with_a_wide_interval() {
    let finished = [(1 << 10, Span::from_ms(40)); 3];
    let (small, [_, _, high]) = told_of_wordcount(&finished, 1 << 10);
    assert!(small.seen && high < 1.0, "{high} s: {small:?}");
    let (large, [low, finish, high]) = told_of_wordcount(&finished, 16 << 20);
    assert!(!large.seen && large.drawn.is_none(), "no scale says anything of it: {large:?}");
    // Seven waves on six slots, of maps as long as those, of maps that read 10 MiB a second, and of much slower ones.
    assert!((finish - 7.0 * 1.64).abs() < 0.1, "{finish} s");
    assert!(low < 0.2 * finish && high > 100.0, "{low} s to {high} s");
}

// At 5 s, 6 of the first job's maps run, and 6 more, 4 and 8 wait.
#[test]
fn a_deadline_brings_its_job_forward_where_the_policy_looks_at_deadlines_and_is_judged_in_any_case() {
    let trace = batch();
    let history = TaskHistory::default();
    let deadlines = vec![(JobId(3), Span::from_secs(40))];
    for (policy, looks) in [("fifo", false), ("maxedf", true)] {
        let run = at(&trace, policy, 5);
        let mut present = predicted(&run, &history, &Changes::default());
        assert!(present.jobs.iter().all(|job| job.in_time.is_none()), "nobody has a deadline");
        present.hold_to(&deadlines);
        let changed = predicted(&run, &history, &Changes { deadlines: deadlines.clone(), ..Changes::default() });
        let [before, after] = [&present, &changed].map(|forecast| &forecast.jobs[2]);
        let due = present.at + Span::from_secs(40);
        assert_eq!([before.due(), after.due()], [Some(due); 2], "{policy}");
        let [end_before, end_after] = [before, after].map(|job| job.finish.expect("within the hour"));
        assert!(end_before > due, "{policy}: {end_before:?} and {due:?}");
        assert_eq!((end_after < end_before, end_after <= due), (looks, looks), "{policy}: {end_after:?}");
        assert!(!looks || after.in_time > before.in_time, "{:?} then {:?}", before.in_time, after.in_time);
        assert!(present.jobs[0].in_time.is_none() && changed.jobs[0].in_time.is_none(), "it has no deadline");
    }
}

#[test]
fn a_job_that_is_only_thought_of_may_have_a_deadline() {
    let trace = batch();
    let within = |deadline| {
        let job = Hypothetical { name: "report".to_owned(), n_maps: 6, deadline, ..Hypothetical::default() };
        let changes = Changes { submit: vec![job], ..Changes::default() };
        let asked = ForecastOptions::default().enough_for(&changes).draws;
        (
            asked,
            predicted(&at(&trace, "maxedf", 5), &TaskHistory::default(), &changes).jobs.pop().expect("it is listed"),
        )
    };
    let ((draws, last), (more, first)) = (within(None), within(Some(Span::from_secs(60))));
    assert!(first.finish < last.finish && last.in_time.is_none() && first.in_time.is_some(), "{first:?} {last:?}");
    assert!(more > draws, "{more} simulations with a deadline, {draws} without");
}

#[test]
fn changes_that_cannot_be_are_refused_with_what_was_expected() {
    let trace = batch();
    let run = at_20_s(&trace);
    let history = TaskHistory::default();
    let model = by_name("linear").expect("it is listed");
    let predictor = TaskPredictor::new(&history, &*model, Fallback::default());
    let refused = |changes: Changes| {
        let options = ForecastOptions::default();
        let predicted = forecast(run.tracker().fork(), &predictor, &|_| String::new(), &changes, &options);
        predicted.expect_err("it cannot be").to_string()
    };
    assert_eq!(
        refused(Changes { workers: -3, ..Changes::default() }),
        "3 workers fewer: 3 are live, so at most 2 may go"
    );
    assert_eq!(
        refused(Changes { kill: vec![JobId(9)], ..Changes::default() }),
        "job 9: it is over or was never submitted"
    );
    let within = |job| (JobId(job), Span::from_secs(9));
    assert_eq!(
        refused(Changes { deadlines: vec![within(9)], ..Changes::default() }),
        "job 9: it is over or was never submitted"
    );
    assert_eq!(
        refused(Changes { deadlines: vec![within(2), within(2)], ..Changes::default() }),
        "job 2: two deadlines, expected one"
    );
    let choice = howdah_core::tracker::SchedulerChoice { name: "lottery".to_owned(), ..Default::default() };
    assert!(refused(Changes { scheduler: Some(choice), ..Changes::default() }).contains("no such scheduler"));
    let none = Hypothetical { name: "empty".to_owned(), ..Hypothetical::default() };
    assert!(refused(Changes { submit: vec![none], ..Changes::default() }).contains("expected 1 to"));
}

// Large jobs, and behind them small ones: under FIFO these take many times what they would alone.
#[test]
fn the_policy_with_less_variable_slowdowns_is_told_by_its_measure() {
    let job =
        |n_maps| JobTemplate { name: format!("j-{n_maps}"), n_maps, map_ms: vec![10_000], ..JobTemplate::default() };
    let trace = Trace { jobs: [200, 201, 202, 203, 6, 6].map(job).to_vec(), ..Trace::default() };
    let run = at_20_s(&trace);
    let model = by_name("linear").expect("it is listed");
    let history = TaskHistory::default();
    let predictor = TaskPredictor::new(&history, &*model, Fallback::default());
    let under = |name: &str| {
        let scheduler = howdah_core::tracker::SchedulerChoice { name: name.to_owned(), ..Default::default() };
        let changes = Changes { scheduler: Some(scheduler), ..Changes::default() };
        let heartbeats = Heartbeats::Given(SimHeartbeat::default());
        let options = ForecastOptions { alone: true, draws: 0, heartbeats, ..ForecastOptions::default() };
        forecast(run.tracker().fork(), &predictor, &|_| String::new(), &changes, &options).expect("it can be made")
    };
    let [fifo, shortest] = ["fifo", "shortest"].map(under);
    // 6 maps of 10 s on 6 slots, and 200 of them.
    assert_eq!([4, 0].map(|job: usize| fifo.jobs[job].alone), [10_000, 333_333].map(|ms| Some(Span::from_ms(ms))));
    let measure = howdah_planning::prediction::Measure::SlowdownVariability;
    assert!(measure.of(&shortest) < measure.of(&fifo), "{} {}", measure.of(&shortest), measure.of(&fifo));
}
