//! Which jobs a pool takes, how many of them may run, and which limit holds one back.

use super::allocations::Allocations;
use super::limits::{Held, Limits, Place};
use super::pools::{DEFAULT, pool_name};
use super::settings::Settings;
use crate::cluster::Job;
use crate::job::JobSpec;
use crate::schedulers::Reason;
use crate::schedulers::reason::{count, its_user};

/// How many jobs of a pool may run: none of an undeclared one where such pools are not allowed, if one got here past
/// [`accepts`], as in a replay or after a reload.
pub(super) fn pool_limit(name: &str, settings: &Settings, allocations: &Allocations) -> Option<u32> {
    if is_allowed(name, settings, allocations) { allocations.pool(name).max_running_jobs } else { Some(0) }
}

fn is_allowed(name: &str, settings: &Settings, allocations: &Allocations) -> bool {
    settings.allow_undeclared || allocations.pools.contains_key(name) || name == DEFAULT
}

/// Refuses a job of a pool that is not declared where such pools are not allowed.
pub(super) fn accepts(job: &JobSpec, settings: &Settings, allocations: &Allocations) -> Result<(), String> {
    let name = pool_name(job, settings);
    if is_allowed(name, settings, allocations) {
        return Ok(());
    }
    Err(format!("pool `{name}` is not in the allocation file, and `allow.undeclared.pools` is false"))
}

/// The limit of running jobs that holds a job back.
pub(super) fn held(limits: &Limits, place: Place, job: &Job, pool: &str) -> Option<Reason> {
    if !limits.is_held(place.2) {
        return None;
    }
    let text = match limits.why_held(place) {
        Some(Held::ByPool { limit: 0 }) => {
            format!("Its pool `{pool}` may run no jobs: it is not in the allocation file, or has `maxRunningJobs` 0.")
        }
        Some(Held::ByPool { limit }) => {
            let jobs = count(limit, "job", "jobs");
            format!("Its pool `{pool}` runs {jobs}, as many as it may; it waits for one of them to end.")
        }
        Some(Held::ByUser { limit: 0 }) => format!("{} may run no jobs.", its_user(&job.spec().user)),
        Some(Held::ByUser { limit }) => {
            let (user, jobs) = (its_user(&job.spec().user), count(limit, "job", "jobs"));
            format!("{user} runs {jobs}, as many as allowed; it waits for one of them to end.")
        }
        None => "It waits for the Fair scheduler's next update.".to_owned(),
    };
    Some(Reason::Limit(text))
}
