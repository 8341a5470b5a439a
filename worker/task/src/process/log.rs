//! An attempt's `syslog`: what the library did, for people who ask why.
//!
//! Lines are kept until they are half a second old or the attempt ends, so that a task that does nothing pays for
//! one file and one write.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Age at which lines are written.
const PATIENCE: Duration = Duration::from_millis(500);

/// A log file, created with its first write.
pub(crate) struct Syslog {
    path: Option<PathBuf>,
    lines: String,
    oldest: Option<Instant>,
}

impl Syslog {
    /// `directory` is the attempt's log directory; `None` keeps nothing.
    pub(crate) fn new(directory: Option<PathBuf>) -> Syslog {
        Syslog { path: directory.map(|d| d.join("syslog")), lines: String::new(), oldest: None }
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, level: &str, text: &str) {
        if self.path.is_none() {
            return;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let _ = write!(self.lines, "{} {level} ", timestamp(now));
        // A message of several lines stays one entry: the others are indented.
        self.lines.push_str(&text.replace('\n', "\n    "));
        self.lines.push('\n');
        self.oldest.get_or_insert_with(Instant::now);
        self.flush_old();
    }

    /// Writes lines that have waited long enough.
    pub(crate) fn flush_old(&mut self) {
        if self.oldest.is_some_and(|oldest| oldest.elapsed() >= PATIENCE) {
            self.flush();
        }
    }

    /// Writes what is kept. A log that cannot be written is no reason to fail an attempt.
    pub(crate) fn flush(&mut self) {
        if let Some(path) = self.path.as_ref().filter(|_| !self.lines.is_empty()) {
            let file = OpenOptions::new().create(true).append(true).open(path);
            let _ = file.and_then(|mut file| file.write_all(self.lines.as_bytes()));
        }
        self.lines.clear();
        self.oldest = None;
    }
}

impl Drop for Syslog {
    fn drop(&mut self) {
        self.flush();
    }
}

/// `2026-11-20 14:00:01,123` in UTC, the form of Hadoop's logs.
fn timestamp(since_epoch: Duration) -> String {
    let seconds = since_epoch.as_secs();
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    // Days since 0000-03-01 in eras of 400 years; years begin in March so that leap days come last.
    let day = day + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!(
        "{:04}-{month:02}-{date:02} {:02}:{:02}:{:02},{:03}",
        era * 400 + year + next,
        second / 3600,
        second / 60 % 60,
        second % 60,
        since_epoch.subsec_millis()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_know_the_calendar() {
        let at = |seconds: u64| timestamp(Duration::from_millis(seconds * 1000 + 7));
        assert_eq!(at(0), "1970-01-01 00:00:00,007");
        assert_eq!(at(951_782_399), "2000-02-28 23:59:59,007");
        assert_eq!(at(951_782_400), "2000-02-29 00:00:00,007");
        assert_eq!(at(1_795_183_201), "2026-11-20 14:00:01,007");
        assert_eq!(at(4_107_542_399), "2100-02-28 23:59:59,007");
        assert_eq!(at(4_107_542_400), "2100-03-01 00:00:00,007");
    }

    #[test]
    fn lines_are_written_once_in_order() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let mut log = Syslog::new(Some(dir.path().to_owned()));
        log.line("INFO", "one");
        assert!(!dir.path().join("syslog").exists());
        log.line("ERROR", "two\nof two lines");
        drop(log);
        let text = std::fs::read_to_string(dir.path().join("syslog")).expect("read");
        let ends: Vec<&str> = text.lines().map(|line| line.get(24..).unwrap_or(line)).collect();
        assert_eq!(ends, ["INFO one", "ERROR two", "    of two lines"]);
    }
}
