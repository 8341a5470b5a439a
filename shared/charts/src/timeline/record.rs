//! Keeps every attempt of a replay, for a timeline or a log.

use std::cell::RefCell;
use std::rc::Rc;

use howdah_core::replay::{AttemptRecord, Observer};

/// The observer. Clones share what they have seen: one goes to the simulation, the other is asked at the end.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    seen: Rc<RefCell<Vec<AttemptRecord>>>,
}

impl Observer for Recorder {
    fn attempt(&mut self, record: &AttemptRecord) {
        self.seen.borrow_mut().push(*record);
    }
}

impl Recorder {
    /// All attempts so far, in the order of their ends; none are kept.
    pub fn take(&self) -> Vec<AttemptRecord> {
        self.seen.take()
    }
}
