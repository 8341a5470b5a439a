//! Scenarios and random inputs for the TaskTracker.

use proptest::prelude::*;

use super::*;
use crate::job::{AttemptId, AttemptState, JobId, Phase, Progress, TaskId};
use crate::time::Span;

const INTERVAL: Span = Span::from_secs(3);

fn map(index: u32) -> AttemptId {
    TaskId { job: JobId(1), kind: TaskKind::Map, index }.attempt(0)
}

/// A tracker whose effects are checked one call at a time.
struct Bench {
    tracker: TaskTracker,
    now: Time,
}

impl Bench {
    fn new() -> Bench {
        Bench::with(TrackerConfig { park_pause: Span::ZERO, ..TrackerConfig::default() })
    }

    fn with(config: TrackerConfig) -> Bench {
        let mut bench = Bench { tracker: TaskTracker::new(config), now: Time::from_ms(1_000) };
        assert_eq!(bench.feed(&[TrackerInput::Tick]), [TrackerEffect::Register { incarnation: 1 }]);
        let effects = bench.feed(&[TrackerInput::Registered { worker: WorkerId(7), interval: INTERVAL }]);
        assert_eq!(effects, [TrackerEffect::Report { seq: 1 }]);
        bench
    }

    fn feed(&mut self, inputs: &[TrackerInput]) -> Vec<TrackerEffect> {
        let mut effects = Vec::new();
        self.tracker.apply(self.now, inputs, &mut effects);
        self.tracker.check_invariants().unwrap();
        effects
    }

    fn answer(&mut self, seq: u32, response_id: u32, directives: &[Directive]) -> Vec<TrackerEffect> {
        let directives = directives.to_vec();
        self.feed(&[TrackerInput::Answer { seq, response_id, interval: INTERVAL, directives }])
    }

    fn report(&self) -> Report {
        self.tracker.report(Vitals::default(), true)
    }

    /// Launches `map(0)` in answer 1 and gets it running; report 2 waits at the master.
    fn running(reuse_tasks: i32) -> Bench {
        let mut bench = Bench::new();
        let effects = bench.answer(1, 1, &[Directive::Launch(map(0))]);
        assert_eq!(effects, [TrackerEffect::FetchJob { job: JobId(1) }, TrackerEffect::Report { seq: 2 }]);
        let known = TrackerInput::JobKnown { job: JobId(1), task_timeout: Span::from_secs(60), reuse_tasks };
        let effects = bench.feed(&[known]);
        assert_eq!(effects, [TrackerEffect::Start { attempt: map(0), process: 1, reused: false }]);
        bench
    }

    fn end(&mut self, ok: bool, process_alive: bool) -> Vec<TrackerEffect> {
        self.feed(&[TrackerInput::Ended { attempt: map(0), ok, process_alive }])
    }
}

#[test]
fn a_finished_attempt_is_reported_at_once_and_until_acknowledged() {
    let mut bench = Bench::running(1);
    let finished = TrackerEffect::Finished { attempt: map(0), state: AttemptState::Succeeded };
    assert_eq!(bench.end(true, false), [finished, TrackerEffect::Report { seq: 3 }]);
    assert_eq!(bench.report().attempts[0].state, AttemptState::Succeeded);
    // The answer to the older report does not acknowledge it.
    assert_eq!(bench.answer(2, 2, &[]), []);
    assert_eq!(bench.report().attempts.len(), 1);
    assert_eq!(bench.answer(3, 3, &[]), [TrackerEffect::Report { seq: 4 }]);
    assert!(bench.report().attempts.is_empty());
}

#[test]
fn a_lost_report_is_sent_again_after_a_pause_with_the_same_news() {
    let mut bench = Bench::running(1);
    bench.end(false, false);
    assert_eq!(bench.feed(&[TrackerInput::HeartbeatFailed { seq: 3 }]), []);
    bench.now = bench.tracker.next_deadline().unwrap();
    assert_eq!(bench.feed(&[TrackerInput::Tick]), [TrackerEffect::Report { seq: 4 }]);
    assert_eq!(bench.report().attempts[0].state, AttemptState::Failed);
    assert_eq!(bench.report().response_id, 1);
}

