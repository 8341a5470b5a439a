//! The guide's page of JSON fields: read, compared with what was printed, and written anew.
//!
//! Fields, kinds and units come from what is printed. Meanings are written on the page by hand and stay there; a field
//! without one is an error.

use std::collections::{BTreeMap, BTreeSet};

use super::seen::{Seen, is_hidden};

/// Ends of names that say the unit.
const UNITS: [(&str, &str); 14] = [
    // Shares, whatever their names end with.
    ("within_5_percent", ""),
    ("within_10_percent", ""),
    ("_per_s", "1/s"),
    ("_ms_epoch", "ms since 1970"),
    ("_us_epoch", "µs since 1970"),
    ("_ms", "ms"),
    ("_us", "µs"),
    ("_s", "s"),
    ("_kib", "KiB"),
    ("_mib", "MiB"),
    ("_bytes", "bytes"),
    ("khz", "kHz"),
    ("_hours", "h"),
    ("_percent", "%"),
];

/// One field as the page lists it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    kinds: BTreeSet<String>,
    meaning: String,
}

/// What the page lists, by schema and path.
#[derive(Debug, Default)]
pub(crate) struct Page {
    schemas: BTreeMap<String, BTreeMap<String, Row>>,
    commands: BTreeMap<String, BTreeSet<String>>,
}

impl Page {
    pub(crate) fn read(text: &str) -> Page {
        let (mut page, mut schema) = (Page::default(), String::new());
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("## `") {
                schema = name.trim_end_matches('`').to_owned();
                page.schemas.entry(schema.clone()).or_default();
            }
            let Some(row) = line.strip_prefix("| `").and_then(|row| row.strip_suffix(" |")) else { continue };
            let cells: Vec<&str> = row.splitn(4, " | ").map(str::trim).collect();
            let name = cells[0].trim_end_matches('`');
            match cells[..] {
                [_, schemas] if schema.is_empty() => {
                    let schemas = schemas.split(", ").map(|schema| schema.trim_matches('`').to_owned());
                    page.commands.insert(name.trim_start_matches("howdah ").to_owned(), schemas.collect());
                }
                [_, kinds, _unit, meaning] => {
                    let kinds = kinds.split(", ").map(str::to_owned).collect();
                    let row = Row { kinds, meaning: meaning.to_owned() };
                    page.schemas.entry(schema.clone()).or_default().insert(name.to_owned(), row);
                }
                _ => panic!("docs/guide/json.md: a row of {} cells: {line}", cells.len()),
            }
        }
        page
    }

    /// What is wrong with the page.
    pub(crate) fn complaints(&self, seen: &Seen) -> Vec<String> {
        let mut wrong = Vec::new();
        for (schema, fields) in &seen.schemas {
            let listed = self.schemas.get(schema).cloned().unwrap_or_default();
            for (path, kinds) in fields {
                match listed.get(path) {
                    None => wrong.push(format!("{schema}: `{path}` is printed and not listed")),
                    Some(row) => {
                        let other = kinds.iter().filter(|kind| **kind != "null" && !row.kinds.contains(**kind));
                        wrong.extend(other.map(|kind| format!("{schema}: `{path}` is printed as {kind}")));
                    }
                }
            }
            let unseen = listed.keys().filter(|path| !fields.contains_key(*path) && !is_hidden(path, fields));
            wrong.extend(unseen.map(|path| format!("{schema}: `{path}` is listed and not printed")));
            let silent = listed.iter().filter(|(_, row)| row.meaning.is_empty());
            wrong.extend(silent.map(|(path, _)| format!("{schema}: `{path}` has no meaning")));
        }
        let unknown = self.schemas.keys().filter(|schema| !seen.schemas.contains_key(*schema));
        wrong.extend(unknown.map(|schema| format!("{schema}: is listed and was not printed")));
        for command in self.commands.keys().chain(seen.commands.keys()) {
            if self.commands.get(command) != seen.commands.get(command) {
                let [listed, printed] = [&self.commands, &seen.commands].map(|commands| commands.get(command));
                wrong.push(format!("`howdah {command}`: {listed:?} is listed and {printed:?} printed"));
            }
        }
        wrong
    }

    /// A meaning that all fields of this name share.
    fn shared_meaning(&self, path: &str) -> String {
        let name = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
        let rows = self.schemas.values().flatten().filter(|(other, _)| name(other) == name(path));
        let meanings: BTreeSet<&String> = rows.map(|(_, row)| &row.meaning).filter(|text| !text.is_empty()).collect();
        if meanings.len() == 1 { meanings.into_iter().next().cloned().unwrap_or_default() } else { String::new() }
    }

    /// The page under its head, as it should be after what was seen.
    pub(crate) fn written(&self, before: &str, seen: &Seen) -> String {
        let (head, _) = before.split_once("\n## ").unwrap_or((before, ""));
        let mut text = head.trim_end().to_owned() + "\n\n## Commands\n\n| command | schema |\n|---|---|\n";
        for (command, schemas) in &seen.commands {
            let schemas: Vec<String> = schemas.iter().map(|schema| format!("`{schema}`")).collect();
            text += &format!("| `howdah {command}` | {} |\n", schemas.join(", "));
        }
        for (schema, fields) in &seen.schemas {
            text += &format!("\n## `{schema}`\n\n| field | type | unit | meaning |\n|---|---|---|---|\n");
            let before = self.schemas.get(schema).cloned().unwrap_or_default();
            let hidden = before.keys().filter(|path| !fields.contains_key(*path) && is_hidden(path, fields));
            let paths: BTreeSet<&String> = fields.keys().chain(hidden).collect();
            for path in paths {
                let old = before.get(path).cloned().unwrap_or_default();
                let mut kinds = old.kinds;
                kinds.extend(fields.get(path).into_iter().flatten().map(|kind| (*kind).to_owned()));
                let null = kinds.remove("null");
                let mut kinds: Vec<String> = kinds.into_iter().collect();
                kinds.extend(null.then(|| "null".to_owned()));
                let kinds = kinds.join(", ");
                let unit = UNITS.iter().find(|(end, _)| path.ends_with(end) && kinds.contains("number"));
                let unit = unit.map_or("", |(_, unit)| unit);
                let meaning = if old.meaning.is_empty() { self.shared_meaning(path) } else { old.meaning };
                text += &format!("| `{path}` | {kinds} | {unit} | {meaning} |\n");
            }
        }
        text
    }
}
