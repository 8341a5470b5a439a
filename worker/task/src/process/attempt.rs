//! One attempt from `Run` to `Done` or `Failed`.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Once;
use std::time::{Duration, Instant};

use howdah_core::job::{TaskKind, limits};

use super::faults::FaultPlan;
use super::link::{Incoming, Link};
use super::log::Syslog;
use super::registry::Registry;
use super::reporter::Reporter;
use super::{map, reduce, sight, usage};
use crate::api::context::Context;
use crate::api::error::{TaskError, chain, is_fatal};
use crate::output::hand_over;
use crate::umbilical::{FromTask, TaskSpec, ToTask};

/// Time between signs of life while waiting for the commit.
const COMMIT_BEAT: Duration = Duration::from_millis(600);

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Done,
    Failed,
    /// There is nobody to tell.
    WorkerGone,
}

/// Runs an attempt and reports its end.
pub(crate) fn run(spec: TaskSpec, link: &Rc<Link>, registry: Registry<'_>) -> End {
    let log_dir = spec.log_dir.clone().or_else(|| std::env::var_os("HOWDAH_LOG_DIR").map(PathBuf::from));
    let app = spec.app.clone();
    let context = Context::new(spec, Reporter::new(link.clone(), Syslog::new(log_dir)));
    let cpu_before = usage::cpu_ms();
    let process = std::process::id();
    context.log(&format!("{} on {} in process {process}", context.attempt(), context.spec().worker_name));
    let result = catch_unwind(AssertUnwindSafe(|| {
        sight::check(&context)?;
        let application = registry(&app, context.properties())
            .map_err(|source| TaskError::Program { place: "the application's properties".to_owned(), source })?;
        let faults = FaultPlan::new(&context)?;
        match context.kind() {
            TaskKind::Map => map::run(&application, &context, &faults)?,
            TaskKind::Reduce => reduce::run(&application, &context, &faults, link)?,
        }
        hand_over(&context)?;
        commit(&context, link)
    }));
    let result = match result {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => {
            let unseen = sight::missed(&error, context.spec().split.as_ref());
            Err((chain(&error), is_fatal(&error, context.attempt_number()), unseen))
        }
        Err(_) => Err((panic_message(&context), false, None)),
    };
    let tally = context.tally();
    tally.cpu_ms.add(usage::cpu_ms().saturating_sub(cpu_before));
    tally.memory_bytes.add(usage::peak_bytes());
    let (end, last) = match result {
        Ok(()) => {
            context.log("done");
            (End::Done, FromTask::Done { counters: context.counters(), cut: context.cut() })
        }
        Err((message, fatal, unseen)) => {
            context.log_error(&message);
            let counters = context.counters();
            let message = limits::without_middle(message, limits::DIAGNOSTICS_BYTES);
            (End::Failed, FromTask::Failed { message, counters, cut: context.cut(), fatal, unseen })
        }
    };
    if link.send(&last).is_ok() { end } else { End::WorkerGone }
}

/// Asks for the commit and waits for it, if the job wants that of this attempt.
fn commit(context: &Context, link: &Link) -> Result<(), TaskError> {
    let writes_output = context.kind() == TaskKind::Reduce || context.n_reduces() == 0;
    if !context.spec().asks_commit || !writes_output {
        return Ok(());
    }
    context.log("output complete, asking for the commit");
    link.send(&FromTask::CommitPending)?;
    loop {
        match link.receive(Some(Instant::now() + COMMIT_BEAT))? {
            Incoming::Message(ToTask::CommitGranted) => return Ok(()),
            Incoming::Message(ToTask::MapEvents { .. }) => {}
            Incoming::Nothing => context.report(1.0)?,
            Incoming::Message(ToTask::Run(_) | ToTask::Exit) | Incoming::Closed => {
                return Err(TaskError::Umbilical("the worker took the attempt back before its commit".to_owned()));
            }
        }
    }
}

thread_local! {
    /// Message and place of this thread's last panic.
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Makes panics leave their message where [`panic_message`] finds it; they still go to standard error.
pub(crate) fn catch_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let payload = info.payload();
            let text = payload.downcast_ref::<&str>().copied();
            let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            let place = info.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
            let message = format!("panicked{place}: {}", text.unwrap_or("(a payload that is no text)"));
            LAST_PANIC.with(|last| *last.borrow_mut() = Some(message));
            previous(info);
        }));
    });
}

fn panic_message(context: &Context) -> String {
    let message = LAST_PANIC.with(|last| last.borrow_mut().take()).unwrap_or_else(|| "panicked".to_owned());
    match context.place() {
        Some(place) => format!("{message}\nwhile working on {place}"),
        None => message,
    }
}
