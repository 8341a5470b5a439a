//! Ctrl-C and a request to terminate, as a flag that long computations look at.
//!
//! The first signal only sets the flag: whoever computes stops at the next good moment and says what it has. The
//! second ends the process at once.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{SignalKind, signal};

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// Listens as long as it lives.
pub(crate) struct Interrupt {
    flag: Arc<AtomicBool>,
    _runtime: tokio::runtime::Runtime,
}

impl Interrupt {
    /// Takes the signals over.
    pub(crate) fn listen() -> Outcome<Interrupt> {
        let flag = Arc::new(AtomicBool::new(false));
        let failed = |error: std::io::Error| Failure::broke(format!("listen for signals: {error}"));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(failed)?;
        let (mut interrupt, mut terminate) = {
            let _inside = runtime.enter();
            (signal(SignalKind::interrupt()).map_err(failed)?, signal(SignalKind::terminate()).map_err(failed)?)
        };
        let seen = Arc::clone(&flag);
        runtime.spawn(async move {
            loop {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                if seen.swap(true, Ordering::Relaxed) {
                    std::process::exit(Exit::Interrupted as i32);
                }
            }
        });
        Ok(Interrupt { flag, _runtime: runtime })
    }

    /// One to which a signal has come already.
    #[cfg(test)]
    pub(crate) fn raised() -> Interrupt {
        let interrupt = Interrupt::listen().expect("signals can be listened to");
        interrupt.flag.store(true, Ordering::Relaxed);
        interrupt
    }

    /// Whether a signal has come.
    pub(crate) fn came(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Passes everything on to `out` until a signal comes; then nothing more can be written.
    pub(crate) fn guard<'a>(&'a self, out: &'a mut dyn Write) -> impl Write + 'a {
        Guard { interrupt: self, out }
    }
}

struct Guard<'a> {
    interrupt: &'a Interrupt,
    out: &'a mut dyn Write,
}

impl Write for Guard<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Not `ErrorKind::Interrupted`: writers try again after that one.
        if self.interrupt.came() { Err(io::Error::other("interrupted")) } else { self.out.write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_signal_nothing_more_is_written() {
        let mut out = Vec::new();
        Interrupt::listen().expect("listens").guard(&mut out).write_all(b"before").expect("no signal came");
        Interrupt::raised().guard(&mut out).write_all(b"after").expect_err("a signal came");
        assert_eq!(out, b"before");
    }
}
