//! No bytes that people, peers or disks give make us panic: files, messages, journals.
//!
//! PROPTEST_CASES sets how many there are; each test says how many readings it made. `cargo xtask soak fuzz` runs them for
//! long.

mod files;
mod journal;
mod kept;
mod wire;
