//! Whether workers get to each other: each of them tries some of the others now and then.
//!
//! The master's own look at a worker goes another way. A packet filter between two workers is seen by them alone, and
//! without this it would be found by the first job whose reduces cannot fetch. What is found counts as such a reduce's word
//! does: it takes two workers to say that a third one cannot be reached. A word counts only when the worker reaches the next
//! one that it tries: two that cannot get out would have all others set aside.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use howdah_core::job::WorkerId;
use howdah_core::models::Random;
use howdah_core::time::Time;
use howdah_core::tracker::WorkerState;
use howdah_proto::v1::look::At;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

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

/// How far on in the list of `n` workers the one is that each of them tries in a round: each is tried by one other, and after
/// `n - 1` rounds by all.
///
/// Each `n - 1` rounds go through the distances in an order of their own. In a fixed one, two workers beside each other that
/// cannot be reached would never be found: whoever has tried one tries the other next.
fn distance(n: usize, round: usize) -> Option<usize> {
    let others = n.checked_sub(1).filter(|&others| others > 0)?;
    let mut distances: Vec<usize> = (1..n).collect();
    Random::new((round / others) as u64, 0).shuffle(&mut distances);
    Some(distances[round % others])
}

/// How tries ended, by the name of who tried.
#[derive(Debug, Default)]
struct Tries(BTreeMap<Arc<str>, OfOne>);

#[derive(Debug, Default)]
struct OfOne {
    /// Whether the others were reached at the last try.
    last: BTreeMap<Arc<str>, bool>,
    /// Those that were not since one was.
    since: Vec<Unreached>,
}

/// What a try shows.
#[derive(Debug, Default)]
struct Shown {
    /// The last try ended otherwise; a first one should have ended well.
    is_news: bool,
    /// The word that counts now.
    counts: Option<Unreached>,
}

impl Tries {
    /// Forgets whoever is not there any more.
    fn keep(&mut self, peers: &[Peer]) {
        let names: BTreeSet<&str> = peers.iter().map(|peer| &*peer.name).collect();
        self.0.retain(|by, _| names.contains(&**by));
        self.0.values_mut().for_each(|one| one.last.retain(|of, _| names.contains(&**of)));
    }

