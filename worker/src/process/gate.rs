//! Lets a few of a process's words into the driver's inbox at a time.
//!
//! An attempt that talks faster than its worker listens waits here with its keeper, and then at its socket, in the place of its
//! worker's memory, and leaves the others their room in the inbox.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use howdah_guards::Guard;

/// Words of one process that the driver may not have taken yet.
const MOST: usize = 16;

/// Of one process.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    inside: Mutex<usize>,
    left: Condvar,
}

/// Goes with one word; whoever has dealt with the word drops it.
#[derive(Debug)]
pub(crate) struct Pass(Arc<Gate>);

impl Gate {
    /// Waits for room.
    pub(crate) fn enter(self: &Arc<Gate>) -> Pass {
        let inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |inside: &mut usize| *inside >= MOST && Guard::Gate.stands();
        let mut inside = self.left.wait_while(inside, is_full).unwrap_or_else(PoisonError::into_inner);
        *inside += 1;
        Pass(self.clone())
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut inside = self.0.inside.lock().unwrap_or_else(PoisonError::into_inner);
        // A call into the kernel, so only where somebody may wait.
        if *inside >= MOST {
            self.0.left.notify_one();
        }
        *inside -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_process_that_nobody_listens_to_waits_and_goes_on_when_somebody_does() {
        let gate = Arc::new(Gate::default());
        let (send, receive) = mpsc::channel();
        let talker = std::thread::spawn(move || (0..3 * MOST).for_each(|_| send.send(gate.enter()).unwrap()));
        let held: Vec<Pass> = (0..MOST).map(|_| receive.recv().unwrap()).collect();
        assert!(receive.try_recv().is_err(), "there is no room");
        drop(held);
        assert_eq!(receive.iter().count(), 2 * MOST);
        talker.join().unwrap();
    }
}
