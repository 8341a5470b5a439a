//! `-ls`, `-cat` and `-test` in an HDFS.

use std::io;

use howdah_webhdfs::{Entry, FileKind, FileReader, RemotePath};

use super::super::list::{Row, lines};
use super::super::shell::{Done, Problem, Shell};
use super::super::status::Described;
use super::place::{Place, said};

/// Directories inside each other that are listed.
const MAX_DEPTH: usize = 256;

/// All that the operands name, each by itself.
fn each(shell: &mut Shell<'_>, mut act: impl FnMut(&mut Shell<'_>, &Place) -> Done) -> Done {
    for operand in shell.operands(1)? {
        let found = Place::of(shell.site, &operand)?.expand()?;
        if found.is_empty() {
            shell.complain(&Problem(format!("`{operand}': No such file or directory")));
        }
        for place in found {
            if let Err(problem) = act(shell, &place) {
                shell.complain(&problem);
            }
        }
    }
    Ok(())
}

pub(super) fn list(shell: &mut Shell<'_>) -> Done {
    let recursive = shell.verb == "lsr" || shell.has("R");
    each(shell, |shell, place| {
        let entries = place.client.again(|_| place.client.entries(&place.path.path));
        let entries = entries.map_err(|error| said(&place.path, &error))?;
        let mut rows = Vec::new();
        match entries.as_slice() {
            // A file lists itself, without a name.
            [file] if file.status.name.is_empty() => rows.push(row(&place.path, file)),
            _ if shell.has("d") => {
                let (parent, name) = place.path.path.rsplit_once('/').unwrap_or(("", ""));
                let parent = place.path.with_path(if parent.is_empty() { "/" } else { parent });
                let beside = place.client.entries(&parent.path).map_err(|error| said(&parent, &error))?;
                rows.extend(
                    beside.iter().filter(|entry| entry.status.name == name).map(|entry| row(&place.path, entry)),
                );
            }
            _ => {
                below(place, entries, recursive, 0, &mut rows)?;
                if !rows.is_empty() && !recursive && !shell.has("C") {
                    shell.line(&format!("Found {} items", rows.len()))?;
                }
            }
        }
        lines(shell, &rows)
    })
}

fn below(place: &Place, mut entries: Vec<Entry>, recursive: bool, depth: usize, rows: &mut Vec<Row>) -> Done {
    if depth > MAX_DEPTH {
        return Err(Problem(format!("`{}': more than {MAX_DEPTH} directories deep", place.path)));
    }
    entries.sort_by(|a, b| a.status.name.cmp(&b.status.name));
    for entry in entries {
        let path = place.path.child(&entry.status.name);
        rows.push(row(&path, &entry));
        if recursive && entry.status.kind == FileKind::Directory {
            let inner = place.client.entries(&path.path).map_err(|error| said(&path, &error))?;
            below(&place.at(path), inner, recursive, depth + 1, rows)?;
        }
    }
    Ok(())
}

fn row(path: &RemotePath, entry: &Entry) -> Row {
    let is_dir = entry.status.kind == FileKind::Directory;
    let bits = u32::from_str_radix(&entry.permission, 8).unwrap_or(0);
    let names = (entry.owner.clone(), entry.group.clone());
    Row {
        described: Described::remote(is_dir, bits, names, entry.status.length, entry.status.modified_ms),
        copies: entry.replication.to_string(),
        shown: path.to_string(),
    }
}

pub(super) fn cat(shell: &mut Shell<'_>) -> Done {
    each(shell, |shell, place| {
        let mut reader = open(place)?;
        io::copy(&mut reader, &mut shell.out).map(drop).map_err(|error| Problem(format!("`{}': {error}", place.path)))
    })
}

/// A file from its first byte on.
pub(super) fn open(place: &Place) -> Done<FileReader> {
    let path = &place.path;
    let status = place.client.again(|_| place.client.status(&path.path)).map_err(|error| said(path, &error))?;
    if status.kind == FileKind::Directory {
        return Err(Problem(format!("`{path}': Is a directory")));
    }
    Ok(FileReader::new(place.client.clone(), &path.path, status.length, 0, (0, status.length)))
}

/// `-test`: the exit code is the answer.
pub(super) fn test(shell: &mut Shell<'_>) -> Done {
    let operands = shell.operands(1)?;
    let Some(&flag) = shell.given.flags.first() else { return Err(Problem("No test flag given".to_owned())) };
    let place = Place::of(shell.site, &operands[0])?;
    let holds = match place.client.again(|_| place.client.status(&place.path.path)) {
        Ok(status) => match flag {
            "d" => status.kind == FileKind::Directory,
            "f" => status.kind == FileKind::File,
            "s" => status.length > 0 || status.kind == FileKind::Directory,
            "z" => status.kind == FileKind::File && status.length == 0,
            _ => true,
        },
        Err(error) if error.is_missing() => false,
        Err(error) => return Err(said(&place.path, &error)),
    };
    shell.failed = !holds;
    Ok(())
}