#[test]
fn a_repeated_launch_starts_once() {
    let mut bench = Bench::running(1);
    assert_eq!(bench.answer(2, 2, &[Directive::Launch(map(0))]), [TrackerEffect::Report { seq: 3 }]);
    assert_eq!(bench.answer(2, 2, &[Directive::Launch(map(0))]), []);
}

#[test]
fn an_answer_older_than_the_newest_is_ignored() {
    let mut bench = Bench::running(1);
    bench.answer(2, 2, &[]);
    assert_eq!(bench.answer(1, 1, &[Directive::Launch(map(1))]), []);
}

#[test]
fn of_two_answers_with_one_number_the_one_to_the_older_report_is_ignored_if_it_comes_last() {
    let mut bench = Bench::running(1);
    // Report 3 crosses the answer to report 2, and is answered under the same number.
    bench.end(true, false);
    bench.answer(3, 2, &[Directive::Launch(map(2)), Directive::Kill(map(1))]);
    assert_eq!(bench.answer(2, 2, &[Directive::Launch(map(1))]), []);
    let held: Vec<AttemptId> = bench.report().attempts.iter().map(|status| status.attempt).collect();
    assert_eq!(held, [map(2)], "an attempt that was stopped since does not start");
}

#[test]
fn launches_beyond_the_slots_are_left_to_the_master_to_repeat() {
    let mut bench = Bench::new();
    let launches = [0, 1, 2].map(|index| Directive::Launch(map(index)));
    let effects = bench.answer(1, 1, &launches);
    assert!(effects.contains(&TrackerEffect::NoSlot { attempt: map(2) }));
    assert_eq!(bench.tracker.free(TaskKind::Map), 0);
}

#[test]
fn a_kill_is_polite_then_hard_and_ends_killed() {
    let mut bench = Bench::running(1);
    let effects = bench.answer(2, 2, &[Directive::Kill(map(0))]);
    assert_eq!(effects[0], TrackerEffect::Terminate { attempt: map(0), cause: StopCause::Directive });
    bench.now += Span::from_secs(5);
    assert!(bench.feed(&[TrackerInput::Tick]).contains(&TrackerEffect::Kill { attempt: map(0) }));
    assert_eq!(bench.end(false, false)[0], TrackerEffect::Finished { attempt: map(0), state: AttemptState::Killed });
}

#[test]
fn silence_beyond_the_task_timeout_fails_the_attempt() {
    let mut bench = Bench::running(1);
    bench.now += Span::from_secs(59);
    bench.feed(&[TrackerInput::Progress { attempt: map(0), phase: Phase::Map, progress: Progress::from_parts(1) }]);
    bench.now += Span::from_secs(59);
    assert!(!bench.feed(&[TrackerInput::Tick]).iter().any(|e| matches!(e, TrackerEffect::Terminate { .. })));
    bench.now += Span::from_secs(1);
    let effects = bench.feed(&[TrackerInput::Tick]);
    assert!(effects.contains(&TrackerEffect::Terminate { attempt: map(0), cause: StopCause::Timeout }));
    assert_eq!(bench.end(false, false)[0], TrackerEffect::Finished { attempt: map(0), state: AttemptState::Failed });
}

#[test]
fn the_commit_is_granted_once() {
    let mut bench = Bench::running(1);
    let effects = bench.feed(&[TrackerInput::CommitPending { attempt: map(0) }]);
    assert_eq!(effects, [TrackerEffect::Report { seq: 3 }]);
    assert_eq!(bench.report().attempts[0].state, AttemptState::CommitPending);
    let effects = bench.answer(3, 2, &[Directive::Commit(map(0))]);
    assert_eq!(effects[0], TrackerEffect::GrantCommit { attempt: map(0) });
    let effects = bench.answer(4, 3, &[Directive::Commit(map(0))]);
    assert!(!effects.contains(&TrackerEffect::GrantCommit { attempt: map(0) }));
}

#[test]
fn an_attempt_that_another_job_brought_to_grief_was_killed_and_has_not_failed() {
    let mut bench = Bench::running(1);
    let killed = TrackerEffect::Finished { attempt: map(0), state: AttemptState::Killed };
    let spared = [TrackerInput::Spared { attempt: map(0) }];
    assert_eq!(bench.feed(&spared), [killed, TrackerEffect::Report { seq: 3 }]);
    assert_eq!(bench.feed(&spared), [], "it is over");
}

