//! Traces made from traces: a larger input for every job, or fewer jobs of the same character.

pub mod fold;
pub mod scale;
