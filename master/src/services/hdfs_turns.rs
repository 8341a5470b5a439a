//! Who lists inputs of an HDFS now: few jobs for each name node at a time, so that one that hangs holds up nobody but the
//! jobs that read from it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::name_nodes::NameNodes;

/// Jobs whose inputs are listed at a time, of each name node.
const AT_A_TIME: usize = 4;

/// A number of turns for each name node.
#[derive(Debug)]
pub(crate) struct HdfsTurns(BTreeMap<String, Arc<Semaphore>>);

impl HdfsTurns {
    pub(crate) fn of(nodes: &NameNodes) -> HdfsTurns {
        HdfsTurns(nodes.servers().map(|server| (server.to_owned(), Arc::new(Semaphore::new(AT_A_TIME)))).collect())
    }

    /// Waits for a turn at each of these servers, in one order for all, so that nobody waits in a circle.
    pub(super) async fn take(&self, servers: BTreeSet<String>) -> Vec<OwnedSemaphorePermit> {
        let mut turns = Vec::new();
        for turn in servers.iter().filter_map(|server| self.0.get(server)) {
            // They are never closed.
            turns.extend(Arc::clone(turn).acquire_owned().await);
        }
        turns
    }
}