#[test]
fn a_process_is_reused_for_its_own_job_until_its_limit() {
    let mut bench = Bench::running(2);
    bench.end(true, true);
    let effects = bench.answer(3, 2, &[Directive::Launch(map(1))]);
    assert!(effects.contains(&TrackerEffect::Start { attempt: map(1), process: 1, reused: true }));
    let effects = bench.feed(&[TrackerInput::Ended { attempt: map(1), ok: true, process_alive: true }]);
    assert!(effects.contains(&TrackerEffect::Retire { process: 1 }));
}

#[test]
fn a_waiting_process_goes_when_nothing_comes() {
    let mut bench = Bench::running(-1);
    bench.end(true, true);
    bench.now += Span::from_secs(2);
    assert!(bench.feed(&[TrackerInput::Tick]).contains(&TrackerEffect::Retire { process: 1 }));
}

#[test]
fn reinit_kills_everything_and_registers_a_younger_incarnation() {
    let mut bench = Bench::running(1);
    let effects = bench.answer(2, 2, &[Directive::Reinit]);
    let expected = [
        TrackerEffect::Kill { attempt: map(0) },
        TrackerEffect::DropJob { job: JobId(1) },
        TrackerEffect::Register { incarnation: 2 },
    ];
    assert_eq!(effects, expected);
    assert_eq!(bench.end(false, false), []);
}

#[test]
fn a_drained_worker_stops_when_its_last_end_is_acknowledged() {
    let mut bench = Bench::running(1);
    bench.feed(&[TrackerInput::Drain]);
    assert!(!bench.report().accepts_tasks);
    bench.end(true, false);
    assert_eq!(bench.answer(4, 2, &[]), [TrackerEffect::Stopped]);
}

#[test]
fn a_draining_worker_says_so_at_once_and_gives_late_launches_back() {
    let mut bench = Bench::running(1);
    assert_eq!(bench.feed(&[TrackerInput::Drain]), [TrackerEffect::Report { seq: 3 }]);
    assert_eq!(bench.feed(&[TrackerInput::Drain]), []);
    let effects = bench.answer(3, 2, &[Directive::Launch(map(5))]);
    let given_back = TrackerEffect::Finished { attempt: map(5), state: AttemptState::Killed };
    assert_eq!(effects, [given_back, TrackerEffect::Report { seq: 4 }]);
    assert_eq!(bench.tracker.free(TaskKind::Map), 1);
}

#[test]
fn a_worker_whose_answers_come_thick_waits_a_moment_before_it_parks() {
    let mut bench = Bench::with(TrackerConfig { park_pause: Span::from_ms(5), ..TrackerConfig::default() });
    // The first answer for long: others seldom come soon after.
    let effects = bench.answer(1, 1, &[Directive::Launch(map(0))]);
    assert_eq!(effects, [TrackerEffect::FetchJob { job: JobId(1) }, TrackerEffect::Report { seq: 2 }]);
    bench.now += Span::from_ms(5);
    assert_eq!(bench.answer(2, 2, &[Directive::Launch(map(1))]), []);
    assert_eq!(bench.tracker.next_deadline(), Some(bench.now + Span::from_ms(5)), "two reduce slots are free");
    bench.now += Span::from_ms(5);
    assert_eq!(bench.feed(&[TrackerInput::Tick]), [TrackerEffect::Report { seq: 3 }]);
    // With nothing to do it parks at once.
    bench.feed(&[TrackerInput::JobUnavailable { job: JobId(1) }]);
    assert_eq!(bench.answer(4, 3, &[]), [TrackerEffect::Report { seq: 5 }]);
}

#[test]
fn complete_output_stays_complete_in_reports_while_the_attempt_is_stopped() {
    let mut bench = Bench::running(1);
    bench.feed(&[TrackerInput::CommitPending { attempt: map(0) }]);
    bench.answer(3, 2, &[Directive::Kill(map(0))]);
    assert_eq!(bench.report().attempts[0].state, AttemptState::CommitPending);
}

#[test]
fn acknowledged_fetch_failures_are_forgotten() {
    let mut bench = Bench::running(1);
    for seq in 3..10 {
        bench.feed(&[TrackerInput::FetchFailure { attempt: map(0), map: map(9) }]);
        bench.answer(seq * 2 - 3, seq - 1, &[]);
    }
    assert!(bench.tracker.attempts[0].fetch_failures.len() <= 1);
}

