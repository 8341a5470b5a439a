//! Tests that look at both state machines at once.

mod swarm;
