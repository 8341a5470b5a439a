//! Programs beside cargo that the tests run: without one, tests would fail an hour later and look like our mistake.

use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::process::{is_ci, say};
use crate::rights::is_root;

/// A program, words with which it does nothing and ends well, and what wants it.
type Tool = (&'static str, &'static [&'static str], &'static str);

const TOOLS: [Tool; 1] =
    [("python3", &["-c", "import json, sys"], "the tests of the external scheduler run the guide's example with it")];

/// Looks for all of them.
pub(crate) fn check() -> Result<String> {
    for (program, words, why) in TOOLS {
        look_for(program, words, why)?;
    }
    Ok(TOOLS.map(|(program, ..)| program).join(", "))
}

/// What the lab's tests need beside the kernel, and the Debian package that has it.
const LAB_TOOLS: [(&str, &[&str], &str); 5] = [
    ("ip", &["-V"], "iproute2"),
    ("nft", &["--version"], "nftables"),
    ("unshare", &["--version"], "util-linux"),
    ("nsenter", &["--version"], "util-linux"),
    ("hostname", &["--version"], "hostname"),
];

/// What root's tests of disks that hang, fill or become read-only need, and the Debian package that has it.
const DISK_TOOLS: [(&str, &[&str], &str); 3] = [
    ("prlimit", &["--version"], "util-linux"),
    ("fsfreeze", &["--version"], "util-linux"),
    ("mkfs.ext4", &["-V"], "e2fsprogs"),
];

/// What Apache's own programs need, and the Debian package that has it.
const JAVA_TOOLS: [(&str, &[&str], &str); 2] =
    [("java", &["-version"], "default-jdk-headless"), ("javac", &["-version"], "default-jdk-headless")];

/// Looks for the programs that the lab's tests need; see [`provide`].
pub(crate) fn provide_lab() -> Result<()> {
    provide(&LAB_TOOLS, "the lab's tests")
}

/// Looks for the programs of the tests of disks, which are root's; see [`provide`].
pub(crate) fn provide_disks() -> Result<()> {
    if is_root() { provide(&DISK_TOOLS, "the tests of disks that hang or fill") } else { Ok(()) }
}

/// Looks for a Java and its compiler; see [`provide`].
pub(crate) fn provide_java() -> Result<()> {
    provide(&JAVA_TOOLS, "the tests with Apache's Hadoop")
}

/// Looks for programs. Root of a machine that builds for others (`CI=true`) gets what is missing from the system's packages;
/// elsewhere the tests say themselves what is missing.
fn provide(tools: &[(&str, &[&str], &str)], whose: &str) -> Result<()> {
    let is_missing = |(program, words, _): &(&str, &[&str], &str)| look_for(program, words, whose).is_err();
    let mut missing: Vec<&str> = tools.iter().filter(|tool| is_missing(tool)).map(|(.., package)| *package).collect();
    missing.dedup();
    if missing.is_empty() {
        return Ok(());
    }
    let (list, ci) = (missing.join(" "), is_ci());
    if !(ci && is_root()) {
        say(&format!("{whose} want `apt-get install {list}`"));
        return if ci { bail!("missing for {whose}: {list}") } else { Ok(()) };
    }
    // A new machine has no list of packages yet; what an old list names may still be had without this.
    let _ = Command::new("apt-get").args(["update", "--quiet"]).status();
    let status = Command::new("apt-get").args(["install", "--yes", "--no-install-recommends"]).args(&missing).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => bail!("`apt-get install {list}` ended with {status}"),
        Err(error) => bail!("`apt-get install {list}`: {error}"),
    }
}

fn look_for(program: &str, words: &[&str], why: &str) -> Result<()> {
    let said = words.join(" ");
    let status =
        Command::new(program).args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let problem = match status {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => format!("`{program} {said}` ended with {status}, expected success"),
        Err(error) => format!("`{program}` does not start: {error}"),
    };
    bail!("{problem}; {why}\nhelp: install `{program}` with the system's packages, or put its folder on the PATH")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_broken_is_named_with_advice() {
        let said =
            |program: &str, words: &[&str]| look_for(program, words, "a test").expect_err("not good").to_string();
        let missing = said("howdah-has-no-such-program", &[]);
        assert!(missing.starts_with("`howdah-has-no-such-program` does not start: "), "{missing}");
        assert!(missing.contains("; a test\nhelp: install `howdah-has-no-such-program`"), "{missing}");
        assert!(
            said("sh", &["-c", "exit 3"]).starts_with("`sh -c exit 3` ended with exit status: 3, expected success")
        );
        assert!(look_for("sh", &["-c", "exit 0"], "a test").is_ok());
    }
}