#[test]
fn an_early_empty_answer_is_not_followed_by_a_tight_loop() {
    let mut bench = Bench::new();
    assert_eq!(bench.answer(1, 1, &[]), []);
    assert_eq!(bench.tracker.next_deadline(), Some(bench.now + INTERVAL));
}

#[test]
fn fetch_failures_travel_in_one_report_unless_it_is_lost() {
    let mut bench = Bench::running(1);
    let effects = bench.feed(&[TrackerInput::FetchFailure { attempt: map(0), map: map(9) }]);
    assert_eq!(effects, [TrackerEffect::Report { seq: 3 }]);
    assert_eq!(bench.report().attempts[0].fetch_failures, [map(9)]);
    bench.answer(3, 2, &[]);
    assert!(bench.report().attempts[0].fetch_failures.is_empty());
}

#[test]
fn an_answer_to_an_earlier_registration_means_nothing() {
    let mut bench = Bench::running(1);
    bench.feed(&[TrackerInput::Unknown { seq: 2 }]);
    bench.feed(&[TrackerInput::Registered { worker: WorkerId(0), interval: INTERVAL }]);
    assert_eq!(bench.answer(2, 9, &[Directive::Launch(map(0))]), []);
    assert_eq!(bench.report().response_id, 0);
}

fn any_attempt() -> impl Strategy<Value = AttemptId> {
    (1u32..3, 0u32..4, prop::bool::ANY).prop_map(|(job, index, reduce)| AttemptId {
        job: JobId(job),
        index,
        number: 0,
        kind: if reduce { TaskKind::Reduce } else { TaskKind::Map },
    })
}

#[test]
fn a_job_that_becomes_unavailable_lets_its_waiting_process_go() {
    let mut bench = Bench::running(2);
    bench.end(true, true);
    let effects = bench.feed(&[TrackerInput::JobUnavailable { job: JobId(1) }]);
    assert_eq!(effects, [TrackerEffect::Retire { process: 1 }]);
}

#[test]
fn an_attempt_whose_process_does_not_end_is_given_up_and_keeps_its_slot_until_it_does() {
    let mut bench = Bench::running(1);
    let slots = bench.tracker.free(TaskKind::Map) + 1;
    bench.now += Span::from_secs(60);
    let stopped = bench.feed(&[TrackerInput::Tick]);
    assert!(stopped.contains(&TrackerEffect::Terminate { attempt: map(0), cause: StopCause::Timeout }));
    bench.now += Span::from_secs(5);
    assert_eq!(bench.feed(&[TrackerInput::Tick]), [TrackerEffect::Kill { attempt: map(0) }]);
    bench.now += Span::from_ms(29_999);
    assert_eq!(bench.report().attempts[0].state, AttemptState::Running);
    bench.now += Span::from_ms(1);
    assert!(bench.tracker.next_deadline().is_some_and(|deadline| deadline <= bench.now));
    let given_up = bench.feed(&[TrackerInput::Tick]);
    let (gone, ended) = (TrackerEffect::GivenUp { attempt: map(0), process: 1 }, AttemptState::Killed);
    assert_eq!(given_up[..2], [gone, TrackerEffect::Finished { attempt: map(0), state: ended }]);
    let report = bench.report();
    assert_eq!((report.attempts[0].state, report.free_maps), (ended, slots - 1));
    // A late word of the attempt changes nothing; the process's end gives the slot back.
    bench.end(false, false);
    assert_eq!((bench.report().attempts[0].state, bench.report().free_maps), (ended, slots - 1));
    bench.feed(&[TrackerInput::ProcessGone { process: 1 }]);
    assert_eq!(bench.report().free_maps, slots);
}

fn any_directive() -> impl Strategy<Value = Directive> {
    prop_oneof![
        6 => any_attempt().prop_map(Directive::Launch),
        2 => any_attempt().prop_map(Directive::Kill),
        2 => any_attempt().prop_map(Directive::Commit),
        1 => (1u32..3).prop_map(|job| Directive::ForgetJob(JobId(job))),
        1 => Just(Directive::Reinit),
    ]
}

