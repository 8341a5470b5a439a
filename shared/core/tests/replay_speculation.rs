//! Speculative attempts in replay: simulated workers report how far their attempts are, the rules pick, the core races.

mod races;

use howdah_core::cluster::Attempt;
use howdah_core::job::profile::JobTemplate;
use howdah_core::job::{Progress, TaskKind, WorkerId};
use howdah_core::replay::SimWorker;
use howdah_core::schedulers;
use howdah_core::time::{Span, Time};
use races::Race;
use rstest::rstest;

/// Four workers, one of which takes five times as long, and a job with two tasks for each.
fn one_slow() -> Race {
    Race::new().worker(1.0).worker(1.0).worker(1.0).worker(0.2).job(8, 60)
}

fn maps(seconds: &[u64]) -> JobTemplate {
    let map_ms: Vec<u64> = seconds.iter().map(|s| s * 1_000).collect();
    JobTemplate { n_maps: map_ms.len() as u32, map_ms, ..JobTemplate::default() }
}

#[test]
fn without_a_rule_the_slow_worker_holds_the_job_up() {
    let outcome = one_slow().run();
    assert_eq!(outcome.finish_s(1), 300.0);
    assert_eq!(outcome.seconds(), [""; 0]);
}

// Maps 0 to 3 start at 0 s, 4 to 6 at 60 s on the fast workers, 7 at 120 s. Then progress is (6 + 0.39 + 0) / 8 = 0.79
// on average: map 3 is behind by more than 0.2, and so is map 7, which has only begun, as the job is old enough.
#[test]
fn hadoops_rule_helps_the_straggler_and_whoever_has_only_begun() {
    let outcome = one_slow().rule("fifo", "speculation=hadoop").run();
    assert_eq!(outcome.seconds(), ["120s w2 j1 m3 again", "120s w3 j1 m7 again"]);
    assert_eq!(outcome.finish_s(1), 180.0);
    assert_eq!(outcome.report.jobs[0].killed_attempts, 2);
    // Map 3's first attempt ran for 180 s; both of map 7 end at once, and the first one wins after 60 s.
    let costs = outcome.report.costs;
    assert_eq!((costs.launched, costs.won, costs.lost, costs.wasted), (2, 1, 1, Span::from_secs(180 + 60)));
}

// Worker 1 is free from 20 s on. Map 5 is on the slow worker and advances at a fifth of the others' rate, but nothing
// is a minute old before 60 s.
#[test]
fn late_helps_the_slowest_once_it_is_a_minute_old() {
    let race = (0..5).fold(Race::new(), |race, _| race.worker(1.0)).worker(0.2);
    let race = race.template(maps(&[20, 100, 100, 100, 100, 60]));
    assert_eq!(race.run().finish_s(1), 300.0);
    let outcome = race.rule("fifo", "speculation=late").run();
    assert_eq!(outcome.seconds(), ["60s w1 j1 m5 again"]);
    assert_eq!(outcome.finish_s(1), 120.0);
}

#[test]
fn a_loser_is_stopped_at_once_and_its_slot_runs_what_waits() {
    let outcome = one_slow().job(4, 10).rule("fifo", "speculation=hadoop speculation.cap=1").run();
    // At 120 s there is one speculative attempt; the other job has the slots that it leaves, and at 180 s the slow
    // worker's.
    assert_eq!(outcome.seconds(), ["120s w2 j1 m3 again"]);
    assert_eq!(
        outcome.story()[9..],
        ["120s w3 j2 m0", "130s w3 j2 m1", "140s w3 j2 m2", "150s w3 j2 m3"],
        "the second job is served by whom the first one leaves"
    );
    let loser = outcome.records.iter().find(|record| record.worker == WorkerId(3)).expect("it ran");
    assert_eq!((loser.attempt.index, loser.end), (3, Time::from_ms(180_000)));
    let outcome = one_slow().job(60, 10).rule("fifo", "speculation=hadoop speculation.cap=1").run();
    assert!(outcome.story().contains(&"180s w4 j2 m9".to_owned()), "{:#?}", outcome.story());
}

/// An attempt's progress as its worker reported it last, from what it does in how much time.
fn expected(attempt: &Attempt, reported_at: Time, speed: f64, work_s: f64) -> Progress {
    let done = reported_at.since(attempt.started()).as_secs_f64() * speed / work_s;
    Progress::from_parts((done * 1e4 + 1e-6) as u16)
}

#[test]
fn progress_is_the_work_that_was_done_at_the_workers_last_report() {
    let race = one_slow().rule("fifo", "speculation=hadoop speculation.cap=0");
    let mut simulation = race.simulation();
    let mut seen = 0;
    while simulation.step() {
        let state = simulation.tracker().state();
        for (_, attempt) in state.attempts().iter() {
            let worker = state.worker(attempt.worker()).expect("it runs there");
            let speed = f64::from(worker.vitals().effective_khz) / 1e6;
            if worker.last_contact() > attempt.started() {
                assert_eq!(attempt.progress(), expected(attempt, worker.last_contact(), speed, 60.0), "{attempt:?}");
                seen += 1;
            }
        }
    }
    assert!(seen > 1_000, "{seen}");
}

