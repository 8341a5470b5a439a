//! Real clusters for experiments: `howdah` processes on a leash, driven through the command alone.

mod batch;
mod cluster;
mod cores;
mod heartbeat_times;
mod held_load;
mod program;
mod record;
mod speed;
mod steady;
mod study;
mod workload;
mod yardstick;

pub(crate) use batch::BatchRun;
pub(crate) use cluster::{Cluster, Policy, Shape};
pub(crate) use cores::columns;
pub(crate) use heartbeat_times::{HeartbeatTimer, HeartbeatTimes};
pub(crate) use held_load::HeldLoad;
pub(crate) use program::{Program, checked, described};
pub(crate) use record::{Recorded, record};
pub(crate) use speed::Pace;
pub(crate) use study::{LiveRun, Other, Study, fresh, held_ms, run_once};
pub(crate) use workload::{Submission, drive};
pub use yardstick::yardstick_ms;
pub(crate) use yardstick::{OFTEN, SELDOM, Yardstick};
