//! Reduces that cannot fetch from a worker say so; when those of several workers do, nobody can.
//!
//! The master's own look at a worker goes another way than the workers among each other: a packet filter between them is
//! seen by them alone. So a worker of whom two others complain within minutes counts as unreachable before the complaint
//! is charged to any job. What the master itself sees takes that back, but not before a while: it sees no such filter.
//!
//! A worker that others cannot reach, and whose reduces cannot fetch from the others, is the one that is cut off. Its word would
//! have good output made again until the job fails, so it does not count; its reduces run elsewhere.

use std::collections::BTreeSet;

use howdah_core::job::{AttemptId, JobId, WorkerId};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::{Input, Report, WorkerState};
use howdah_proto::v1;

use super::fetch_complaints::WITNESSES;
use super::{Engine, Unreached};
use crate::tables::WorkerRow;

/// And then the worker is left alone for so long.
const HOLD: Span = Span::from_secs(300);

impl Engine {
    /// Whether a report is of a worker that others cannot reach, while there are some that can be.
    pub(super) fn is_cut_off(&self, report: &Report) -> bool {
        let own = self.tables.worker(report.worker);
        let is_own = own.is_some_and(|row| row.incarnation == report.incarnation && row.unreachable.is_some());
        let can_be_reached = |row: &WorkerRow| row.state == WorkerState::Live && row.unreachable.is_none();
        is_own && self.tables.workers.iter().any(can_be_reached)
    }

    /// Those of a worker that is cut off, and that cannot fetch: they, and what else it might get of their jobs, go elsewhere.
    pub(super) fn move_its_reduces(&mut self, report: &mut Report, request: &mut v1::HeartbeatRequest) {
        let failing = report.attempts.iter().filter(|attempt| !attempt.fetch_failures.is_empty());
        let moved: Vec<AttemptId> = failing.map(|attempt| attempt.attempt).collect();
        if moved.is_empty() {
            return;
        }
        report.attempts.iter_mut().for_each(|attempt| attempt.fetch_failures.clear());
        request.attempts.iter_mut().for_each(|attempt| attempt.fetch_failures.clear());
        let worker = report.worker;
        let jobs: BTreeSet<JobId> = moved.iter().map(|attempt| attempt.job).collect();
        for job in jobs {
            if let Some(row) = self.tables.worker(worker) {
                let (name, job) = (&*row.name, self.tables.cluster.job(job));
                tracing::warn!(worker = name, job, "it is cut off from the other workers: its reduces run elsewhere");
            }
            self.record(Input::CannotServe { worker, job });
        }
        let is_live = |attempt: &AttemptId| self.tables.jobs.get(&attempt.job).is_some_and(|row| row.is_live(*attempt));
        let orders: Vec<AttemptId> = moved.into_iter().filter(is_live).collect();
        orders.into_iter().for_each(|attempt| self.record(Input::KillAttempt { attempt, fail: false }));
    }

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
