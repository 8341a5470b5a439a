//! [`Scheduler`] on behalf of a program.
//!
//! A turn is one question: the program is told what changed since the last one and answers with a list, which is handed
//! out assignment by assignment. The fallback policy is notified of every change as well, so that it can take a turn at
//! once. **Invariant: a program that is given up is never spoken to again.** What is said to it is in `talk`, the rounds
//! and changes in `turns`.

mod talk;
mod turns;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use howdah_core::cluster::ClusterState;
use howdah_core::job::{JobId, TaskKind};
use howdah_core::schedulers::registry::{self, Params};
use howdah_core::schedulers::{Assignment, Round, Scheduler, SchedulerError};
use howdah_core::time::{Span, Time};

use self::talk::{Wrong, answer_to, greet, put};
use super::choice::{Refused, choose};
use super::process::Process;
use super::protocol::{Declined, Line, Named, Notice, OfferedJob, OfferedWorker, Wish};

/// Its name among the schedulers.
pub const NAME: &str = "external";
/// Takes a sentence that somebody should see.
pub type Warn = fn(&str);

/// Parameters of the fallback policy begin so.
const FALLBACK: &str = "fallback.";
/// Notices are sent once they are so many bytes, even if nothing is asked.
const MOST_UNSENT: usize = 32 << 10;
/// Questions of one turn.
const MOST_QUESTIONS: u32 = 64;

/// The program's state.
enum Program {
    /// A fork starts its own when it is first asked.
    NotStarted,
    Running {
        process: Process,
        notices: Vec<Notice>,
        speculates: bool,
    },
    GivenUp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    NotAsked,
    Program { questions: u32 },
    Fallback,
}

/// The policy.
pub(crate) struct External {
    command: String,
    timeout: Duration,
    /// Turns in a row that may go wrong before the program is given up.
    patience: u32,
    warn: Warn,
    fallback: Box<dyn Scheduler>,
    /// Of what the fallback was made: its name and its parameters.
    fallback_made_of: (String, Params),
    program: Program,
    /// Turns in a row that went wrong.
    strikes: u32,
    warned: [bool; 4],
    offers: u64,
    /// Jobs that the program knows.
    known: BTreeSet<JobId>,
    /// Jobs that it is to be notified of.
    changed: BTreeSet<JobId>,
    /// Of these, those that are in another queue now: they come in full once more.
    moved: BTreeSet<JobId>,
    gone: Vec<u32>,
    /// Lines that wait for the next question.
    unsent: Vec<u8>,
    turn: Turn,
    wishes: VecDeque<Wish>,
    declined: Vec<Declined>,
    /// Whether anything was declined since the last question.
    declined_more: bool,
    preempt: Vec<Named>,
    again: Option<Time>,
    why: BTreeMap<JobId, String>,
}

impl External {
    /// Reads `command`, `timeout`, `strikes`, `fallback` and `fallback.*`, and starts the program.
    ///
    /// # Errors
    /// Names the parameter; a program that does not say hello is a wrong `command`.
    pub(crate) fn from_params(params: &Params, warn: Warn) -> Result<External, SchedulerError> {
        let (inner, own): (Params, Params) = params.clone().into_iter().partition(|(key, _)| key.starts_with(FALLBACK));
        let inner: Params = inner.into_iter().map(|(key, value)| (key[FALLBACK.len()..].to_owned(), value)).collect();
        let mut policy = registry::read(NAME, &own, |reader| {
            let command = reader.text("command").map(str::to_owned).unwrap_or_default();
            if command.trim().is_empty() {
                return Err(reader.wrong("command", &command, "a command line, such as `python3 policy.py`"));
            }
            let timeout = match reader.text("timeout").map(str::to_owned) {
                None => Duration::from_secs(1),
                Some(text) => duration(&text)
                    .ok_or_else(|| reader.wrong("timeout", &text, "a time from 1ms to 60s, such as 200ms or 1s"))?,
            };
            let patience: u32 = reader.value("strikes", 3, "a number from 1 on")?;
            if patience == 0 {
                return Err(reader.wrong("strikes", "0", "a number from 1 on"));
            }
            let name = reader.text("fallback").unwrap_or("fifo").to_owned();
            let fallback = fallback(&name, &inner, |name, known| reader.wrong("fallback", name, known))?;
            Ok(External::new(command, timeout, patience, warn, fallback, (name, inner.clone())))
        })?;
        // Last, or a wrong parameter would be reported only after a program has run.
        policy.start().map_err(|wrong| SchedulerError::BadParameter {
            scheduler: NAME.to_owned(),
            key: "command".to_owned(),
            value: policy.command.clone(),
            expected: format!("a program that says hello: {}", policy.sentence(&wrong)),
        })?;
        Ok(policy)
    }

