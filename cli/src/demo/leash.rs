//! Work on a thread of its own that ends before what it writes to is removed.
//!
//! Whoever waits for blocking work may be dropped (Ctrl-C) while the work goes on: a directory that is removed then would be
//! half there again. So the one who waits tells it to stop and stays until it has.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use crate::failure::{Failure, Outcome};

/// Whether the work is to stop.
#[derive(Clone, Debug, Default)]
pub(super) struct Leash(Arc<AtomicBool>);

impl Leash {
    /// Whether nobody waits any more.
    pub(super) fn is_let_go(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Passes everything on to `out` while someone waits; then nothing more can be written.
    pub(super) fn guard<W: Write>(&self, out: W) -> Guarded<W> {
        Guarded { leash: self.clone(), out }
    }
}

/// What it writes.
#[derive(Debug)]
pub(super) struct Guarded<W> {
    leash: Leash,
    out: W,
}

impl<W: Write> Write for Guarded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Not `ErrorKind::Interrupted`: writers try again after that one.
        if self.leash.is_let_go() { Err(io::Error::other("interrupted")) } else { self.out.write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Stops the work and waits for its end when it is dropped.
struct Held {
    leash: Leash,
    ended: mpsc::Receiver<()>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.leash.0.store(true, Ordering::Relaxed);
        // The other end goes with the work, however it ends.
        let _ = self.ended.recv();
    }
}

/// Runs blocking work. Dropped before its end, it returns when the work has stopped.
pub(super) async fn run<T: Send + 'static>(
    what: &str,
    work: impl FnOnce(&Leash) -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    let leash = Leash::default();
    let (works, ended) = mpsc::channel::<()>();
    let held = Held { leash: leash.clone(), ended };
    let done = tokio::task::spawn_blocking(move || {
        let _works = works;
        work(&leash)
    });
    let done = done.await;
    drop(held);
    done.map_err(|error| Failure::broke(format!("{what}: {error}")))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_nobody_waits_for_has_ended_when_the_waiting_has() {
        let ends = Arc::new(AtomicBool::new(false));
        let (seen, (begun, begins)) = (ends.clone(), tokio::sync::oneshot::channel());
        let work = run("write", move |leash| {
            let mut out = leash.guard(io::sink());
            begun.send(()).expect("somebody listens");
            while out.write(b"more").is_ok() {
                std::thread::yield_now();
            }
            seen.store(true, Ordering::Relaxed);
            Ok(())
        });
        tokio::select! {
            biased;
            done = work => panic!("it only ends when it is told to: {done:?}"),
            _ = begins => {}
        }
        assert!(ends.load(Ordering::Relaxed), "it went on");
    }
}
