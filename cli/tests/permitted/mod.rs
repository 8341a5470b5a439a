//! What tests want and this machine, or this user's rights, do not permit.
//!
//! Such a test says so in a line and ends. The test runner shows nothing of a test that ends well, so `cargo xtask` names a
//! file that collects the lines and prints them at its end. A machine that builds for others (`CI`) must permit everything.

use std::fs::OpenOptions;
use std::io::Write;

/// The file's path.
const VARIABLE: &str = "HOWDAH_TEST_NOT_PERMITTED";

/// Says what is not tested, why, and how to get it. Panics where nothing may be missing.
#[track_caller]
pub(crate) fn not_tested(what: &str) {
    assert!(std::env::var_os("CI").is_none(), "not tested here: {what}");
    eprintln!("not tested here: {what}");
    if let Some(path) = std::env::var_os(VARIABLE) {
        let file = OpenOptions::new().append(true).create(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(format!("{what}\n").as_bytes()));
        written.unwrap_or_else(|error| panic!("{VARIABLE}={}: {error}", path.display()));
    }
}
