//! Clears away output that lies elsewhere, again and again until it is gone.
//!
//! What is to be cleared away is [noted](Owed) first. What could not be, because a name node or a store is away, is looked at again
//! every half minute, from the next start on as well. Of what one server has, the first that it gives no answer to ends its turn, and
//! what was tried least is first: so a server that is away costs one wait a look, and an output that is refused for good holds up no
//! other. What was made anew meanwhile has another's mark, and stays.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::commit::{self, CommitError, Output, Owed};

/// Between two looks.
const EVERY: Duration = Duration::from_secs(30);

/// An output that could not be cleared away.
#[derive(Debug)]
struct Waiting {
    output: Output,
    n_tries: u64,
}

#[derive(Debug)]
struct Inner {
    owed: Owed,
    /// By server.
    waiting: Mutex<BTreeMap<String, Vec<Waiting>>>,
}

/// Shared by submissions and the threads that clear away. Its own thread ends with the last of it.
#[derive(Clone, Debug)]
pub(crate) struct Clearer {
    inner: Arc<Inner>,
    _alive: mpsc::Sender<()>,
}

impl Clearer {
    /// Goes on with what is noted, but for outputs of these: jobs that are not over have use for them.
    pub(crate) fn start(owed: Owed, live: &[Output]) -> Clearer {
        let inner = Arc::new(Inner { owed, waiting: Mutex::default() });
        inner.take_over(live);
        let (alive, ended) = mpsc::channel();
        let theirs = Arc::clone(&inner);
        let body = move || {
            theirs.look();
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(EVERY) {
                theirs.look();
            }
        };
        // Without a thread what is noted stays for the next start.
        drop(std::thread::Builder::new().name("clearer".to_owned()).spawn(body));
        Clearer { inner, _alive: alive }
    }

    /// Notes an output that is about to be made: it is nobody's until its job is.
    ///
    /// # Errors
    /// When the note cannot be written.
    pub(crate) fn hold(&self, output: &Output) -> std::io::Result<()> {
        self.inner.owed.note(output)
    }

    /// The output has a job now, or was not made.
    pub(crate) fn let_go(&self, output: &Output) {
        self.inner.owed.settle(output);
    }

    /// Clears away what is noted, by the next look.
    pub(crate) fn clear_later(&self, output: Output) {
        self.inner.put_back(Waiting { output, n_tries: 0 });
    }

    /// Clears away what is elsewhere, now or later.
    pub(crate) fn clear(&self, output: Output) {
        if let Err(error) = self.inner.owed.note(&output) {
            let output = output.directory().display();
            tracing::warn!(%output, %error, "cannot note an output that is to be cleared away");
        }
        self.inner.attempt(Waiting { output, n_tries: 0 });
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Vec<Waiting>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What earlier masters noted.
    fn take_over(&self, live: &[Output]) {
        let live: BTreeSet<&str> = live.iter().filter_map(Output::mark).collect();
        for output in self.owed.all() {
            if output.mark().is_some_and(|mark| live.contains(mark)) {
                self.owed.settle(&output);
            } else {
                self.put_back(Waiting { output, n_tries: 0 });
            }
        }
    }

    fn put_back(&self, waiting: Waiting) {
        let Some(server) = waiting.output.server().map(str::to_owned) else { return };
        self.lock().entry(server).or_default().push(waiting);
    }

    /// One try. Gives whether the next one at this server is worth it.
    fn attempt(&self, mut waiting: Waiting) -> bool {
        match commit::abort(&waiting.output, true) {
            Ok(()) => {
                self.owed.settle(&waiting.output);
                true
            }
            Err(error) => {
                if waiting.n_tries == 0 {
                    let output = waiting.output.directory().display();
                    tracing::warn!(%output, %error, "could not clear away an output that nobody has use for; tried again");
                }
                waiting.n_tries += 1;
                self.put_back(waiting);
                !CommitError::is_out_of_reach(&error)
            }
        }
    }

    /// Tries what waits, each server's on a thread of its own.
    fn look(&self) {
        let waiting = std::mem::take(&mut *self.lock());
        std::thread::scope(|scope| {
            for of_server in waiting.into_values() {
                scope.spawn(|| self.go_through(of_server));
            }
        });
    }

    fn go_through(&self, mut waiting: Vec<Waiting>) {
        waiting.sort_by_key(|waiting| waiting.n_tries);
        let mut waiting = waiting.into_iter();
        for next in waiting.by_ref() {
            if !self.attempt(next) {
                break;
            }
        }
        waiting.for_each(|waiting| self.put_back(waiting));
    }
}

#[cfg(test)]
mod tests {
    use howdah_core::job::OUTPUT_MARK;
    use howdah_webhdfs::fake::{FakeHdfs, Mood};

