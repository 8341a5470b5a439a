//! `-mkdir`, `-rm`, `-put` and `-get` in an HDFS.
//!
//! A file is written under another name beside its own and then renamed, as Hadoop does, so that nobody reads half of it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use howdah_webhdfs::FileKind;

use super::super::copy::COPYING;
use super::super::shell::{Done, Problem, Shell, said as of_system};
use super::place::{Place, said};
use super::show;

pub(super) fn make_directories(shell: &mut Shell<'_>) -> Done {
    let parents = shell.has("p");
    for operand in shell.operands(1)? {
        let place = Place::of(shell.site, &operand)?;
        if let Err(problem) = make_directory(&place, parents) {
            shell.complain(&problem);
        }
    }
    Ok(())
}

fn make_directory(place: &Place, parents: bool) -> Done {
    let path = &place.path;
    if !parents {
        if place.kind()?.is_some() {
            return Err(Problem(format!("`{path}': File exists")));
        }
        let parent = path.path.rsplit_once('/').map_or("/", |(parent, _)| if parent.is_empty() { "/" } else { parent });
        if place.at(path.with_path(parent)).kind()?.is_none() {
            return Err(Problem(format!("`{path}': No such file or directory")));
        }
    }
    place.client.make_directory(&path.path).map_err(|error| said(path, &error))
}

pub(super) fn remove(shell: &mut Shell<'_>) -> Done {
    let recursive = shell.verb == "rmr" || shell.has("r") || shell.has("R");
    let forced = shell.has("f");
    for operand in shell.operands(usize::from(!forced))? {
        let found = Place::of(shell.site, &operand)?.expand()?;
        if found.is_empty() && !forced {
            shell.complain(&Problem(format!("`{operand}': No such file or directory")));
        }
        for Place { client, path } in found {
            let removed = match (Place { client: client.clone(), path: path.clone() }).kind() {
                Ok(None) if forced => continue,
                Ok(None) => Err(Problem(format!("`{path}': No such file or directory"))),
                Ok(_) if path.path == "/" => Err(Problem(format!("`{path}': the root is not removed"))),
                Ok(Some(FileKind::Directory)) if !recursive => Err(Problem(format!("`{path}': Is a directory"))),
                Ok(_) => client.remove(&path.path).map_err(|error| said(&path, &error)),
                Err(problem) => Err(problem),
            };
            match removed {
                Ok(()) => shell.line(&format!("Deleted {path}"))?,
                Err(problem) => shell.complain(&problem),
            }
        }
    }
    Ok(())
}

/// `-put SOURCE… TARGET`, of files and directories of this machine.
pub(super) fn put(shell: &mut Shell<'_>) -> Done {
    let mut operands = shell.operands(2)?;
    let target = Place::of(shell.site, &operands.pop().unwrap_or_default())?;
    let forced = shell.has("f");
    let into = target.kind()? == Some(FileKind::Directory);
    if !into && operands.len() > 1 {
        return Err(Problem(format!("`{}': No such directory", target.path)));
    }
    for operand in operands {
        let source = PathBuf::from(operand.strip_prefix("file://").unwrap_or(&operand));
        let name = source.file_name().map(|name| name.to_string_lossy().into_owned());
        let to = if into { target.path.child(&name.unwrap_or_default()) } else { target.path.clone() };
        let done = match operand.as_str() {
            "-" => Err(Problem("`-': not supported in an HDFS, expected a file".to_owned())),
            _ => upload(&source, &target.at(to), forced),
        };
        if let Err(problem) = done {
            shell.complain(&problem);
        }
    }
    Ok(())
}

fn upload(from: &Path, to: &Place, forced: bool) -> Done {
    let shown = from.display().to_string();
    let metadata = fs::metadata(from).map_err(|error| of_system(&shown, &error))?;
    let there = to.kind()?;
    if there.is_some() && !(forced && there == Some(FileKind::File) && metadata.is_file()) {
        return Err(Problem(format!("`{}': File exists", to.path)));
    }
    if metadata.is_dir() {
        to.client.make_directory(&to.path.path).map_err(|error| said(&to.path, &error))?;
        for entry in fs::read_dir(from).map_err(|error| of_system(&shown, &error))? {
            let entry = entry.map_err(|error| of_system(&shown, &error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            upload(&entry.path(), &to.at(to.path.child(&name)), forced)?;
        }
        return Ok(());
    }
    let copying = format!("{}{COPYING}", to.path.path);
    let mut open = || Ok(Box::new(File::open(from)?) as Box<dyn Read>);
    let written = to.client.write(&copying, metadata.len(), &mut open);
    let replaced = |()| if there.is_some() { to.client.remove(&to.path.path) } else { Ok(()) };
    let done = written.and_then(replaced).and_then(|()| to.client.rename(&copying, &to.path.path));
    done.map_err(|error| {
        let _ = to.client.remove(&copying);
        said(&to.path, &error)
    })
}

/// `-get SOURCE… TARGET`, to this machine; the target `-` is standard output.
pub(super) fn get(shell: &mut Shell<'_>) -> Done {
    let mut operands = shell.operands(1)?;
    let target = if operands.len() > 1 { operands.pop().unwrap_or_default() } else { ".".to_owned() };
    if target == "-" {
        shell.given.operands.pop();
        return show::cat(shell);
    }
    let target = PathBuf::from(target.strip_prefix("file://").unwrap_or(&target));
    let mut sources = Vec::new();
    for operand in &operands {
        let found = Place::of(shell.site, operand)?.expand()?;
        if found.is_empty() {
            shell.complain(&Problem(format!("`{operand}': No such file or directory")));
        }
        sources.extend(found);
    }
    if sources.len() > 1 && !target.is_dir() {
        return Err(Problem(format!("`{}': No such file or directory", target.display())));
    }
    let forced = shell.has("f");
    for source in sources {
        let name = source.path.path.rsplit('/').next().unwrap_or_default().to_owned();
        let to = if target.is_dir() { target.join(name) } else { target.clone() };
        if let Err(problem) = download(&source, &to, forced) {
            shell.complain(&problem);
        }
    }
    Ok(())
}

fn download(from: &Place, to: &Path, forced: bool) -> Done {
    let (shown, path) = (to.display().to_string(), &from.path);
    let kind = from.kind()?.ok_or_else(|| Problem(format!("`{path}': No such file or directory")))?;
    if to.exists() && !(forced && to.is_file() && kind == FileKind::File) {
        return Err(Problem(format!("`{shown}': File exists")));
    }
    if kind == FileKind::Directory {
        fs::create_dir(to).map_err(|error| of_system(&shown, &error))?;
        let entries = from.client.again(|_| from.client.list(&path.path)).map_err(|error| said(path, &error))?;
        for entry in entries {
            download(&from.at(path.child(&entry.name)), &to.join(&entry.name), forced)?;
        }
        return Ok(());
    }
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(COPYING);
    let copying = to.with_file_name(name);
    let mut reader = show::open(from)?;
    let written = File::create(&copying)
        .and_then(|mut file| io::copy(&mut reader, &mut file))
        .and_then(|_| fs::rename(&copying, to));
    written.map_err(|error| {
        let _ = fs::remove_file(&copying);
        Problem(format!("`{path}' to `{shown}': {error}"))
    })
}
