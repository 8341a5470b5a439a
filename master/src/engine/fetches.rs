//! Reduces that cannot fetch from a worker say so; when those of several workers do, nobody can.
//!
//! The master's own look at a worker goes another way than the workers among each other: a packet filter between them is
//! seen by them alone. So a worker of whom two others complain within minutes counts as unreachable before the complaint
//! is charged to any job. What the master itself sees takes that back, but not before a while: it sees no such filter.

use howdah_core::job::WorkerId;
use howdah_core::time::{Span, Time};
use howdah_core::tracker::{Input, Report, WorkerState};

use super::fetch_complaints::WITNESSES;
use super::{Engine, Unreached};
use crate::tables::WorkerRow;

/// And then the worker is left alone for so long.
const HOLD: Span = Span::from_secs(300);

impl Engine {
    /// Takes a worker of whom enough others complain for unreachable, before the report itself is applied.
    pub(super) fn take_fetch_complaints(&mut self, report: &Report) {
        let now = self.clock.read();
        for map in report.attempts.iter().flat_map(|attempt| &attempt.fetch_failures) {
            let record = self.tables.jobs.get(&map.job).and_then(|row| row.attempt(*map));
            let Some(of) = record.and_then(|record| self.tables.worker_named(&record.worker)) else { continue };
            if of == report.worker || self.tables.worker(of).is_none_or(|row| row.state == WorkerState::Lost) {
                continue;
            }
            self.complain(of, report.worker, now, "");
        }
    }

    /// Takes the word of a worker that tried another one, if that one was alive meanwhile and itself is no doubtful case.
    pub(super) fn take_unreached(&mut self, Unreached { of, incarnation, by, asked, problem }: Unreached) {
        let now = self.clock.read();
        let heard = |row: &&WorkerRow| row.state != WorkerState::Lost && row.last_contact > asked;
        let of_is = self.tables.worker(of).filter(heard).is_some_and(|row| row.incarnation == incarnation);
        let by_is = self.tables.worker(by).filter(heard).is_some_and(|row| row.unreachable.is_none());
        if of_is && by_is {
            self.complain(of, by, now, &problem);
        }
    }

    /// `said` is the system's word for it, where the one that complains knows it.
    fn complain(&mut self, of: WorkerId, by: WorkerId, now: Time, said: &str) {
        let witnesses = self.complaints.note(of, by, now);
        let mut names: Vec<String> =
            witnesses.iter().filter_map(|&by| Some(self.tables.worker(by)?.name.to_string())).collect();
        names.sort();
        let (who, verb) = (names.join(" and "), if names.len() == 1 { "says that it cannot" } else { "cannot" });
        let Some(row) = self.tables.workers.get_mut(of.0 as usize) else { return };
        let mut problem = format!("{who} {verb} fetch from it at `{}`", row.http_address);
        if !said.is_empty() {
            problem.push_str(&format!(": {said}"));
        }
        if witnesses.len() < WITNESSES {
            row.complaint = Some(problem);
        } else {
            self.complaints.forget(of);
            self.shun(of, problem, now);
        }
    }

    fn shun(&mut self, of: WorkerId, problem: String, now: Time) {
        let Some(row) = self.tables.workers.get_mut(of.0 as usize) else { return };
        tracing::warn!(worker = &*row.name, problem, "a worker is unreachable");
        row.shunned_until = now + HOLD;
        if row.unreachable.replace(problem).is_none() {
            self.record(Input::Reach { worker: of, reachable: false });
        }
    }

    /// What the master itself found out about a worker.
    pub(super) fn take_reach(&mut self, worker: WorkerId, incarnation: u64, problem: Option<String>) {
        let now = self.clock.read();
        let row = self.tables.workers.get_mut(worker.0 as usize);
        let Some(row) = row.filter(|row| row.incarnation == incarnation) else { return };
        let reachable = problem.is_none();
        // It is not the master that has to fetch from it.
        if reachable && now < row.shunned_until {
            return;
        }
        let changes = reachable != row.unreachable.is_none();
        row.unreachable = problem;
        if changes {
            self.record(Input::Reach { worker, reachable });
        }
    }
}
