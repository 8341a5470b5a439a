//! A test in namespaces of its own: this executable starts itself there, with the test's name.
//!
//! Network, mounts and processes are all the test's own and vanish with it, whatever becomes of it. Where the user is not
//! root, a user namespace makes it root in there.

use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::machines::Lab;

const INSIDE: &str = "HOWDAH_TEST_INSIDE";
/// For one test; what hangs in it has a shorter bound of its own.
const BOUND: Duration = Duration::from_secs(240);

/// Runs `body`, which is the test `name`, in a lab of its own.
pub(crate) fn inside(name: &str, body: impl FnOnce(Lab)) {
    inside_with(BOUND, None, name, body);
}

/// As [`inside`], for a test that may take so long.
pub(crate) fn inside_for(bound: Duration, name: &str, body: impl FnOnce(Lab)) {
    inside_with(bound, None, name, body);
}

/// As [`inside`], with file systems of the test's own.
pub(crate) fn inside_with_file_systems(name: &str, body: impl FnOnce(Lab)) {
    if let Err(error) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/fuse") {
        let wanted = "network file systems in the lab: `/dev/fuse` cannot be opened";
        crate::permitted::not_tested(&format!("{wanted}: {error}; run the tests as root where the kernel has FUSE"));
        return;
    }
    inside_with(BOUND, None, name, body);
}

/// As [`inside`], with packet filters.
pub(crate) fn inside_with_filters(name: &str, body: impl FnOnce(Lab)) {
    inside_with(BOUND, Some(["nft", "add", "table", "inet", "lab"]), name, body);
}

/// `wanted` is a command that must end well in the namespaces.
fn inside_with(bound: Duration, wanted: Option<[&str; 5]>, name: &str, body: impl FnOnce(Lab)) {
    if std::env::var_os(INSIDE).is_some() {
        body(Lab::new());
        return;
    }
    if let Some(missing) = missing(wanted) {
        crate::permitted::not_tested(&format!("the lab of machines: {missing}"));
        return;
    }
    let exe = std::env::current_exe().expect("this executable");
    let mut command = unshare();
    command.arg(exe).args(["--exact", name, "--ignored", "--nocapture"]).env(INSIDE, "1").stdin(Stdio::null());
    let mut child = command.spawn().expect("start unshare");
    let (send, receive) = mpsc::channel();
    let pid = child.id();
    std::thread::spawn(move || send.send(child.wait()));
    match receive.recv_timeout(bound) {
        Ok(status) => assert!(status.expect("wait for the test").success(), "`{name}` failed in its namespaces"),
        Err(_) => {
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
            panic!("`{name}` did not end within {} s", bound.as_secs());
        }
    }
}

fn unshare() -> Command {
    let mut command = Command::new("unshare");
    if !nix::unistd::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    command
}

/// What this machine lacks for the tests, in one line.
fn missing(wanted: Option<[&str; 5]>) -> Option<String> {
    let check = |command: &mut Command, what: &str| {
        let output = command.stdin(Stdio::null()).output();
        match output {
            Ok(output) if output.status.success() => None,
            Ok(output) => Some(format!("{what}: {}", String::from_utf8_lossy(&output.stderr).trim())),
            Err(error) => Some(format!("{what}: {error}")),
        }
    };
    check(Command::new("ip").arg("-V"), "the lab's tests want `ip` of the package iproute2")
        .or_else(|| check(unshare().arg("true"), "the lab's tests want the right to make namespaces"))
        .or_else(|| {
            let bridge = ["ip", "link", "add", "br0", "type", "bridge"];
            check(unshare().args(bridge), "the lab's tests want a bridge in a network namespace")
        })
        .or_else(|| {
            check(unshare().args(wanted?), "the lab's tests want packet filters by `nft` of the package nftables")
        })
}
