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

    /// Looks whether it still runs.
    ///
    /// # Errors
    /// When it has ended: what was measured meanwhile was measured without load.
    pub(crate) fn check(&mut self) -> Result<()> {
        if !self.child.is_running()? {
            bail!("{} ended before the work that it was to compete with", self.said);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_load_that_ends_early_is_an_error() {
        let words: [&str; 2] = ["--load", "1"];
        let mut load = HeldLoad::start(&Program::new(Path::new("/bin/false")), words).expect("it starts");
        let ended = (0..500).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            load.check().err()
        });
        let error = ended.expect("`false` ends").to_string();
        assert_eq!(error, "`howdah load --load 1 --stop-with-stdin` ended before the work that it was to compete with");
    }
}
