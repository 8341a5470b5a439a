//! Programs that behave and programs that do not, in simulations of a few jobs.

use std::cell::RefCell;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::replay::{ReplayOptions, ReplayReport, Simulation, View};
use howdah_core::schedulers::Change;

use super::*;

thread_local! {
    static SAID: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn params(pairs: &[(&str, &str)]) -> Params {
    pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
}

fn external(command: &str, more: &[(&str, &str)]) -> Result<External, SchedulerError> {
    let pairs = [&[("command", command)], more].concat();
    External::from_params(&params(&pairs), |text| SAID.with(|said| said.borrow_mut().push(text.to_owned())))
}

/// The shell's part of a program: hello, and then `each` for every offer, whose number is `$id`.
fn shell(each: &str) -> String {
    format!(
        r#"read hello; echo '{{"type":"hello","protocol":1}}'; id=0; while read offer; do id=$((id+1)); {each}; done"#
    )
}

/// Three jobs of one-second maps, one of which is shorter than those before it.
fn trace() -> Trace {
    let job = |n_maps: u32| JobTemplate { n_maps, map_ms: vec![1_000], ..JobTemplate::default() };
    Trace { jobs: vec![job(6), job(4), job(2)], ..Trace::default() }
}

fn options() -> ReplayOptions {
    ReplayOptions { view: View::Slots { maps: 2, reduces: 0 }, ..ReplayOptions::default() }
}

fn fifo() -> ReplayReport {
    let trace = trace();
    let mut simulation = Simulation::new(&trace, &options()).unwrap();
    simulation.run();
    simulation.report()
}

/// The report and the warnings.
fn run(policy: External) -> (ReplayReport, Vec<String>) {
    let trace = trace();
    let mut simulation = Simulation::with_scheduler(&trace, &options(), Box::new(policy)).unwrap();
    simulation.run();
    (simulation.report(), SAID.with(|said| std::mem::take(&mut *said.borrow_mut())))
}

fn finishes(report: &ReplayReport) -> Vec<u64> {
    report.jobs.iter().map(|job| job.finish.as_ms() / 1_000).collect()
}

#[test]
fn a_program_decides_which_job_is_next() {
    // The last job first: two slots, so 2, 4 and 6 maps end after 1, 3 and 6 seconds.
    let each = r#"if [ $id = 1 ]; then job=3; elif [ $id -le 3 ]; then job=2; else job=1; fi
        case "$offer" in *'"free_maps":2'*) n=2;; *) n=1;; esac
        echo "{\"id\":$id,\"choices\":[{\"job\":$job,\"kind\":\"map\",\"count\":$n}]}""#;
    let (report, warnings) = run(external(&shell(each), &[("timeout", "60s")]).unwrap());
    assert_eq!((finishes(&report), warnings), (vec![6, 3, 1], vec![]));
    assert_eq!(finishes(&fifo()), [3, 5, 6]);
}

#[test]
fn a_program_that_says_nothing_is_warned_of_once_and_then_stopped() {
    let policy = external(&shell(":"), &[("timeout", "5ms")]).unwrap();
    let (report, warnings) = run(policy);
    assert_eq!(report.decisions_digest, fifo().decisions_digest);
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("did not answer in time; `fifo` decides for this turn"), "{warnings:?}");
    assert!(warnings[1].contains("went wrong 3 times running and is stopped"), "{warnings:?}");
}