    fn new(
        command: String,
        timeout: Duration,
        patience: u32,
        warn: Warn,
        fallback: Box<dyn Scheduler>,
        fallback_made_of: (String, Params),
    ) -> External {
        External {
            command,
            timeout,
            patience,
            warn,
            fallback,
            fallback_made_of,
            program: Program::NotStarted,
            strikes: 0,
            warned: [false; 4],
            offers: 0,
            known: BTreeSet::new(),
            changed: BTreeSet::new(),
            moved: BTreeSet::new(),
            gone: Vec::new(),
            unsent: Vec::new(),
            turn: Turn::NotAsked,
            wishes: VecDeque::new(),
            declined: Vec::new(),
            declined_more: false,
            preempt: Vec::new(),
            again: None,
            why: BTreeMap::new(),
        }
    }

    /// Starts the program and waits for its hello.
    fn start(&mut self) -> Result<(), Wrong> {
        let mut process = Process::start(&self.command).map_err(|error| Wrong::Ended(error.to_string()))?;
        let (notices, speculates) = greet(&mut process).map_err(|wrong| match wrong {
            Wrong::Ended(_) => Wrong::Ended(process.stop()),
            wrong => wrong,
        })?;
        self.program = Program::Running { process, notices, speculates };
        Ok(())
    }

    /// Asks the program; what it answers is in `wishes` afterwards.
    fn ask(&mut self, round: &Round, state: &ClusterState) -> Result<(), Wrong> {
        if matches!(self.program, Program::NotStarted) {
            self.start()?;
        }
        let Program::Running { process, .. } = &mut self.program else { return Err(Wrong::Ended(String::new())) };
        let Some(worker) = state.worker(round.worker) else { return Ok(()) };
        self.offers += 1;
        let (known, moved) = (&mut self.known, &self.moved);
        let jobs = self.changed.iter().filter_map(|&id| state.job(id));
        let jobs = jobs.map(|job| OfferedJob::new(job, known.insert(job.id()) || moved.contains(&job.id()))).collect();
        let offer = Line::Offer {
            id: self.offers,
            now_us: round.now.as_us(),
            worker: OfferedWorker::new(worker),
            free_maps: worker.free(TaskKind::Map),
            free_reduces: worker.free(TaskKind::Reduce),
            jobs,
            gone: &self.gone,
            declined: &self.declined,
        };
        put(&mut self.unsent, &offer);
        self.changed.clear();
        self.moved.clear();
        self.gone.clear();
        let until = Instant::now() + self.timeout;
        let answer = process.send(&self.unsent, until).map_err(Wrong::from);
        self.unsent.clear();
        let answer = answer.and_then(|()| answer_to(process, self.offers, until))?;
        self.wishes = answer.choices.into();
        self.preempt.extend(answer.preempt);
        self.again = answer.again_ms.map(|ms| round.now + Span::from_ms(ms.max(1)));
        self.why = answer.why.into_iter().map(|why| (JobId(why.job), why.text)).collect();
        Ok(())
    }

    /// The program's next choice that holds.
    fn ask_program(&mut self, state: &ClusterState, round: &Round) -> Result<Option<Assignment>, Wrong> {
        loop {
            let Some(wish) = self.wishes.front_mut() else {
                let Turn::Program { questions } = self.turn else { return Ok(None) };
                let more = questions == 0 || (self.declined_more && questions < MOST_QUESTIONS);
                let worker = state.worker(round.worker);
                if !more || worker.is_none_or(|w| TaskKind::ALL.iter().all(|&kind| w.free(kind) == 0)) {
                    return Ok(None);
                }
                self.turn = Turn::Program { questions: questions + 1 };
                self.declined_more = false;
                self.ask(round, state)?;
                if self.wishes.is_empty() {
                    return Ok(None);
                }
                continue;
            };
            wish.count = wish.count.saturating_sub(1);
            let wish = if wish.count == 0 { self.wishes.pop_front() } else { Some(wish.clone()) };
            let Some(wish) = wish else { continue };
            match choose(&wish, round.worker, state) {
                Ok(assignment) => return Ok(Some(assignment)),
                Err(Refused::Declined(why)) => {
                    self.wishes.retain(|other| (other.job, other.kind) != (wish.job, wish.kind));
                    let declined = Declined { job: wish.job, kind: wish.kind, why };
                    if !self.declined.contains(&declined) {
                        self.declined.push(declined);
                        self.declined_more = true;
                    }
                }
                Err(Refused::Impossible(why)) => return Err(Wrong::Impossible(why)),
            }
        }
    }

