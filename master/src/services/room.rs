//! Whether the master has room for another job: of all people, and of one of them.
//!
//! A submission is asked twice: when it comes, so that nothing is listed or made for one that is refused, and again when it gets
//! its number, since others have come meanwhile. **Invariant: no user has more unfinished jobs than one may have, so nobody can
//! take the room of all others; nor are there more of them than there may be.** Who a user is, is what clients say.

use std::collections::HashMap;

use tonic::Status;

use super::status;
use crate::config::Limits;
use crate::tables::Tables;

/// Where the bounds are that a submission met.
const FULL_HELP: &str =
    "submit again when some have finished; `live_jobs` in [master.limits] lets the master hold more";
const USER_HELP: &str =
    "submit again when some have finished; `live_jobs_of_user` in [master.limits] lets one user have more";

/// The room that is left beside the jobs in memory and those that are about to enter.
pub(super) struct Room<'a> {
    limits: &'a Limits,
    tables: &'a Tables,
    entering: usize,
    entering_by_user: HashMap<String, usize>,
}

impl<'a> Room<'a> {
    pub(super) fn new(limits: &'a Limits, tables: &'a Tables) -> Room<'a> {
        Room { limits, tables, entering: 0, entering_by_user: HashMap::new() }
    }

    /// Refuses a job while too many are in memory: those that are not over, the user's among them, and those whose histories are
    /// not on disk.
    pub(super) fn check(&self, user: &str) -> Result<(), Status> {
        let unwritten = self.tables.unwritten();
        if let Some(problem) = &self.tables.history_problem
            && (unwritten.jobs > self.limits.finished_jobs as usize
                || unwritten.tasks > self.limits.finished_tasks as usize)
        {
            return Err(status::histories_unwritten(unwritten, problem));
        }
        let own = self.tables.live_jobs_of(user) + self.entering_by_user.get(user).copied().unwrap_or(0);
        let most = self.limits.live_jobs_of_one();
        if own >= most as usize {
            let message =
                format!("user `{user}` has {own} unfinished jobs, expected fewer than {most} to take another");
            return Err(Status::resource_exhausted(status::with_help(message, USER_HELP)));
        }
        let (all, most) = (self.tables.live_jobs() + unwritten.jobs + self.entering, self.limits.live_jobs);
        if all >= most as usize {
            let message = format!("the cluster has {all} unfinished jobs, expected fewer than {most} to take another");
            return Err(Status::resource_exhausted(status::with_help(message, FULL_HELP)));
        }
        Ok(())
    }

    /// As [`Room::check`]; a job that there is room for enters.
    pub(super) fn take(&mut self, user: &str) -> Result<(), Status> {
        self.check(user)?;
        self.entering += 1;
        *self.entering_by_user.entry(user.to_owned()).or_default() += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use howdah_core::job::{ClusterId, JobId, JobSpec, JobState};
    use howdah_core::time::Time;
    use howdah_core::tracker::Effect;

    use super::*;
    use crate::tables::{JobMeta, JobRow};
    use crate::testing::sleep_job;

    fn enter(tables: &mut Tables, number: u32, user: &str) {
        let spec = JobSpec { user: user.into(), n_maps: 1, ..JobSpec::default() };
        let meta = JobMeta::new(JobId(number), sleep_job(ClusterId(1).job(JobId(number)), spec), false);
        tables.submit(JobId(number), JobRow::new(meta, Time::from_ms(1)));
    }

    fn said(refused: Result<(), Status>) -> String {
        refused.expect_err("there is no room").message().to_owned()
    }

    #[test]
    fn a_user_has_half_of_the_room_unless_told_otherwise_and_the_other_half_is_other_peoples() {
        let limits = Limits { live_jobs: 6, ..Limits::default() };
        let mut tables = Tables::new(ClusterId(1), &limits);
        (1..=2).for_each(|number| enter(&mut tables, number, "ann"));
        let mut room = Room::new(&limits, &tables);
        room.take("ann").unwrap();
        let expected = "user `ann` has 3 unfinished jobs, expected fewer than 3 to take another\n\
                        help: submit again when some have finished; `live_jobs_of_user` in [master.limits] lets one user have more";
        assert_eq!(said(room.take("ann")), expected);
        for user in ["bob", "bob", "eve"] {
            room.take(user).unwrap();
        }
        let said = said(room.take("eve"));
        assert!(said.starts_with("the cluster has 6 unfinished jobs, expected fewer than 6"), "{said}");
        assert!(said.contains("`live_jobs` in [master.limits]"), "{said}");
        // One that is over makes room for its user.
        tables.observe(&Effect::JobState { job: JobId(1), state: JobState::Killed }, Time::from_ms(2));
        assert_eq!((tables.live_jobs_of("ann"), tables.live_jobs_of("bob")), (1, 0));
        let all = Limits { live_jobs_of_user: 1, ..limits };
        assert!(Room::new(&all, &tables).check("ann").is_err() && Room::new(&all, &tables).check("bob").is_ok());
    }

    #[test]
    fn the_bound_of_one_user_is_half_of_all_and_never_more_than_all_nor_none() {
        let of = |live_jobs, live_jobs_of_user| {
            Limits { live_jobs, live_jobs_of_user, ..Limits::default() }.live_jobs_of_one()
        };
        assert_eq!((of(10_000, 0), of(7, 0), of(1, 0), of(10, 10), of(10, 3)), (5_000, 3, 1, 10, 3));
    }
}
