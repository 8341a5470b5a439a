//! What the tests are like for a user without rights.
//!
//! Root, for whom everything is permitted, runs some of those that want rights as a user who has none, with reading alone left:
//! such a user may not have a way to the checkout otherwise.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::not_permitted::{VARIABLE, take};
use crate::process::{Counts, cargo_test};
use crate::targets::of_all_code;

/// Whom most systems call `nobody`.
const NOBODY: u32 = 65_534;
/// Tests that want rights, and some that want none.
const WANTING: [&str; 6] = [
    "vitals::",
    "calibration::quotas",
    "calibration::the_group_of_a_killed",
    "leftovers::up_serves",
    "names::a_host_that_nobody_knows",
    "storage::a_file_system_that_hangs",
];

pub(crate) fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// Runs tests as nobody; any other user is one without rights.
pub(crate) fn run() -> (Counts, Result<String>) {
    if !is_root() {
        return (Counts::default(), Ok("you are one".to_owned()));
    }
    let folder = std::env::temp_dir().join(format!("howdah-nobody-{}", std::process::id()));
    let (counts, result) = match make(&folder) {
        Ok(()) => run_in(&folder),
        Err(error) => (Counts::default(), Err(error)),
    };
    let lines = take(&folder.join("not-permitted"));
    let _ = std::fs::remove_dir_all(&folder);
    let result = result.and_then(|said| match lines.is_empty() {
        true => bail!("tests that want control groups ran as a user without rights, and none of them missed any"),
        false => Ok(format!("{said}; {} things not permitted", lines.len())),
    });
    (counts, result)
}

fn make(folder: &Path) -> Result<()> {
    std::fs::create_dir(folder).with_context(|| format!("create `{}`", folder.display()))?;
    std::os::unix::fs::chown(folder, Some(NOBODY), Some(NOBODY))
        .with_context(|| format!("give `{}` away", folder.display()))
}

fn run_in(folder: &Path) -> (Counts, Result<String>) {
    let folder = folder.display();
    let runner = format!(
        "setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups --bounding-set -all,+dac_read_search --inh-caps \
         -all,+dac_read_search --ambient-caps +dac_read_search env -u CI HOME={folder} TMPDIR={folder} \
         {VARIABLE}={folder}/not-permitted"
    );
    let words: Vec<String> = runner.split_whitespace().map(|word| format!("{word:?}")).collect();
    let config = format!("target.\"cfg(all())\".runner = [{}]", words.join(", "));
    let tests =
        ["--test", "cluster", "--test", "lab", "--config", &config, "--", "--include-ignored", "--test-threads=2"];
    cargo_test(&of_all_code(&[&tests[..], &WANTING].concat()), &[])
}
