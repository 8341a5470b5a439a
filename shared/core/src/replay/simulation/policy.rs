//! Which policy is in charge, and what follows for a replay from what the policy says of itself.

use std::sync::Arc;

use super::super::arrivals::Arrival;
use super::super::job::{in_view, spec};
use super::Simulation;
use crate::job::JobId;
use crate::schedulers;
use crate::schedulers::{Capabilities, Scheduler};
use crate::tracker::{Input, SchedulerChoice};

impl Simulation<'_> {
    /// Puts another policy in charge from the next instant on; what runs goes on. If it is the first one that may
    /// speculate, it is notified of attempts that run already by the share of their time that has passed.
    pub fn switch_scheduler(&mut self, scheduler: Box<dyn Scheduler>) {
        self.follow_policy(&*scheduler);
        self.tracker.switch_scheduler(scheduler);
        self.settle();
        // The old policy may have let everything wait for a deadline of its own, which is gone with it.
        self.next_fixed = self.stage.now;
    }

    /// What is to be so before a policy is in charge.
    fn follow_policy(&mut self, scheduler: &dyn Scheduler) {
        // Where nobody asked, nobody counted.
        self.quiet = (0, self.stage.now);
        let Capabilities { may_speculate, limits_rounds, reads_profiles, .. } = scheduler.capabilities();
        let reports = may_speculate && !self.stage.sharing.is_empty();
        self.stage.heartbeats.set_policy(limits_rounds, reports, self.stage.now);
        if reports {
            let state = self.tracker.state();
            let planned = self.stage.ends.iter().filter_map(|(at, end)| {
                let attempt = state.attempts().get(end.attempt)?;
                Some((attempt.id(), (attempt.started(), at)))
            });
            self.stage.sharing.activate(planned);
        }
        if reads_profiles && !self.profiled {
            self.profile_jobs();
        }
    }

    /// As [`Simulation::switch_scheduler`], by name; the same policy with other parameters goes on with what it knows, as
    /// in a live cluster. One that cannot be made changes nothing.
    pub fn set_scheduler(&mut self, choice: &SchedulerChoice) {
        let Ok(made) = schedulers::by_name(&choice.name, &choice.params) else { return };
        let same = choice.name == self.tracker.scheduler().name();
        self.follow_policy(&*made);
        if same {
            self.tracker.take(&[Input::SetScheduler(Box::new(choice.clone()))]);
        } else {
            self.tracker.switch_scheduler(made);
        }
        self.settle();
        self.next_fixed = self.stage.now;
    }

    /// Gives the jobs that came without them their profiles and sizes, for a policy that reads them.
    fn profile_jobs(&mut self) {
        self.profiled = true;
        for (job, &Arrival { template, deadline, .. }) in (1..).map(JobId).zip(&self.arrivals[..self.n_arrived]) {
            let template = &self.trace.jobs[template as usize];
            let spec = || spec(template, self.slowstart_ppm, deadline, true);
            self.tracker.specify(job, || Arc::new(in_view(spec(), self.has_workers)));
        }
    }

    /// Finds out anew what is so as long as the policy and the observer are the same.
    pub(super) fn settle(&mut self) {
        self.stage.plain = self.stage.computes_plain();
        // Where all is plain no attempt fails, so that no worker has faults to forget.
        self.nobody_asks = self.stage.plain && !self.stage.heartbeats.has_regular() && self.tracker.has_no_deadlines();
    }
}
