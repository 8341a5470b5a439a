//! Daemons that a file of the kit describes, started with addresses and folders of this machine.
//!
//! What is checked is that the words in the file are a command line that makes a cluster: a misspelt flag, a worker that
//! looks for another port than the master's, or a name that is not given ends the test.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::wait_for;

pub(crate) const HOWDAH: &str = env!("CARGO_BIN_EXE_howdah");

/// Processes that end with the test.
#[derive(Default)]
pub(crate) struct Daemons(Vec<Child>);

impl Daemons {
    fn start(&mut self, words: &[String], log: &Path) {
        let log = std::fs::File::create(log).expect("make a log");
        let mut command = howdah();
        command.args(words).stderr(log);
        self.spawn(command);
    }

    pub(crate) fn spawn(&mut self, mut command: Command) -> &mut Child {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        self.0.push(child.expect("start a daemon"));
        self.0.last_mut().expect("it was pushed")
    }
}

impl Drop for Daemons {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The command, without the settings of whoever runs the tests.
pub(crate) fn howdah() -> Command {
    let mut command = Command::new(HOWDAH);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("HOWDAH_")) {
        command.env_remove(name);
    }
    command
}

/// Starts the master and then a worker of these words, where the master is called `name`, and waits until both have met.
pub(crate) fn meet(master: &[String], worker: &[String], name: &str) {
    let folder = tempfile::tempdir().expect("make a folder");
    let here = folder.path().display().to_string();
    let port = master.iter().find_map(|word| word.strip_prefix("0.0.0.0:")).expect("the master's port").to_owned();
    let mine = |word: &String| match word.strip_prefix("0.0.0.0:") {
        Some(_) => "127.0.0.1:0".to_owned(),
        None => word.replace("/var/lib/howdah", &here),
    };
    let mut daemons = Daemons::default();
    let log = folder.path().join("master.log");
    daemons.start(&master.iter().map(mine).collect::<Vec<_>>(), &log);
    let access = folder.path().join("master/access.json");
    let access = wait_for("the master to listen", || std::fs::read_to_string(&access).ok());
    let access: serde_json::Value = serde_json::from_str(&access).expect("JSON");
    let address = access["master"].as_str().expect("an address");
    let theirs = |word: &String| if *word == format!("{name}:{port}") { address.to_owned() } else { mine(word) };
    let words: Vec<String> = worker.iter().map(theirs).collect();
    assert!(words.iter().any(|word| word == address), "the worker does not look for the master's port: {worker:?}");
    let log = folder.path().join("worker.log");
    daemons.start(&words, &log);
    let waited = howdah().args(["wait", "--workers", "1", "--timeout", "60s", "--master", address]).output();
    let waited = waited.expect("run howdah");
    let said = std::fs::read_to_string(&log).unwrap_or_default();
    assert!(waited.status.success(), "{}{said}", String::from_utf8_lossy(&waited.stderr));
}
