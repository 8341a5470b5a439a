//! Which of two masters of one cluster has taken over from the other.
//!
//! A directory can be copied and a master started on each copy: both say they are the cluster. Who has met one of them goes by
//! this order, and so all who met the same ones obey the same one. Ids name the minute in which a cluster began, which others may
//! share; so each cluster has a number of its own as well, drawn at random, which its copies have with it.

use std::cmp::Ordering;

use crate::v1::MasterStart;

impl MasterStart {
    /// Whether another start is the newer one; of another cluster's neither is.
    pub fn is_older_than(&self, other: &MasterStart) -> bool {
        let order = (self.epoch, self.began_us).cmp(&(other.epoch, other.began_us));
        self.is_of_one_cluster_with(other) && order == Ordering::Less
    }

    /// Whether both are starts of one cluster. One that says no nonce is of a cluster, or comes from a version, that has none.
    pub fn is_of_one_cluster_with(&self, other: &MasterStart) -> bool {
        let differs = self.nonce != other.nonce && self.nonce != 0 && other.nonce != 0;
        self.cluster_id == other.cluster_id && !differs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(cluster_id: u64, epoch: u32, began_us: u64, nonce: u64) -> MasterStart {
        MasterStart { cluster_id, epoch, began_us, nonce }
    }

    #[test]
    fn the_larger_epoch_is_the_newer_and_of_one_epoch_the_later_start() {
        let older = |one: MasterStart, other: MasterStart| one.is_older_than(&other);
        assert!(older(start(1, 1, 9, 5), start(1, 2, 3, 5)), "a clock that was set back changes nothing");
        assert!(older(start(1, 2, 3, 5), start(1, 2, 4, 5)));
        for newer in [start(1, 2, 3, 5), start(1, 1, 9, 5), start(2, 9, 9, 5)] {
            assert!(!older(start(1, 2, 3, 5), newer), "{newer:?}");
        }
    }

    #[test]
    fn of_two_clusters_that_began_in_the_same_minute_neither_is_older_unless_one_has_no_nonce() {
        for (own, others, is_one) in [(5, 6, false), (5, 5, true), (5, 0, true), (0, 6, true), (0, 0, true)] {
            let (own, other) = (start(1, 1, 1, own), start(1, 2, 2, others));
            assert_eq!(own.is_of_one_cluster_with(&other), is_one, "{own:?} {other:?}");
            assert_eq!((own.is_older_than(&other), other.is_older_than(&own)), (is_one, false));
        }
    }
}
