//! The same settings in TOML: the names of Hadoop's keys with `_`, a table `[queues.NAME]` for each queue, and
//! `[defaults]` for what queues leave out.

use super::config::Draft;

/// Reads the file.
///
/// # Errors
/// Names the line, the key and what was expected.
pub(super) fn read(text: &str) -> Result<Draft, String> {
    let draft: Draft = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    let only_in_queues = [
        ("capacity", draft.defaults.capacity.is_some()),
        ("maximum_capacity", draft.defaults.maximum_capacity.is_some()),
        ("map_slots", draft.defaults.map_slots.is_some()),
        ("reduce_slots", draft.defaults.reduce_slots.is_some()),
    ];
    if let Some((key, _)) = only_in_queues.iter().find(|(_, given)| *given) {
        return Err(format!("`defaults.{key}`: a share has no default, expected it in each `[queues.NAME]`"));
    }
    Ok(draft)
}