    use super::*;

    /// An output in this HDFS.
    fn output(hdfs: &FakeHdfs, name: &str, mark: &str) -> Output {
        let properties = [
            (howdah_webhdfs::MARK_PROPERTY, mark.to_owned()),
            (howdah_webhdfs::USER_PROPERTY, "ann".to_owned()),
            ("howdah.hdfs.http.hdfs://nn:8020", hdfs.address()),
        ];
        let properties = properties.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        Output::new(&format!("hdfs://nn:8020/{name}"), &properties)
    }

    fn inner(dir: &std::path::Path) -> Inner {
        Inner { owed: Owed::of(dir), waiting: Mutex::default() }
    }

    fn noted(dir: &std::path::Path) -> usize {
        Owed::of(dir).all().len()
    }

    #[test]
    fn what_a_name_node_that_is_away_keeps_is_cleared_away_after_the_next_start() {
        let (hdfs, dir) = (FakeHdfs::start(1), tempfile::tempdir().unwrap());
        let (mine, kept) = (output(&hdfs, "mine", "a"), output(&hdfs, "kept", "b"));
        for output in [&mine, &kept] {
            inner(dir.path()).owed.note(output).unwrap();
            commit::reserve(output, || Ok(())).unwrap();
        }
        hdfs.be(Mood::SafeMode);
        let first = inner(dir.path());
        first.take_over(std::slice::from_ref(&kept));
        assert_eq!(noted(dir.path()), 1, "an output of a job that is not over is none of these");
        first.look();
        first.look();
        assert!(hdfs.is_there(&format!("/mine/{OUTPUT_MARK}")) && noted(dir.path()) == 1);
        hdfs.be(Mood::Good);
        let second = inner(dir.path());
        second.take_over(&[]);
        second.look();
        assert!(!hdfs.is_there("/mine") && noted(dir.path()) == 0);
        assert!(hdfs.is_there(&format!("/kept/{OUTPUT_MARK}")));
        assert!(second.lock().is_empty());
    }

    #[test]
    fn an_output_that_was_made_anew_meanwhile_stays() {
        let (hdfs, dir) = (FakeHdfs::start(1), tempfile::tempdir().unwrap());
        let (old, new) = (output(&hdfs, "out", "old"), output(&hdfs, "out", "new"));
        commit::reserve(&new, || Ok(())).unwrap();
        let clearer = Clearer::start(Owed::of(dir.path()), &[]);
        clearer.clear(old);
        assert!(hdfs.is_there(&format!("/out/{OUTPUT_MARK}")) && noted(dir.path()) == 0);
        clearer.clear(new);
        assert!(!hdfs.is_there("/out"));
    }

    #[test]
    fn a_server_that_is_away_is_asked_for_one_output_a_look_and_for_each_in_turn() {
        let (hdfs, dir) = (FakeHdfs::start(1), tempfile::tempdir().unwrap());
        let outputs: Vec<Output> = ["a", "b", "c"].iter().map(|name| output(&hdfs, name, name)).collect();
        outputs.iter().for_each(|output| commit::reserve(output, || Ok(())).unwrap());
        let all = inner(dir.path());
        hdfs.be(Mood::SafeMode);
        outputs.into_iter().for_each(|output| all.put_back(Waiting { output, n_tries: 0 }));
        let tries = || {
            let mut tries: Vec<u64> = all.lock().values().flatten().map(|waiting| waiting.n_tries).collect();
            tries.sort_unstable();
            tries
        };
        for expected in [[0, 0, 1], [0, 1, 1], [1, 1, 1], [1, 1, 2]] {
            all.look();
            assert_eq!(tries(), expected);
        }
    }
}
