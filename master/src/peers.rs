//! Whether workers get to each other: each of them tries some of the others now and then.
//!
//! The master's own look at a worker goes another way. A packet filter between two workers is seen by them alone, and
//! without this it would be found by the first job whose reduces cannot fetch. What is found counts as such a reduce's word
//! does: it takes two workers to say that a third one cannot be reached. The word of a worker that does not get to most of
//! those that it has tried says more of itself than of them, and does not count: two that cannot get out, or one half of a
//! cluster that is cut in two, would have all others set aside.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use howdah_core::job::{WorkerId, limits};
use howdah_core::time::Time;
use howdah_core::tracker::WorkerState;
use howdah_proto::v1::look::At;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::engine::{CoreHandle, Message, Unreached, View};
use crate::looks::Looks;

/// Until a worker says what it saw: its next heartbeat, two tries, and some more.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// What a worker may say of a try.
const PROBLEM_BYTES: usize = 1_024;

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

/// How the tries ended that the workers of today made last, by the names of who tried whom.
#[derive(Debug, Default)]
struct Tries(BTreeMap<Arc<str>, BTreeMap<Arc<str>, bool>>);

/// What a try shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shows {
    /// `again`: at the last try it was not.
    Reached { again: bool },
    /// `first`: at the last try it was, or there was none.
    Unreached { first: bool, counts: bool },
}

impl Tries {
    /// Forgets whoever is not there any more.
    fn keep(&mut self, peers: &[Peer]) {
        let names: BTreeSet<&str> = peers.iter().map(|peer| &*peer.name).collect();
        self.0.retain(|by, _| names.contains(&**by));
        self.0.values_mut().for_each(|tried| tried.retain(|of, _| names.contains(&**of)));
    }

    /// Takes one more. A word counts where at least half of those that were tried were reached.
    fn note(&mut self, by: &Arc<str>, of: &Arc<str>, is_reached: bool) -> Shows {
        let tried = self.0.entry(by.clone()).or_default();
        let before = tried.insert(of.clone(), is_reached);
        if is_reached {
            return Shows::Reached { again: before == Some(false) };
        }
        let n_reached = tried.values().filter(|&&is_reached| is_reached).count();
        Shows::Unreached { first: before != Some(false), counts: 2 * n_reached >= tried.len() }
    }
}

/// Has workers try each other, again and again. Ends with the core.
pub(crate) async fn watch(core: CoreHandle, looks: Looks, every: Duration) {
    let mut ended = Tries::default();
    let mut beats = tokio::time::interval(every);
    // A round waits for its slowest answer; the next one does not make up for that.
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beats.tick().await;
    for round in 0.. {
        beats.tick().await;
        let Ok(peers) = core.ask(Peer::list).await else { return };
        ended.keep(&peers);
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
            let (from, to) = (&*by.name, &*of.name);
            let problem = limits::without_middle(saw.problem, PROBLEM_BYTES);
            match ended.note(&by.name, &of.name, problem.is_empty()) {
                Shows::Reached { again: false } => {}
                Shows::Reached { again: true } => tracing::info!(from, to, "a worker reaches another one again"),
                Shows::Unreached { first, counts } => {
                    if first {
                        tracing::warn!(from, to, problem, counts, "a worker does not reach another one");
                    }
                    let unreached = Unreached { of: of.worker, incarnation: of.incarnation, by: by.worker, asked };
                    if counts && core.send(Message::Unreached(unreached)).await.is_err() {
                        return;
                    }
                }
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

    #[test]
    fn a_worker_that_gets_nowhere_accuses_nobody_and_one_that_gets_to_half_does() {
        let name = |name: &str| -> Arc<str> { Arc::from(name) };
        let mut tries = Tries::default();
        let counts = |tries: &mut Tries, by: &str, of: &str| match tries.note(&name(by), &name(of), false) {
            Shows::Unreached { counts, .. } => counts,
            shown => panic!("{shown:?}"),
        };
        // Its network is gone: all others look so.
        assert!(!["b", "c", "d", "b"].iter().any(|of| counts(&mut tries, "a", of)));
        // It gets to its own half of a cluster that is cut in two.
        tries.note(&name("b"), &name("a"), true);
        assert!(counts(&mut tries, "b", "c") && !counts(&mut tries, "b", "d"));
        // One of three others is away.
        assert_eq!(tries.note(&name("b"), &name("c"), true), Shows::Reached { again: true });
        assert!(counts(&mut tries, "b", "d"));
        let peer = |label: &str| Peer { worker: WorkerId(0), incarnation: 0, name: name(label), address: name("") };
        tries.keep(&[peer("a"), peer("b")]);
        assert_eq!(tries.0.values().map(BTreeMap::len).collect::<Vec<_>>(), [1, 1]);
    }
}