    /// Takes one more. What was not reached counts when the very next one is reached: until then it may be the one that tries
    /// that gets nowhere.
    fn note(&mut self, by: &Arc<str>, of: &Arc<str>, unreached: Option<Unreached>) -> Shown {
        let one = self.0.entry(by.clone()).or_default();
        let is_reached = unreached.is_none();
        let is_news = one.last.insert(of.clone(), is_reached).unwrap_or(true) != is_reached;
        one.since.extend(unreached);
        let waiting = if is_reached { std::mem::take(&mut one.since) } else { Vec::new() };
        let counts = if waiting.len() == 1 { waiting.into_iter().next() } else { None };
        Shown { is_news, counts }
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
        let Some(distance) = distance(peers.len(), round) else { continue };
        let mut tries = JoinSet::new();
        for (index, by) in peers.iter().enumerate() {
            let (looks, by, of) = (looks.clone(), by.clone(), peers[(index + distance) % peers.len()].clone());
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
            let is_reached = problem.is_empty();
            let unreached = || Unreached {
                of: of.worker,
                incarnation: of.incarnation,
                by: by.worker,
                asked,
                problem: problem.clone(),
            };
            let shown = ended.note(&by.name, &of.name, (!is_reached).then(unreached));
            match (shown.is_news, is_reached) {
                (false, _) => {}
                (true, true) => tracing::info!(from, to, "a worker reaches another one again"),
                (true, false) => tracing::warn!(from, to, problem, "a worker does not reach another one"),
            }
            if let Some(unreached) = shown.counts
                && core.send(Message::Unreached(unreached)).await.is_err()
            {
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
            for round in 7 * (n - 1)..8 * (n - 1) {
                let far = distance(n, round).unwrap();
                let pairs = (0..n).map(|index| ((index + far) % n, index));
                let pairs: Vec<(usize, usize)> = pairs.collect();
                assert!(pairs.iter().all(|(of, by)| of != by), "{n} {pairs:?}");
                assert_eq!(pairs.iter().map(|(of, _)| of).collect::<BTreeSet<_>>().len(), n);
                tried.extend(pairs);
            }
            assert_eq!(tried.len(), n * (n - 1));
        }
        assert_eq!((distance(0, 3), distance(1, 3)), (None, None));
    }

    /// For which of `n` workers two others' words count within ten minutes, if nobody reaches the `bad` ones.
    fn found(n: usize, bad: &[usize]) -> Vec<usize> {
        let name = |index: usize| -> Arc<str> { Arc::from(index.to_string()) };
        let asked = Time::from_ms(0);
        let (mut tries, mut words) = (Tries::default(), BTreeMap::<usize, BTreeSet<usize>>::new());
        for round in 0..60 {
            let far = distance(n, round).unwrap();
            for by in 0..n {
                let of = (by + far) % n;
                let (of_worker, by_worker) = (WorkerId(of as u32), WorkerId(by as u32));
                let problem = String::new();
                let word = Unreached { of: of_worker, incarnation: 1, by: by_worker, asked, problem };
                let counts = tries.note(&name(by), &name(of), bad.contains(&of).then_some(word)).counts;
                words.entry(counts.map_or(usize::MAX, |word| word.of.0 as usize)).or_default().insert(by);
            }
        }
        words.remove(&usize::MAX);
        words.into_iter().filter(|(_, by)| by.len() >= 2).map(|(of, _)| of).collect()
    }

    #[test]
    fn workers_that_cannot_be_reached_are_found_wherever_they_stand_in_the_order_of_tries() {
        for n in [4, 5, 6, 10, 30] {
            for first in 0..n {
                for second in (0..n).filter(|&second| second != first) {
                    let mut bad = [first, second];
                    bad.sort_unstable();
                    assert_eq!(found(n, &bad), bad, "of {n}");
                }
            }
        }
        assert_eq!(found(30, &[4, 5, 6, 7, 8]), [4, 5, 6, 7, 8]);
    }

    #[test]
    fn a_worker_that_gets_nowhere_accuses_nobody_and_one_that_gets_to_the_next_does() {
        let name = |name: &str| -> Arc<str> { Arc::from(name) };
        let asked = Time::from_ms(0);
        let unreached = |of: u32| {
            Some(Unreached { of: WorkerId(of), incarnation: 1, by: WorkerId(0), asked, problem: String::new() })
        };
        let mut tries = Tries::default();
        let mut counts = |of: u32, is_reached: bool| {
            let word = unreached(of).filter(|_| !is_reached);
            tries.note(&name("a"), &name(&of.to_string()), word).counts.map(|word| word.of.0)
        };
        let mut all = |outcomes: &[(u32, bool)]| -> Vec<u32> {
            outcomes.iter().filter_map(|&(of, is_reached)| counts(of, is_reached)).collect()
        };
        assert!(all(&[(1, true), (2, true), (3, true)]).is_empty());
        // Its network goes, and comes back.
        assert!(all(&[(1, false), (2, false), (3, false), (1, true)]).is_empty());
        // One of the others is away.
        assert_eq!(all(&[(2, false), (3, true), (1, true), (2, false), (3, true)]), [2, 2]);
        let is_news = |tries: &mut Tries, word| tries.note(&name("b"), &name("1"), word).is_news;
        let mut tries = Tries::default();
        let words = [None, unreached(1), unreached(1), None];
        assert_eq!(words.map(|word| is_news(&mut tries, word)), [false, true, false, true]);
        let peer = |label: &str| Peer { worker: WorkerId(0), incarnation: 0, name: name(label), address: name("") };
        tries.keep(&[peer("a")]);
        assert!(tries.0.is_empty());
    }
}
