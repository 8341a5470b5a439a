//! What commands printed as JSON: by schema the fields, by command the schemas.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Objects whose keys are names from outside, not fields.
const NAMED: [&str; 12] = [
    "attributes",
    "attributes_from",
    "counters",
    "outcomes",
    "params",
    "probe_warnings",
    "properties",
    "queues",
    "scheduler_params",
    "sections",
    "stated_by_the_source",
    "users",
];

/// Kinds of values that a field had, by its path.
pub(crate) type Fields = BTreeMap<String, BTreeSet<&'static str>>;

/// Everything that was printed.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) schemas: BTreeMap<String, Fields>,
    pub(crate) commands: BTreeMap<String, BTreeSet<String>>,
}

impl Seen {
    pub(crate) fn add(&mut self, command: &str, answer: &Value) {
        let schema = answer["schema"].as_str().unwrap_or_else(|| panic!("`{command}` names no schema: {answer}"));
        self.commands.entry(command.to_owned()).or_default().insert(schema.to_owned());
        add(answer, "", self.schemas.entry(schema.to_owned()).or_default());
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

fn add(value: &Value, path: &str, fields: &mut Fields) {
    if !path.is_empty() {
        fields.entry(path.to_owned()).or_default().insert(kind(value));
    }
    match value {
        Value::Array(items) => {
            let parts = items.iter().filter(|item| item.is_object());
            parts.for_each(|item| add_parts(item, &format!("{path}[]"), fields));
        }
        Value::Object(_) => add_parts(value, path, fields),
        _ => {}
    }
}

fn add_parts(value: &Value, path: &str, fields: &mut Fields) {
    let last = path.rsplit('.').next().unwrap_or_default();
    let Some(object) = value.as_object().filter(|_| !NAMED.contains(&last)) else { return };
    for (key, part) in object {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        add(part, &path, fields);
    }
}

/// Whether nothing of a field's own could be seen: an object around it was null, or a list was empty.
pub(crate) fn is_hidden(path: &str, fields: &Fields) -> bool {
    let around = path.match_indices('.').map(|(end, _)| path[..end].trim_end_matches("[]"));
    around.into_iter().any(|outer| {
        let below = |other: &String| other.strip_prefix(outer).is_some_and(|rest| rest.starts_with(['.', '[']));
        !fields.keys().any(below)
    })
}
