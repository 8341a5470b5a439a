//! The order of keys on their way to a reduce: that of their bytes, or one that the application brings.
//!
//! Sort, merges and groups ask here, so that they cannot disagree. Keys that a comparator takes for equal make one group;
//! among themselves they come in the order of their bytes, so that what a reducer sees depends on nothing else.

use std::cmp::Ordering;
use std::rc::Rc;

use super::context::Context;
use super::error::{Result, TaskError};
use super::properties::Properties;

/// Orders keys. It must be a total order of some property of the keys: equal for two keys that are equal to a third.
pub trait KeyComparator {
    /// How `a` compares with `b`.
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering;
}

impl<F: Fn(&[u8], &[u8]) -> Ordering> KeyComparator for F {
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self(a, b)
    }
}

pub(crate) type MakeComparator = Box<dyn Fn(&Properties) -> Result<Box<dyn KeyComparator>>>;

/// A job's order of keys.
#[derive(Clone, Default)]
pub(crate) struct KeyOrder(Option<Rc<dyn KeyComparator>>);

impl KeyOrder {
    /// The order that an application asks for.
    pub(crate) fn new(make: Option<&MakeComparator>, context: &Context) -> Result<KeyOrder, TaskError> {
        let Some(make) = make else { return Ok(KeyOrder::default()) };
        let comparator = make(context.properties())
            .map_err(|source| TaskError::Program { place: "the key comparator's setup".to_owned(), source })?;
        Ok(KeyOrder(Some(comparator.into())))
    }

    /// Whether keys come in the order of their bytes.
    #[inline]
    pub(crate) fn is_of_bytes(&self) -> bool {
        self.0.is_none()
    }

    /// The order of two keys; equal only if their bytes are.
    #[inline]
    pub(crate) fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match &self.0 {
            None => a.cmp(b),
            Some(comparator) => comparator.compare(a, b).then_with(|| a.cmp(b)),
        }
    }

    /// Whether two keys belong to one group.
    #[inline]
    pub(crate) fn is_same_group(&self, a: &[u8], b: &[u8]) -> bool {
        a == b || self.0.as_ref().is_some_and(|comparator| comparator.compare(a, b) == Ordering::Equal)
    }

    /// A number that orders as keys do where it differs: their first eight bytes, shorter keys as if zeros followed.
    #[inline]
    pub(crate) fn prefix(&self, key: &[u8]) -> u64 {
        if self.0.is_some() { 0 } else { leading(key) }
    }
}

/// The first eight bytes as a number that orders as they do, shorter ones as if zeros followed.
#[inline]
pub(crate) fn leading(bytes: &[u8]) -> u64 {
    match bytes.first_chunk::<8>() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let mut first = [0; 8];
            first[..bytes.len()].copy_from_slice(bytes);
            u64::from_be_bytes(first)
        }
    }
}
