//! What Fair keeps of one live job.

use super::limits::Place;
use super::pools::{JobRank, PoolId};
use super::wait::Wait;
use crate::job::PerKind;

/// One live job.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) pool: PoolId,
    pub(super) place: Place,
    pub(super) may_run: bool,
    pub(super) boosted: bool,
    /// Running attempts.
    pub(super) running: PerKind<u32>,
    /// What it wants now, and what it wanted at the last update.
    pub(super) wants: PerKind<u32>,
    pub(super) demand: PerKind<u32>,
    /// Whether it is in the list of those that want something else than at the last update.
    pub(super) stale: bool,
    /// Its place among its pool's jobs that wait.
    pub(super) rank: PerKind<Option<JobRank>>,
    pub(super) wait: Wait,
}
