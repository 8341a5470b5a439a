//! Which histories are to be written, and which of them are at the thread that writes them.
//!
//! A list of numbers: a job that is over stays in the tables until its history is on disk, and what the thread gets of it is
//! made when it has room. **Invariants: the core's thread never waits for the disk. At most [`AT_A_TIME`] jobs are handed
//! over, and none while those have [`ATTEMPTS_AT_A_TIME`] attempts.** How many jobs may wait in the tables is bounded where
//! jobs come from (`services/submit.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::{Duration, Instant};

use howdah_core::job::JobId;

use super::historian::HistoryWork;
use crate::tables::{JobRow, Tables};

/// Jobs that are handed over at a time: while one is written the next ones are there.
pub(super) const AT_A_TIME: usize = 16;
/// With so many attempts the jobs that are handed over are enough.
const ATTEMPTS_AT_A_TIME: usize = 50_000;
/// What may lie in the channel: jobs to write, and jobs that leave the memory.
pub(super) const ROOM: usize = 2 * AT_A_TIME;
/// Between two tries to write a history.
const RETRY: Duration = Duration::from_secs(2);

/// A job that is being written.
#[derive(Debug)]
struct Handed {
    attempts: usize,
    /// It changed meanwhile.
    stale: bool,
}

/// See the module's documentation.
pub(super) struct Histories {
    work: SyncSender<HistoryWork>,
    waiting: BTreeSet<JobId>,
    handed: BTreeMap<JobId, Handed>,
    /// Could not be written.
    failed: BTreeSet<JobId>,
    /// Could not be written and have not been since, whatever became of them meanwhile.
    in_trouble: BTreeSet<JobId>,
    retry: Option<Instant>,
}

impl Histories {
    pub(super) fn new(work: SyncSender<HistoryWork>) -> Histories {
        Histories {
            work,
            waiting: BTreeSet::new(),
            handed: BTreeMap::new(),
            failed: BTreeSet::new(),
            in_trouble: BTreeSet::new(),
            retry: None,
        }
    }

    /// A job is over, or something of it changed afterwards.
    pub(super) fn changed(&mut self, job: JobId) {
        match self.handed.get_mut(&job) {
            Some(handed) => handed.stale = true,
            None if self.failed.contains(&job) => {}
            None => drop(self.waiting.insert(job)),
        }
    }

    /// A job's history was written, or not; true when it says all that is known of the job.
    pub(super) fn over(&mut self, job: JobId, is_written: bool, now: Instant) -> bool {
        let Some(handed) = self.handed.remove(&job) else { return false };
        if !is_written {
            self.failed.insert(job);
            self.in_trouble.insert(job);
            self.retry.get_or_insert(now + RETRY);
            return false;
        }
        self.in_trouble.remove(&job);
        if handed.stale {
            self.waiting.insert(job);
        }
        !handed.stale
    }

    /// Hands over what there is room for.
    pub(super) fn hand_over(&mut self, tables: &Tables, now: Instant) {
        if self.retry.is_some_and(|at| at <= now) {
            self.retry = None;
            self.waiting.append(&mut self.failed);
        }
        let mut attempts: usize = self.handed.values().map(|handed| handed.attempts).sum();
        while self.handed.len() < AT_A_TIME && attempts < ATTEMPTS_AT_A_TIME {
            let Some(job) = self.waiting.pop_first() else { return };
            let Some(row) = tables.jobs.get(&job) else {
                self.in_trouble.remove(&job);
                continue;
            };
            let snapshot = Box::new(row.snapshot(tables.cluster));
            let handed = Handed { attempts: snapshot.attempts.len(), stale: false };
            if self.work.try_send(HistoryWork::Write(snapshot)).is_err() {
                self.waiting.insert(job);
                return;
            }
            attempts += handed.attempts;
            self.handed.insert(job, handed);
        }
    }

    /// Has the thread let go of jobs.
    pub(super) fn let_go(&self, rows: Vec<JobRow>) {
        if rows.is_empty() {
            return;
        }
        match self.work.try_send(HistoryWork::LetGo(rows)) {
            Ok(()) => {}
            Err(TrySendError::Full(rows) | TrySendError::Disconnected(rows)) => drop(rows),
        }
    }

