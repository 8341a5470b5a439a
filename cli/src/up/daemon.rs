//! `daemon`: what `up --hosts` and `down --hosts` run on each machine.
//!
//! Starting waits until the daemon is of use, a master until it listens, a worker until its master has it LIVE, and says
//! the daemon's own last words where it ends instead. Which process is meant is kept in `process.json`, with its start
//! time, so that no other process of the same number is taken for it.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use howdah_proto::v1::ListWorkersRequest;

use super::args::DaemonCommand;
use crate::client::Client;
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::local::access::{self, Access, Process};
use crate::local::logs::{Logs, said_file};
use crate::local::{cannot, make_dir, proc, stop_processes};

/// Until a daemon is of use.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);
const FILE: &str = "process.json";

/// `howdah daemon`
pub(crate) async fn run(context: &Context, command: &DaemonCommand) -> Outcome {
    let said = match command {
        DaemonCommand::Start { role, dir, until_live, args } => {
            let logs = Logs::new(dir, "", role, said_file(context)?.as_deref());
            start(role, dir, logs, until_live, args).await?
        }
        DaemonCommand::Stop { dir, grace } => stop(dir, *grace).await?.to_owned(),
    };
    context.screen(context.colour()?).line(said)?;
    Ok(Exit::Done)
}

/// Returns the master's address, or the worker's name.
async fn start(role: &str, dir: &Path, logs: Logs, until_live: &[String], args: &[String]) -> Outcome<String> {
    make_dir(dir)?;
    let child = if running(dir)?.is_some() { None } else { Some(spawn(role, dir, &logs, args)?) };
    let mut watch = Watch { child, logs, deadline: Instant::now() + PATIENCE };
    match until_live {
        [name, master] => {
            while !is_live(name, master).await {
                watch.be_patient(&format!("{name} is not LIVE at {master}")).await?;
            }
            Ok(name.clone())
        }
        _ => loop {
            if let Some(access) = Access::read(dir)?
                && Client::connect_to(&access.master, Duration::from_secs(2)).await.is_ok()
            {
                return Ok(access.master);
            }
            watch.be_patient("it does not listen").await?;
        },
    }
}

/// The process that was started in a directory, if it still runs.
fn running(dir: &Path) -> Outcome<Option<Process>> {
    let path = dir.join(FILE);
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|error| cannot("read", &path, &error))?,
    };
    // A file that was cut off names nobody.
    Ok(serde_json::from_str::<Process>(&text).ok().filter(Process::is_alive))
}

fn spawn(role: &str, dir: &Path, logs: &Logs, args: &[String]) -> Outcome<Child> {
    // The file of an earlier run would name a port that nobody listens on.
    let access = dir.join(access::FILE);
    if access.exists() {
        std::fs::remove_file(&access).map_err(|error| cannot("remove", &access, &error))?;
    }
    let exe = std::env::current_exe().map_err(|error| Failure::broke(format!("find this program: {error}")))?;
    let mut command = Command::new(exe);
    command.arg(role).arg("--dir").arg(dir).args(args).arg("--detach");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    logs.apply(&mut command)?;
    let child = command.spawn().map_err(|error| Failure::broke(format!("cannot start the {role}: {error}")))?;
    let start_ticks = proc::stat(child.id()).map_or(0, |stat| stat.start_ticks);
    let process = Process { name: role.to_owned(), pid: child.id(), start_ticks };
    let (path, temporary) = (dir.join(FILE), dir.join(".process.json.new"));
    let text = serde_json::to_string(&process).map_err(|error| Failure::broke(error.to_string()))?;
    let written = std::fs::write(&temporary, text).and_then(|()| std::fs::rename(&temporary, &path));
    written.map_err(|error| cannot("write", &path, &error))?;
    Ok(child)
}

async fn is_live(name: &str, master: &str) -> bool {
    let Ok(mut client) = Client::connect_to(master, Duration::from_secs(2)).await else { return false };
    let Ok(list) = client.rpc.list_workers(ListWorkersRequest::default()).await else { return false };
    list.into_inner().workers.iter().any(|worker| worker.name == name && worker.state == "LIVE")
}

/// Of a daemon that is about to be of use.
struct Watch {
    /// `None` where it ran before.
    child: Option<Child>,
    logs: Logs,
    deadline: Instant,
}

impl Watch {
    async fn be_patient(&mut self, what: &str) -> Outcome<()> {
        if let Some(Ok(Some(status))) = self.child.as_mut().map(Child::try_wait) {
            return Err(Failure::broke(format!("it ended with {status}: {}", self.last_words())));
        }
        if Instant::now() > self.deadline {
            let seconds = PATIENCE.as_secs();
            return Err(Failure::broke(format!("{what} after {seconds} s; it says: {}", self.last_words())));
        }
        tokio::time::sleep(PAUSE).await;
        Ok(())
    }

    fn last_words(&self) -> String {
        self.logs.last_words().unwrap_or_else(|| "nothing".to_owned())
    }
}

async fn stop(dir: &Path, grace: Duration) -> Outcome<&'static str> {
    let Some(process) = running(dir)? else { return Ok("nothing runs") };
    let stopped = stop_processes(std::slice::from_ref(&process), grace).await;
    if process.is_alive() {
        return Err(Failure::broke(format!("{} (pid {}) does not end", process.name, process.pid)));
    }
    let path = dir.join(FILE);
    std::fs::remove_file(&path).map_err(|error| cannot("remove", &path, &error))?;
    Ok(if !stopped.killed.is_empty() {
        "killed"
    } else if !stopped.hurried.is_empty() {
        "hurried"
    } else {
        "stopped"
    })
}
