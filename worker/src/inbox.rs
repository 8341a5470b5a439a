//! The driver's inbox, which has room for so many events and no more.
//!
//! Whoever has something to say when it is full waits until the driver has listened: keepers with their attempts, calls to the
//! master with their answers, probes with their next runs, and the service manager's watchdog, which so learns that the driver
//! stands still. **Invariant: the driver itself says nothing to it, so it is never the one who waits.**

use howdah_guards::Guard;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// More than all attempts of a large machine have to say at once: each has few words under way (`process::Gate`).
const ROOM: usize = 4_096;

/// To put events into it.
#[derive(Debug)]
pub(crate) struct Inbox<E>(Sender<E>);

impl<E> Clone for Inbox<E> {
    fn clone(&self) -> Inbox<E> {
        Inbox(self.0.clone())
    }
}

/// An empty one, and where the driver listens.
pub(crate) fn inbox<E>() -> (Inbox<E>, Receiver<E>) {
    // What the gate keeps out would otherwise wait here, and a test could not see what it is for.
    let room = if Guard::Gate.stands() { ROOM } else { Semaphore::MAX_PERMITS };
    let (send, receive) = channel(room);
    (Inbox(send), receive)
}

impl<E> Inbox<E> {
    /// Waits for room; false when nobody listens any more.
    pub(crate) async fn tell(&self, event: E) -> bool {
        self.0.send(event).await.is_ok()
    }

    /// The same from a thread of its own.
    pub(crate) fn tell_blocking(&self, event: E) -> bool {
        self.0.blocking_send(event).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn who_has_more_to_say_than_there_is_room_for_waits_and_goes_on_when_somebody_listens() {
        let (inbox, mut events) = inbox();
        let told = Arc::new(AtomicUsize::new(0));
        let talker = |n: usize| {
            let (inbox, told) = (inbox.clone(), told.clone());
            std::thread::spawn(move || {
                for word in 0..n {
                    assert!(inbox.tell_blocking(word));
                    told.fetch_add(1, Ordering::SeqCst);
                }
            })
        };
        let talkers = [talker(ROOM), talker(ROOM), talker(10)];
        while told.load(Ordering::SeqCst) < ROOM {
            std::thread::yield_now();
        }
        assert_eq!(events.len(), ROOM);
        // Nothing is lost, and of each talker in its order.
        let mut heard = 0;
        while heard < 2 * ROOM + 10 {
            events.blocking_recv().expect("they talk");
            heard += 1;
            assert!(told.load(Ordering::SeqCst) <= heard + ROOM, "more were taken than there is room for");
        }
        talkers.into_iter().for_each(|talker| talker.join().unwrap());
        assert!(events.is_empty());
        drop(events);
        assert!(!inbox.tell_blocking(0), "nobody waits for one who has gone");
    }

    #[tokio::test]
    async fn a_call_whose_answer_finds_no_room_waits_with_it_alone() {
        let (inbox, mut events) = inbox();
        for word in 0..ROOM {
            assert!(inbox.tell(word).await);
        }
        let late = tokio::spawn({
            let inbox = inbox.clone();
            async move { inbox.tell(ROOM).await }
        });
        tokio::task::yield_now().await;
        assert!(!late.is_finished());
        for word in 0..=ROOM {
            assert_eq!(events.recv().await, Some(word));
        }
        assert!(late.await.unwrap());
    }
}
