//! Anything a network, a driver or a policy may throw at the JobTracker: no panic, and the invariants hold.

mod kit;

use std::sync::Arc;

use howdah_core::job::requirement::MAX_ATTRIBUTES;
use howdah_core::job::{
    JobConf, JobId, JobSpec, Phase, Priority, Requirements, SplitHosts, SplitTable, TaskKind, WorkerId,
};
use howdah_core::time::Time;
use howdah_core::tracker::{
    AttemptReport, AttributeSet, ClusterConfig, HeartbeatRule, Input, Registration, Report, SchedulerChoice, Vitals,
};
use kit::*;
use proptest::prelude::*;

/// Mostly small numbers, so that some hit something, and now and then the largest.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![20 => 0u32..5, 1 => Just(u32::MAX), 1 => Just(1_000u32), 1 => any::<u32>()]
}

fn attempt() -> impl Strategy<Value = howdah_core::job::AttemptId> {
    (1u32..5, number(), number(), any::<bool>()).prop_map(|(job, index, n, is_map)| howdah_core::job::AttemptId {
        job: JobId(job),
        index,
        number: n as u16,
        kind: if is_map { TaskKind::Map } else { TaskKind::Reduce },
    })
}

fn state() -> impl Strategy<Value = AttemptState> {
    prop::sample::select(vec![AttemptState::Launching, Running, CommitPending, Succeeded, Failed, Killed])
}

fn phase() -> impl Strategy<Value = Phase> {
    prop::sample::select(vec![Phase::Starting, Phase::Map, Phase::Shuffle, Phase::Sort, Phase::Reduce])
}

fn status() -> impl Strategy<Value = AttemptReport> {
    (attempt(), state(), phase(), any::<u16>(), prop::collection::vec(attempt(), 0..4), any::<bool>()).prop_map(
        |(attempt, state, phase, progress, fetch_failures, fatal)| AttemptReport {
            attempt,
            state,
            phase,
            progress: howdah_core::job::Progress::from_parts(progress),
            fetch_failures,
            fatal,
        },
    )
}

fn report() -> impl Strategy<Value = Input> {
    let who = (0u32..4, 0u64..3, 0u32..6);
    let what = (any::<u16>(), any::<u16>(), any::<bool>(), any::<bool>());
    (who, what, prop::collection::vec(status(), 0..6), attribute_set()).prop_map(|(who, what, attempts, attributes)| {
        Input::Report(Box::new(Report {
            worker: WorkerId(who.0),
            incarnation: who.1,
            response_id: if who.2 == 5 { u32::MAX } else { who.2 },
            free_maps: what.0,
            free_reduces: what.1,
            accepts_tasks: what.2,
            may_park: what.3,
            attempts,
            vitals: Vitals::default(),
            attributes,
        }))
    })
}

/// Attributes in any order, twice, now and then far too many, under numbers that repeat, go back and leap.
fn attribute_set() -> impl Strategy<Value = Option<AttributeSet>> {
    let pair = ("[a-c]|gpu|", "[0-2]|no|").prop_map(|(name, value)| (name, value));
    let few = prop::collection::vec(pair, 0..5);
    let many = (0usize..2 * MAX_ATTRIBUTES).prop_map(|n| (0..n).map(|i| (format!("n{i}"), String::new())).collect());
    let set = (number(), prop_oneof![20 => few, 1 => many]);
    prop::option::of(set.prop_map(|(version, attributes)| AttributeSet { version, attributes }))
}

fn requirements() -> impl Strategy<Value = Requirements> {
    let texts = prop::sample::select(vec!["gpu", "gpu>=1", "gpu!=2", "a=1", "b", "rack=r1", "host!=h0", "name=w1"]);
    prop::collection::vec(texts, 0..3).prop_map(|texts| Requirements::parse(&texts).expect("requirements"))
}

fn registration() -> impl Strategy<Value = Input> {
    let numbers = (0u32..4, 0u64..3, 0u32..4, number(), number());
    (numbers, attribute_set()).prop_map(|((worker, incarnation, name, maps, reduces), set)| {
        Input::Register(Box::new(Registration {
            worker: WorkerId(worker),
            incarnation,
            starts: incarnation % 2 == 0,
            name: format!("w{name}"),
            host: format!("h{}", name % 2),
            rack: format!("/r{}", maps % 2),
            map_slots: maps as u16,
            reduce_slots: reduces as u16,
            attributes: set.unwrap_or_default().attributes,
            kept: Vec::new(),
        }))
    })
}

