//! Running the `howdah` command to its end, with a bound.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::processes::Mark;

/// A command that ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) said: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// `howdah` with the mark in its environment and none of the caller's own `HOWDAH_` settings.
pub(crate) fn howdah(mark: &Mark) -> Command {
    howdah_at(Path::new(env!("CARGO_BIN_EXE_howdah")), mark)
}

/// The same from another file.
pub(crate) fn howdah_at(executable: &Path, mark: &Mark) -> Command {
    marked(Command::new(executable), mark)
}

/// The same with at most so many open files, if a number is given.
pub(crate) fn howdah_within(mark: &Mark, descriptors: Option<u32>) -> Command {
    let Some(descriptors) = descriptors else { return howdah(mark) };
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("ulimit -n {descriptors}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_howdah")]);
    marked(command, mark)
}

fn marked(mut command: Command, mark: &Mark) -> Command {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HOWDAH_") {
            command.env_remove(name);
        }
    }
    let (name, value) = mark.variable();
    command.env(name, value).stdin(Stdio::null());
    command
}

impl Finished {
    /// Runs `command` to its end.
    pub(crate) fn of(command: &mut Command, bound: Duration) -> Finished {
        let said = format!("{command:?}");
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start howdah");
        let pid = Pid::from_raw(child.id() as i32);
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || {
            let _ = send.send(child.wait_with_output());
        });
        let Ok(output) = receive.recv_timeout(bound) else {
            let _ = kill(pid, Signal::SIGKILL);
            let output = receive.recv().ok().and_then(Result::ok);
            let text = output.map(|o| String::from_utf8_lossy(&o.stderr).into_owned()).unwrap_or_default();
            panic!("{said} did not end within {} s; it said:\n{text}", bound.as_secs());
        };
        let output = output.expect("wait for howdah");
        Finished {
            said,
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Panics with everything that was said unless the exit code is `code`.
    #[track_caller]
    pub(crate) fn expect_code(self, code: i32) -> Finished {
        assert_eq!(self.code, Some(code), "{}\nstdout:\n{}\nstderr:\n{}", self.said, self.stdout, self.stderr);
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        match serde_json::from_str(&self.stdout) {
            Ok(value) => value,
            Err(error) => panic!("{}: not JSON ({error}):\n{}\nstderr:\n{}", self.said, self.stdout, self.stderr),
        }
    }

    /// Both streams, for messages that may be on either.
    pub(crate) fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}
