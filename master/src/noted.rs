//! Files of one line that a start of the master leaves for the next one.

use std::fmt::Display;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Context;

/// Writes it in one step: the next start finds the old line or the new one. It is on the disk when this returns.
pub(crate) fn note(dir: &Path, name: &str, line: impl Display) -> anyhow::Result<()> {
    let (path, temporary) = (dir.join(name), dir.join(format!("{name}.tmp")));
    let write = || {
        let mut file = fs::File::create(&temporary)?;
        writeln!(file, "{line}")?;
        file.sync_all()?;
        fs::rename(&temporary, &path)?;
        fs::File::open(dir)?.sync_all()
    };
    write().with_context(|| format!("write `{}`", path.display()))
}

/// What was noted, if that is there and reads.
pub(crate) fn noted<T: std::str::FromStr>(dir: &Path, name: &str) -> Option<T> {
    fs::read_to_string(dir.join(name)).ok()?.trim().parse().ok()
}
