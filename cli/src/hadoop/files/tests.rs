//! The verbs over a directory, with what they print taken from standard output of the whole command in `cli/tests`;
//! here is what they leave behind.

use std::path::Path;

use super::super::paths::FileSystem;
use super::super::site::Site;
use super::run;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().expect("a folder"))
    }

    fn site(&self) -> Site {
        let file_system = FileSystem::new("hdfs:///", Some(self.0.path().join("fs")), "ann").expect("a root");
        Site { home: None, properties: Default::default(), file_system, master: None }
    }

    fn code(&self, words: &str) -> u8 {
        let words = words.replace('~', &self.0.path().display().to_string());
        let words: Vec<&str> = words.split(' ').collect();
        run(self.site(), &words).unwrap_or_else(|failure| failure.exit() as u8)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }
}

#[test]
fn files_go_in_and_out_unchanged_and_are_not_overwritten() {
    let place = Place::new();
    std::fs::write(place.path("a"), "one\n").expect("a file");
    std::fs::write(place.path("b"), "two\n").expect("a file");
    assert_eq!(place.code("-mkdir hdfs:///x/y"), 1, "its parent is missing");
    assert_eq!(place.code("-mkdir -p hdfs:///x/y"), 0);
    assert_eq!(place.code("-mkdir hdfs:///x"), 1, "it is there");
    assert_eq!(place.code("-put ~/a ~/b /x/y"), 0);
    assert_eq!(place.code("-put ~/b /x/y/a"), 1, "it is there");
    assert_eq!(std::fs::read(place.path("fs/x/y/a")).expect("there"), b"one\n");
    assert_eq!(place.code("-put -f ~/b /x/y/a"), 0);
    assert_eq!(std::fs::read(place.path("fs/x/y/a")).expect("there"), b"two\n");
    assert_eq!(place.code("-get /x/y ~/back"), 0);
    assert_eq!(std::fs::read(place.path("back/b")).expect("there"), b"two\n");
    assert_eq!(place.code("-getmerge -nl /x/y ~/all"), 0);
    assert_eq!(std::fs::read(place.path("all")).expect("there"), b"two\n\ntwo\n\n");
    assert_eq!(place.code("-put ~/none /x"), 1);
}

#[test]
fn copies_keep_times_and_permissions_where_that_is_asked_for() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    std::fs::write(place.path("a"), "one\n").expect("a file");
    std::fs::set_permissions(place.path("a"), std::fs::Permissions::from_mode(0o640)).expect("a mode");
    std::fs::File::open(place.path("a")).and_then(|file| file.set_modified(long_ago)).expect("a time");
    let of = |name: &str| {
        let metadata = std::fs::metadata(place.path(name)).expect("there");
        (metadata.modified().expect("a time") == long_ago, metadata.permissions().mode() & 0o777 == 0o640)
    };
    assert_eq!(place.code("-mkdir -p /x"), 0);
    assert_eq!(place.code("-put -p ~/a /x/kept"), 0);
    assert_eq!(of("fs/x/kept"), (true, true));
    assert_eq!(place.code("-put ~/a /x/new"), 0);
    assert!(!of("fs/x/new").0);
    assert_eq!(place.code("-get -p /x/kept ~/back"), 0);
    assert_eq!(of("back"), (true, true));
    assert_eq!(place.code("-get -crc /x/kept ~/other"), 2, "there are no checksums");
}

#[test]
fn generic_options_stand_before_the_verb() {
    let place = Place::new();
    std::fs::write(place.path("a"), "one\n").expect("a file");
    assert_eq!(place.code("-D fs.defaultFS=file:/// -D any=thing -cat ~/a"), 0);
    assert_eq!(place.code("-cat ~/a"), 1, "it is not in the directory");
    assert_eq!(place.code("-files ~/a -ls /"), 2);
}

#[test]
fn what_is_tested_removed_and_moved_is_so_afterwards() {
    let place = Place::new();
    assert_eq!(place.code("-mkdir -p d/e"), 0, "below the user's directory");
    assert_eq!(place.code("-touchz d/e/z"), 0);
    assert!(place.path("fs/user/ann/d/e/z").is_file());
    for (flag, code) in [("-e", 0), ("-z", 0), ("-f", 0), ("-d", 1), ("-s", 1)] {
        assert_eq!(place.code(&format!("-test {flag} d/e/z")), code, "{flag}");
    }
    assert_eq!(place.code("-test -e d/none"), 1);
    assert_eq!(place.code("-rm d"), 1, "a directory without -r");
    assert_eq!(place.code("-mv d/e d/f"), 0);
    assert_eq!(place.code("-mv d/none d/g"), 1);
    assert_eq!(place.code("-rmdir d"), 1, "not empty");
    assert_eq!(place.code("-rm -R -f -skipTrash hdfs:///user/ann/d hdfs:///none"), 0);
    assert!(!place.path("fs/user/ann/d").exists());
    assert_eq!(place.code("-rm hdfs:///none*"), 1);
    assert_eq!(place.code("-rm -r /"), 1, "the root stays");
    assert!(place.path("fs").is_dir());
}

#[test]
fn nothing_is_written_outside_the_directory() {
    let place = Place::new();
    std::fs::write(place.path("a"), "one\n").expect("a file");
    assert_eq!(place.code("-mkdir -p /"), 0);
    assert_eq!(place.code("-put ~/a hdfs:///../../evil"), 0);
    assert!(place.path("fs/evil").is_file() && !place.path("evil").exists() && !Path::new("/evil").exists());
}

#[test]
fn verbs_and_options_that_are_not_there_are_refused_with_two() {
    let place = Place::new();
    for words in ["-setrep 3 /x", "-ls -q /", "ls /", "-chmod -v 7 /"] {
        assert_eq!(place.code(words), 2, "{words}");
    }
}
