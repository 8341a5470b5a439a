//! What waits for the builds of another step: cargo builds one thing at a time in a target directory, and the step whose tests come
//! from a build is to have it first.

use std::sync::{Condvar, Mutex, PoisonError};

/// Open while nobody is about to build.
#[derive(Default)]
pub(crate) struct Gate {
    building: Mutex<usize>,
    changed: Condvar,
}

impl Gate {
    fn change(&self, change: impl FnOnce(&mut usize)) {
        change(&mut self.building.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }

    /// Returns once it is open.
    pub(crate) fn wait(&self) {
        let building = self.building.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(building, |building| *building > 0).unwrap_or_else(PoisonError::into_inner));
    }
}

/// Keeps a gate closed until its owner has built, or has gone.
pub(crate) struct Builder<'a>(&'a Gate, bool);

impl<'a> Builder<'a> {
    pub(crate) fn of(gate: &'a Gate) -> Builder<'a> {
        gate.change(|building| *building += 1);
        Builder(gate, true)
    }

    /// One more at the same gate.
    pub(crate) fn another(&self) -> Builder<'a> {
        Builder::of(self.0)
    }

    /// The first time counts.
    pub(crate) fn has_built(&mut self) {
        if std::mem::take(&mut self.1) {
            self.0.change(|building| *building -= 1);
        }
    }
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        self.has_built();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_when_the_last_has_built_or_gone() {
        let gate = Gate::default();
        gate.wait();
        let mut first = Builder::of(&gate);
        let second = first.another();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| gate.wait());
            first.has_built();
            first.has_built();
            drop(first);
            assert!(!waiting.is_finished(), "one of two has built");
            drop(second);
            waiting.join().expect("it opens");
        });
    }
}
