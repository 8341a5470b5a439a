//! The configuration file: sections of TOML, with the line of every value.
//!
//! Errors name file, line, key and what was expected. Which keys a section may have is known only to its struct;
//! `layers` finds unknown ones and asks here for the line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use super::Section;
use super::section::bad;
use crate::failure::Outcome;

/// A file that was read, or none.
#[derive(Debug, Default)]
pub(crate) struct ConfigFile {
    path: Option<PathBuf>,
    sections: BTreeMap<&'static str, Value>,
    lines: BTreeMap<String, usize>,
}

impl ConfigFile {
    /// Reads and checks the outermost shape.
    pub(crate) fn read(path: &Path) -> Outcome<ConfigFile> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| bad(format!("cannot read the configuration `{}`: {error}", path.display())))?;
        ConfigFile::parse(path, &text)
    }

    /// As [`ConfigFile::read`], from text.
    pub(crate) fn parse(path: &Path, text: &str) -> Outcome<ConfigFile> {
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            bad(format!("{}:{line}: {}", path.display(), one_line(error.message())))
        })?;
        let mut file = ConfigFile { path: Some(path.to_owned()), ..ConfigFile::default() };
        for (name, value) in table.get_ref() {
            let line = line_of(text, name.span().start);
            let wanted = [Section::Master, Section::Worker, Section::Client, Section::Log];
            let Some(section) = wanted.iter().find(|section| section.name() == name.get_ref().as_ref()) else {
                return Err(bad(format!(
                    "{}:{line}: unknown section `{}`, expected [master], [worker], [client] or [log]",
                    path.display(),
                    name.get_ref()
                )));
            };
            let DeValue::Table(inner) = value.get_ref() else {
                return Err(bad(format!(
                    "{}:{line}: `{}` is a value, expected a section [{}]",
                    path.display(),
                    name.get_ref(),
                    section.name()
                )));
            };
            let inner = file.table(text, section.name(), inner);
            file.sections.insert(section.name(), inner);
        }
        Ok(file)
    }

    fn table(&mut self, text: &str, prefix: &str, table: &DeTable<'_>) -> Value {
        let mut map = Map::new();
        for (key, value) in table {
            let full = format!("{prefix}.{}", key.get_ref());
            self.lines.insert(full.clone(), line_of(text, key.span().start));
            map.insert(key.get_ref().to_string(), self.value(text, &full, value.get_ref()));
        }
        Value::Object(map)
    }

    fn value(&mut self, text: &str, full: &str, value: &DeValue<'_>) -> Value {
        match value {
            DeValue::String(s) => Value::String(s.to_string()),
            DeValue::Boolean(b) => Value::Bool(*b),
            DeValue::Integer(n) => {
                i64::from_str_radix(n.as_str(), n.radix()).map_or_else(|_| Value::String(n.to_string()), Value::from)
            }
            DeValue::Float(n) => n.as_str().parse::<f64>().map_or_else(|_| Value::String(n.to_string()), Value::from),
            DeValue::Datetime(d) => Value::String(d.to_string()),
            DeValue::Array(items) => {
                Value::Array(items.iter().map(|item| self.value(text, full, item.get_ref())).collect())
            }
            DeValue::Table(inner) => self.table(text, full, inner),
        }
    }

    /// The file's values of a section; an empty object when it has none.
    pub(crate) fn section(&self, section: Section) -> Value {
        self.sections.get(section.name()).cloned().unwrap_or_else(|| Value::Object(Map::new()))
    }

    /// Where a key stands, as `file:line`; the nearest enclosing table when the key itself is not there.
    pub(crate) fn place(&self, section: Section, key: &str) -> String {
        let path = self.path.as_deref().unwrap_or(Path::new("")).display();
        let mut full = format!("{}.{key}", section.name());
        loop {
            if let Some(line) = self.lines.get(&full) {
                return format!("{path}:{line}");
            }
            match full.rsplit_once('.') {
                Some((outer, _)) => full = outer.to_owned(),
                None => return path.to_string(),
            }
        }
    }

    /// The file's path, if there is a file.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|&&b| b == b'\n').count() + 1
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
