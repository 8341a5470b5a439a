//! Queues in JSON.

use howdah_proto::v1::QueueInfo;
use serde::Serialize;

/// A queue as programs see it.
#[derive(Debug, Serialize)]
pub(crate) struct Queue {
    pub(crate) name: String,
    pub(crate) waiting_jobs: u32,
    pub(crate) running_jobs: u32,
    /// Only of schedulers with queues or pools of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) share: Option<Share>,
}

/// What such a queue has, wants and is due, in slots.
#[derive(Debug, Serialize)]
pub(crate) struct Share {
    pub(crate) running_maps: u32,
    pub(crate) running_reduces: u32,
    pub(crate) demand_maps: u32,
    pub(crate) demand_reduces: u32,
    pub(crate) share_maps: f64,
    pub(crate) share_reduces: f64,
    pub(crate) weight: f64,
}

impl From<&QueueInfo> for Queue {
    fn from(q: &QueueInfo) -> Queue {
        let share = q.share.map(|s| Share {
            running_maps: s.running_maps,
            running_reduces: s.running_reduces,
            demand_maps: s.demand_maps,
            demand_reduces: s.demand_reduces,
            share_maps: s.share_maps,
            share_reduces: s.share_reduces,
            weight: s.weight,
        });
        Queue { name: q.name.clone(), waiting_jobs: q.waiting_jobs, running_jobs: q.running_jobs, share }
    }
}

#[cfg(test)]
mod tests {
    use howdah_json::Listing;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_queue_of_a_scheduler_without_shares_has_none() {
        let queue = QueueInfo { name: "default".to_owned(), waiting_jobs: 1, running_jobs: 2, share: None };
        insta::assert_json_snapshot!("queues", Listing::new("queues", json!({ "queues": [Queue::from(&queue)] })));
    }
}
