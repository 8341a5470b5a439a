//! An attempt's `syslog`: what the library did, for people who ask why.
//!
//! Each line is written at once: people read it while the attempt runs, and an attempt that is killed has no time to
//! write what it kept. A task has a handful of lines, and the file is opened once.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

/// A log file, created with its first line.
pub(crate) struct Syslog {
    path: Option<PathBuf>,
    file: Option<File>,
}

impl Syslog {
    /// `directory` is the attempt's log directory; `None` keeps nothing.
    pub(crate) fn new(directory: Option<PathBuf>) -> Syslog {
        Syslog { path: directory.map(|d| d.join("syslog")), file: None }
    }

    /// Adds a line. A log that cannot be written is no reason to fail an attempt.
    pub(crate) fn line(&mut self, level: &str, text: &str) {
        if let Some(path) = self.path.take() {
            self.file = OpenOptions::new().create(true).append(true).open(path).ok();
        }
        let Some(file) = &mut self.file else { return };
        let now = howdah_guards::clock::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // A message of several lines stays one entry: the others are indented.
        let line = format!("{} {level} {}\n", timestamp(now), text.replace('\n', "\n    "));
        let _ = file.write_all(line.as_bytes());
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
        let read = || std::fs::read_to_string(dir.path().join("syslog")).expect("read");
        log.line("INFO", "one");
        assert!(read().ends_with("INFO one\n"), "at once, for those who look while the attempt runs");
        log.line("ERROR", "two\nof two lines");
        let text = read();
        let ends: Vec<&str> = text.lines().map(|line| line.get(24..).unwrap_or(line)).collect();
        assert_eq!(ends, ["INFO one", "ERROR two", "    of two lines"]);
    }
}
