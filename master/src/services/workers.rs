//! What people do to workers: list, drain, enable, remove; and what a job's explanation says of those that take nothing.

use howdah_core::cluster::Worker;
use howdah_core::job::{JobId, JobState, OutputFormat, TaskKind, WorkerId};
use howdah_core::schedulers::Reason;
use howdah_core::time::{Span, Time};
use howdah_core::tracker::{Input, WorkerState};
use howdah_proto::v1;
use tonic::Status;

use super::{SharedRef, status};
use crate::engine::View;
use crate::tables::{Going, WorkerRow, why_listed};

/// Workers that an explanation names at most.
const NAMED: usize = 5;
/// Putting an output in its place takes less, unless it has very many files.
const LONG_PROMOTION: Span = Span::from_secs(10);

pub(super) fn unknown(name: &str) -> Status {
    let message = format!("worker `{name}` is not known here");
    Status::not_found(status::with_help(message, "`howdah worker list` shows the workers of this cluster"))
}

/// Rows of workers, of those that are gone for long only if `all` are wanted.
pub(super) fn list(view: &View<'_>, all: bool) -> Vec<v1::WorkerInfo> {
    let now = view.now;
    let listed = view.tables.workers.iter().enumerate().filter(|(_, row)| all || row.presence.is_listed(now));
    listed.map(|(number, row)| info(view, WorkerId(number as u32), row)).collect()
}

pub(super) fn info(view: &View<'_>, worker: WorkerId, row: &WorkerRow) -> v1::WorkerInfo {
    let known = view.tracker.state().worker(worker);
    let mut info = row.info(worker.0, known.map_or(&[][..], |worker| worker.attributes()));
    if row.state == WorkerState::Blacklisted {
        info.problems.insert(0, why_listed(known).to_owned());
    }
    info
}

/// What a request needs to know of the worker that it names.
struct Found {
    worker: WorkerId,
    incarnation: u64,
    state: WorkerState,
    silent: bool,
}

async fn find(shared: &SharedRef, name: &str) -> Result<Found, Status> {
    let wanted = name.to_owned();
    let look = move |view: &View<'_>| {
        let worker = view.tables.worker_named(&wanted)?;
        let row = view.tables.worker(worker)?;
        Some(Found { worker, incarnation: row.incarnation, state: row.state, silent: row.presence.is_silent() })
    };
    shared.core.ask(look).await.map_err(status::core)?.ok_or_else(|| unknown(name))
}

async fn change(
    shared: &SharedRef,
    worker: WorkerId,
    change: impl FnOnce(&mut WorkerRow) + Send + 'static,
) -> Result<(), Status> {
    let change = move |tables: &mut crate::tables::Tables| {
        if let Some(row) = tables.workers.get_mut(worker.0 as usize) {
            change(row);
        }
    };
    shared.core.change(change).await.map_err(status::core)
}

/// A worker gets no new attempts, or some again; also after it restarted.
pub(super) async fn drain(shared: &SharedRef, name: &str, drain: bool) -> Result<(), Status> {
    let found = find(shared, name).await?;
    change(shared, found.worker, move |row| row.presence.drained = drain).await?;
    if found.state == WorkerState::Lost {
        return Ok(());
    }
    let input = Input::Drain { worker: found.worker, drain };
    shared.core.request(input).await.map_err(status::core)
}

/// A worker's faults are forgotten.
pub(super) async fn enable(shared: &SharedRef, name: &str) -> Result<(), Status> {
    let found = find(shared, name).await?;
    shared.core.request(Input::Enable { worker: found.worker }).await.map_err(status::core)?;
    tracing::info!(worker = name, "a worker's faults are forgotten on request");
    Ok(())
}

/// A worker that is gone or silent leaves the list.
pub(super) async fn remove(shared: &SharedRef, name: &str) -> Result<(), Status> {
    let found = find(shared, name).await?;
    if found.state != WorkerState::Lost {
        if !found.silent {
            let message = format!("worker `{name}` is alive");
            let help = format!("`howdah worker drain {name}`, stop its daemon, then remove it");
            return Err(Status::failed_precondition(status::with_help(message, help)));
        }
        change(shared, found.worker, |row| row.presence.going = Some(Going::Removed)).await?;
        let input = Input::Goodbye { worker: found.worker, incarnation: found.incarnation };
        shared.core.request(input).await.map_err(status::core)?;
    }
    change(shared, found.worker, |row| row.presence.hidden = row.state == WorkerState::Lost).await
}

