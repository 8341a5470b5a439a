//! Merging the layers of one section, key by key, remembering where each value came from.
//!
//! Keys are dotted paths (`cluster.expiry_ms`). A table that is tagged with `kind`, the heartbeat, and a table that is empty by
//! default are one value: their keys depend on each other or are the user's own. After each layer the sum is
//! turned into the struct, so that the first layer that does not fit is the one to blame.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::quantities::in_unit;
use super::section::bad;
use super::{ConfigFile, Flag, Section};
use crate::failure::{Failure, Outcome};

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Default,
    /// `file:line`
    File(String),
    Variable(String),
    Flag(&'static str),
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::File(place) => f.write_str(place),
            Source::Variable(name) => f.write_str(name),
            Source::Flag(name) => f.write_str(name),
        }
    }
}

/// One effective value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setting {
    pub(crate) value: Value,
    pub(crate) source: Source,
}

/// All settings of a section by dotted key.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) section: Section,
    pub(crate) values: BTreeMap<String, Setting>,
}

impl Settings {
    /// What holds when nobody says anything.
    pub(crate) fn defaults<T: Default + Serialize>(section: Section) -> Outcome<Settings> {
        let value = serde_json::to_value(T::default())
            .map_err(|error| Failure::broke(format!("cannot write the defaults of [{}]: {error}", section.name())))?;
        let mut values = BTreeMap::new();
        flatten("", value, &mut values);
        let values = values.into_iter().map(|(key, value)| (key, Setting { value, source: Source::Default })).collect();
        Ok(Settings { section, values })
    }

    /// Lays the file over it.
    pub(crate) fn add_file<T: DeserializeOwned>(&mut self, file: &ConfigFile) -> Outcome<()> {
        let mut given = Vec::new();
        self.pick("", file.section(self.section), &mut given);
        for (key, value) in given {
            let place = file.place(self.section, &key);
            if !self.values.contains_key(&key) {
                return Err(self.unknown(&place, &key));
            }
            self.set::<T>(&key, value, Source::File(place))?;
        }
        Ok(())
    }

    /// Lays variables over it; `read` gives a variable's text.
    pub(crate) fn add_variables<T: DeserializeOwned>(&mut self, read: impl Fn(&str) -> Option<String>) -> Outcome<()> {
        let keys: Vec<String> = self.values.keys().cloned().collect();
        for key in keys {
            let found = self.section.variables(&key).into_iter().find_map(|name| read(&name).map(|text| (name, text)));
            if let Some((name, text)) = found {
                let value = parse(&text, &self.values[&key].value);
                self.set::<T>(&key, value, Source::Variable(name))?;
            }
        }
        Ok(())
    }

    /// Lays flags over it.
    pub(crate) fn add_flags<T: DeserializeOwned>(&mut self, flags: Vec<Flag>) -> Outcome<()> {
        for Flag { name, key, value } in flags {
            if let Some(value) = value {
                self.set::<T>(key, value, Source::Flag(name))?;
            }
        }
        Ok(())
    }

    /// Puts the master's profile in the place of the defaults that still hold.
    pub(crate) fn add_profile(&mut self) {
        let Some(named) = self.values.get("profile").map(|setting| setting.value.clone()) else { return };
        // A profile that does not read is blamed where it was said.
        let profile: howdah_master::Profile = serde_json::from_value(named).unwrap_or_default();
        for (key, value) in profile.defaults() {
            if let Some(setting) = self.values.get_mut(key).filter(|setting| setting.source == Source::Default) {
                setting.value = value.into();
            }
        }
    }

    /// All variables that could set something here.
    pub(crate) fn variables(&self) -> Vec<String> {
        self.values.keys().flat_map(|key| self.section.variables(key)).collect()
    }

    /// The struct that all layers together say.
    pub(crate) fn build<T: DeserializeOwned>(&self) -> Outcome<T> {
        serde_json::from_value(self.tree()).map_err(|error| bad(format!("[{}]: {error}", self.section.name())))
    }