    /// Counts a mistake, warns of it if it is the first of its cause, and gives the turn to the fallback policy.
    fn on_wrong(&mut self, wrong: Wrong, round: &Round, state: &ClusterState) {
        self.wishes.clear();
        self.preempt.clear();
        self.turn = Turn::Fallback;
        self.strikes += 1;
        let ended = matches!(wrong, Wrong::Ended(_));
        let wrong = match (wrong, &mut self.program) {
            (Wrong::Ended(_), Program::Running { process, .. }) => Wrong::Ended(process.stop()),
            (wrong, _) => wrong,
        };
        let fallback = self.fallback.name();
        if !std::mem::replace(&mut self.warned[wrong.cause()], true) {
            let until = if ended { "from now on" } else { "for this turn" };
            let sentence = self.sentence(&wrong);
            (self.warn)(&format!("scheduler `{NAME}`: {sentence}; `{fallback}` decides {until}"));
        }
        if ended || self.strikes >= self.patience {
            if !ended {
                let times = self.strikes;
                (self.warn)(&format!(
                    "scheduler `{NAME}`: `{}` went wrong {times} times running and is stopped; `{fallback}` decides from now on",
                    self.command
                ));
            }
            // What waits, and since when, is for the fallback policy to count from here.
            self.fallback.attach(state);
            self.program = Program::GivenUp;
            self.again = None;
            self.unsent = Vec::new();
        }
        self.begin_fallback(round, state);
    }

    fn begin_fallback(&mut self, round: &Round, state: &ClusterState) {
        let free = |kind| state.worker(round.worker).map_or(0, |worker| worker.free(kind));
        let (free_maps, free_reduces) = (free(TaskKind::Map), free(TaskKind::Reduce));
        self.fallback.begin_round(&Round { free_maps, free_reduces, ..*round }, state);
    }

    fn sentence(&self, wrong: &Wrong) -> String {
        let command = &self.command;
        match wrong {
            Wrong::Late => format!("`{command}` did not answer in time"),
            Wrong::Ended(how) => format!("`{command}` ended ({how})"),
            Wrong::Garbage(what) => format!("`{command}` answered what is no answer: {what}"),
            Wrong::Impossible(what) => format!("`{command}` made an impossible choice: {what}"),
        }
    }

    fn given_up(&self) -> bool {
        matches!(self.program, Program::GivenUp)
    }

    /// Sends notices that nobody asks about, before they become many.
    fn drain_notices(&mut self) {
        if let Program::Running { process, .. } = &mut self.program
            && self.unsent.len() >= MOST_UNSENT
        {
            // A program that does not take them will be found out when it is asked.
            let _ = process.send(&self.unsent, Instant::now() + self.timeout);
            self.unsent.clear();
        }
    }
}

/// The policy that decides where the program does not.
fn fallback(
    name: &str,
    params: &Params,
    wrong: impl Fn(&str, &str) -> SchedulerError,
) -> Result<Box<dyn Scheduler>, SchedulerError> {
    registry::by_name(name, params).map_err(|error| match error {
        SchedulerError::Unknown { name, known } if name == NAME => {
            wrong(&name, &format!("a scheduler that decides without a program, expected one of {known}"))
        }
        SchedulerError::Unknown { name, known } => wrong(&name, &format!("a scheduler, expected one of {known}")),
        error => error,
    })
}

/// From 1 ms to 60 s; a number alone counts milliseconds.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1),
        None => text.strip_suffix('s').map_or((text, 1), |number| (number, 1_000)),
    };
    let ms = number.trim().parse::<u64>().ok()?.checked_mul(unit)?;
    (1..=60_000).contains(&ms).then(|| Duration::from_millis(ms))
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
