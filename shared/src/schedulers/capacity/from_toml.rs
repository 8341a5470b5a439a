//! The same settings in TOML: the names of Hadoop's keys with `_`, a table `[queues.NAME]` for each queue, and
//! `[defaults]` for what queues leave out.

use std::collections::BTreeMap;

use super::config::{Draft, QueueDraft};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    maximum_system_jobs: Option<u32>,
    maximum_tasks_per_heartbeat: Option<u32>,
    maximum_tasks_after_offswitch: Option<u32>,
    maximum_offswitch_per_heartbeat: Option<u32>,
    maximum_reduces_per_heartbeat: Option<u32>,
    #[serde(default)]
    defaults: QueueDraft,
    #[serde(default)]
    queues: BTreeMap<String, QueueDraft>,
}

/// Reads the file.
///
/// # Errors
/// Names the line, the key and what was expected.
pub(super) fn read(text: &str) -> Result<Draft, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    let only_in_queues = [
        ("capacity", file.defaults.capacity.is_some()),
        ("maximum_capacity", file.defaults.maximum_capacity.is_some()),
        ("map_slots", file.defaults.map_slots.is_some()),
        ("reduce_slots", file.defaults.reduce_slots.is_some()),
    ];
    if let Some((key, _)) = only_in_queues.iter().find(|(_, given)| *given) {
        return Err(format!("`defaults.{key}`: a share has no default, expected it in each `[queues.NAME]`"));
    }
    Ok(Draft {
        maximum_system_jobs: file.maximum_system_jobs,
        maximum_tasks_per_heartbeat: file.maximum_tasks_per_heartbeat,
        maximum_tasks_after_offswitch: file.maximum_tasks_after_offswitch,
        maximum_offswitch_per_heartbeat: file.maximum_offswitch_per_heartbeat,
        maximum_reduces_per_heartbeat: file.maximum_reduces_per_heartbeat,
        defaults: file.defaults,
        queues: file.queues,
    })
}
