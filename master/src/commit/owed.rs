//! Outputs elsewhere that are to be cleared away, a small file each, written before anything of them is made or removed.
//!
//! A name node or a store may be away when its turn comes, and the master may end before it is back. The file says all that is
//! needed to try again: the address, and what the job's properties say of it. It is called as the job's mark, which no other
//! output has. Its folder is the master's own, not a run's: what an earlier run left behind is found, too.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::output::Output;

const FOLDER: &str = "clearing";
const END: &str = ".json";

#[derive(Deserialize, Serialize)]
struct Note {
    directory: String,
    /// Of a job's properties, those that say where the output lies, as whom it is written, and its mark.
    properties: BTreeMap<String, String>,
}

/// The folder with the files.
#[derive(Clone, Debug)]
pub(crate) struct Owed {
    folder: PathBuf,
}

impl Owed {
    /// In a master's directory. Nothing is made before there is something to note.
    pub(crate) fn of(master_dir: &Path) -> Owed {
        Owed { folder: master_dir.join(FOLDER) }
    }

    fn path(&self, mark: &str) -> PathBuf {
        self.folder.join(format!("{mark}{END}"))
    }

    /// Notes an output, on the disk when this returns. One without a mark is nobody's to clear away.
    pub(crate) fn note(&self, output: &Output) -> io::Result<()> {
        let Some(mark) = output.mark() else { return Ok(()) };
        let path = self.path(mark);
        if path.exists() {
            return Ok(());
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let note =
            Note { directory: output.directory().display().to_string(), properties: output.properties().clone() };
        let begun = path.with_extension("begun");
        let mut file = File::create(&begun)?;
        file.write_all(&serde_json::to_vec_pretty(&note)?)?;
        file.sync_all()?;
        fs::rename(&begun, &path)?;
        File::open(&self.folder)?.sync_all()
    }

    /// Nothing of it is to be cleared away any more.
    pub(crate) fn settle(&self, output: &Output) {
        let Some(mark) = output.mark() else { return };
        let path = self.path(mark);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                // It will be tried again, and then there is nothing to do.
                tracing::warn!(path = %path.display(), %error, "cannot remove the note of an output");
            }
            _ => {}
        }
    }

    /// All that are noted. A file that does not read is named in the log and left alone.
    pub(crate) fn all(&self) -> Vec<Output> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.retain(|path| path.to_string_lossy().ends_with(END));
        paths.sort_unstable();
        let read = |path: PathBuf| match self.read(&path) {
            Ok(output) => Some(output),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "cannot read the note of an output");
                None
            }
        };
        paths.into_iter().filter_map(read).collect()
    }

    /// A note is of the output whose mark it is called by, and of no other: what is settled is removed by that name.
    fn read(&self, path: &Path) -> io::Result<Output> {
        let note: Note = serde_json::from_slice(&fs::read(path)?)?;
        let output = Output::new(&note.directory, &note.properties);
        match output.mark() {
            Some(mark) if self.path(mark) == path => Ok(output),
            Some(mark) => Err(io::Error::other(format!("it is of an output with the mark `{mark}`"))),
            None => Err(io::Error::other(format!("it is of `{}`, which has no mark", note.directory))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn output(mark: &str) -> Output {
        let properties = [
            (howdah_webhdfs::MARK_PROPERTY, mark),
            (howdah_webhdfs::USER_PROPERTY, "ann"),
            ("howdah.hdfs.http.hdfs://nn:8020", "nn.example:9870"),
            ("my.secret", "not for this file"),
        ];
        let properties = properties.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Output::new("hdfs://nn:8020/out", &properties)
    }

    #[test]
    fn what_is_noted_is_there_after_a_restart_until_it_is_settled() {
        let dir = tempfile::tempdir().unwrap();
        let owed = Owed::of(dir.path());
        assert!(owed.all().is_empty());
        for mark in ["0a", "0b", "0a"] {
            owed.note(&output(mark)).unwrap();
        }
        // What does not read, or was begun when the power went, hides no other.
        fs::write(owed.path("00"), "{").unwrap();
        fs::write(dir.path().join(FOLDER).join("0c.begun"), "").unwrap();
        let again = Owed::of(dir.path());
        let marks = |owed: &Owed| owed.all().iter().map(|o| o.mark().unwrap().to_owned()).collect::<Vec<_>>();
        assert_eq!(marks(&again), ["0a", "0b"]);
        assert_eq!(again.all()[0].server(), Some("nn.example:9870"));
        let text = fs::read_to_string(owed.path("0a")).unwrap();
        assert!(!text.contains("secret"), "{text}");
        again.settle(&output("0a"));
        again.settle(&output("0a"));
        assert_eq!(marks(&owed), ["0b"]);
    }

    #[test]
    fn an_output_here_or_with_a_strange_mark_has_no_note() {
        let dir = tempfile::tempdir().unwrap();
        let owed = Owed::of(dir.path());
        owed.note(&Output::new("/data/out", &BTreeMap::new())).unwrap();
        owed.note(&output("../../escaped")).unwrap();
        assert!(!dir.path().join(FOLDER).exists());
    }
}

#[cfg(test)]
mod fuzz {
    use howdah_fuzz::{Readings, cases, changed, changes, most_held};
    use proptest::prelude::*;

    use super::tests::output;
    use super::*;

    static READINGS: Readings = Readings::of("notes of outputs");

    proptest! {
        #![proptest_config(cases(8))]

        #[test]
        fn a_changed_note_is_of_an_output_elsewhere_with_its_mark_or_is_left_alone_and_hides_no_other(
            changes in changes(),
        ) {
            let dir = tempfile::tempdir().expect("a folder");
            let owed = Owed::of(dir.path());
            ["0a", "0b"].iter().for_each(|mark| owed.note(&output(mark)).expect("it can be noted"));
            let path = owed.path("0a");
            let bytes = changed(&fs::read(&path).expect("it is there"), &changes);
            fs::write(&path, &bytes).expect("write");
            let (all, held) = most_held(|| owed.all());
            prop_assert!(held < 64 * bytes.len() + (256 << 10), "{} bytes were held for {}", held, bytes.len());
            let marks: Vec<&str> = all.iter().map(|output| output.mark().expect("it has one")).collect();
            prop_assert!(marks == ["0b"] || marks == ["0a", "0b"], "{:?}", marks);
            prop_assert!(all.iter().all(Output::is_remote), "{:?}", all);
            all.iter().for_each(|output| owed.settle(output));
            prop_assert!(!owed.path("0b").exists() && path.exists() == (marks.len() == 1));
            READINGS.add(1);
        }
    }
}
