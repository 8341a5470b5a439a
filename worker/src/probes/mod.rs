//! Probes: commands of administrators that print the value of an attribute.
//!
//! Each runs in a task of its own, again and again, so that one that hangs delays nobody. The set of probes is the
//! configuration's and that of a file, which is looked at every two seconds and taken over when it has changed; one that
//! is invalid is reported once and the old probes stay. Source: load-aware §3.3.

mod board;
pub(crate) mod file;
#[cfg(test)]
mod fuzz;
mod run;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use howdah_proto::settled::Settled;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

use self::board::Board;
pub(crate) use self::board::ProbeSnapshot;
pub(crate) use self::file::Commands;
use self::file::{ProbesError, Source};
use self::run::{Run, Trouble};
use crate::config::WorkerConfig;
use crate::directory::Directory;
use crate::vitals::{OwnProcesses, VitalsCell};

/// Between two looks at the file.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Its name in the worker's directory, unless a setting names another one.
const FILE: &str = "probes.toml";

/// Words that nobody has listened to yet. A probe that finds no room waits with its word, and with its next run.
const WORDS: usize = 64;

/// A probe's word: its name, which of the probes of this name it was, and what it said.
type Word = (String, u64, Result<String, Trouble>);

/// All probes of a worker; they end when this is dropped.
#[derive(Debug)]
pub(crate) struct Probes {
    source: Source,
    dir: PathBuf,
    interval: Duration,
    limit: Duration,
    own: OwnProcesses,
    board: Board,
    running: BTreeMap<String, Probe>,
    started: u64,
    words: Sender<Word>,
    incoming: Receiver<Word>,
}

/// One that runs.
#[derive(Debug)]
struct Probe {
    command: String,
    number: u64,
    task: JoinHandle<()>,
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Probes {
    pub(crate) fn new(config: &WorkerConfig, directory: &Directory, own: OwnProcesses) -> Probes {
        let named = !config.probes_file.as_os_str().is_empty();
        let path = if named { config.probes_file.clone() } else { directory.root().join(FILE) };
        let (words, incoming) = channel(WORDS);
        let source = Source { fixed: config.attributes.clone(), commands: config.probes.clone(), path, named };
        Probes {
            board: Board::new(source.fixed.clone()),
            source,
            dir: directory.root().to_owned(),
            interval: Duration::from_millis(config.probe_interval_ms),
            limit: Duration::from_millis(config.probe_timeout_ms),
            own,
            running: BTreeMap::new(),
            started: 0,
            words,
            incoming,
        }
    }

    /// Starts the probes; what is known of the worker's attributes before the first has spoken.
    pub(crate) fn start(&mut self) -> ProbeSnapshot {
        let look = self.source.look();
        if look.is_err() {
            self.take_over(&self.source.commands.clone());
        }
        self.read(&look);
        self.board.snapshot()
    }

    /// The file has changed: its probes run from now on, or what is wrong with it is said and the old ones stay.
    fn read(&mut self, look: &Result<Commands, ProbesError>) {
        self.board.read(look.as_ref().err().map(ToString::to_string));
        match look {
            Ok(commands) => self.take_over(commands),
            Err(error) => {
                let path = self.source.path().display();
                tracing::error!(%path, %error, "the probes' file is invalid; it changes nothing");
            }
        }
    }

    /// Hands every change to `changed`, also of what is wrong with the script that `vitals` come from; does not end.
    pub(crate) async fn run<T: Future<Output = ()>>(
        mut self,
        mut snapshot: ProbeSnapshot,
        vitals: VitalsCell,
        changed: impl Fn(ProbeSnapshot) -> T,
    ) {
        let mut file = Settled::new(self.source.look());
        let mut looks = tokio::time::interval(LOOK_EVERY);
        loop {
            tokio::select! {
                // We hold a sender ourselves.
                Some((name, number, word)) = self.incoming.recv() => {
                    // One that was replaced or removed may have spoken before it was stopped.
                    if self.running.get(&name).is_some_and(|probe| probe.number == number) {
                        self.board.say(&name, word);
                    }
                }
                _ = looks.tick() => {
                    if let Some(look) = file.look(self.source.look()).cloned() {
                        self.read(&look);
                    }
                    self.board.script(vitals.get().script_trouble);
                }
            }
            let now = self.board.snapshot();
            if now != snapshot {
                snapshot = now;
                changed(snapshot.clone()).await;
            }
        }
    }

    /// Goes on with these probes; one whose command is the same is not disturbed.
    fn take_over(&mut self, commands: &Commands) {
        let gone: Vec<String> = self.running.keys().filter(|&name| !commands.contains_key(name)).cloned().collect();
        for name in gone {
            self.running.remove(&name);
            self.board.remove(&name);
        }
        for (name, command) in commands {
            if self.running.get(name).is_some_and(|probe| probe.command == *command) {
                continue;
            }
            self.started += 1;
            self.board.add(name);
            let number = self.started;
            let (words, name, command) = (self.words.clone(), name.clone(), command.clone());
            let of = name.clone();
            let say = move |word| {
                let (words, of) = (words.clone(), of.clone());
                async move { drop(words.send((of, number, word)).await) }
            };
            let start = starter(command.clone(), self.dir.clone(), self.own.clone());
            let task = tokio::spawn(repeat(start, self.interval, self.limit, say));
            self.running.insert(name, Probe { command, number, task });
        }
    }
}

/// Starts a command in a directory, each time it is called.
fn starter(command: String, dir: PathBuf, own: OwnProcesses) -> impl Fn() -> Result<Run, Trouble> {
    move || Run::start(&command, &dir, &own)
}

/// Runs a command for ever, a new run an interval after the start of the last one, or when that has ended if it took longer.
async fn repeat<T: Future<Output = ()>>(
    start: impl Fn() -> Result<Run, Trouble>,
    interval: Duration,
    limit: Duration,
    say: impl Fn(Result<String, Trouble>) -> T,
) {
    let mut beat = tokio::time::interval(interval);
    beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        beat.tick().await;
        match start() {
            Ok(mut run) => {
                say(run.value(limit).await).await;
                run.gone().await;
            }
            Err(trouble) => say(Err(trouble)).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_probe_that_nobody_listens_to_waits_and_does_not_run() {
        let (words, mut incoming) = channel(2);
        let runs = std::sync::Arc::new(AtomicUsize::new(0));
        let ran = runs.clone();
        let start = move || {
            let n = ran.fetch_add(1, Ordering::SeqCst);
            Err(Trouble::Start(io::Error::other(n.to_string())))
        };
        let say = move |word: Result<String, Trouble>| {
            let words = words.clone();
            async move { drop(words.send(word.expect_err("it never starts").to_string()).await) }
        };
        let task = tokio::spawn(repeat(start, Duration::from_millis(1), Duration::from_secs(1), say));
        while runs.load(Ordering::SeqCst) < 3 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        for n in 0..30 {
            // Many times as long as it takes to run again.
            tokio::time::sleep(Duration::from_millis(10)).await;
            assert_eq!(runs.load(Ordering::SeqCst), n + 3, "two words are kept, and it waits with the third");
            assert_eq!(incoming.recv().await, Some(format!("cannot be started: {n}")));
            while runs.load(Ordering::SeqCst) < n + 4 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        task.abort();
    }
}
