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
            return lines(shell, &[(named.clone(), metadata.clone())]);
        }
        let mut rows = Vec::new();
        let mut add = |entry: &Named, metadata: &Metadata| {
            rows.push((entry.clone(), metadata.clone()));
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

fn lines(shell: &mut Shell<'_>, rows: &[(Named, Metadata)]) -> Done {
    let paths_only = shell.has("C");
    let readable = shell.has("h");
    let rows: Vec<(Described, &str)> =
        rows.iter().map(|(named, metadata)| (Described::of(metadata), named.shown.as_str())).collect();
    let width = |part: fn(&Described) -> &str| rows.iter().map(|(row, _)| part(row).len()).max().unwrap_or(0);
    let (owner, group) = (width(|row| &row.owner), width(|row| &row.group));
    for (row, path) in &rows {
        if paths_only {
            shell.line(path)?;
            continue;
        }
        let size = if readable { human(row.bytes) } else { row.bytes.to_string() };
        let copies = if row.is_dir { "-" } else { "1" };
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