    fn set<T: DeserializeOwned>(&mut self, key: &str, value: Value, source: Source) -> Outcome<()> {
        let shown = show(&value);
        let value = in_unit(key, value);
        self.values.insert(key.to_owned(), Setting { value, source: source.clone() });
        match serde_json::from_value::<T>(self.tree()) {
            Ok(_) => Ok(()),
            Err(error) => {
                let key = format!("{}.{key}", self.section.name());
                let message = match source {
                    Source::Default => format!("`{key}` = {shown}: {error}"),
                    Source::File(place) => format!("{place}: `{key}` = {shown}: {error}"),
                    Source::Variable(name) => format!("variable {name}={shown}: {error}"),
                    Source::Flag(name) => format!("flag {name} {shown}: {error}"),
                };
                Err(bad(message).help("`howdah config show` prints every setting with its present value"))
            }
        }
    }

    fn unknown(&self, place: &str, key: &str) -> Failure {
        let failure = bad(format!("{place}: unknown key `{}.{key}`", self.section.name()));
        let near = self
            .values
            .keys()
            .filter(|known| strsim::levenshtein(known, key) <= 2 || known.ends_with(&format!(".{key}")));
        let near: Vec<String> = near.map(|known| format!("`{known}`")).collect();
        if near.is_empty() {
            let all: Vec<&str> = self.values.keys().map(String::as_str).collect();
            failure.help(format!("expected one of: {}", all.join(", ")))
        } else {
            failure.help(format!("did you mean {}?", near.join(" or ")))
        }
    }

    /// The file's keys as this section knows them: a table is entered only where the defaults have one.
    fn pick(&self, prefix: &str, value: Value, found: &mut Vec<(String, Value)>) {
        match value {
            Value::Object(map) if prefix.is_empty() || !self.values.contains_key(prefix) => {
                if map.is_empty() && !prefix.is_empty() {
                    return;
                }
                for (key, value) in map {
                    let full = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
                    self.pick(&full, value, found);
                }
            }
            value => found.push((prefix.to_owned(), value)),
        }
    }

    fn tree(&self) -> Value {
        let mut root = Map::new();
        for (key, setting) in &self.values {
            let mut at = &mut root;
            let mut parts: Vec<&str> = key.split('.').collect();
            let last = parts.pop().unwrap_or_default();
            for part in parts {
                let next = at.entry(part).or_insert_with(|| Value::Object(Map::new()));
                match next {
                    Value::Object(map) => at = map,
                    // A leaf and a table of one name cannot both come from one struct.
                    _ => return Value::Object(root),
                }
            }
            at.insert(last.to_owned(), setting.value.clone());
        }
        Value::Object(root)
    }
}

fn flatten(prefix: &str, value: Value, values: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(map) if prefix.is_empty() || !map.is_empty() && !is_unit(prefix, &map) => {
            for (key, value) in map {
                let full = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
                flatten(&full, value, values);
            }
        }
        leaf => {
            values.insert(prefix.to_owned(), leaf);
        }
    }
}

/// The one table whose tag is called `rule`, as it was before tags were called `kind`.
const TAGGED_BY_RULE: &str = "cluster.heartbeat";

/// A tagged choice: its other keys depend on the tag.
fn is_unit(key: &str, map: &Map<String, Value>) -> bool {
    map.contains_key("kind") || key == TAGGED_BY_RULE
}

/// A variable's text as the kind of value that the default is.
fn parse(text: &str, default: &Value) -> Value {
    if default.is_string() {
        return Value::String(text.to_owned());
    }
    let number =
        || text.trim().parse::<i64>().map(Value::from).or_else(|_| text.trim().parse::<f64>().map(Value::from));
    match default {
        Value::Bool(_) => text.trim().parse().map_or_else(|_| Value::String(text.to_owned()), Value::Bool),
        Value::Number(_) => number().unwrap_or_else(|_| Value::String(text.to_owned())),
        // A table or a list is written as in the file, an option as whatever it reads as.
        _ => toml::from_str::<BTreeMap<String, Value>>(&format!("x = {text}"))
            .ok()
            .and_then(|mut map| map.remove("x"))
            .unwrap_or_else(|| Value::String(text.to_owned())),
    }
}

/// A value as it would stand in the file.
pub(crate) fn show(value: &Value) -> String {
    match value {
        Value::Null => "(not set)".to_owned(),
        Value::String(text) => format!("\"{text}\""),
        Value::Object(map) => {
            let inner: Vec<String> = map.iter().map(|(key, value)| format!("{key} = {}", show(value))).collect();
            if inner.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", inner.join(", ")) }
        }
        other => other.to_string(),
    }
}
