//! Policies: which job's task runs next, on which worker.
//!
//! A policy sees the cluster, is notified of changes, and is asked once per *round*: one worker's turn, with its
//! free map and reduce slots. Hadoop's rules (one off-rack map, map and reduce in turn, padding) are per
//! round, so a policy that saw single slots could not express them. Waits, preemption and demotion come as
//! the policy's own deadlines and [`Actions`].
//!
//! A policy composes from three parts: an order of jobs, a [`TaskChoice`] within a job, and [`Speculation`]; the
//! latter two come together as an [`Offer`]. A new policy is one file, mostly a [`JobOrder`] for [`Ordered`], and one
//! line in [`registry`]. **No policy sees who drives it, and none may let
//! the order of a hash map decide.**

mod actions;
mod balanced_pools;
mod capabilities;
mod capacity;
mod change;
pub mod fair;
mod fifo;
pub mod hadoop_xml;
mod job_queue;
mod johnson;
pub mod mapred_site;
mod max_edf;
mod min_edf;
pub mod nearest;
mod numbers;
mod offer;
mod ordered;
mod params;
mod per_job;
mod queues;
mod reason;
pub mod registry;
mod scheduler;
mod shortest;
pub mod size_based;
mod speculation;
mod task_choice;
mod unmet;
mod waiting;

pub(crate) use actions::Action;
pub use actions::Actions;
pub use balanced_pools::BalancedPools;
pub use capabilities::Capabilities;
pub use capacity::Capacity;
pub use change::{Assignment, Change, Round};
pub use fifo::Fifo;
pub use job_queue::JobQueue;
pub use johnson::Johnson;
pub use max_edf::MaxEdf;
pub use min_edf::MinEdf;
pub use offer::Offer;
pub use ordered::{JobOrder, Ordered};
pub use params::SchedulerError;
pub use per_job::PerJob;
pub use queues::{Partition, QueueView, Queues};
pub use reason::Reason;
pub use registry::{by_name, names, orders_by_deadline};
pub use scheduler::Scheduler;
pub use shortest::Shortest;
pub use speculation::{NoSpeculation, Speculation, SpeculationRule, speculation_rule};
pub use task_choice::{Choice, Decline, NearestFirst, TaskChoice};
pub use unmet::{Missing, Unmet};
pub use waiting::Waiting;
