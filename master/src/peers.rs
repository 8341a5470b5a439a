//! Whether workers get to each other: each of them tries some of the others now and then.
//!
//! The master's own look at a worker goes another way. A packet filter between two workers is seen by them alone, and
//! without this it would be found by the first job whose reduces cannot fetch. What is found counts as such a reduce's word
//! does: it takes two workers to say that a third one cannot be reached.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use howdah_core::job::WorkerId;
use howdah_core::time::Time;
use howdah_core::tracker::WorkerState;
use howdah_proto::v1::look::At;
use tokio::task::JoinSet;

use crate::engine::{CoreHandle, Message, Unreached, View};
use crate::looks::Looks;

/// Until a worker says what it saw: its next heartbeat, two tries, and some more.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A worker that is there.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) worker: WorkerId,
    pub(crate) incarnation: u64,
    pub(crate) name: Arc<str>,
    pub(crate) address: Arc<str>,
}

impl Peer {
    /// All that send heartbeats.
    pub(crate) fn list(view: &View<'_>) -> Vec<Peer> {
        let rows = view.tables.workers.iter().enumerate();
        let there = rows.filter(|(_, row)| row.state != WorkerState::Lost && !row.presence.is_silent());
        there
            .map(|(number, row)| Peer {
                worker: WorkerId(number as u32),
                incarnation: row.incarnation,
                name: Arc::clone(&row.name),
                address: Arc::clone(&row.http_address),
            })
            .collect()
    }
}

/// Which of `n` workers the one at `index` tries in a round: each is tried by one other, and after `n - 1` rounds by all.
fn turn(n: usize, index: usize, round: usize) -> Option<usize> {
    let others = n.checked_sub(1).filter(|&others| others > 0)?;
    Some((index + 1 + round % others) % n)
}

/// Has workers try each other, again and again. Ends with the core.
pub(crate) async fn watch(core: CoreHandle, looks: Looks, every: Duration) {
    let mut bad = BTreeSet::new();
    for round in 0.. {
        tokio::time::sleep(every).await;
        let Ok(peers) = core.ask(Peer::list).await else { return };
        let mut tries = JoinSet::new();
        for (index, by) in peers.iter().enumerate() {
            let Some(other) = turn(peers.len(), index, round) else { continue };
            let (looks, by, of) = (looks.clone(), by.clone(), peers[other].clone());
            let asked = Time::from_ms(crate::clock::now_ms_epoch());
            tries.spawn(async move {
                let saw = looks.ask(by.worker, At::Reach(of.address.to_string()), PATIENCE).await;
                (by, of, asked, saw)
            });
        }
        while let Some(tried) = tries.join_next().await {
            // One that did not say anything is older, or gone.
            let Ok((by, of, asked, Some(saw))) = tried else { continue };
            let (from, to, problem) = (&*by.name, &*of.name, saw.problem);
            let pair = (by.name.clone(), of.name.clone());
            if problem.is_empty() {
                if bad.remove(&pair) {
                    tracing::info!(from, to, "a worker reaches another one again");
                }
                continue;
            }
            if bad.insert(pair) {
                tracing::warn!(from, to, problem, "a worker does not reach another one");
            }
            let unreached = Unreached { of: of.worker, incarnation: of.incarnation, by: by.worker, asked };
            if core.send(Message::Unreached(unreached)).await.is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_tried_by_one_other_in_a_round_and_by_all_others_in_the_end() {
        for n in [2, 3, 5, 30] {
            let mut tried = BTreeSet::new();
            for round in 7..7 + n - 1 {
                let pairs = (0..n).map(|index| (turn(n, index, round).unwrap(), index));
                let pairs: Vec<(usize, usize)> = pairs.collect();
                assert!(pairs.iter().all(|(of, by)| of != by), "{n} {pairs:?}");
                assert_eq!(pairs.iter().map(|(of, _)| of).collect::<BTreeSet<_>>().len(), n);
                tried.extend(pairs);
            }
            assert_eq!(tried.len(), n * (n - 1));
        }
        assert_eq!((turn(0, 0, 3), turn(1, 0, 3)), (None, None));
    }
}