/// Why a job does not run more than it does: what its scheduler says, and which workers take nothing.
pub(super) fn explain(view: &View<'_>, job: JobId) -> String {
    let reason = view.tracker.explain(job);
    let mut text = reason.to_string() + &promotion(view, job);
    useless(view, job).iter().for_each(|more| go_on(&mut text, more));
    let now = view.now;
    let waits = view.tables.jobs.get(&job).is_some_and(|row| !row.state.is_final());
    let listed = || view.tables.workers.iter().filter(|row| row.presence.is_listed(now));
    if waits {
        let present = listed().filter(|row| row.state != WorkerState::Lost);
        let taken = present.flat_map(|row| {
            [row.undying(), row.held_up()].into_iter().flatten().map(|what| format!("on {} {what}", row.name))
        });
        taken.take(NAMED).for_each(|more| go_on(&mut text, &more));
    }
    let rows = view.tables.workers.iter().zip(view.tracker.state().workers());
    let rows = rows.filter(|(row, _)| row.presence.is_listed(now));
    let refusing: Vec<String> = rows.filter_map(|(row, worker)| refuses(row, worker, now)).collect();
    if !waits || refusing.is_empty() {
        return text;
    }
    let named = refusing.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = refusing.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let all = listed().count();
    if refusing.len() == all && matches!(reason, Reason::NextHeartbeat(_)) {
        "It is next.".clone_into(&mut text);
    }
    go_on(&mut text, &format!("{} of {all} workers take no tasks: {named}{more}", refusing.len()));
    text
}

/// Adds to a sentence.
fn go_on(text: &mut String, more: &str) {
    if text.ends_with('.') {
        text.pop();
    }
    text.push_str("; ");
    text.push_str(more);
}

/// What is to be said of a promotion that takes long.
fn promotion(view: &View<'_>, job: JobId) -> String {
    let row = view.tables.jobs.get(&job).filter(|row| row.state == JobState::Committing);
    let Some((row, OutputFormat::Files { directory })) = row.map(|row| (row, &row.meta.file.output)) else {
        return String::new();
    };
    // A master that took the job over from a snapshot does not know since when.
    let took = view.now.since(row.committing);
    if took < LONG_PROMOTION || row.committing == Time::ZERO {
        return String::new();
    }
    let s = took.as_secs_f64();
    format!(
        " That has taken {s:.0} s: `{directory}` has many files, or what it lies in does not answer the master's machine."
    )
}

/// The workers that are of no use to a job, each with what is wrong with it.
fn useless(view: &View<'_>, id: JobId) -> Vec<String> {
    let state = view.tracker.state();
    let Some(job) = state.job(id) else { return Vec::new() };
    let is_useless = |worker: WorkerId| TaskKind::ALL.iter().any(|&kind| state.is_useless(job, kind, worker));
    let rows = view.tables.workers.iter().enumerate();
    let rows = rows.filter(|(number, row)| row.state != WorkerState::Lost && is_useless(WorkerId(*number as u32)));
    rows.map(|(_, row)| format!("of no use to it is {} ({})", row.name, row.problems().join("; ")))
        .take(NAMED)
        .collect()
}

/// The worker's name and why it takes no tasks, if it takes none.
fn refuses(row: &WorkerRow, worker: &Worker, now: Time) -> Option<String> {
    let state = row.state_name();
    let why = match state {
        "LIVE" | "UNREACHABLE" => return None,
        "SILENT" | "LOST" => format!(", no heartbeat for {:.0} s", now.since(row.last_contact).as_secs_f64()),
        "BLACKLISTED" => format!(", {}", why_listed(Some(worker))),
        "LOW_DISK" => format!(", {} MiB free", row.vitals.disk_free_kib >> 10),
        _ => String::new(),
    };
    Some(format!("{} ({state}{why})", row.name))
}
