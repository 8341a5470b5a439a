//! The command run without the caller's settings, and what it said.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

/// What a command said.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Said { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// `howdah` in a directory of its own.
pub(crate) fn howdah(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_howdah"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HOWDAH_") || name == "NO_COLOR" {
            command.env_remove(name);
        }
    }
    command.current_dir(dir);
    command
}
