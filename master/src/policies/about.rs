//! What each policy is, in a line, and the paper or the release of Hadoop that it is from.

/// A policy's line and its source.
pub fn about(name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "balanced-pools" => ("a batch in pools that finish together", "balanced-pools, Verma et al. 2013"),
        "capacity" => ("queues with guaranteed capacities; limits for users", "Hadoop 1.2.1 (CapacityTaskScheduler)"),
        "comp" => ("by size: queues by a comparison of predicted sizes", "Ghit and Epema 2015, after COMP"),
        "external" => ("your own program, in any language", "howdah"),
        "fair" => {
            ("pools with weights and minimum shares; delay scheduling; preemption", "Hadoop 1.2.1 (FairScheduler)")
        }
        "fbq" => ("by size: feedback between queues with time limits", "Ghit and Epema 2015"),
        "fifo" => ("by priority, then by time of submission", "Hadoop 0.20.2 and 1.2.1 (JobQueueTaskScheduler)"),
        "johnson" => ("a batch in Johnson's order", "balanced-pools, Verma et al. 2013"),
        "load-aware" => ("fair, but no attempt where loads say that it would not help", "You 2010 (SAC 2011)"),
        "maxedf" => ("earliest deadline first, with all slots that a job can use", "SimMR, Verma et al. 2011"),
        "minedf" => ("earliest deadline first, with the fewest slots that meet it", "SimMR, Verma et al. 2011"),
        "naive-fair" => ("equal shares without delays or preemption", "Wang et al. 2013"),
        "shortest" => ("the job with the fewest tasks left first", "howdah: the guide's example of a policy"),
        "sita" => ("by size: one partition for each class of predicted sizes", "Ghit and Epema 2015"),
        "tags" => ("by size: killed at a time limit, begun again in the next partition", "Ghit and Epema 2015"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_says_what_it_is_and_where_it_is_from() {
        for name in crate::policies::names() {
            assert!(about(name).is_some(), "{name}");
        }
        assert_eq!(about("fare"), None);
    }
}
