//! The papers' workloads, tables and figures: data made from documented distributions, and pure functions over it.
//!
//! Nothing here starts a cluster; what needs one gets the path of the `howdah` executable handed in.

pub mod phase;
pub mod reshape;
pub mod similarity;
pub mod workloads;
