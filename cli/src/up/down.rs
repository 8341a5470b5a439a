//! What keeps `down` from saying that all is over: processes of another user, and a master that `up` did not start.

use std::fs::File;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use crate::failure::{Failure, Outcome};
use crate::local::access::{FILE, Process};
use crate::local::proc;

/// Whether this user may stop them: waiting for the end of one that gets no signal is in vain.
pub(super) fn check_permission(processes: &[Process], may_signal: impl Fn(u32) -> bool) -> Outcome<()> {
    let others = |process: &&Process| process.is_alive() && !may_signal(process.pid);
    let Some(process) = processes.iter().find(others) else { return Ok(()) };
    let owner = proc::owner(process.pid).unwrap_or_else(|| "another user".to_owned());
    let said = format!("no permission to signal {} (pid {}), a process of {owner}", process.name, process.pid);
    Err(Failure::usage(said).help(format!("nothing was stopped; run `howdah down` as {owner}")))
}

/// Whether a master runs in the cluster's directory still, as one that was started there by hand after `up`'s was killed.
pub(super) fn check_lock(dir: &Path) -> Outcome<()> {
    let master = dir.join("master");
    // Not to be read, or not there: no master of ours is known.
    let Ok(file) = File::open(master.join("lock")) else { return Ok(()) };
    if !matches!(Flock::lock(file, FlockArg::LockSharedNonblock), Err((_, Errno::EWOULDBLOCK))) {
        return Ok(());
    }
    let place = master.display();
    let Some(pid) = pid_in(&master) else {
        return Err(Failure::broke(format!("a master that `up` did not start runs in `{place}`"))
            .help("stop it where it was started, with SIGTERM"));
    };
    Err(Failure::broke(format!("a master (pid {pid}) that `up` did not start runs in `{place}`"))
        .help(format!("`kill {pid}` stops it")))
}

/// As a master says in its own access file.
fn pid_in(master: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(master.join(FILE)).ok()?;
    serde_json::from_str::<serde_json::Value>(&text).ok()?.get("pid")?.as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_may_not_be_signalled_is_named_with_whose_it_is() {
        let pid = std::process::id();
        let start_ticks = proc::stat(pid).expect("this process runs").start_ticks;
        let of = |start_ticks| [Process { name: "master".to_owned(), pid, start_ticks }];
        check_permission(&of(start_ticks), proc::may_signal).expect("it is our own");
        check_permission(&of(start_ticks + 1), |_| false).expect("that one has ended");
        let said = check_permission(&of(start_ticks), |_| false).expect_err("nobody may").message().to_owned();
        let owner = proc::owner(pid).expect("this process runs");
        assert_eq!(said, format!("no permission to signal master (pid {pid}), a process of {owner}"));
    }

    #[test]
    fn a_lock_that_nobody_holds_is_no_master() {
        let dir = tempfile::tempdir().expect("a directory");
        check_lock(dir.path()).expect("there is no file");
        std::fs::create_dir(dir.path().join("master")).expect("made");
        let file = File::create(dir.path().join("master/lock")).expect("made");
        check_lock(dir.path()).expect("nobody has it");
        let _held = Flock::lock(file, FlockArg::LockExclusiveNonblock).expect("nobody has it");
        let said = check_lock(dir.path()).expect_err("somebody has it").message().to_owned();
        assert!(said.starts_with("a master that `up` did not start runs in "), "{said}");
    }
}
