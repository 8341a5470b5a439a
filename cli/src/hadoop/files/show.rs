//! `-cat`, `-text`, `-head` and `-tail`.

use std::fs::File;
use std::io;
use std::io::{Read, Seek, SeekFrom, Write};

use super::super::paths::Named;
use super::shell::{Done, Problem, Shell, said};

/// Bytes that `-head` and `-tail` show.
const END_BYTES: u64 = 1 << 10;

fn open(named: &Named) -> Done<File> {
    if named.local.is_dir() {
        return Err(Problem(format!("`{}': Is a directory", named.shown)));
    }
    File::open(&named.local).map_err(|error| said(&named.shown, &error))
}

/// `-cat`; `-text` also opens gzip files.
pub(super) fn cat(shell: &mut Shell<'_>) -> Done {
    let decode = shell.verb == "text";
    shell.each(|shell, named| {
        let mut file = open(named)?;
        let mut magic = [0; 2];
        let is_gzip = decode && file.read(&mut magic).is_ok_and(|n| n == 2) && magic == [0x1f, 0x8b];
        file.rewind().map_err(|error| said(&named.shown, &error))?;
        let copied = if is_gzip {
            io::copy(&mut flate2::read::MultiGzDecoder::new(file), &mut shell.out)
        } else {
            io::copy(&mut file, &mut shell.out)
        };
        copied.map(drop).map_err(|error| said(&named.shown, &error))
    })
}

/// The first kilobyte.
pub(super) fn head(shell: &mut Shell<'_>) -> Done {
    shell.each(|shell, named| {
        let copied = io::copy(&mut open(named)?.take(END_BYTES), &mut shell.out);
        copied.and_then(|_| shell.out.flush()).map_err(|error| said(&named.shown, &error))
    })
}

/// The last kilobyte.
pub(super) fn tail(shell: &mut Shell<'_>) -> Done {
    shell.each(|shell, named| {
        let mut file = open(named)?;
        let end = file.metadata().map_err(|error| said(&named.shown, &error))?.len();
        let copied =
            file.seek(SeekFrom::Start(end.saturating_sub(END_BYTES))).and_then(|_| io::copy(&mut file, &mut shell.out));
        copied.map(drop).map_err(|error| said(&named.shown, &error))
    })
}
