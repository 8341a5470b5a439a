//! Which of two masters of one cluster has taken over from the other.
//!
//! A directory can be copied and a master started on each copy: both say they are the cluster. Who has met one of them goes by
//! this order, and so all who met the same ones obey the same one.

use std::cmp::Ordering;

use crate::v1::MasterStart;

impl MasterStart {
    /// Whether another start is the newer one; of another cluster's neither is.
    pub fn is_older_than(&self, other: &MasterStart) -> bool {
        let order = (self.epoch, self.began_us).cmp(&(other.epoch, other.began_us));
        self.cluster_id == other.cluster_id && order == Ordering::Less
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_epoch_is_the_newer_and_of_one_epoch_the_later_start() {
        let start = |cluster_id, epoch, began_us| MasterStart { cluster_id, epoch, began_us };
        assert!(start(1, 1, 9).is_older_than(&start(1, 2, 3)), "a clock that was set back changes nothing");
        assert!(start(1, 2, 3).is_older_than(&start(1, 2, 4)));
        for newer in [start(1, 2, 3), start(1, 1, 9), start(2, 9, 9)] {
            assert!(!start(1, 2, 3).is_older_than(&newer), "{newer:?}");
        }
    }
}