#[test]
fn garbage_and_misspelt_keys_are_no_answers() {
    for answer in
        ["hello again", r#"{"id":'$id',"choice":[]}"#, r#"{"id":'$id',"choices":[{"job":1}]}"#, r#"{"id":999}"#]
    {
        let (report, warnings) = run(external(&shell(&format!("echo '{answer}'")), &[("timeout", "60s")]).unwrap());
        assert_eq!(report.decisions_digest, fifo().decisions_digest, "{answer}");
        assert_eq!(warnings.len(), 2, "{answer}: {warnings:?}");
        assert!(warnings[0].contains("answered what is no answer"), "{warnings:?}");
    }
}

#[test]
fn an_impossible_choice_costs_the_turn_and_one_warning() {
    // Every other turn is wrong, so that the program is never given up.
    for (wrong, why) in [
        (r#"\"job\":7,\"kind\":\"map\""#, "there is no job 7"),
        (r#"\"job\":1,\"kind\":\"reduce\""#, "no free reduce slot"),
        (r#"\"job\":1,\"kind\":\"map\",\"task\":99"#, "job 1: map 99 does not wait"),
        (r#"\"job\":1,\"kind\":\"map\",\"speculative\":true"#, "a speculative attempt of no task in particular"),
    ] {
        let each = format!(
            r#"if [ $((id % 2)) = 0 ]; then wish='"job":1,"kind":"map"'; else wish="{wrong}"; fi
               echo "{{\"id\":$id,\"choices\":[{{$wish}}]}}""#
        );
        let (report, warnings) = run(external(&shell(&each), &[("timeout", "60s")]).unwrap());
        assert!(report.jobs.iter().all(|job| job.state.is_final()), "{wrong}");
        assert!(warnings.iter().filter(|text| text.contains(why)).count() == 1, "{wrong}: {warnings:?}");
    }
}

#[test]
fn a_program_that_ends_hands_over_for_good() {
    let (report, warnings) = run(external(&shell("exit 3"), &[("timeout", "60s")]).unwrap());
    assert_eq!(report.decisions_digest, fifo().decisions_digest);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("ended (exit status: 3); `fifo` decides from now on"), "{warnings:?}");
}

#[test]
fn a_program_that_does_not_say_hello_is_a_wrong_command() {
    let error = |command: &str, more: &[(&str, &str)]| external(command, more).err().unwrap().to_string();
    let found = error("exit 2", &[]);
    assert_eq!(
        found,
        "scheduler `external`: parameter `command`: `exit 2` is not a program that says hello: \
         `exit 2` ended (exit status: 2)"
    );
    assert!(error("echo hi", &[]).contains("`echo hi` answered what is no answer: `hi`"));
    assert!(error(r#"echo '{"type":"hello","protocol":2}'"#, &[]).contains("protocol 2, expected 1"));
    assert!(error("", &[]).contains("parameter `command`: `` is not a command line"));
    assert!(error("cat", &[("timeout", "1h")]).contains("parameter `timeout`: `1h` is not a time from 1ms to 60s"));
    assert!(error("cat", &[("strikes", "0")]).contains("parameter `strikes`: `0` is not a number from 1 on"));
    let unknown = "parameter `fallback`: `lottery` is not a scheduler, expected one of balanced-pools, capacity, ";
    assert!(error("cat", &[("fallback", "lottery")]).contains(unknown));
    let itself = "parameter `fallback`: `external` is not a scheduler that decides without a program, expected one of ";
    assert!(error("cat", &[("fallback", "external")]).contains(itself));
    assert!(error("cat", &[("fallback.x", "1")]).contains("scheduler `fifo`: unknown parameter `x`"));
    assert!(error("cat", &[("quantum", "1")]).contains("scheduler `external`: unknown parameter `quantum`"));
}

#[test]
fn times_are_read_with_their_units() {
    assert_eq!(duration("200ms"), Some(Duration::from_millis(200)));
    assert_eq!(duration("2s"), Some(Duration::from_secs(2)));
    assert_eq!(duration("50"), Some(Duration::from_millis(50)));
    for wrong in ["", "s", "0", "61s", "-1ms", "1h", "99999999999999999999s"] {
        assert_eq!(duration(wrong), None, "{wrong}");
    }
}

#[test]
fn what_a_program_says_of_a_job_explains_it() {
    let each = r#"echo "{\"id\":$id,\"choices\":[],\"why\":[{\"job\":1,\"text\":\"It is Monday.\"}]}""#;
    let trace = trace();
    let policy = external(&shell(each), &[("timeout", "60s")]).unwrap();
    let mut simulation = Simulation::with_scheduler(&trace, &options(), Box::new(policy)).unwrap();
    simulation.step();
    assert_eq!(simulation.tracker().explain(JobId(1)).to_string(), "It is Monday.");
    let silent = simulation.tracker().explain(JobId(2)).to_string();
    assert!(silent.starts_with("Slots are free, and the program"), "{silent}");
}

#[test]
fn nobody_is_next_whom_the_program_has_not_named() {
    let each = r#"echo "{\"id\":$id,\"choices\":[{\"job\":3,\"kind\":\"map\",\"count\":2}]}""#;
    let trace = trace();
    let command = shell(each);
    let policy = external(&command, &[("timeout", "60s")]).unwrap();
    let mut simulation = Simulation::with_scheduler(&trace, &options(), Box::new(policy)).unwrap();
    simulation.step();
    for job in [1, 2] {
        assert_eq!(
            simulation.tracker().explain(JobId(job)).to_string(),
            format!(
                "All map slots are taken (2 in all), and the program `{command}`, which decides who has the next one, \
                 says no more."
            )
        );
    }
}

#[test]
fn a_program_that_waits_is_asked_again() {
    // Nothing for ten seconds, although slots are free and jobs wait.
    let each = r#"if [ $id = 1 ]; then echo "{\"id\":1,\"again_ms\":10000}"
        else echo "{\"id\":$id,\"choices\":[{\"job\":1,\"kind\":\"map\",\"count\":2}]}"; fi"#;
    let trace = Trace { jobs: trace().jobs[2..].to_vec(), ..Trace::default() };
    let policy = external(&shell(each), &[("timeout", "60s")]).unwrap();
    let mut simulation = Simulation::with_scheduler(&trace, &options(), Box::new(policy)).unwrap();
    simulation.run();
    assert_eq!(finishes(&simulation.report()), [11]);
}

#[test]
fn a_job_that_moves_to_another_queue_comes_in_full_once_more() {
    let dir = tempfile::tempdir().unwrap();
    let heard = dir.path().join("heard");
    let each = format!(r#"echo "$offer" >> '{}'; echo "{{\"id\":$id,\"choices\":[]}}""#, heard.display());
    let mut policy = external(&shell(&each), &[("timeout", "60s")]).unwrap();
    let job = JobTemplate { n_maps: 1, map_ms: vec![1_000], ..JobTemplate::default() };
    let trace = Trace { jobs: vec![job], ..Trace::default() };
    let mut simulation = Simulation::new(&trace, &options()).unwrap();
    simulation.step();
    let (state, job) = (simulation.tracker().state(), JobId(1));
    let worker = state.workers()[0].id();
    let round = Round { now: state.now(), worker, free_maps: 1, free_reduces: 0, parked: false };
    policy.attach(state);
    for change in
        [None, Some(Change::Offerable { job, kind: TaskKind::Map, offerable: false }), Some(Change::Queue { job })]
    {
        change.iter().for_each(|change| policy.observe(change, state));
        policy.begin_round(&round, state);
        assert_eq!(policy.assign(&round, state), None);
    }
    let heard = std::fs::read_to_string(heard).unwrap();
    let in_full: Vec<bool> = heard.lines().map(|offer| offer.contains(r#""queue":"default""#)).collect();
    assert_eq!(in_full, [true, false, true], "{heard}");
}

/// Shortest job first, as the guide has it.
fn example() -> External {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guide/schedulers/examples/shortest_first.py");
    external(&format!("python3 '{file}'"), &[("timeout", "60s")]).expect("python3 runs the guide's example")
}

#[test]
fn the_guides_example_runs_the_shortest_job_first() {
    let (report, warnings) = run(example());
    assert_eq!((finishes(&report), warnings), (vec![6, 3, 1], vec![]));
    assert_eq!(run(example()).0.decisions_digest, report.decisions_digest);
}

#[test]
fn the_guides_example_decides_as_the_built_in_policy_does() {
    let job = |n: u32| JobTemplate {
        submit_ms: u64::from(n * 7_919 % 9_000),
        n_maps: n * 31 % 7,
        map_ms: vec![u64::from(n * 613 % 2_000 + 1), 900],
        n_reduces: n % 4,
        reduce_ms: vec![700, 1_300],
        ..JobTemplate::default()
    };
    let trace = Trace { jobs: (0..40).map(job).collect(), ..Trace::default() };
    let options = ReplayOptions { view: View::Slots { maps: 5, reduces: 3 }, ..ReplayOptions::default() };
    let digest = |policy: Box<dyn Scheduler>| {
        let mut simulation = Simulation::with_scheduler(&trace, &options, policy).unwrap();
        simulation.run();
        simulation.report().decisions_digest
    };
    let built_in = digest(registry::by_name("shortest", &Params::new()).unwrap());
    assert_eq!(digest(Box::new(example())), built_in);
    assert_ne!(digest(registry::by_name("fifo", &Params::new()).unwrap()), built_in);
}

#[test]
fn a_fork_goes_on_with_a_program_of_its_own_as_the_first_one_does() {
    let trace = trace();
    let mut simulation = Simulation::with_scheduler(&trace, &options(), Box::new(example())).unwrap();
    for _ in 0..3 {
        assert!(simulation.step());
    }
    let mut fork = simulation.fork();
    simulation.run();
    fork.run();
    assert_eq!(fork.report(), simulation.report());
}
