//! What the demo's jobs read: a real text and generated sudokus.
//!
//! The text is the sources and documents of the crates that building this program downloaded: every machine that
//! built it has them, tens of megabytes. Which crates those are says the lock file, so the registry's other
//! content stays out. Thousands of small files would be thousands of maps, so they are joined into a few.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use howdah_apps::sudoku::{Generator, Mix};
use howdah_apps::text::ZipfText;
use indicatif::ProgressBar;

use crate::demo::args::DemoArgs;
use crate::demo::leash::{self, Guarded, Leash};
use crate::failure::{Failure, Outcome};
use crate::local::{cannot, make_dir};
use crate::output::{Screen, Style};
use crate::units;

/// The lock file that this program was built with.
const LOCK: &str = include_str!("../../../Cargo.lock");
/// Enough to keep a few cores busy for seconds.
const MOST_BYTES: u64 = 96 << 20;
/// Below this, generated text shows more.
const LEAST_BYTES: u64 = 1 << 20;
/// Files of a user's input that are read where they are.
const FEW_FILES: usize = 64;
/// Maps that the text is meant for.
const MAPS: u64 = 16;

/// The inputs, ready to be submitted.
#[derive(Debug)]
pub(crate) struct Inputs {
    /// Text files.
    pub(crate) text: Vec<PathBuf>,
    /// A file with a puzzle per line.
    pub(crate) puzzles: PathBuf,
    /// Number of puzzles.
    pub(crate) n_puzzles: u64,
    about_text: String,
}

impl Inputs {
    /// Finds or makes them below `dir`.
    pub(crate) async fn make(args: &DemoArgs, dir: &Path, shown: &ProgressBar) -> Outcome<Inputs> {
        let (args, dir, shown) = (args.clone(), dir.join("input"), shown.clone());
        leash::run("making the input", move |leash| make(&args, &dir, &shown, leash)).await
    }

    /// Lines for the top of the screen.
    pub(crate) fn describe(&self, screen: &Screen) -> [String; 2] {
        let head = |name: &str| screen.paint(Style::Dim, format!("  {name:<9}"));
        [
            format!("{}{}", head("text"), self.about_text),
            format!(
                "{}{} with 24 to 40 clues, generated, each with exactly one solution",
                head("puzzles"),
                units::counted(self.n_puzzles, "sudoku")
            ),
        ]
    }
}

fn make(args: &DemoArgs, dir: &Path, shown: &ProgressBar, leash: &Leash) -> Outcome<Inputs> {
    let folder = dir.join("text");
    make_dir(&folder)?;
    shown.set_message("finding a text");
    let (text, about_text) = match &args.input {
        Some(path) => given(path, &folder, leash)?,
        None => crates(&folder, leash)?.map_or_else(|| generated(&folder, leash), Ok)?,
    };
    shown.set_message("generating sudokus");
    let puzzles = dir.join("puzzles.txt");
    sudokus(&puzzles, u64::from(args.puzzles), leash)?;
    Ok(Inputs { text, puzzles, n_puzzles: u64::from(args.puzzles), about_text })
}

/// The user's own text: read in place, or joined when it is many files.
fn given(path: &Path, folder: &Path, leash: &Leash) -> Outcome<(Vec<PathBuf>, String)> {
    let path = path.canonicalize().map_err(|error| cannot("read", path, &error))?;
    let mut files = Vec::new();
    if path.is_file() {
        files.push(path.clone());
    } else {
        walk(&path, &mut files, &|_| true, leash);
    }
    files.sort();
    if files.is_empty() {
        return Err(Failure::usage(format!("input `{}`: expected a file, or a directory with files", path.display())));
    }
    let packed = ["gz", "bz2", "zst"];
    if let Some(file) = files.iter().find(|file| file.extension().is_some_and(|e| packed.iter().any(|p| e == *p))) {
        return Err(Failure::usage(format!("input `{}`: the demo counts plain text only", file.display()))
            .help("`howdah submit wordcount` reads compressed files too"));
    }
    let bytes: u64 = files.iter().filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum();
    let about =
        format!("{} below {}, {}", units::counted(files.len() as u64, "file"), path.display(), units::bytes(bytes));
    if files.len() <= FEW_FILES {
        return Ok((files, about));
    }
    Ok((join(&files, bytes, folder, leash)?, about))
}

/// Sources and documents of the crates that this program was built from; `None` when they are not here.
fn crates(folder: &Path, leash: &Leash) -> Outcome<Option<(Vec<PathBuf>, String)>> {
    let (mut files, mut bytes, mut n_crates) = (Vec::new(), 0, 0);
    for found in crate_folders() {
        if bytes >= MOST_BYTES {
            break;
        }
        let before = files.len();
        walk(&found, &mut files, &|path| path.extension().is_some_and(|e| e == "rs" || e == "md"), leash);
        files[before..].sort();
        n_crates += u64::from(files.len() > before);
        bytes += files[before..].iter().filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum::<u64>();
    }
    if bytes < LEAST_BYTES {
        return Ok(None);
    }
    let about = format!(
        "{} of sources and documents: {} of the {} that this program was built from",
        units::bytes(bytes),
        units::counted(files.len() as u64, "file"),
        units::counted(n_crates, "crate"),
    );
    Ok(Some((join(&files, bytes, folder, leash)?, about)))
}