    /// Whether all is on disk.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.handed.is_empty() && self.failed.is_empty()
    }

    /// Whether some could not be written, so that who waits for all to be on disk may wait for ever.
    pub(super) fn is_in_trouble(&self) -> bool {
        !self.in_trouble.is_empty()
    }

    /// The master stops: hands over all that is left, once, and waits for room where there is none.
    pub(super) fn finish(self, tables: &Tables) {
        let stale = self.handed.into_iter().filter(|(_, handed)| handed.stale).map(|(job, _)| job);
        for job in self.waiting.into_iter().chain(self.failed).chain(stale) {
            let Some(row) = tables.jobs.get(&job) else { continue };
            if self.work.send(HistoryWork::Write(Box::new(row.snapshot(tables.cluster)))).is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{self, Receiver};

    use howdah_core::job::{ClusterId, JobSpec, JobState};
    use howdah_core::time::Time;
    use howdah_core::tracker::Effect;

    use super::*;
    use crate::config::Limits;
    use crate::tables::JobMeta;
    use crate::testing::sleep_job;

    fn tables(n: u32) -> Tables {
        let mut tables = Tables::new(ClusterId(1), &Limits::default());
        for number in 1..=n {
            let id = JobId(number);
            let file = sleep_job(ClusterId(1).job(id), JobSpec { n_maps: 3, ..JobSpec::default() });
            let meta = JobMeta::new(id, file, false);
            tables.submit(id, JobRow::new(meta, Time::from_ms(1)));
            tables.observe(&Effect::JobState { job: id, state: JobState::Succeeded }, Time::from_ms(2));
        }
        tables
    }

    fn handed(work: &Receiver<HistoryWork>) -> Vec<u32> {
        let job = |work| match work {
            HistoryWork::Write(snapshot) => snapshot.meta.id.0,
            HistoryWork::LetGo(_) => panic!("no job leaves"),
        };
        work.try_iter().map(job).collect()
    }

    #[test]
    fn a_disk_that_hangs_holds_few_jobs_however_many_are_over_and_each_is_written_in_its_turn() {
        let tables = tables(1_000);
        let (send, work) = mpsc::sync_channel(ROOM);
        let mut histories = Histories::new(send);
        let now = Instant::now();
        for _ in 0..10 {
            tables.jobs.keys().for_each(|&job| histories.changed(job));
            histories.hand_over(&tables, now);
        }
        let mut at_the_disk = handed(&work);
        assert_eq!(at_the_disk, (1..=AT_A_TIME as u32).collect::<Vec<_>>());
        let mut written = Vec::new();
        while let Some(job) = at_the_disk.pop() {
            // The first ones were named again while they were handed over, so they come a second time.
            if histories.over(JobId(job), true, now) {
                written.push(job);
            }
            histories.hand_over(&tables, now);
            at_the_disk.extend(handed(&work));
            assert!(at_the_disk.len() <= AT_A_TIME);
        }
        written.sort_unstable();
        assert_eq!(written, (1..=1_000).collect::<Vec<_>>());
        assert!(histories.is_idle());
    }

    #[test]
    fn what_could_not_be_written_comes_again_after_a_while_and_holds_up_no_other() {
        let tables = tables(2);
        let (send, work) = mpsc::sync_channel(ROOM);
        let mut histories = Histories::new(send);
        let now = Instant::now();
        histories.changed(JobId(1));
        histories.hand_over(&tables, now);
        assert_eq!(handed(&work), [1]);
        assert!(!histories.over(JobId(1), false, now));
        (1..=2).for_each(|job| histories.changed(JobId(job)));
        histories.hand_over(&tables, now);
        assert_eq!(handed(&work), [2]);
        assert!(histories.over(JobId(2), true, now) && !histories.is_idle());
        histories.hand_over(&tables, now + RETRY);
        assert_eq!(handed(&work), [1]);
        assert!(histories.is_in_trouble(), "it may fail again");
        assert!(histories.over(JobId(1), true, now + RETRY) && histories.is_idle() && !histories.is_in_trouble());
    }

    #[test]
    fn a_master_that_stops_hands_over_all_that_is_left() {
        let tables = tables(20);
        let (send, work) = mpsc::sync_channel(ROOM);
        let mut histories = Histories::new(send);
        (1..=20).for_each(|job| histories.changed(JobId(job)));
        histories.hand_over(&tables, Instant::now());
        assert!(!histories.over(JobId(1), false, Instant::now()));
        histories.changed(JobId(2));
        histories.finish(&tables);
        let mut left = handed(&work)[AT_A_TIME..].to_vec();
        left.sort_unstable();
        assert_eq!(left, [1, 2, 17, 18, 19, 20]);
    }
}
