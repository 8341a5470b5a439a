//! How Hadoop's commands end and what they print, and as which version of Hadoop.

use std::io;
use std::io::Write;

use crate::failure::Failure;

/// The word after `howdah` that the installed scripts use.
pub(crate) const WORD: &str = "hadoop-client";

/// The version whose output forms are followed; clients choose their options by it.
pub(super) const VERSION: &str = "3.3.4";

/// Exit code of one of Hadoop's commands, or why there is none.
pub(super) type Ended = Result<u8, Failure>;

/// One line on standard output.
pub(super) fn say(text: impl AsRef<str>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_ref().as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}
