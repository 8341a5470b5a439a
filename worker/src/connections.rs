//! The connections to the worker's HTTP server: a part of the files that it may have open, so that attempts have the others.

use std::sync::Arc;

use howdah_proto::connections::{Book, descriptors};

/// One descriptor of so many may be a connection: each that is answered has a file as well, and each attempt some more.
const SHARE: u64 = 4;
/// Reduces fetch from a worker a few connections at a time.
const LEAST: u64 = 32;

pub(crate) fn book() -> Arc<Book> {
    Book::new((descriptors() / SHARE).max(LEAST), 0, |_| ())
}
