//! Foreign load beside live work: a `howdah load` that ends with us.

use std::process::Stdio;

use anyhow::{Result, bail};

use super::program::{Program, described};
use super::workload::Leashed;

/// Held until dropped.
pub(crate) struct HeldLoad {
    child: Leashed,
    said: String,
}

impl HeldLoad {
    /// Starts `howdah load` with `words`: what load, for how long at most, and where.
    ///
    /// # Errors
    /// When it does not start.
    pub(crate) fn start<S: AsRef<std::ffi::OsStr>>(
        program: &Program,
        words: impl IntoIterator<Item = S>,
    ) -> Result<HeldLoad> {
        let mut command = program.command();
        command.arg("load").args(words).arg("--stop-with-stdin");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let said = described(&command);
        Ok(HeldLoad { child: Leashed::start(&mut command, &said)?, said })
    }

    /// Looks whether it did what it was asked for: it runs, or its schedule is over.
    ///
    /// # Errors
    /// When it has failed: what was measured meanwhile was measured without load.
    pub(crate) fn check(&mut self) -> Result<()> {
        match self.child.ended()? {
            Some(status) if !status.success() => {
                bail!("{} ended with {status}, expected it to hold its load", self.said)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn held(program: &str) -> HeldLoad {
        HeldLoad::start(&Program::new(Path::new(program)), ["--load", "1"]).expect("it starts")
    }

    fn wait_for_end(load: &mut HeldLoad) {
        while load.child.is_running().expect("it is ours") {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }

    #[test]
    fn a_load_that_fails_is_an_error() {
        let mut load = held("/bin/false");
        wait_for_end(&mut load);
        let error = load.check().expect_err("it failed").to_string();
        let said = "`howdah load --load 1 --stop-with-stdin` ended with exit status: 1";
        assert!(error.starts_with(said), "{error}");
    }

    /// A schedule whose last load is 0 ends there, and the work beside it may go on.
    #[test]
    fn a_load_whose_schedule_is_over_is_none() {
        let mut load = held("/bin/true");
        wait_for_end(&mut load);
        load.check().expect("it did what it was asked for");
    }
}
