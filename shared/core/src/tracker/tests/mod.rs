//! Tests that look at both state machines at once.

mod fast_paths;
mod swarm;
