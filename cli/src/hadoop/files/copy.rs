//! What makes files: `-mkdir`, `-touchz`, `-put`, `-get`, `-getmerge`, `-cp`, `-appendToFile`.
//!
//! A file is written under another name beside its own and then renamed, as Hadoop does, so that nobody reads half of it.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::super::paths::{FileSystem, Named};
use super::shell::{Done, Problem, Shell, entries, said};

/// What Hadoop appends to the name of a file that is being copied.
pub(super) const COPYING: &str = "._COPYING_";

pub(super) fn make_directories(shell: &mut Shell<'_>) -> Done {
    let parents = shell.has("p");
    for operand in shell.operands(1)? {
        let named = shell.site.file_system.named(&operand)?;
        let made = if parents { fs::create_dir_all(&named.local) } else { fs::create_dir(&named.local) };
        if let Err(error) = made {
            shell.complain(&said(&named.shown, &error));
        }
    }
    Ok(())
}

/// `-touchz`: an empty file; one with bytes in it is left alone and named.
pub(super) fn touch(shell: &mut Shell<'_>) -> Done {
    for operand in shell.operands(1)? {
        let named = shell.site.file_system.named(&operand)?;
        let problem = match fs::metadata(&named.local) {
            Ok(metadata) if metadata.is_dir() => Some(Problem(format!("`{}': Is a directory", named.shown))),
            Ok(metadata) if metadata.len() > 0 => Some(Problem(format!("`{}': Not a zero-length file", named.shown))),
            _ => File::create(&named.local).err().map(|error| said(&named.shown, &error)),
        };
        if let Some(problem) = problem {
            shell.complain(&problem);
        }
    }
    Ok(())
}

/// A local path, as the system has it: what `-put` reads and `-get` writes.
fn local(path: &str) -> Named {
    let bare = path.strip_prefix("file://").unwrap_or(path);
    Named { shown: path.to_owned(), local: PathBuf::from(bare) }
}

/// Where each of several sources goes: into the target if that is a directory, else to its name.
fn place(target: &Named, source: &Named, n_sources: usize) -> Done<Named> {
    if target.local.is_dir() {
        let name = source.local.file_name().map(|name| name.to_string_lossy().into_owned());
        return Ok(target.child(&name.unwrap_or_default()));
    }
    if n_sources > 1 {
        let problem = if target.local.exists() { "Is not a directory" } else { "No such file or directory" };
        return Err(Problem(format!("`{}': {problem}", target.shown)));
    }
    Ok(target.clone())
}

/// `-put`, `-copyFromLocal`, `-moveFromLocal`; `-` is standard input.
pub(super) fn put(shell: &mut Shell<'_>) -> Done {
    let mut operands = shell.operands(1)?;
    let target = if operands.len() > 1 { operands.pop().unwrap_or_default() } else { String::new() };
    let target = shell.site.file_system.named(&target)?;
    let (how, moves) = (How::of(shell), shell.verb == "moveFromLocal");
    for operand in &operands {
        let source = local(operand);
        let done = if operand == "-" {
            free(&target, how).and_then(|()| write(&target, |file| io::copy(&mut io::stdin().lock(), file).map(drop)))
        } else {
            place(&target, &source, operands.len()).and_then(|to| tree(&source, &to, how))
        };
        if let Err(problem) = done {
            shell.complain(&problem);
        } else if moves {
            let gone =
                if source.local.is_dir() { fs::remove_dir_all(&source.local) } else { fs::remove_file(&source.local) };
            gone.map_err(|error| said(&source.shown, &error))?;
        }
    }
    Ok(())
}

/// `-get`, `-copyToLocal`; the target `-` is standard output.
pub(super) fn get(shell: &mut Shell<'_>) -> Done {
    let mut operands = shell.operands(1)?;
    let target = if operands.len() > 1 { operands.pop().unwrap_or_default() } else { ".".to_owned() };
    if target == "-" {
        return shell.each_of(&operands, |shell, named, _| {
            let copied = File::open(&named.local).and_then(|mut file| io::copy(&mut file, &mut shell.out));
            copied.map(drop).map_err(|error| said(&named.shown, &error))
        });
    }
    between(shell, &operands, &local(&target))
}

/// `-cp`.
pub(super) fn copy(shell: &mut Shell<'_>) -> Done {
    let mut operands = shell.operands(2)?;
    let target = operands.pop().unwrap_or_default();
    let target = shell.site.file_system.named(&target)?;
    between(shell, &operands, &target)
}

fn between(shell: &mut Shell<'_>, sources: &[String], target: &Named) -> Done {
    let how = How::of(shell);
    let n = sources.len() + usize::from(sources.iter().any(|source| source.contains(['*', '?', '[', '{'])));
    shell.each_of(sources, |_, named, _| place(target, named, n).and_then(|to| tree(named, &to, how)))
}

