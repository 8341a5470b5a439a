//! Which workers meet what a job requires.
//!
//! A worker's attributes are its configured ones and what its probes print. Its `name`, `host` and `rack` can be required
//! as well, without any probe; an attribute of that name takes precedence.

use super::{ClusterState, Job, Worker};
use crate::job::Requirement;

impl Worker {
    /// What it says to a requirement: the attribute of that name, or its own name, host or rack.
    ///
    /// Racks are paths, and a requirement may leave their first slash out: `rack=r2` and `rack=/r2` mean the same.
    pub fn answers(&self, requirement: &Requirement) -> Option<&str> {
        let own = || match requirement.name() {
            "name" => Some(self.name.as_str()),
            "host" => Some(self.host_name.as_str()),
            "rack" if requirement.value().starts_with('/') => Some(self.rack_name.as_str()),
            "rack" => Some(self.rack_name.strip_prefix('/').unwrap_or(&self.rack_name)),
            _ => None,
        };
        self.attribute(requirement.name()).or_else(own)
    }

    /// Whether it meets one requirement.
    pub fn meets(&self, requirement: &Requirement) -> bool {
        requirement.is_met_by(self.answers(requirement))
    }
}

impl ClusterState {
    /// Whether the worker meets everything that the job requires.
    #[inline]
    pub fn meets_requirements(&self, job: &Job, worker: &Worker) -> bool {
        job.spec.conf.requires.iter().all(|requirement| worker.meets(requirement))
    }
}
