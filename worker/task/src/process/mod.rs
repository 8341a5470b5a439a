//! The process of attempts: takes them from its worker one after the other, runs them, says how they ended.
//!
//! Everything happens in one thread, except a reduce's fetches; a task that does nothing starts none and writes one
//! file, its log. Panics of programs are caught and fail the attempt, not the process.

mod attempt;
pub(crate) mod faults;
#[cfg(test)]
mod fuzz;
pub(crate) mod link;
pub(crate) mod log;
mod map;
mod pace;
mod reduce;
mod registry;
pub(crate) mod reporter;
mod sight;
pub(crate) mod tally;
#[cfg(test)]
mod tests;
pub(crate) mod usage;

pub(crate) use self::registry::Registry;

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::rc::Rc;

use howdah_core::job::App;

use self::link::{Incoming, Link};
use crate::api::application::Application;
use crate::api::error::{Result, TaskError, chain};
use crate::api::properties::Properties;
use crate::umbilical::ToTask;

/// The whole `main` of a program with one application. (Factories are called anew for each attempt.)
pub fn main(application: Application) -> ExitCode {
    let application = Rc::new(application);
    serve_stdin(&mut |_, _| Ok(application.clone()))
}

/// Like [`main`], for an application that depends on the job's properties. `make` is called once per attempt.
pub fn main_with(make: impl Fn(&Properties) -> Result<Application>) -> ExitCode {
    run_process(|_, properties| make(properties))
}

/// Runs attempts of applications that `registry` makes from what the job runs and its properties, until the worker
/// has no more.
pub fn run_process(registry: impl Fn(&App, &Properties) -> Result<Application>) -> ExitCode {
    serve_stdin(&mut |app, properties| registry(app, properties).map(Rc::new))
}

fn serve_stdin(registry: Registry<'_>) -> ExitCode {
    let Some(stream) = umbilical() else {
        let name = std::env::args().next().unwrap_or_else(|| "this program".to_owned());
        eprintln!("`{name}` is a howdah application: a worker starts it for each task, with a socket as its input");
        eprintln!("help: run it on a cluster with `howdah submit`, see `howdah submit --help`");
        return ExitCode::from(2);
    };
    match serve(stream, registry) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("howdah task: {}", chain(&error));
            ExitCode::from(3)
        }
    }
}

/// File descriptor 0, if it is a socket.
fn umbilical() -> Option<UnixStream> {
    let fd: OwnedFd = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
    let file = std::fs::File::from(fd);
    file.metadata().ok()?.file_type().is_socket().then(|| UnixStream::from(OwnedFd::from(file)))
}

/// Runs attempts from `stream` until it ends. Code 0 unless the last attempt failed, then 1.
pub(crate) fn serve(stream: UnixStream, registry: Registry<'_>) -> Result<ExitCode, TaskError> {
    attempt::catch_panics();
    let link = Rc::new(Link::new(stream));
    let mut last_failed = false;
    let mut n_attempts = 0;
    loop {
        match link.receive(None)? {
            Incoming::Message(ToTask::Run(spec)) => {
                if n_attempts > 0 {
                    usage::reset_peak();
                }
                n_attempts += 1;
                // A process for one attempt need not wait to be told so.
                let single = !reuses(&spec.properties);
                let end = attempt::run(*spec, &link, registry);
                last_failed = end != attempt::End::Done;
                // After a failure nobody knows what state the program is in: the next attempt gets a new process.
                if single || last_failed {
                    break;
                }
            }
            // Meant for an attempt that is over.
            Incoming::Message(ToTask::MapEvents { .. } | ToTask::CommitGranted) | Incoming::Nothing => {}
            Incoming::Message(ToTask::Exit) | Incoming::Closed => break,
        }
    }
    Ok(if last_failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Whether the job's processes run several attempts.
fn reuses(properties: &std::collections::BTreeMap<String, String>) -> bool {
    let value =
        properties.get("mapred.job.reuse.jvm.num.tasks").or_else(|| properties.get("mapreduce.job.jvm.numtasks"));
    value.is_some_and(|value| value.trim() != "1")
}
