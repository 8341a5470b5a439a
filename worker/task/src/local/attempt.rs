//! One attempt of a local job: a thread that runs it, and what a worker would say to it.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::Arc;

use howdah_core::job::TaskKind;
use howdah_core::job::counters::Counters;

use super::make::Make;
use crate::api::error::Result;
use crate::process::serve;
use crate::umbilical::{FromTask, MapEvent, TaskSpec, ToTask};

/// A successful attempt.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) attempt: String,
    pub(crate) counters: Counters,
}

pub(crate) fn run_attempt(spec: TaskSpec, make: &Arc<Make>, events: &[MapEvent]) -> Result<Ended> {
    std::fs::create_dir_all(&spec.local_dir)?;
    let attempt = spec.attempt.clone();
    let is_reduce = spec.kind == TaskKind::Reduce;
    let (ours, theirs) = UnixStream::pair()?;
    let make = make.clone();
    let thread = std::thread::Builder::new()
        .name(attempt.clone())
        .spawn(move || serve(theirs, &mut |app, properties| make(app, properties).map(Rc::new)).map(|_| ()))?;
    send(&ours, &ToTask::Run(Box::new(spec)))?;
    if is_reduce {
        send(&ours, &ToTask::MapEvents { events: events.to_vec() })?;
    }
    let mut ended = Err(format!("{attempt} ended without a word").into());
    for line in BufReader::new(&ours).lines() {
        match serde_json::from_str(&line?)? {
            FromTask::Status { .. } => {}
            FromTask::CommitPending => send(&ours, &ToTask::CommitGranted)?,
            // A real worker would tell the master; here nobody can make the output anew.
            FromTask::FetchFailure { attempt, message } => {
                ended = Err(format!("fetch of {attempt}: {message}").into());
                break;
            }
            FromTask::Done { counters, .. } => {
                ended = Ok(Ended { attempt, counters });
                break;
            }
            FromTask::Failed { message, .. } => {
                ended = Err(message.into());
                break;
            }
        }
    }
    drop(ours);
    match thread.join() {
        // What the thread has to say after its attempt's end concerns nobody.
        Ok(_) => ended,
        Err(_) => Err("the attempt's thread panicked".into()),
    }
}

fn send(mut stream: &UnixStream, message: &ToTask) -> Result {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(stream.write_all(&line)?)
}
