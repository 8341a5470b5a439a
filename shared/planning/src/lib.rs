//! What answers by simulating: orders and pools of a batch, tuned parameters, how far simulations are from measured
//! runs, workloads by name, traces cut down or scaled up.
//!
//! All of it runs the core's own replay, many times and on all cores ([`crew`]); none of it knows a daemon or a file, so
//! that the command, the master and the experiments use the same answers.

pub mod accuracy;
pub mod compare;
pub mod crew;
pub mod optimize;
pub mod phase;
pub mod prediction;
pub mod reshape;
pub mod similarity;
pub mod tune;
pub mod workloads;