/// `-getmerge [-nl] SOURCE… FILE`: the files of directories one after the other.
pub(super) fn merge(shell: &mut Shell<'_>) -> Done {
    let mut operands = shell.operands(2)?;
    let target = local(&operands.pop().unwrap_or_default());
    let (line_ends, skips) = (shell.has("nl"), shell.has("skip-empty-file"));
    let mut sources = Vec::new();
    shell.each_of(&operands, |_, named, metadata| {
        if metadata.is_dir() {
            sources.extend(entries(named)?.into_iter().filter(|entry| entry.local.is_file()));
        } else {
            sources.push(named.clone());
        }
        Ok(())
    })?;
    write(&target, |file| {
        for source in &sources {
            let n = io::copy(&mut File::open(&source.local)?, file)?;
            if line_ends && !(skips && n == 0) {
                file.write_all(b"\n")?;
            }
        }
        Ok(())
    })
}

/// `-appendToFile SOURCE… FILE`; `-` is standard input.
pub(super) fn append(shell: &mut Shell<'_>) -> Done {
    let mut operands = shell.operands(2)?;
    let target = shell.site.file_system.named(&operands.pop().unwrap_or_default())?;
    let mut file =
        File::options().create(true).append(true).open(&target.local).map_err(|error| said(&target.shown, &error))?;
    for operand in operands {
        let copied = match operand.as_str() {
            "-" => io::copy(&mut io::stdin().lock(), &mut file),
            path => File::open(local(path).local).and_then(|mut source| io::copy(&mut source, &mut file)),
        };
        copied.map_err(|error| said(&operand, &error))?;
    }
    Ok(())
}

/// What the options of a copy say.
#[derive(Clone, Copy)]
struct How {
    /// `-f`: what is there is replaced.
    forced: bool,
    /// `-p`: times and permissions go along.
    keeps: bool,
}

impl How {
    fn of(shell: &Shell<'_>) -> How {
        How { forced: shell.has("f"), keeps: shell.has("p") }
    }
}

fn free(to: &Named, how: How) -> Done {
    if to.local.exists() && !how.forced { Err(Problem(format!("`{}': File exists", to.shown))) } else { Ok(()) }
}

/// Copies a file, or a directory with all that is in it.
fn tree(from: &Named, to: &Named, how: How) -> Done {
    let metadata = fs::metadata(&from.local).map_err(|error| said(&from.shown, &error))?;
    if !metadata.is_dir() {
        free(to, how)?;
        write(to, |file| io::copy(&mut File::open(&from.local)?, file).map(drop))?;
        return keep(to, &metadata, how);
    }
    if inside(&to.local, &from.local) {
        return Err(Problem(format!("`{}' to `{}': is a subdirectory of itself", from.shown, to.shown)));
    }
    free(to, how)?;
    fs::create_dir_all(&to.local).map_err(|error| said(&to.shown, &error))?;
    for entry in entries(from)? {
        let name = entry.local.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        tree(&entry, &to.child(&name), how)?;
    }
    keep(to, &metadata, how)
}

/// Gives a copy the times and permissions of what it is of, if it is to have them.
fn keep(to: &Named, of: &fs::Metadata, how: How) -> Done {
    if !how.keeps {
        return Ok(());
    }
    let times = || {
        let times = fs::FileTimes::new().set_modified(of.modified()?).set_accessed(of.accessed()?);
        File::open(&to.local)?.set_times(times)
    };
    let kept = times().and_then(|()| fs::set_permissions(&to.local, of.permissions()));
    kept.map_err(|error| said(&to.shown, &error))
}

fn inside(path: &Path, directory: &Path) -> bool {
    path.starts_with(directory)
}

/// Writes a file that appears when it is whole.
fn write(to: &Named, content: impl FnOnce(&mut File) -> io::Result<()>) -> Done {
    let mut name = to.local.file_name().unwrap_or_default().to_owned();
    name.push(COPYING);
    let copying = to.local.with_file_name(name);
    let written =
        File::create(&copying).and_then(|mut file| content(&mut file)).and_then(|()| fs::rename(&copying, &to.local));
    if let Err(error) = written {
        let _ = fs::remove_file(&copying);
        return Err(said(&to.shown, &error));
    }
    Ok(())
}

/// Copies a local file into the file system, for jobs.
pub(in crate::hadoop) fn upload(file_system: &FileSystem, from: &Path, to: &Path) -> io::Result<()> {
    let to = Named { shown: file_system.uri(to), local: to.to_owned() };
    let from = Named { shown: from.display().to_string(), local: from.to_owned() };
    tree(&from, &to, How { forced: false, keeps: false }).map_err(|problem| io::Error::other(problem.0))
}
