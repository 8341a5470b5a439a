//! Waiting for a condition, with a bound that is reached only when something hangs.

use std::io::Read;
use std::process::{Child, Output};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// For a process that has been told to end, or is about to.
const TO_END: Duration = Duration::from_secs(180);

/// Waits until `done` returns something; panics with `what` when it does not within `patience`.
#[track_caller]
pub(crate) fn wait_within<T>(patience: Duration, what: &str, mut done: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = done() {
            return found;
        }
        assert!(started.elapsed() < patience, "waited {} s in vain for {what}", patience.as_secs());
        std::thread::sleep(PAUSE);
    }
}

/// How a child ended, and what it said where its output is piped. One that does not end in time is killed, and `what` is
/// named.
#[track_caller]
pub(crate) fn ended_within(child: &mut Child, what: &str) -> Output {
    let started = Instant::now();
    // Whoever fills a pipe that nobody reads never ends.
    let (stdout, stderr) = (read_all(child.stdout.take()), read_all(child.stderr.take()));
    let status = loop {
        if let Some(status) = child.try_wait().unwrap_or_else(|error| panic!("look at {what}: {error}")) {
            break status;
        }
        if started.elapsed() > TO_END {
            // That it has just ended is as bad.
            let _ = child.kill();
            panic!("waited {} s in vain for {what} to end", TO_END.as_secs());
        }
        std::thread::sleep(PAUSE);
    };
    let [stdout, stderr] = [stdout, stderr].map(|said| {
        // What it started may hold the other end.
        said.recv_timeout(TO_END).unwrap_or_else(|_| panic!("{what} ended, and its output does not"))
    });
    Output { status, stdout, stderr }
}

/// All that comes through a pipe, once it is closed; nothing where there is none.
fn read_all(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error counts.
            let _ = pipe.read_to_end(&mut all);
        }
        let _ = send.send(all);
    });
    receive
}
