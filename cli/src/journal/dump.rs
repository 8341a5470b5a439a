//! Every batch of a journal on a line: its number and time, what came in, what was launched. Snapshots have lines, too.

use std::path::Path;

use howdah_core::job::{AttemptId as Attempt, ClusterId};
use howdah_core::tracker::Snapshot;
use howdah_master::journal;
use howdah_master::journal::{JournalReader, Since};
use howdah_proto::v1::journal_input::Kind;
use howdah_proto::v1::{AttemptId, JournalFrame, JournalInput, JournalSnapshot};
use serde_json::{Value, json};

use super::failure::{failure, one_line};
use crate::args::Format;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::units;

/// Prints the run that `dir` names; JSON comes as one object per line.
pub(super) fn dump(screen: &Screen, format: Format, dir: &Path) -> Outcome {
    let run = journal::find_run(dir).map_err(failure)?;
    let mut reader = JournalReader::open(&run).map_err(failure)?;
    let cluster = ClusterId(reader.header().cluster_id);
    let (mut number, mut last) = (0, (0, Vec::new()));
    if let Some(Since { snapshot, time_us, digest }) = reader.began() {
        number = snapshot.batches;
        tell_snapshot(screen, format, (*time_us, digest), snapshot, cluster)?;
    }
    loop {
        let next = reader.next_frame();
        if let Some(snapshot) = reader.take_passed() {
            tell_snapshot(screen, format, (last.0, &last.1), &snapshot, cluster)?;
        }
        let frame = match next {
            Ok(Some(frame)) => frame,
            Ok(None) => return Ok(Exit::Done),
            Err(damage) if damage.is_damage() => return Err(Failure::failed(one_line(&damage))),
            Err(error) => return Err(failure(error)),
        };
        number += 1;
        last = (frame.time_us, frame.digest.clone());
        let line = match format {
            Format::Json => body(number, &frame, cluster).to_string(),
            Format::Table => text(number, &frame, cluster),
        };
        screen.line(line)?;
    }
}

/// A snapshot is no batch and has a line of its own, with the number and the time of the batch before it.
fn tell_snapshot(
    screen: &Screen,
    format: Format,
    (time_us, digest): (u64, &[u8]),
    snapshot: &JournalSnapshot,
    cluster: ClusterId,
) -> Outcome<()> {
    let last = serde_json::from_slice::<Snapshot>(&snapshot.core_json).map_or(0, |core| core.last_job());
    let last = (last > 0).then(|| cluster.job(howdah_core::job::JobId(last)));
    let line = match format {
        Format::Json => json!({
            "schema": "howdah/journal-batch/v1",
            "batch": snapshot.batches,
            "time_us_epoch": time_us,
            "inputs": [],
            "launches": [],
            "effects": 0,
            "digest": hex(digest),
            "snapshot": {
                "workers": snapshot.workers.len(),
                "jobs": snapshot.jobs.len(),
                "live_jobs": snapshot.live_jobs.len(),
                "last_job": last,
            },
        })
        .to_string(),
        Format::Table => format!(
            "snapshot after batch {}: {}, {} over, {} not, last {}",
            snapshot.batches,
            units::counted(snapshot.workers.len() as u64, "worker"),
            units::counted(snapshot.jobs.len() as u64, "job"),
            snapshot.live_jobs.len(),
            last.as_deref().unwrap_or("none")
        ),
    };
    screen.line(line)?;
    Ok(())
}

fn body(number: u64, frame: &JournalFrame, cluster: ClusterId) -> Value {
    let launches = frame.decisions.iter().map(|launch| {
        json!({
            "attempt": attempt(launch.attempt, cluster),
            "worker": launch.worker,
            "speculative": launch.speculative,
        })
    });
    json!({
        "schema": "howdah/journal-batch/v1",
        "batch": number,
        "time_us_epoch": frame.time_us,
        "inputs": frame.inputs.iter().map(|input| input_text(input, cluster)).collect::<Vec<_>>(),
        "launches": launches.collect::<Vec<_>>(),
        "effects": frame.n_effects,
        "digest": hex(&frame.digest),
        "snapshot": null,
    })
}

