//! The same allocation file in TOML: `[pool.NAME]` and `[user.NAME]` tables, the defaults at the top.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::entries::{Entries, Entry, Place, SyntaxError};

/// Reads the TOML form.
pub(super) fn entries(text: &str) -> Entries {
    let document = DeTable::parse(text).map_err(|error| {
        let line = line_at(text, error.span().map_or(0, |span| span.start));
        SyntaxError { line, problem: format!("expected TOML, but {}", error.message()) }
    })?;
    let mut entries = Vec::new();
    for (key, value) in document.get_ref() {
        let line = line_at(text, key.span().start);
        let key: &str = key.get_ref();
        let place: fn(String) -> Place = match key {
            "pool" => Place::Pool,
            "user" => Place::User,
            _ => {
                entries.push(Entry { place: Place::Top, key: key.to_owned(), value: plain(value), line });
                continue;
            }
        };
        let DeValue::Table(named) = value.get_ref() else {
            return Err(SyntaxError { line, problem: format!("`{key}`: expected tables, as in `[{key}.NAME]`") });
        };
        for (name, table) in named {
            let line = line_at(text, name.span().start);
            let DeValue::Table(table) = table.get_ref() else {
                let problem = format!("`{key}.{0}`: expected a table, as in `[{key}.{0}]`", name.get_ref());
                return Err(SyntaxError { line, problem });
            };
            let place = place(name.get_ref().clone().into_owned());
            entries.push(Entry { place: place.clone(), key: String::new(), value: String::new(), line });
            for (key, value) in table {
                let line = line_at(text, key.span().start);
                let key = key.get_ref().clone().into_owned();
                entries.push(Entry { place: place.clone(), key, value: plain(value), line });
            }
        }
    }
    Ok((entries, Vec::new()))
}

/// A value as Hadoop's XML would write it.
fn plain(value: &Spanned<DeValue<'_>>) -> String {
    let text: Cow<'_, str> = match value.get_ref() {
        DeValue::String(text) => Cow::Borrowed(text),
        DeValue::Integer(number) if number.radix() == 10 => Cow::Borrowed(number.as_str()),
        DeValue::Float(number) => Cow::Borrowed(number.as_str()),
        DeValue::Boolean(value) => Cow::Owned(value.to_string()),
        other => Cow::Owned(format!("a {}", other.type_str())),
    };
    text.trim().to_owned()
}

/// From 1.
fn line_at(text: &str, at: usize) -> u32 {
    text.as_bytes()[..at.min(text.len())].iter().filter(|&&byte| byte == b'\n').count() as u32 + 1
}
