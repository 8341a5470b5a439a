//! Tests that look at both state machines at once.

mod fast_paths;
mod snapshot;
mod swarm;
