//! No bytes of an archive make an attempt panic, eat memory, or write or link outside of the directory that it is unpacked to: a
//! job brings it along.

use std::sync::LazyLock;

use howdah_fuzz::{Readings, cases, changed, changes, most_held};
use proptest::prelude::*;

use super::tests::unpacked;
use super::*;

static READINGS: Readings = Readings::of("archives");

fn tar() -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut add = |name: &str, kind, target: &str, content: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        let added = match target {
            "" => builder.append_data(&mut header, name, content),
            _ => builder.append_link(&mut header, name, target),
        };
        added.expect("a vector takes everything");
    };
    add("lib", tar::EntryType::Directory, "", b"");
    add("lib/words", tar::EntryType::Regular, "", b"one\ntwo\n");
    add("bin/tool", tar::EntryType::Symlink, "../lib/words", b"");
    add(&format!("long/{}", "x".repeat(150)), tar::EntryType::Regular, "", b"y");
    builder.into_inner().expect("a vector takes everything")
}

fn zip() -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    zip.add_directory("lib", options).expect("any name");
    zip.start_file("lib/words", options).expect("any name");
    zip.write_all(&b"one\ntwo\n".repeat(30)).expect("a vector takes everything");
    zip.add_symlink("bin/tool", "../lib/words", options).expect("any name");
    zip.finish().expect("a vector takes everything").into_inner()
}

/// By the names that say how each is unpacked.
static GOOD: LazyLock<[(&str, Vec<u8>); 3]> = LazyLock::new(|| {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&tar()).expect("a vector takes everything");
    [("a.tar", tar()), ("a.tgz", gz.finish().expect("a vector takes everything")), ("a.zip", zip())]
});

/// Everything below a directory, links not followed.
fn below(dir: &Path) -> Vec<PathBuf> {
    let mut found = vec![dir.to_owned()];
    for at in 0.. {
        let Some(path) = found.get(at) else { break };
        if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir()) {
            let entries: Vec<_> = fs::read_dir(path).expect("ours").flatten().map(|entry| entry.path()).collect();
            found.extend(entries);
        }
    }
    found
}

/// Unpacks; whatever comes of it, all of it is inside.
fn check(bytes: &[u8], name: &str) -> io::Result<()> {
    let ((dir, done), held) = most_held(|| unpacked(bytes, name));
    assert!(held < 64 * bytes.len() + (4 << 20), "{held} bytes were held for {}", bytes.len());
    let names = |path: &Path| fs::read_dir(path).expect("ours").flatten().map(|e| e.file_name()).collect::<Vec<_>>();
    let mut beside = names(dir.path());
    beside.sort();
    assert_eq!(beside, ["archive", "in"]);
    assert_eq!(names(&dir.path().join("in")), ["to"]);
    if done.is_ok() {
        let into = dir.path().join("in/to").canonicalize().expect("it is there");
        for path in below(&into) {
            // One that leads nowhere is looked at by the tests beside the code.
            assert!(path.canonicalize().map_or(true, |real| real.starts_with(&into)), "{}", path.display());
        }
    }
    READINGS.add(1);
    done
}

#[test]
fn good_archives_are_unpacked() {
    for (name, bytes) in &*GOOD {
        check(bytes, name).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

proptest! {
    #![proptest_config(cases(4))]

    #[test]
    fn changed_archives_are_unpacked_inside_or_refused(which in 0..3_usize, changes in changes()) {
        let (name, good) = &GOOD[which];
        let _ = check(&changed(good, &changes), name);
    }

    /// A header's checksum keeps most changes of one from being read: here it is good.
    #[test]
    fn headers_that_lie_beneath_good_checksums_are_unpacked_inside_or_refused(
        of_name in changes(),
        of_target in changes(),
        kind in any::<u8>(),
        size in prop_oneof![Just(0_u64), 0..2_000_u64, Just(1 << 33), Just(u64::MAX)],
    ) {
        let mut header = tar::Header::new_old();
        header.set_size(size);
        header.set_mode(0o644);
        header.as_mut_bytes()[156] = kind;
        for (at, text) in [(0, changed(b"../a/./b/../c", &of_name)), (157, changed(b"../lib/../words", &of_target))] {
            let n = text.len().min(100);
            header.as_mut_bytes()[at..at + n].copy_from_slice(&text[..n]);
        }
        header.set_cksum();
        let archive = [header.as_bytes(), &[b'x'; 1_024][..], &tar()].concat();
        let _ = check(&archive, "a.tar");
    }
}
