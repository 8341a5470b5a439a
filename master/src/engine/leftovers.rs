//! Output that could not be cleared away at once, and is tried again.
//!
//! A file that somebody still has open on a network file system keeps its folder from going (`.nfs…`), and a server may be
//! away for a while. No job waits for that: what is left is tried again, less and less often, and then said to be left. What
//! is still to be tried when the master stops stays where it is.

use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use super::Clearing;
use crate::commit::{self, Output, Rest};

/// From one try to the next.
const WAITS: [Duration; 6] = [
    Duration::from_secs(2),
    Duration::from_secs(10),
    Duration::from_secs(60),
    Duration::from_secs(10 * 60),
    Duration::from_secs(60 * 60),
    Duration::from_secs(6 * 60 * 60),
];
/// Folders that are remembered at a time; of more it is said at once that they are left.
const REMEMBERED: usize = 1_000;
/// Longest sleep; nothing depends on it.
const LONG: Duration = Duration::from_secs(3_600);

/// An output of which something is left.
#[derive(Clone, Debug)]
pub(super) struct Left {
    pub(super) job: String,
    pub(super) output: Output,
    pub(super) rest: Rest,
    /// Whether the directory was made for the job and is to go, too.
    pub(super) created: bool,
}

/// Hands what is left to the thread behind it, which ends when all of these are gone.
#[derive(Clone, Debug)]
pub(super) struct Leftovers(Sender<Left>);

impl Leftovers {
    pub(super) fn start(clearing: Clearing) -> Leftovers {
        let (send, receive) = crossbeam_channel::bounded(REMEMBERED);
        let body = move || again_and_again(&receive, &WAITS, |left| clear(&clearing, left));
        let thread = std::thread::Builder::new().name("leftovers".to_owned()).spawn(body);
        thread.expect("the system starts threads");
        Leftovers(send)
    }

    pub(super) fn keep(&self, left: Left) {
        if let Err(error) = self.0.try_send(left) {
            give_up(&error.into_inner());
        }
    }
}

fn clear(clearing: &Clearing, left: &Left) -> bool {
    clearing.begin(left.output.directory());
    let cleared = commit::clear_rest(&left.output, left.rest, left.created);
    clearing.end(left.output.directory());
    let output = left.output.directory().display();
    match cleared {
        Ok(()) => tracing::info!(job = left.job, %output, "what was left of a job's private output is gone"),
        Err(ref error) => tracing::debug!(job = left.job, %output, %error, "private output is still left"),
    }
    cleared.is_ok()
}

fn give_up(left: &Left) {
    let output = left.output.directory().display();
    tracing::warn!(job = left.job, %output, "a job's private output is left in `_temporary`; remove it by hand");
}

/// Tries each until `clear` says that it is gone.
fn again_and_again(received: &Receiver<Left>, waits: &[Duration], clear: impl Fn(&Left) -> bool) {
    let mut waiting: Vec<(Instant, usize, Left)> = Vec::new();
    loop {
        let next = waiting.iter().map(|(due, ..)| *due).min();
        let wait = next.map_or(LONG, |due| due.saturating_duration_since(Instant::now()));
        match received.recv_timeout(wait) {
            Ok(left) if waiting.len() >= REMEMBERED => give_up(&left),
            Ok(left) => waiting.push((Instant::now() + waits[0], 0, left)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let now = Instant::now();
        let (due, later) = std::mem::take(&mut waiting).into_iter().partition(|(due, ..)| *due <= now);
        waiting = later;
        for (_, tries, left) in due {
            if clear(&left) {
                continue;
            }
            match waits.get(tries + 1) {
                Some(&wait) => waiting.push((Instant::now() + wait, tries + 1, left)),
                None => give_up(&left),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_is_left_is_tried_until_it_is_gone_or_the_last_wait_is_over() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("_temporary")).unwrap();
        let output = Output::new(dir.path().to_str().unwrap(), &BTreeMap::new());
        let rest = output.rest().unwrap();
        let left = |job: &str| Left { job: job.to_owned(), output: output.clone(), rest, created: true };
        let (send, receive) = crossbeam_channel::bounded(REMEMBERED);
        let tried = RefCell::new(Vec::new());
        send.send(left("stubborn")).unwrap();
        send.send(left("third")).unwrap();
        let send = RefCell::new(Some(send));
        again_and_again(&receive, &[Duration::ZERO; 4], |left| {
            let mut tried = tried.borrow_mut();
            tried.push(left.job.clone());
            let times = tried.iter().filter(|job| **job == left.job).count();
            let over = |job: &str, n: usize| tried.iter().filter(|other| *other == job).count() >= n;
            // The thread ends when nobody hands it anything any more.
            if over("stubborn", 4) && over("third", 3) {
                send.borrow_mut().take();
            }
            left.job == "third" && times == 3
        });
        let times = |job: &str| tried.borrow().iter().filter(|other| *other == job).count();
        assert_eq!((times("stubborn"), times("third")), (4, 3));
    }
}
