//! A lab of machines: network namespaces with addresses, names, mounts and a sixth place to submit from.
//!
//! `cargo xtask lab`, or `cargo test --package howdah --test lab -- --ignored --test-threads=1 [NAME]`. The tests need
//! `ip` and `unshare` and the right to make namespaces, which root has, and most systems give to every user. Where
//! that is missing they say so and end well, unless `CI=true`.

#[path = "../pages/blocks.rs"]
mod blocks;
mod client;
mod clocks;
mod days;
#[path = "../disks/mod.rs"]
mod disks;
mod faults;
mod greed;
mod guide;
mod inside;
mod kit;
mod machines;
mod mixed;
mod moving;
mod names;
mod network;
mod network_files;
mod network_share;
#[path = "../permitted/mod.rs"]
mod permitted;
mod reach;
mod share;
mod silent_shares;
mod upgrade;
#[path = "../waiting/mod.rs"]
mod waiting;

use std::time::Duration;

use waiting::wait_within;

/// Long enough for a slow machine; reached only when something hangs.
const PATIENCE: Duration = Duration::from_secs(90);

/// Waits until `done` returns something; panics with `what` when it does not within [`PATIENCE`].
#[track_caller]
fn wait_for<T>(what: &str, done: impl FnMut() -> Option<T>) -> T {
    wait_within(PATIENCE, what, done)
}