fn submission() -> impl Strategy<Value = Input> {
    let tables = (prop::collection::vec(0u32..6, 0..6), prop::collection::vec(0u32..6, 0..6));
    let numbers = (1u32..6, 0u32..5, 0u32..4, any::<u32>(), 0u16..3, any::<u8>());
    (numbers, tables, any::<bool>(), requirements()).prop_map(|(numbers, tables, plain, requires)| {
        let (job, n_maps, n_reduces, ppm, max, percent) = numbers;
        let mut split_hosts =
            SplitTable { hosts: vec!["h0".into(), "h1".into()], entries: tables.0, offsets: tables.1 }.into();
        if plain {
            split_hosts = SplitHosts::default();
        }
        let conf = JobConf {
            slowstart_ppm: ppm,
            max_map_attempts: max,
            max_reduce_attempts: max,
            max_tracker_failures: max,
            max_map_failures_percent: percent,
            requires,
            ..JobConf::default()
        };
        let spec = JobSpec { n_maps, n_reduces, split_hosts, conf, ..JobSpec::default() };
        Input::Submit { job: JobId(job), spec: Arc::new(spec) }
    })
}

fn input() -> impl Strategy<Value = Input> {
    prop_oneof![
        8 => report(),
        3 => registration(),
        3 => submission(),
        1 => number().prop_map(|job| Input::KillJob { job: JobId(job) }),
        2 => (attempt(), any::<bool>()).prop_map(|(attempt, fail)| Input::KillAttempt { attempt, fail }),
        1 => "fifo|fair|nobody".prop_map(|name| Input::SetScheduler(Box::new(SchedulerChoice { name, ..Default::default() }))),
        1 => number().prop_map(|job| Input::SetPriority { job: JobId(job), priority: Priority::High }),
        1 => (number(), "default|etl|").prop_map(|(job, queue)| Input::SetQueue { job: JobId(job), queue: queue.into() }),
        1 => number().prop_map(|w| Input::Enable { worker: WorkerId(w) }),
        1 => (number(), any::<bool>()).prop_map(|(w, drain)| Input::Drain { worker: WorkerId(w), drain }),
        1 => (number(), number()).prop_map(|(w, j)| Input::CannotServe { worker: WorkerId(w), job: JobId(j) }),
        1 => (number(), any::<bool>()).prop_map(|(w, reachable)| Input::Reach { worker: WorkerId(w), reachable }),
        1 => (number(), 0u64..3).prop_map(|(w, incarnation)| Input::Goodbye { worker: WorkerId(w), incarnation }),
        1 => (number(), 0u64..3).prop_map(|(w, incarnation)| Input::Gone { worker: WorkerId(w), incarnation }),
        2 => (number(), any::<bool>()).prop_map(|(job, ok)| Input::JobCommitted { job: JobId(job), ok }),
        2 => (number(), prop::collection::vec(attempt(), 0..3))
            .prop_map(|(job, attempts)| Input::OutputGone { job: JobId(job), attempts: attempts.into() }),
        4 => Just(Input::Tick),
        1 => Just(Input::Recovered),
    ]
}

/// Settings that nobody would choose.
fn extreme(config: &mut ClusterConfig, choice: u32) {
    config.heartbeat = match choice % 4 {
        0 => HeartbeatRule::Adaptive { min_ms: u32::MAX, max_ms: 0, heartbeats_in_second: 0 },
        1 => HeartbeatRule::Fixed { interval_ms: 0 },
        2 => HeartbeatRule::Hadoop121 { heartbeats_in_second: 0 },
        _ => HeartbeatRule::Hadoop0202,
    };
    if choice >= 4 {
        config.expiry_ms = 0;
        config.max_parking_ms = u64::MAX;
        config.launch_expiry_ms = u64::MAX;
        config.blacklist.max_faults = 0;
        config.blacklist.max_listed_percent = u32::MAX;
        config.blacklist.short_failures = 1;
        config.max_worker_losses = 1;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_input_breaks_the_invariants(
        settings in 0u32..8,
        batches in prop::collection::vec((any::<u32>(), prop::collection::vec(input(), 0..8)), 0..40),
    ) {
        let mut c = Cluster::with(|config| extreme(config, settings)).workers(0, 0, 0);
        for worker in 0..3 {
            c.puppets.push(Puppet { incarnation: 1, slots: [2, 2], ..Puppet::default() });
            let hello = c.registration(WorkerId(worker), "h0", "/r");
            c.tracker.apply(c.now, &[hello], &mut c.effects);
        }
        for (time, batch) in batches {
            // Time that goes back, stands and leaps.
            c.now = if time % 7 == 0 { Time::ZERO } else { Time::from_us(c.now.as_us() + u64::from(time)) };
            c.tracker.apply(c.now, &batch, &mut c.effects);
            let checked = c.tracker.check_invariants();
            prop_assert!(checked.is_ok(), "{:?} after {:?}", checked, batch);
            for job in 0..7 {
                let _: String = c.tracker.explain(JobId(job)).to_string();
            }
        }
    }
}
