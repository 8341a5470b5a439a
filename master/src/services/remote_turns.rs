//! Who lists inputs of an HDFS or of buckets now: few jobs for each name node and for the store at a time, so that one that
//! hangs holds up nobody but the jobs that read from it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::commit::STORE;
use crate::name_nodes::NameNodes;

/// Jobs whose inputs are listed at a time, of each name node and of the store.
const AT_A_TIME: usize = 4;

/// A number of turns for each name node, and for the store.
#[derive(Debug)]
pub(crate) struct RemoteTurns(BTreeMap<String, Arc<Semaphore>>);

impl RemoteTurns {
    pub(crate) fn of(nodes: &NameNodes) -> RemoteTurns {
        RemoteTurns(
            nodes.servers().chain([STORE]).map(|name| (name.to_owned(), Arc::new(Semaphore::new(AT_A_TIME)))).collect(),
        )
    }

    /// Waits for a turn at each of these, in one order for all, so that nobody waits in a circle.
    pub(super) async fn take(&self, servers: BTreeSet<String>) -> Vec<OwnedSemaphorePermit> {
        let mut turns = Vec::new();
        for turn in servers.iter().filter_map(|server| self.0.get(server)) {
            // They are never closed.
            turns.extend(Arc::clone(turn).acquire_owned().await);
        }
        turns
    }
}
