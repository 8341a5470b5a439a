//! What real and simulated clusters have in common: jobs, workers, schedulers and the two state machines.
//!
//! **Invariant: nothing here reads a clock, a file, a socket, a thread or a global random source, and no
//! hash-map order decides anything.** Time and inputs come in, effects go out; the daemons and the replay
//! engine are two drivers of the same objects. `clippy.toml` beside this crate enforces it.
//!
//! Module arrows (a ← b: b may use a): `job ← cluster ← models ← schedulers ← tracker ← replay`.

#![warn(missing_docs)]

#[cfg(test)]
extern crate self as howdah_core;

pub mod cluster;
pub mod job;
pub mod models;
pub mod replay;
pub mod schedulers;
pub mod time;
pub mod tracker;