/// `CARGO_HOME/registry/src/*/NAME-VERSION` for each package of the lock file, in its order.
fn crate_folders() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let Some(home) = home else { return Vec::new() };
    let Ok(registries) = std::fs::read_dir(home.join("registry/src")) else { return Vec::new() };
    let mut registries: Vec<PathBuf> = registries.flatten().map(|entry| entry.path()).collect();
    registries.sort();
    let names = locked();
    // One copy of each, whichever registry or mirror it came from.
    names.iter().filter_map(|name| registries.iter().map(|r| r.join(name)).find(|path| path.is_dir())).collect()
}

/// `NAME-VERSION` of each downloaded package of the lock file.
fn locked() -> BTreeSet<String> {
    let value = |line: &str, key: &str| Some(line.strip_prefix(key)?.trim().trim_matches('"').to_owned());
    let mut names = BTreeSet::new();
    let (mut name, mut version) = (String::new(), String::new());
    for line in LOCK.lines() {
        if let Some(text) = value(line, "name =") {
            name = text;
        } else if let Some(text) = value(line, "version =") {
            version = text;
        } else if line.starts_with("source = \"registry+") {
            names.insert(format!("{name}-{version}"));
        }
    }
    names
}

/// Text with words as frequent as in natural language, where no real one is to be had.
fn generated(folder: &Path, leash: &Leash) -> Outcome<(Vec<PathBuf>, String)> {
    const BYTES: u64 = 48 << 20;
    let text = ZipfText::new(200_000, 1.0, 1).map_err(|error| Failure::broke(error.to_string()))?;
    let mut files = Vec::new();
    for part in 0..4 {
        let path = folder.join(format!("part-{part:02}.txt"));
        let mut out = create(&path, leash)?;
        text.write(part, BYTES / 4, &mut out, |_| Ok(())).map_err(|error| cannot("write", &path, &error))?;
        out.flush().map_err(|error| cannot("write", &path, &error))?;
        files.push(path);
    }
    let about = format!("{} of generated text: no crate's sources are on this machine", units::bytes(BYTES));
    Ok((files, about))
}

fn sudokus(path: &Path, n: u64, leash: &Leash) -> Outcome<()> {
    let mix = Mix::parse("mixed").map_err(|error| Failure::broke(error.to_string()))?;
    let mut out = create(path, leash)?;
    Generator::new(1, mix)
        .write(n, &mut out)
        .map_err(|error| Failure::broke(format!("generate sudokus: {error:#}")))?;
    out.flush().map_err(|error| cannot("write", path, &error))
}

/// Joins files, in order, into about as many as there are to be maps. Every file ends with a line feed there, so
/// that no word is glued together.
fn join(files: &[PathBuf], bytes: u64, folder: &Path, leash: &Leash) -> Outcome<Vec<PathBuf>> {
    let part_bytes = bytes / MAPS + 1;
    let mut parts: Vec<PathBuf> = Vec::new();
    let mut open: Option<(Guarded<BufWriter<File>>, u64)> = None;
    for file in files {
        // A file that vanished or may not be read is left out: the check reads the joined ones.
        let Ok(text) = std::fs::read(file) else { continue };
        let (mut out, written) = match open.take() {
            Some(part) => part,
            None => {
                let path = folder.join(format!("part-{:02}.txt", parts.len()));
                let out = create(&path, leash)?;
                parts.push(path);
                (out, 0)
            }
        };
        let wrote =
            out.write_all(&text).and_then(|()| if text.ends_with(b"\n") { Ok(()) } else { out.write_all(b"\n") });
        wrote.map_err(|error| cannot("write", folder, &error))?;
        let written = written + text.len() as u64;
        if written >= part_bytes {
            out.flush().map_err(|error| cannot("write", folder, &error))?;
        } else {
            open = Some((out, written));
        }
    }
    if let Some((mut out, _)) = open {
        out.flush().map_err(|error| cannot("write", folder, &error))?;
    }
    Ok(parts)
}

fn create(path: &Path, leash: &Leash) -> Outcome<Guarded<BufWriter<File>>> {
    let file = File::create(path).map_err(|error| cannot("create", path, &error))?;
    Ok(leash.guard(BufWriter::with_capacity(1 << 16, file)))
}

/// Plain files below `dir` that are wanted; links are not followed, hidden names are left out.
fn walk(dir: &Path, files: &mut Vec<PathBuf>, wanted: &impl Fn(&Path) -> bool, leash: &Leash) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        if leash.is_let_go() {
            return;
        }
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if kind.is_dir() {
            walk(&path, files, wanted, leash);
        } else if kind.is_file() && wanted(&path) {
            files.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_names_what_was_downloaded_and_nothing_of_ours() {
        let names = locked();
        assert!(names.iter().any(|name| name.starts_with("tonic-0.14.")));
        assert!(!names.iter().any(|name| name.starts_with("howdah-")));
    }

    #[test]
    fn joined_files_keep_every_line_whole() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut files = Vec::new();
        for (name, text) in [("a", "one two"), ("b", "three\n"), ("c", "")] {
            let path = dir.path().join(name);
            std::fs::write(&path, text).expect("written");
            files.push(path);
        }
        let folder = dir.path().join("joined");
        std::fs::create_dir(&folder).expect("made");
        let parts = join(&files, 100, &folder, &Leash::default()).expect("joined");
        let text: String = parts.iter().map(|part| std::fs::read_to_string(part).expect("read")).collect();
        assert_eq!(text, "one two\nthree\n\n");
    }
}
