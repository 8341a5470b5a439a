//! `-ls`, `-ls -R` and `-lsr`.
//!
//! A line is `drwxr-xr-x   - user group size yyyy-MM-dd HH:mm path`: clients find the time by its colon and take the rest
//! as the path.

use std::fs::Metadata;

use super::super::paths::Named;
use super::shell::{Done, Shell, entries, walk};
use super::status::{Described, human};

pub(super) fn list(shell: &mut Shell<'_>) -> Done {
    let recursive = shell.verb == "lsr" || shell.has("R");
    let operands = if shell.given.operands.is_empty() { vec![String::new()] } else { shell.operands(1)? };
    shell.each_of(&operands, |shell, named, metadata| {
        if !metadata.is_dir() || shell.has("d") {
            return lines(shell, &[row(named, metadata)]);
        }
        let mut rows = Vec::new();
        let mut add = |entry: &Named, metadata: &Metadata| {
            rows.push(row(entry, metadata));
            Ok(())
        };
        if recursive {
            walk(named, &mut add)?;
        } else {
            for entry in entries(named)? {
                // A file that went away meanwhile is not there.
                if let Ok(metadata) = std::fs::metadata(&entry.local) {
                    add(&entry, &metadata)?;
                }
            }
            if !rows.is_empty() && !shell.has("C") {
                shell.line(&format!("Found {} items", rows.len()))?;
            }
        }
        lines(shell, &rows)
    })
}

/// Of a file there is one copy.
fn row(named: &Named, metadata: &Metadata) -> Row {
    Row { described: Described::of(metadata), copies: "1".to_owned(), shown: named.shown.clone() }
}

/// A line's parts.
pub(super) struct Row {
    pub(super) described: Described,
    /// Of a file.
    pub(super) copies: String,
    /// Its path.
    pub(super) shown: String,
}

pub(super) fn lines(shell: &mut Shell<'_>, rows: &[Row]) -> Done {
    let paths_only = shell.has("C");
    let readable = shell.has("h");
    let width = |part: fn(&Described) -> &str| rows.iter().map(|row| part(&row.described).len()).max().unwrap_or(0);
    let (owner, group) = (width(|row| &row.owner), width(|row| &row.group));
    for Row { described: row, copies, shown: path } in rows {
        if paths_only {
            shell.line(path)?;
            continue;
        }
        let size = if readable { human(row.bytes) } else { row.bytes.to_string() };
        let copies = if row.is_dir { "-" } else { copies };
        shell.line(&format!(
            "{} {copies:>3} {:<owner$} {:<group$} {size:>10} {} {path}",
            row.mode(),
            row.owner,
            row.group,
            row.minute
        ))?;
    }
    Ok(())
}
