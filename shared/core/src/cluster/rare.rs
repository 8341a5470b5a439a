//! A value that is nearly always what it began as, in one word.
//!
//! Thousands of jobs wait at a time, and what all of them carry along decides how many of them a processor's cache
//! holds. What only jobs in trouble need is made when trouble comes.

/// The value, made when it is first changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rare<T>(Option<Box<T>>);

impl<T: Default> Rare<T> {
    /// The value, if it was ever changed.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        self.0.as_deref()
    }

    /// The value to change, if it ever was.
    #[inline]
    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }

    /// The value to change.
    pub(crate) fn make(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}
