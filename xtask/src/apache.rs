//! Apache Hadoop 2.7.3, as far as packages bring it: HDFS, the parser of job histories and the local runner.
//!
//! The jars are in a Python package, of which nothing else is unpacked; what WebHDFS needs besides is in Debian's packages, which
//! are unpacked without being installed. The first time that takes about half a minute and 220 MB of download.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::packages::{Missing, cache, quiet};
use crate::{packages, tools};

/// The Python package, and its file's digest.
const PYTHON: &str = "pyspark==2.4.8";
const SHA256: &str = "3a19b71b8dc8dd91ebc943604a05e1ab01bce052456d42937035632d852d78dc";
/// Its set-up asks for a package whose newer versions it does not understand.
const CONSTRAINT: &str = "pypandoc<1.6\n";
/// Debian's packages with Jersey 1, on which WebHDFS stands.
const DEBIAN: [&str; 6] = [
    "libjersey1-core-java",
    "libjersey1-server-java",
    "libjersey1-servlet-java",
    "libjersey1-json-java",
    "libjsr311-api-java",
    "libasm-java",
];

/// The folder with `jars/` and `jersey/`, installed with the `pip` of this Python if it was not yet.
pub(crate) fn install(python: &Path) -> Result<PathBuf> {
    tools::provide_java()?;
    for program in ["java", "javac"] {
        if !quiet(Command::new(program).arg("-version").stderr(std::process::Stdio::null()))? {
            return Missing::of(format!("`{program}` is not here; install a JDK 17 or 21 with the system's packages"));
        }
    }
    let folder = cache()?.join("hadoop-2.7.3");
    let done = folder.join("installed");
    if done.is_file() {
        return Ok(folder);
    }
    // What an interrupted start left.
    let _ = std::fs::remove_dir_all(&folder);
    for part in ["jars", "jersey", "debian"] {
        let part = folder.join(part);
        std::fs::create_dir_all(&part).with_context(|| format!("create `{}`", part.display()))?;
    }
    hadoop(python, &folder)?;
    jersey(&folder)?;
    std::fs::write(&done, PYTHON).with_context(|| format!("write `{}`", done.display()))?;
    Ok(folder)
}

/// Hadoop's jars.
fn hadoop(python: &Path, folder: &Path) -> Result<()> {
    let (wanted, constraint) = (folder.join("requirements.txt"), folder.join("constraint.txt"));
    std::fs::write(&wanted, format!("{PYTHON} --hash=sha256:{SHA256}\n")).context("write the requirements")?;
    std::fs::write(&constraint, CONSTRAINT).context("write the constraint")?;
    let words = ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--requirement"];
    let mut download = Command::new(python);
    download.args(words).arg(&wanted).arg("--dest").arg(folder).env("PIP_CONSTRAINT", &constraint);
    let archive = folder.join(format!("{}.tar.gz", PYTHON.replace("==", "-")));
    if !quiet(&mut download)? || !archive.is_file() {
        return Missing::of(format!("{PYTHON} cannot be had from the Python package index; is there a network?"));
    }
    let mut unpack = Command::new("tar");
    unpack.arg("xzf").arg(&archive).arg("-C").arg(folder.join("jars"));
    unpack.args(["--strip-components=3", "--wildcards", "*/deps/jars/*"]);
    if !quiet(&mut unpack)? {
        return Missing::of(format!("`tar` cannot unpack `{}`", archive.display()));
    }
    std::fs::remove_file(&archive).with_context(|| format!("remove `{}`", archive.display()))
}

/// Jersey's jars.
fn jersey(folder: &Path) -> Result<()> {
    let debian = folder.join("debian");
    if !packages::debian(&debian, &[&["download"], &DEBIAN[..]].concat())? {
        return Missing::of(
            "Debian's packages of Jersey 1 cannot be had by `apt-get download`: no Debian, or no network",
        );
    }
    let unpacked = folder.join("unpacked");
    for entry in std::fs::read_dir(&debian).context("list Debian's packages")? {
        let package = entry.context("list Debian's packages")?.path();
        if !quiet(Command::new("dpkg").arg("-x").arg(&package).arg(&unpacked))? {
            return Missing::of(format!("`dpkg` cannot unpack `{}`", package.display()));
        }
    }
    let java = unpacked.join("usr/share/java");
    for entry in std::fs::read_dir(&java).with_context(|| format!("list `{}`", java.display()))? {
        let path = entry.context("list Jersey's jars")?.path();
        // Names without a version are links to those with one: twice the same does no harm.
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let wanted = name.starts_with("jersey1-") || name.starts_with("jsr311-api") || name.starts_with("asm");
        if wanted {
            std::fs::copy(&path, folder.join("jersey").join(&name))
                .with_context(|| format!("copy `{}`", path.display()))?;
        }
    }
    Ok(())
}
