//! What workers look at for the master: their own machine, the other workers, shared folders.
//!
//! A worker sees what the master cannot: whether it gets to another worker, and whether a folder is mounted where it runs.
//! What it is to look at goes with the answer to its next heartbeat, and it says what it saw as soon as it knows. No decision
//! hangs on that, and what gets lost is not asked again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use howdah_core::job::{WorkerId, limits};
use howdah_proto::v1;
use howdah_proto::v1::look::At;
use tokio::sync::oneshot;

/// That one answer carries at most.
const IN_ONE_ANSWER: usize = 64;
/// What a worker may say of one look.
const SAID_BYTES: usize = 1_024;

/// What is out, by worker and number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Looks(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    last: u64,
    out: BTreeMap<(WorkerId, u64), Out>,
}

#[derive(Debug)]
struct Out {
    /// `None` once the worker was told.
    at: Option<At>,
    reply: oneshot::Sender<v1::SawRequest>,
}

/// Takes a look back when nobody waits for it any more.
struct Waiting<'a> {
    looks: &'a Looks,
    key: (WorkerId, u64),
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.looks.table().out.remove(&self.key);
    }
}

impl Looks {
    /// Has a worker look at something, and waits for what it saw; `None` where it does not say.
    pub(crate) async fn ask(&self, worker: WorkerId, at: At, patience: Duration) -> Option<v1::SawRequest> {
        let (reply, answer) = oneshot::channel();
        let key = {
            let mut table = self.table();
            table.last += 1;
            let key = (worker, table.last);
            table.out.insert(key, Out { at: Some(at), reply });
            key
        };
        let _waiting = Waiting { looks: self, key };
        tokio::time::timeout(patience, answer).await.ok()?.ok()
    }

    /// What goes with the answer to a worker's heartbeat.
    pub(crate) fn take(&self, worker: WorkerId) -> Vec<v1::Look> {
        let mut table = self.table();
        let its = table.out.range_mut((worker, 0)..=(worker, u64::MAX));
        let untold = its.filter_map(|(&(_, number), out)| Some(v1::Look { number, at: Some(out.at.take()?) }));
        untold.take(IN_ONE_ANSWER).collect()
    }

    /// A worker says what it saw; what it was not asked for is nothing.
    pub(crate) fn saw(&self, mut saw: v1::SawRequest) {
        let name = saw.user.as_mut().map(|user| &mut user.name);
        for text in [&mut saw.found, &mut saw.problem].into_iter().chain(name) {
            *text = limits::without_middle(std::mem::take(text), SAID_BYTES);
        }
        let found = self.table().out.remove(&(WorkerId(saw.worker), saw.number));
        if let Some(out) = found {
            // Whoever asked may have given up.
            let _ = out.reply.send(saw);
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    fn at(name: &str) -> At {
        At::Reach(name.to_owned())
    }

    #[tokio::test]
    async fn a_worker_is_told_once_and_its_answer_reaches_who_asked() {
        let looks = Looks::default();
        let asked = [(1, "a:1"), (2, "b:1"), (1, "c:1")].map(|(worker, to)| {
            let looks = looks.clone();
            tokio::spawn(async move { looks.ask(WorkerId(worker), at(to), PATIENCE).await })
        });
        while looks.table().out.len() < 3 {
            tokio::task::yield_now().await;
        }
        let told = looks.take(WorkerId(1));
        assert_eq!(told.iter().map(|look| look.at.clone().unwrap()).collect::<Vec<_>>(), [at("a:1"), at("c:1")]);
        assert!(looks.take(WorkerId(1)).is_empty() && looks.take(WorkerId(3)).is_empty());
        let saw = |worker, number, problem: &str| v1::SawRequest {
            worker,
            number,
            problem: problem.to_owned(),
            ..Default::default()
        };
        // Neither another worker's number nor one that was never given answers anybody.
        looks.saw(saw(2, told[0].number, "wrong"));
        looks.saw(saw(1, 77, "wrong"));
        looks.saw(saw(1, told[1].number, "second"));
        looks.saw(saw(1, told[0].number, "first"));
        looks.saw(saw(2, looks.take(WorkerId(2))[0].number, "other"));
        for (asked, problem) in asked.into_iter().zip(["first", "other", "second"]) {
            assert_eq!(asked.await.unwrap().unwrap().problem, problem);
        }
        assert!(looks.table().out.is_empty());
    }

    #[tokio::test]
    async fn who_does_not_answer_in_time_is_forgotten() {
        let looks = Looks::default();
        assert_eq!(looks.ask(WorkerId(1), at("a:1"), Duration::from_millis(1)).await, None);
        assert!(looks.table().out.is_empty() && looks.take(WorkerId(1)).is_empty());
    }

    #[tokio::test]
    async fn one_answer_carries_a_bounded_number_and_the_next_one_the_rest() {
        let looks = Looks::default();
        let asked: Vec<_> = (0..IN_ONE_ANSWER + 1)
            .map(|_| {
                let looks = looks.clone();
                tokio::spawn(async move { looks.ask(WorkerId(1), at("a:1"), PATIENCE).await })
            })
            .collect();
        while looks.table().out.len() < asked.len() {
            tokio::task::yield_now().await;
        }
        assert_eq!(looks.take(WorkerId(1)).len(), IN_ONE_ANSWER);
        assert_eq!(looks.take(WorkerId(1)).len(), 1);
        asked.into_iter().for_each(|asked| asked.abort());
    }
}
