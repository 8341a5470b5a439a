//! Scripts, by their first line: those that cannot start because what it names is not there (the system says only that something
//! is missing, of a file that everybody sees), and those that stand where a program is meant.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;

/// The longest first line that Linux reads.
const LONGEST: u64 = 256;

/// Why a program that is there did not start, as `, whose interpreter … is not here`; nothing if that is not the reason.
pub fn whose_is_missing(program: &Path, error: &std::io::Error) -> String {
    let named = if error.kind() == ErrorKind::NotFound { named(program) } else { None };
    let missing = named.filter(|interpreter| !Path::new(interpreter).exists());
    let said = |interpreter: String| format!(", whose interpreter `{}` is not here", interpreter.escape_debug());
    missing.map_or_else(String::new, said)
}

/// Whether a file is there that begins as scripts do.
pub fn is_script(program: &Path) -> bool {
    named(program).is_some()
}

/// The interpreter in a script's first line; a carriage return of another system's belongs to it, as the kernel reads it.
fn named(program: &Path) -> Option<String> {
    // Nobody waits for the writer of a pipe that was put there.
    let file = File::options().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(program).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut line = Vec::new();
    BufReader::new(file.take(LONGEST)).read_until(b'\n', &mut line).ok()?;
    let line = String::from_utf8(line).ok()?;
    let mut words = line.strip_prefix("#!")?.split([' ', '\t', '\n']);
    words.find(|word| !word.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_whose_interpreter_is_missing_names_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let said = |text: &str, kind: ErrorKind| {
            let program = dir.path().join("map");
            std::fs::write(&program, text).expect("write it");
            whose_is_missing(&program, &kind.into())
        };
        let missing = "#! /no/such/python -u\nprint(1)\n";
        assert_eq!(said(missing, ErrorKind::NotFound), ", whose interpreter `/no/such/python` is not here");
        assert_eq!(said(missing, ErrorKind::PermissionDenied), "");
        let elsewhere = said("#!/bin/sh\r\necho\r\n", ErrorKind::NotFound);
        assert_eq!(elsewhere, ", whose interpreter `/bin/sh\\r` is not here", "written under Windows");
        for (fine, is_one) in [("#!/bin/sh\n", true), ("", false), ("#!", false), ("\u{0}\u{1}ELF", false)] {
            assert_eq!(said(fine, ErrorKind::NotFound), "", "{fine:?}");
            assert_eq!(is_script(&dir.path().join("map")), is_one, "{fine:?}");
        }
        assert_eq!(whose_is_missing(&dir.path().join("nothing"), &ErrorKind::NotFound.into()), "");
        assert_eq!(whose_is_missing(dir.path(), &ErrorKind::NotFound.into()), "");
    }
}
