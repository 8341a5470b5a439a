//! No line of a policy's program makes the master panic, hang, or start what may not start: the program is somebody's own.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Mutex;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::replay::{ReplayOptions, Simulation, View};
use howdah_fuzz::{Readings, cases, changed, changes, most_held};
use proptest::prelude::*;

use super::super::protocol::{Answer, FirstLine};
use super::talk::parse;
use super::*;

static READINGS: Readings = Readings::of("lines of programs");

const HELLO: &str = r#"{"type":"hello","protocol":1,"notices":["launched","ended","worker"],"speculates":true}"#;
/// What a program may answer; the number of the offer stands first.
const ANSWERS: [&str; 5] = [
    r#"{"id":1,"choices":[{"job":1,"kind":"map","count":2}],"again_ms":10000}"#,
    r#"{"id":1,"choices":[{"job":2,"kind":"map","task":0,"within":"rack"},{"job":1,"kind":"reduce"}]}"#,
    r#"{"id":1,"choices":[{"job":1,"kind":"map","task":1,"speculative":true}],"why":[{"job":2,"text":"It is Monday."}]}"#,
    r#"{"id":1,"preempt":[{"job":1,"kind":"map","task":0,"number":0}],"again_ms":5}"#,
    r#"{"id":1}"#,
];

fn trace() -> Trace {
    let job = |n_maps| JobTemplate {
        n_maps,
        n_reduces: 1,
        map_ms: vec![1_000],
        reduce_ms: vec![500],
        ..JobTemplate::default()
    };
    Trace { jobs: vec![job(6), job(4)], ..Trace::default() }
}

fn options() -> ReplayOptions {
    ReplayOptions { view: View::Slots { maps: 3, reduces: 1 }, ..ReplayOptions::default() }
}

/// What is wrong with a line is said on one line that is not much longer than what is shown of it.
fn check_said(text: &str) {
    assert!(text.len() < 8 << 10 && !text.chars().any(char::is_control), "{text:?}");
}

#[test]
fn the_good_lines_are_taken() {
    assert!(parse::<FirstLine>(HELLO.as_bytes()).is_ok());
    ANSWERS.iter().for_each(|line| assert!(parse::<Answer>(line.as_bytes()).is_ok(), "{line}"));
}

static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

proptest! {
    #![proptest_config(cases(1))]

    #[test]
    fn changed_lines_are_answers_or_are_shown_and_no_choice_breaks_a_rule(
        which in 0..ANSWERS.len(),
        changes in changes(),
        after_ms in 0..4_000_u64,
    ) {
        let line = changed(ANSWERS[which].as_bytes(), &changes);
        let (read, held) = most_held(|| parse::<Answer>(&line));
        prop_assert!(held < 64 * line.len() + (64 << 10), "{} bytes were held for {}", held, line.len());
        if let Err(Wrong::Garbage(what)) = parse::<FirstLine>(&line) {
            check_said(&what);
        }
        READINGS.add(2);
        let answer = match read {
            Ok(answer) => answer,
            Err(Wrong::Garbage(what)) => {
                check_said(&what);
                return Ok(());
            }
            Err(other) => panic!("{other:?}"),
        };
        let trace = trace();
        let mut run = Simulation::new(&trace, &options()).expect("slots of both kinds");
        run.run_until(Time::from_ms(after_ms));
        let state = run.tracker().state();
        for (wish, worker) in answer.choices.iter().flat_map(|wish| state.workers().iter().map(move |one| (wish, one))) {
            match choose(wish, worker.id(), state) {
                Ok(assignment) => {
                    let job = state.job(assignment.job).expect("it is known");
                    let waits = job.tasks(assignment.kind).pending().contains(assignment.index);
                    prop_assert!(worker.free(assignment.kind) > 0 && (waits || assignment.speculative));
                }
                Err(Refused::Declined(why) | Refused::Impossible(why)) => check_said(&why),
            }
        }
    }
}

proptest! {
    // Each case starts a program.
    #![proptest_config(cases(20))]

    #[test]
    fn a_program_may_say_anything_and_no_rule_is_broken_and_one_that_is_given_up_delays_nobody(
        answers in prop::collection::vec((0..ANSWERS.len(), prop::option::weighted(0.3, changes())), 1..20),
        of_hello in prop::option::weighted(0.1, changes()),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("lines");
        let mut lines = changed(HELLO.as_bytes(), of_hello.as_deref().unwrap_or_default());
        for (number, (which, changes)) in (1..).zip(&answers) {
            let mut good = String::new();
            let _ = write!(good, "\n{}", ANSWERS[*which].replace("\"id\":1", &format!("\"id\":{number}")));
            lines.extend(changed(good.as_bytes(), changes.as_deref().unwrap_or_default()));
        }
        lines.push(b'\n');
        std::fs::write(&script, lines).expect("write");
        // It says all of it at once, whatever it is asked, and listens for a while.
        let command = format!("cat '{}'; exec head -n 40 >/dev/null", script.display());
        let params = [("command".to_owned(), command), ("timeout".to_owned(), "20ms".to_owned())].into();
        let warn: Warn = |text| WARNINGS.lock().expect("nobody panicked").push(text.to_owned());
        let policy = match External::from_params(&params, warn) {
            Ok(policy) => policy,
            Err(error) => {
                check_said(&error.to_string());
                return Ok(());
            }
        };
        let trace = trace();
        let mut run = Simulation::with_scheduler(&trace, &options(), Box::new(policy)).expect("slots of both kinds");
        let mut steps = 0;
        while run.step() {
            steps += 1;
            prop_assert!(steps < 20_000, "it does not end");
            prop_assert_eq!(run.tracker().check_invariants(), Ok(()));
        }
        let said: BTreeSet<String> = WARNINGS.lock().expect("nobody panicked").drain(..).collect();
        said.iter().for_each(|text| check_said(text));
        // One that answers well and chooses nothing is obeyed.
        let given_up = said.iter().any(|text| text.ends_with("decides from now on"));
        prop_assert!(!given_up || run.report().jobs.iter().all(|job| job.state.is_final()), "a job waits for ever");
        READINGS.add(answers.len() as u64);
    }
}
