//! The JSON that programs read: the shapes that `--output json` prints and the master's `/api/v1` answers with.
//!
//! One set of types, so that both say the same. They are made of the wire's messages, are written in one way only (nothing
//! here is read back), and describe themselves: `/api/v1/openapi.json` is made from them. What people read of the same
//! values is the command's.

mod attempt;
mod cluster;
mod filter;
mod forecast;
mod job;
mod listing;
pub mod properties;
mod scheduler;
#[cfg(test)]
mod tests;
mod worker;

pub use attempt::{Attempt, Attempts};
pub use cluster::{Cluster, Note, SpeculationPolicy};
pub use filter::{JobFilter, STATES, page_from_the_end};
pub use forecast::{Ended, ForecastView, JobView, Made, Prediction, StartView};
pub use job::{Job, Jobs, Listed, OneJob, Predicted, Speculation};
pub use listing::{CounterMap, Listing, Shape, counter_map, given, reached, span_s};
pub use scheduler::{Scheduler, Switch};
pub use worker::{Details, PastVitals, Prefetch, Vitals, Worker, Workers};