// Map 1 is done at 100 s, map 0 at 400 s. The first reduce waits for both from 0 s on, as slow start is 0; then it
// shuffles for 30 s and reduces for 60 s. The other one starts late and has its whole shuffle to itself.
#[test]
fn a_reduce_that_waits_is_as_far_as_its_maps_and_then_in_thirds() {
    let template = JobTemplate {
        n_maps: 2,
        n_reduces: 2,
        map_ms: vec![400_000, 100_000],
        first_shuffle_ms: vec![30_000],
        typical_shuffle_ms: vec![90_000],
        reduce_ms: vec![60_000],
        slowstart_ppm: Some(0),
        ..JobTemplate::default()
    };
    let no_reduces = SimWorker { map_slots: 1, ..SimWorker::default() };
    let race = Race::new().worker(1.0).machine(no_reduces).template(template);
    let race = race.rule("fifo", "speculation=hadoop speculation.cap=0");
    let mut simulation = race.simulation();
    let mut outcome = Vec::new();
    while simulation.step() {
        let reduces = simulation.tracker().state().attempts().iter();
        let reduces = reduces.filter(|(_, attempt)| attempt.id().kind == TaskKind::Reduce);
        for (_, attempt) in reduces {
            outcome.push((simulation.now().as_ms() / 1_000, attempt.id().index, attempt.progress().parts()));
        }
    }
    let at = |s| outcome.iter().rfind(|outcome| outcome.0 == s).map(|&(_, index, parts)| (index, parts));
    assert_eq!(at(50), Some((0, 0)), "no map is done");
    assert_eq!(at(300), Some((0, 1_666)), "half of its maps are");
    assert_eq!(at(410), Some((0, 4_444)), "a third of its own shuffle is");
    assert_eq!(at(460), Some((0, 8_333)), "half of the reduce is");
    assert_eq!(at(520), Some((1, 2_222)), "30 s of a shuffle of 90 s, which is two thirds of it");
    assert_eq!(at(610), Some((1, 8_333)));
}

// One core, foreign load 1 from 60 s to 180 s: 60 s of work, then 60 s in 120 s, then the last 30 s.
#[rstest]
#[case::without_reports("fifo", "")]
#[case::with_reports("fifo", "speculation=hadoop speculation.cap=0")]
fn foreign_load_delays_a_task_by_what_the_curve_says(#[case] scheduler: &str, #[case] rule: &str) {
    let foreign = [(60, 1_000), (180, 0)].map(|(s, milli)| (Time::from_ms(s * 1_000), milli)).to_vec();
    let loaded = SimWorker { map_slots: 1, cores_milli: 1_000, foreign, ..SimWorker::default() };
    let outcome = Race::new().machine(loaded).job(1, 150).rule(scheduler, rule).run();
    assert_eq!(outcome.finish_s(1), 210.0);
}

// Two tasks on one core take twice their time while both run, a third one on the other core its own.
#[test]
fn own_attempts_slow_each_other_down_where_slots_outnumber_cores() {
    let crowded = SimWorker { map_slots: 2, cores_milli: 1_000, ..SimWorker::default() };
    let outcome = Race::new().machine(crowded).worker(1.0).template(maps(&[30, 60, 60])).run();
    let ends: Vec<(u32, u64)> = outcome.records.iter().map(|r| (r.attempt.index, r.end.as_ms() / 1_000)).collect();
    assert_eq!(ends, [(0, 60), (2, 60), (1, 90)], "map 1 does 30 s of work in 60 s, and the rest alone");
}

#[test]
fn a_rule_that_comes_later_knows_how_far_everything_is() {
    let race = one_slow();
    let mut simulation = race.simulation();
    while simulation.next_time().is_some_and(|next| next < Time::from_ms(100_000)) {
        simulation.step();
    }
    let rule = race.clone().rule("fifo", "speculation=hadoop");
    simulation.switch_scheduler(schedulers::by_name(&rule.scheduler, &rule.params).expect("it is one"));
    simulation.run();
    let report = simulation.report();
    assert_eq!(report.jobs[0].finish, Time::from_ms(180_000));
    assert_eq!(report.costs.launched, 2);
}

#[test]
fn equal_races_have_equal_digests_and_a_fork_goes_on_as_its_original() {
    let mut race = one_slow().job(5, 30).rule("fifo", "speculation=hadoop speculation.age=10s");
    race.view.workers[0].foreign = vec![(Time::from_ms(45_000), 3_500)];
    race.view.heartbeat.interval = Span::from_secs(3);
    let whole = race.run().report;
    assert_eq!(race.run().report, whole);
    assert!(whole.costs.launched > 0);
    let mut simulation = race.simulation();
    for steps in 0..400 {
        if steps % 40 == 0 {
            let mut fork = simulation.fork();
            fork.run();
            assert_eq!(fork.report(), whole, "after {steps} steps");
        }
        simulation.step();
    }
}

#[test]
fn without_a_rule_nobody_reports() {
    let steps = |race: &Race| {
        let mut simulation = race.simulation();
        std::iter::from_fn(|| simulation.step().then_some(())).count()
    };
    assert!(steps(&one_slow()) < 30);
    assert!(steps(&one_slow().rule("fifo", "speculation=late")) > 300);
}
