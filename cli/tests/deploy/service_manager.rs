//! What the daemons say to a service manager, on a socket in the place of systemd's.

use std::os::unix::net::UnixDatagram;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::daemons::{Daemons, howdah};
use crate::halt::halt;
use crate::wait_for;
use crate::waiting::ended_within;

/// The manager's end.
struct Manager {
    socket: UnixDatagram,
    heard: Vec<String>,
}

impl Manager {
    fn new(folder: &std::path::Path) -> Manager {
        let socket = UnixDatagram::bind(folder.join("notify")).expect("make a socket");
        socket.set_read_timeout(Some(std::time::Duration::from_millis(100))).expect("set its time-out");
        Manager { socket, heard: Vec::new() }
    }

    fn wait_to_hear(&mut self, word: &str) {
        self.heard.clear();
        wait_for(&format!("`{word}`"), || {
            let mut bytes = [0; 4096];
            let n = self.socket.recv(&mut bytes).unwrap_or(0);
            self.heard.extend(String::from_utf8_lossy(&bytes[..n]).lines().map(str::to_owned));
            self.heard.iter().any(|one| one.starts_with(word)).then_some(())
        });
    }
}

#[test]
fn a_master_says_that_it_is_ready_lives_and_stops() {
    let folder = tempfile::tempdir().expect("make a folder");
    let mut manager = Manager::new(folder.path());
    let mut master = howdah();
    master.args(["master", "--listen", "127.0.0.1:0", "--dir"]).arg(folder.path().join("master"));
    master.env("NOTIFY_SOCKET", folder.path().join("notify")).env("WATCHDOG_USEC", "300000");
    let mut daemons = Daemons::default();
    let master = daemons.spawn(master);
    manager.wait_to_hear("READY=1");
    for _ in 0..3 {
        manager.wait_to_hear("WATCHDOG=1");
    }
    let pid = Pid::from_raw(i32::try_from(master.id()).expect("a process id"));
    // A halted master gives no sign of life. One may have been under way.
    halt(pid);
    while manager.socket.recv(&mut [0; 4096]).is_ok() {}
    assert!((0..8).all(|_| manager.socket.recv(&mut [0; 4096]).is_err()), "a halted master gave a sign of life");
    kill(pid, Signal::SIGCONT).expect("let it go on");
    manager.wait_to_hear("WATCHDOG=1");
    kill(pid, Signal::SIGTERM).expect("tell it to stop");
    manager.wait_to_hear("STOPPING=1");
    assert!(ended_within(master, "the master").status.success());
}

#[test]
fn a_worker_is_ready_before_its_master_is_there_and_says_what_it_waits_for() {
    let folder = tempfile::tempdir().expect("make a folder");
    let mut manager = Manager::new(folder.path());
    let mut worker = howdah();
    // Where nobody listens.
    worker.args(["worker", "--master", "127.0.0.1:1", "--listen", "127.0.0.1:0", "--dir"]);
    worker.arg(folder.path().join("worker"));
    worker.env("NOTIFY_SOCKET", folder.path().join("notify")).env("WATCHDOG_USEC", "300000");
    let mut daemons = Daemons::default();
    let worker = daemons.spawn(worker);
    manager.wait_to_hear("READY=1");
    manager.wait_to_hear("STATUS=without a master: 127.0.0.1:1: ");
    manager.wait_to_hear("WATCHDOG=1");
    let pid = Pid::from_raw(i32::try_from(worker.id()).expect("a process id"));
    kill(pid, Signal::SIGTERM).expect("tell it to stop");
    manager.wait_to_hear("STOPPING=1");
    assert!(ended_within(worker, "the worker").status.success());
}
