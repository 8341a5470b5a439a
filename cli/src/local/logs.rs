//! Where a daemon that is started here writes: its log, which is put aside when it is full (`[log]`), and a small file with
//! standard error, which has what it says before its log begins and why it ended.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::problem::cannot;
use crate::config::{Context, Section, Source};
use crate::failure::Outcome;
use crate::log::LogConfig;

/// Sets `[log] file`.
const VARIABLE: &str = "HOWDAH_LOG_FILE";

/// What the user says of `[log] file`; `None` where that is nothing, and the choice is ours.
pub(crate) fn said_file(context: &Context) -> Outcome<Option<PathBuf>> {
    let (config, settings) = context.settings::<LogConfig>(Section::Log, Vec::new())?;
    let is_said = settings.values.get("file").is_some_and(|setting| setting.source != Source::Default);
    Ok(is_said.then_some(config.file))
}

/// The two files of one daemon.
#[derive(Clone, Debug)]
pub(crate) struct Logs {
    /// `None` where the user wants it on standard error.
    log: Option<PathBuf>,
    errors: PathBuf,
    /// Below the daemon's directory; `None` where the user's word counts.
    chosen: Option<PathBuf>,
}

impl Logs {
    /// Of a daemon with the directory `dir`, in this folder below it.
    pub(crate) fn new(dir: &Path, folder: &str, role: &str, said: Option<&Path>) -> Logs {
        let folder = Path::new(folder);
        let chosen = said.is_none().then(|| folder.join(format!("{role}.log")));
        let file = said.or(chosen.as_deref()).filter(|file| !file.as_os_str().is_empty());
        Logs { log: file.map(|file| dir.join(file)), errors: dir.join(folder).join(format!("{role}.err")), chosen }
    }

    /// Makes the daemon of this command write there. What an earlier one said at its end stays beside it.
    pub(crate) fn apply(&self, command: &mut Command) -> Outcome<()> {
        if self.errors.exists() {
            let before = self.errors.with_extension("err.1");
            std::fs::rename(&self.errors, before).map_err(|error| cannot("rename", &self.errors, &error))?;
        }
        let errors = File::create(&self.errors).map_err(|error| cannot("create", &self.errors, &error))?;
        command.stderr(errors);
        command.envs(self.chosen.iter().map(|file| (VARIABLE, file)));
        Ok(())
    }

    /// Where to look.
    pub(crate) fn shown(&self) -> &Path {
        self.log.as_deref().unwrap_or(&self.errors)
    }

    /// What it advised when it ended, a line each.
    pub(crate) fn advice(&self) -> Vec<String> {
        let errors = std::fs::read_to_string(&self.errors).unwrap_or_default();
        let after = errors.lines().rev().take_while(|line| !line.starts_with("error: "));
        let mut advice: Vec<String> = after.filter_map(|line| line.strip_prefix("help: ")).map(str::to_owned).collect();
        advice.reverse();
        advice
    }

    /// Why it ended, or else its last line.
    pub(crate) fn last_words(&self) -> Option<String> {
        let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
        let errors = read(&self.errors);
        let error = errors.lines().rev().find_map(|line| line.strip_prefix("error: "));
        if let Some(error) = error {
            return Some(error.to_owned());
        }
        let last = errors.lines().last();
        // The log is of this start once standard error has said where it is; what stands behind that came later.
        let says_where = last.filter(|line| line.starts_with("the log is "));
        let log = says_where.and(self.log.as_deref()).map(read).unwrap_or_default();
        log.lines().last().or(last).map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(logs: &Logs) -> Option<PathBuf> {
        let mut command = Command::new("howdah");
        logs.apply(&mut command).expect("it can be made");
        let set = command.get_envs().find(|(name, _)| *name == VARIABLE);
        set.and_then(|(_, value)| Some(PathBuf::from(value?)))
    }

    #[test]
    fn a_daemon_has_a_log_of_its_own_unless_the_user_names_one() {
        let dir = tempfile::tempdir().expect("make a folder");
        std::fs::create_dir(dir.path().join("logs")).expect("make a folder");
        let own = Logs::new(dir.path(), "logs", "master", None);
        assert_eq!(
            (own.shown(), variable(&own)),
            (&*dir.path().join("logs/master.log"), Some("logs/master.log".into()))
        );
        let said = Logs::new(dir.path(), "", "master", Some(Path::new("daemon.log")));
        assert_eq!((said.shown(), variable(&said)), (&*dir.path().join("daemon.log"), None));
        let none = Logs::new(dir.path(), "", "master", Some(Path::new("")));
        assert_eq!((none.shown(), variable(&none)), (&*dir.path().join("master.err"), None));
    }

    #[test]
    fn the_reason_of_an_end_is_found_before_the_last_line_of_the_log() {
        let dir = tempfile::tempdir().expect("make a folder");
        let logs = Logs::new(dir.path(), "", "worker", None);
        assert_eq!(logs.last_words(), None);
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("write a file");
        write("worker.err", "the log is worker.log\n");
        assert_eq!(logs.last_words().as_deref(), Some("the log is worker.log"));
        write("worker.log", "INFO begins\nWARN no master\n");
        assert_eq!(logs.last_words().as_deref(), Some("WARN no master"));
        write("worker.err", "the log is worker.log\nthread 'main' panicked\n");
        assert_eq!(logs.last_words().as_deref(), Some("thread 'main' panicked"), "it came after the log's last line");
        write("worker.err", "");
        assert_eq!(logs.last_words(), None, "the log is an earlier start's");
        write("worker.err", "the log is worker.log\nerror: no slots\nhelp: some\n");
        assert_eq!(logs.last_words().as_deref(), Some("no slots"));
        write("worker.err", "error: a\nhelp: old\nerror: b\nhelp: one\nhelp: two\n");
        assert_eq!(logs.advice(), ["one", "two"]);
        variable(&logs);
        assert_eq!(std::fs::read_to_string(dir.path().join("worker.err.1")).expect("it stays").lines().count(), 5);
    }
}