fn any_input() -> impl Strategy<Value = TrackerInput> {
    let job = || (1u32..3).prop_map(JobId);
    let answer = (0u32..40, 0u32..40, prop::collection::vec(any_directive(), 0..4));
    prop_oneof![
        8 => answer.prop_map(|(seq, response_id, directives)| TrackerInput::Answer {
            seq, response_id, interval: Span::from_ms(300), directives
        }),
        2 => (0u32..40).prop_map(|seq| TrackerInput::HeartbeatFailed { seq }),
        1 => (any_attempt(), 0u16..=10_000).prop_map(|(attempt, parts)| TrackerInput::Progress {
            attempt, phase: Phase::Map, progress: Progress::from_parts(parts)
        }),
        1 => Just(TrackerInput::Drain),
        1 => (0u32..40).prop_map(|seq| TrackerInput::Unknown { seq }),
        2 => Just(TrackerInput::Registered { worker: WorkerId(1), interval: Span::from_ms(300) }),
        1 => Just(TrackerInput::RegisterFailed),
        3 => (job(), -1i32..4).prop_map(|(job, reuse_tasks)| TrackerInput::JobKnown {
            job, task_timeout: Span::from_ms(900), reuse_tasks
        }),
        1 => job().prop_map(|job| TrackerInput::JobUnavailable { job }),
        3 => any_attempt().prop_map(|attempt| TrackerInput::CommitPending { attempt }),
        2 => (any_attempt(), any_attempt()).prop_map(|(attempt, map)| TrackerInput::FetchFailure { attempt, map }),
        6 => (any_attempt(), prop::bool::ANY, prop::bool::ANY).prop_map(|(attempt, ok, process_alive)| {
            TrackerInput::Ended { attempt, ok, process_alive }
        }),
        1 => (0u32..9).prop_map(|process| TrackerInput::ProcessGone { process }),
        2 => Just(TrackerInput::Tick),
        1 => (0u32..3).prop_map(|n| TrackerInput::Attributes(vec![("n".to_owned(), n.to_string())])),
    ]
}

/// A master that keeps the contract, the processes of one worker, and a network that loses what it likes.
struct Model {
    tracker: TaskTracker,
    now: Time,
    last_id: u32,
    /// Directives not confirmed yet; they are in every answer.
    orders: Vec<Directive>,
    /// Reports on their way, oldest first.
    reports: Vec<(u32, Report)>,
    running: Vec<(AttemptId, u32)>,
    started: Vec<AttemptId>,
    /// How attempts really ended, and what the master received.
    ended: Vec<(AttemptId, AttemptState)>,
    reported: Vec<(AttemptId, AttemptState)>,
    launched: u32,
}

impl Model {
    fn new() -> Model {
        let mut model = Model {
            tracker: TaskTracker::new(TrackerConfig::default()),
            now: Time::from_ms(1),
            last_id: 0,
            orders: Vec::new(),
            reports: Vec::new(),
            running: Vec::new(),
            started: Vec::new(),
            ended: Vec::new(),
            reported: Vec::new(),
            launched: 0,
        };
        model.feed(TrackerInput::Tick);
        model.feed(TrackerInput::Registered { worker: WorkerId(7), interval: INTERVAL });
        model
    }

    fn feed(&mut self, input: TrackerInput) {
        let mut effects = Vec::new();
        self.tracker.apply(self.now, &[input], &mut effects);
        self.tracker.check_invariants().unwrap();
        let mut next = Vec::new();
        for effect in effects {
            match effect {
                TrackerEffect::Report { seq } => self.reports.push((seq, self.tracker.report(Vitals::default(), true))),
                TrackerEffect::FetchJob { job } => {
                    next.push(TrackerInput::JobKnown { job, task_timeout: Span::ZERO, reuse_tasks: 2 });
                }
                TrackerEffect::Start { attempt, process, .. } => {
                    assert!(!self.started.contains(&attempt), "{attempt:?} was started twice");
                    assert!(self.running.iter().all(|&(_, other)| other != process), "process {process} is at work");
                    self.started.push(attempt);
                    self.running.push((attempt, process));
                }
                TrackerEffect::Terminate { attempt, .. } => {
                    next.push(TrackerInput::Ended { attempt, ok: false, process_alive: false });
                }
                TrackerEffect::Finished { attempt, state } => {
                    self.running.retain(|&(other, _)| other != attempt);
                    self.ended.push((attempt, state));
                }
                _ => {}
            }
        }
        for input in next {
            self.feed(input);
        }
    }

