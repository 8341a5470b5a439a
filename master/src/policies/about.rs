//! What each policy is, in a few words, and the paper or the release of Hadoop that it is from: a table of 80 columns has
//! room for both, without what stands in brackets.

/// A policy's line and its source.
pub fn about(name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "balanced-pools" => ("a batch in pools that finish together", "Verma et al. 2013 (balanced-pools)"),
        "capacity" => ("queues with guaranteed capacities", "Hadoop 1.2.1 (CapacityTaskScheduler)"),
        "comp" => ("by size: queues by compared predictions", "Ghit and Epema 2015 (after COMP)"),
        "external" => ("your own program, in any language", "howdah"),
        "fair" => ("pools with weights, minimum shares, delays", "Hadoop 1.2.1 (FairScheduler)"),
        "fbq" => ("by size: feedback queues with time limits", "Ghit and Epema 2015"),
        "fifo" => ("by priority, then by time of submission", "Hadoop 0.20.2, 1.2.1 (JobQueueTaskScheduler)"),
        "johnson" => ("a batch in Johnson's order", "Verma et al. 2013 (balanced-pools)"),
        "load-aware" => ("fair, but spares workers that loads slow", "You 2010 (SAC 2011)"),
        "maxedf" => ("earliest deadline first, with all slots", "Verma et al. 2011 (SimMR)"),
        "minedf" => ("earliest deadline first, in fewest slots", "Verma et al. 2011 (SimMR)"),
        "naive-fair" => ("equal shares, no delays or preemption", "Wang et al. 2013"),
        "shortest" => ("the job with the fewest tasks left first", "howdah (the guide's example of a policy)"),
        "sita" => ("by size: a partition for each size class", "Ghit and Epema 2015"),
        "tags" => ("by size: killed at a limit, begun anew", "Ghit and Epema 2015"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_says_what_it_is_and_where_it_is_from() {
        for name in crate::policies::names() {
            let (what, source) = about(name).unwrap_or_else(|| panic!("{name}"));
            let source = source.split(" (").next().unwrap();
            assert!(name.len() <= 14 && what.len() <= 42 && source.len() <= 20, "{what}: {source}");
        }
        assert_eq!(about("fare"), None);
    }
}
