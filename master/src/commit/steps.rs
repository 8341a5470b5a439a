//! How tests see and disturb a promotion in directories of this machine: every step that changes something or puts it on the disk
//! says so here first.
//!
//! Work that is ended before a step unwinds from there, and nothing after it happens: what a process that is killed leaves.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use rustix::io::Errno;

/// What is to happen to the steps of this thread, and those that were taken.
#[derive(Default)]
struct Plan {
    taken: Vec<String>,
    /// Before the step with this index the work ends.
    end_before: Option<usize>,
    refused: Option<Refused>,
    /// How many more are; `None` for all.
    refusals: Option<u32>,
}

/// Steps of which this holds get that answer of the system.
pub(super) type Refused = (fn(&str) -> bool, Errno);

thread_local! {
    static PLAN: RefCell<Plan> = RefCell::default();
}

/// Not an error of the work's own.
struct Killed;

pub(super) fn step(what: &str, name: &OsStr) -> io::Result<()> {
    let said = format!("{what} {}", name.to_string_lossy());
    let answer = PLAN.with_borrow_mut(|plan| {
        if plan.end_before == Some(plan.taken.len()) {
            return None;
        }
        let refused = plan.refused.filter(|(is_meant, _)| plan.refusals != Some(0) && is_meant(&said));
        if refused.is_some() {
            plan.refusals = plan.refusals.map(|left| left - 1);
        }
        plan.taken.push(said);
        Some(refused.map_or(Ok(()), |(_, errno)| Err(errno.into())))
    });
    // Past the cell, which the unwinding must not find borrowed.
    answer.unwrap_or_else(|| resume_unwind(Box::new(Killed)))
}

/// Does the work, and says which steps it took; `None` instead of its result if it was ended.
fn planned<T>(plan: Plan, work: impl FnOnce() -> T) -> (Option<T>, Vec<String>) {
    PLAN.set(plan);
    let result = catch_unwind(AssertUnwindSafe(work));
    let taken = PLAN.take().taken;
    match result {
        Ok(result) => (Some(result), taken),
        Err(payload) if payload.is::<Killed>() => (None, taken),
        Err(payload) => resume_unwind(payload),
    }
}

/// The steps of this work, in order, with its result.
pub(super) fn steps_of<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let (result, taken) = planned(Plan::default(), work);
    (result.expect("nobody ended it"), taken)
}

/// Whether the work was over before the step with this index; if it was not, it ended just before it.
pub(super) fn is_over_before(step: usize, refused: Option<Refused>, work: impl FnOnce()) -> bool {
    planned(Plan { end_before: Some(step), refused, ..Plan::default() }, work).0.is_some()
}

/// Does the work, of whose steps the first one of which this holds is refused.
pub(super) fn refusing_once<T>(refused: Refused, work: impl FnOnce() -> T) -> T {
    let plan = Plan { refused: Some(refused), refusals: Some(1), ..Plan::default() };
    planned(plan, work).0.expect("nobody ended it")
}

/// Does the work while some of its steps are refused.
pub(super) fn refusing<T>(refused: Refused, work: impl FnOnce() -> T) -> T {
    planned(Plan { refused: Some(refused), ..Plan::default() }, work).0.expect("nobody ended it")
}