    /// The master takes a report; its answer arrives unless it is lost.
    fn deliver(&mut self, answer_arrives: bool) {
        let (seq, report) = self.reports.remove(0);
        if report.response_id + 1 == self.last_id {
            // A repeat: the same answer again.
        } else {
            assert_eq!(report.response_id, self.last_id, "the worker named an answer that was never given");
            self.last_id += 1;
        }
        for status in &report.attempts {
            self.orders.retain(|order| *order != Directive::Launch(status.attempt));
            if status.state.is_final() && !self.reported.contains(&(status.attempt, status.state)) {
                self.reported.push((status.attempt, status.state));
            }
        }
        let input = if answer_arrives {
            let (response_id, directives) = (self.last_id, self.orders.clone());
            TrackerInput::Answer { seq, response_id, interval: INTERVAL, directives }
        } else {
            TrackerInput::HeartbeatFailed { seq }
        };
        self.feed(input);
    }

    fn step(&mut self, choice: u32) {
        match choice % 8 {
            0 | 1 if self.launched < 30 && self.tracker.free(TaskKind::Map) > 0 => {
                self.orders.push(Directive::Launch(map(self.launched)));
                self.launched += 1;
            }
            2 | 3 if !self.running.is_empty() => {
                let (attempt, _) = self.running[choice as usize / 8 % self.running.len()];
                let ok = !(choice / 8).is_multiple_of(3);
                self.feed(TrackerInput::Ended { attempt, ok, process_alive: ok });
            }
            4 if !self.running.is_empty() => {
                let (attempt, _) = self.running[choice as usize / 8 % self.running.len()];
                self.orders.push(Directive::Kill(attempt));
            }
            5 if !self.reports.is_empty() => {
                // The report itself is lost.
                let (seq, _) = self.reports.remove(0);
                self.feed(TrackerInput::HeartbeatFailed { seq });
            }
            5 | 6 if !self.reports.is_empty() => self.deliver((choice / 8).is_multiple_of(2)),
            _ => self.pass_time(),
        }
    }

    /// A report that waits too long is answered; otherwise the next deadline comes.
    fn pass_time(&mut self) {
        if self.reports.is_empty() {
            self.now = self.tracker.next_deadline().unwrap_or(self.now).max(self.now + Span::from_ms(1));
            self.feed(TrackerInput::Tick);
        } else {
            self.now += Span::from_ms(10);
            self.deliver(true);
        }
    }
}

proptest! {
    /// Whatever a master and the processes say: no panic, the invariants hold, the same inputs have the same
    /// effects, and a tick at the deadline moves the deadline.
    #[test]
    fn any_inputs_leave_a_sound_state(inputs in prop::collection::vec((any_input(), 0u64..400), 1..120)) {
        let mut tracker = TaskTracker::new(TrackerConfig::default());
        let mut twin = tracker.clone();
        let mut now = Time::from_ms(1);
        for (input, pause) in inputs {
            now += Span::from_ms(pause);
            let (mut effects, mut others) = (Vec::new(), Vec::new());
            tracker.apply(now, std::slice::from_ref(&input), &mut effects);
            twin.apply(now, std::slice::from_ref(&input), &mut others);
            prop_assert_eq!(&effects, &others);
            tracker.check_invariants().map_err(TestCaseError::fail)?;
            if let Some(deadline) = tracker.next_deadline() {
                prop_assert!(deadline > now, "a deadline at {deadline:?} was left over at {now:?}");
            }
        }
    }

    /// Whatever is lost on the way, each attempt is started once and the master learns how each one ended.
    #[test]
    fn every_end_reaches_a_master_that_keeps_the_contract(choices in prop::collection::vec(any::<u32>(), 1..200)) {
        let mut model = Model::new();
        for choice in choices {
            model.step(choice);
        }
        for _ in 0..200 {
            model.pass_time();
        }
        model.ended.sort_unstable();
        model.reported.sort_unstable();
        prop_assert_eq!(&model.ended, &model.reported);
        let running = model.running.len();
        prop_assert_eq!(model.tracker.attempts.len(), running, "acknowledged attempts are still held");
        let launches = model.orders.iter().any(|order| matches!(order, Directive::Launch(_)));
        prop_assert!(!launches || model.tracker.free(TaskKind::Map) == 0, "a launch was lost");
    }
}