fn text(number: u64, frame: &JournalFrame, cluster: ClusterId) -> String {
    let inputs: Vec<String> = frame.inputs.iter().map(|input| input_text(input, cluster)).collect();
    let mut line = format!("{number} {}.{:06} ", frame.time_us / 1_000_000, frame.time_us % 1_000_000);
    line.push_str(&inputs.join(", "));
    for launch in &frame.decisions {
        line.push_str(&format!(" -> {} on worker {}", attempt(launch.attempt, cluster), launch.worker));
    }
    line.push_str(&format!(" ({} effects, {})", frame.n_effects, &hex(&frame.digest[..frame.digest.len().min(4)])));
    line
}

fn attempt(wire: Option<AttemptId>, cluster: ClusterId) -> String {
    let id = wire.and_then(|wire| Attempt::try_from(wire).ok());
    id.map_or_else(|| "attempt ?".to_owned(), |id| cluster.attempt(id))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What an input is, in a few words.
fn input_text(input: &JournalInput, cluster: ClusterId) -> String {
    let job = |number: u32| cluster.job(howdah_core::job::JobId(number));
    match &input.kind {
        None => "an input of a later version".to_owned(),
        Some(Kind::Submit(submit)) => format!("submit {}", job(submit.job)),
        Some(Kind::Register(register)) => {
            let name = register.request.as_ref().map_or("?", |request| request.name.as_str());
            format!("register worker {} `{name}`", register.worker)
        }
        Some(Kind::Report(report)) => {
            let ended = report.attempts.iter().filter(|attempt| attempt.end.is_some()).count();
            let ended = if ended == 0 { String::new() } else { format!(", {ended} ended") };
            format!("report of worker {} with {} attempts{ended}", report.worker, report.attempts.len())
        }
        Some(Kind::KillJob(number)) => format!("kill {}", job(*number)),
        Some(Kind::KillAttempt(kill)) => format!("kill {}", attempt(kill.attempt, cluster)),
        Some(Kind::SetPriority(set)) => format!("priority {} of {}", set.priority, job(set.job)),
        Some(Kind::SetQueue(set)) => format!("queue `{}` for {}", set.queue, job(set.job)),
        Some(Kind::Drain(drain)) if drain.drain => format!("drain worker {}", drain.worker),
        Some(Kind::Drain(drain)) => format!("take back worker {}", drain.worker),
        Some(Kind::Enable(enable)) => format!("enable worker {}", enable.worker),
        Some(Kind::CannotServe(one)) => format!("worker {} does not see the files of {}", one.worker, job(one.job)),
        Some(Kind::Reach(reach)) if reach.reachable => format!("worker {} can be fetched from", reach.worker),
        Some(Kind::Reach(reach)) => format!("worker {} cannot be fetched from", reach.worker),
        Some(Kind::Goodbye(goodbye)) => format!("goodbye of worker {}", goodbye.worker),
        Some(Kind::Gone(gone)) => format!("worker {} is gone", gone.worker),
        Some(Kind::Committed(committed)) if committed.ok => format!("output of {} promoted", job(committed.job)),
        Some(Kind::Committed(committed)) => format!("output of {} not promoted", job(committed.job)),
        Some(Kind::OutputGone(gone)) => {
            format!("output of {} attempts of {} is gone", gone.attempts.len(), job(gone.job))
        }
        Some(Kind::Tick(_)) => "tick".to_owned(),
        Some(Kind::Recovered(_)) => "recovered".to_owned(),
        Some(Kind::Snapshot(choice)) => format!("snapshot, scheduler `{}` begins anew", choice.name),
        Some(Kind::SetScheduler(choice)) => format!("scheduler `{}`", choice.name),
    }
}
