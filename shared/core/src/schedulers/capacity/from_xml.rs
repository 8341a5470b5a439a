//! `capacity-scheduler.xml`, Hadoop's own file.
//!
//! Queues are those that have a `capacity`, or those that `mapred.queue.names` lists if the file has it. Keys of
//! other parts of Hadoop are left alone; an unknown key of this scheduler is an error, as it is always a slip.
//! `Deviation:` Hadoop ignores unknown keys, and reads the names of queues from another file only.

use std::collections::BTreeSet;
use std::str::FromStr;

use super::config::{Draft, PREFIX, QueueDraft};
use crate::schedulers::hadoop_xml::{Property, properties};
use crate::schedulers::nearest::instead;

const QUEUE_KEYS: &str = "capacity, maximum-capacity, supports-priority, minimum-user-limit-percent, \
                          user-limit-factor, maximum-initialized-active-tasks, \
                          maximum-initialized-active-tasks-per-user, init-accept-jobs-factor, map-slots, reduce-slots";

/// Keys beside the queues'.
const SYSTEM_KEYS: &str = "maximum-system-jobs, maximum-tasks-per-heartbeat, maximum-tasks-after-offswitch, \
                           maximum-offswitch-per-heartbeat, maximum-reduces-per-heartbeat, init-poll-interval, \
                           init-worker-threads, default-supports-priority, default-minimum-user-limit-percent, \
                           default-user-limit-factor, default-maximum-active-tasks-per-queue, \
                           default-maximum-active-tasks-per-user, default-init-accept-jobs-factor, queue.NAME.KEY";

/// Reads the file.
///
/// # Errors
/// Names the key, its value and what was expected.
pub(super) fn read(text: &str) -> Result<Draft, String> {
    let mut draft = Draft::default();
    let mut names: Option<BTreeSet<String>> = None;
    for property in properties(text)? {
        if property.name == "mapred.queue.names" {
            let listed = property.value.split(',').map(|name| name.trim().to_owned());
            names = Some(listed.filter(|name| !name.is_empty()).collect());
        } else if let Some(key) = property.name.strip_prefix(PREFIX) {
            match key.strip_prefix("queue.") {
                Some(rest) => read_queue(&mut draft, rest, &property)?,
                None => read_system(&mut draft, key, &property)?,
            }
        }
    }
    if let Some(names) = names {
        if let Some(name) = draft.queues.keys().find(|name| !names.contains(*name)) {
            return Err(format!("`mapred.queue.names` does not list queue `{name}`, expected all that are configured"));
        }
        for name in names {
            draft.queues.entry(name).or_default();
        }
    }
    Ok(draft)
}

fn read_queue(draft: &mut Draft, rest: &str, property: &Property) -> Result<(), String> {
    // A queue's name may contain dots, a key does not.
    let (name, key) = rest.rsplit_once('.').filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
        format!("line {}: `{}` is not of the form `{PREFIX}queue.NAME.KEY`", property.line, property.name)
    })?;
    let queue = draft.queues.entry(name.to_owned()).or_default();
    match key {
        "capacity" => queue.capacity = Some(number(property, "a percentage from 0 to 100")?),
        "maximum-capacity" => queue.maximum_capacity = Some(number(property, "a percentage from 0 to 100")?),
        "supports-priority" => queue.supports_priority = Some(number(property, "true or false")?),
        "minimum-user-limit-percent" => {
            queue.minimum_user_limit_percent = Some(number(property, "a percentage from 1 to 100")?);
        }
        "user-limit-factor" => queue.user_limit_factor = Some(number(property, "a number above 0")?),
        "maximum-initialized-active-tasks" => {
            queue.maximum_initialized_active_tasks = Some(number(property, "a number of tasks")?);
        }
        "maximum-initialized-active-tasks-per-user" => {
            queue.maximum_initialized_active_tasks_per_user = Some(number(property, "a number of tasks")?);
        }
        "init-accept-jobs-factor" => {
            queue.init_accept_jobs_factor = Some(number(property, "a number from 1")?);
        }
        "map-slots" => queue.map_slots = Some(number(property, "a number of slots")?),
        "reduce-slots" => queue.reduce_slots = Some(number(property, "a number of slots")?),
        _ => return Err(unknown(property, QUEUE_KEYS)),
    }
    Ok(())
}

fn read_system(draft: &mut Draft, key: &str, property: &Property) -> Result<(), String> {
    let QueueDraft {
        supports_priority,
        minimum_user_limit_percent,
        user_limit_factor,
        maximum_initialized_active_tasks,
        maximum_initialized_active_tasks_per_user,
        init_accept_jobs_factor,
        ..
    } = &mut draft.defaults;
    match key {
        "maximum-system-jobs" => draft.maximum_system_jobs = Some(number(property, "a number of jobs from 1")?),
        "maximum-tasks-per-heartbeat" => {
            draft.maximum_tasks_per_heartbeat = Some(number(property, "a number of tasks from 1")?);
        }
        "maximum-tasks-after-offswitch" => {
            draft.maximum_tasks_after_offswitch = Some(number(property, "a number of tasks")?);
        }
        "maximum-offswitch-per-heartbeat" => {
            draft.maximum_offswitch_per_heartbeat = Some(number(property, "a number of tasks from 1")?);
        }
        "maximum-reduces-per-heartbeat" => {
            draft.maximum_reduces_per_heartbeat = Some(number(property, "a number of tasks from 1")?);
        }
        "default-supports-priority" => *supports_priority = Some(number(property, "true or false")?),
        "default-minimum-user-limit-percent" => {
            *minimum_user_limit_percent = Some(number(property, "a percentage from 1 to 100")?);
        }
        "default-user-limit-factor" => *user_limit_factor = Some(number(property, "a number above 0")?),
        "default-maximum-active-tasks-per-queue" => {
            *maximum_initialized_active_tasks = Some(number(property, "a number of tasks")?);
        }
        "default-maximum-active-tasks-per-user" => {
            *maximum_initialized_active_tasks_per_user = Some(number(property, "a number of tasks")?);
        }
        "default-init-accept-jobs-factor" => *init_accept_jobs_factor = Some(number(property, "a number from 1")?),
        // Jobs are initialised at once here, without a thread that polls.
        "init-poll-interval" | "init-worker-threads" => drop(number::<u32>(property, "a number from 1")?),
        _ => return Err(unknown(property, SYSTEM_KEYS)),
    }
    Ok(())
}

fn number<T: FromStr>(property: &Property, expected: &str) -> Result<T, String> {
    let Property { name, value, line } = property;
    value.parse().map_err(|_| format!("line {line}: `{name}`: `{value}` is not {expected}"))
}

fn unknown(property: &Property, known: &str) -> String {
    let last = property.name.rsplit_once('.').map_or("", |(_, key)| key);
    let expected = instead(last, known.split(", "));
    format!("line {}: unknown key `{}`, {expected}", property.line, property.name)
}
