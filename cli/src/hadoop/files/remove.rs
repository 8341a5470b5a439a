//! `-rm`, `-rmr`, `-rmdir` and `-mv`.

use std::{fs, io};

use super::shell::{Done, Problem, Shell, said};

/// `-rm [-r] [-f] [-skipTrash]`. There is no trash either way.
pub(super) fn remove(shell: &mut Shell<'_>) -> Done {
    let recursive = shell.verb == "rmr" || shell.has("r") || shell.has("R");
    let forced = shell.has("f");
    let operands = shell.operands(usize::from(!forced))?;
    let mut named = Vec::new();
    for operand in &operands {
        let found = shell.site.file_system.expand(operand)?;
        if found.is_empty() && !forced {
            shell.complain(&Problem(format!("`{operand}': No such file or directory")));
        }
        named.extend(found);
    }
    for named in named {
        let is_root = shell.site.file_system.root() == Some(&named.local) || named.local.parent().is_none();
        let removed = match fs::symlink_metadata(&named.local) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && forced => continue,
            Err(error) => Err(said(&named.shown, &error)),
            Ok(_) if is_root => Err(Problem(format!("`{}': the root is not removed", named.shown))),
            Ok(metadata) if metadata.is_dir() && !recursive => {
                Err(Problem(format!("`{}': Is a directory", named.shown)))
            }
            Ok(metadata) if metadata.is_dir() => {
                fs::remove_dir_all(&named.local).map_err(|error| said(&named.shown, &error))
            }
            Ok(_) => fs::remove_file(&named.local).map_err(|error| said(&named.shown, &error)),
        };
        match removed {
            Ok(()) => shell.line(&format!("Deleted {}", named.shown))?,
            Err(problem) => shell.complain(&problem),
        }
    }
    Ok(())
}

/// `-rmdir`: empty directories only.
pub(super) fn remove_directory(shell: &mut Shell<'_>) -> Done {
    let tolerant = shell.has("ignore-fail-on-non-empty");
    shell.each(|_, named| match fs::remove_dir(&named.local) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty && tolerant => Ok(()),
        removed => removed.map_err(|error| said(&named.shown, &error)),
    })
}

/// `-mv SOURCE… TARGET`: into a directory, or to a name that is free.
pub(super) fn rename(shell: &mut Shell<'_>) -> Done {
    let mut operands = shell.operands(2)?;
    let target = operands.pop().unwrap_or_default();
    let target = shell.site.file_system.named(&target)?;
    let into = target.local.is_dir();
    shell.each_of(&operands, |_, named, _| {
        let to = match named.local.file_name() {
            Some(name) if into => target.child(&name.to_string_lossy()),
            _ => target.clone(),
        };
        if to.local.exists() {
            return Err(Problem(format!("`{}': File exists", to.shown)));
        }
        fs::rename(&named.local, &to.local).map_err(|error| match error.kind() {
            // Its source is there.
            io::ErrorKind::NotFound => said(&to.shown, &error),
            _ => said(&named.shown, &error),
        })
    })
}
