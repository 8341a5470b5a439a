//! Installs other people's programs by name and runs the tests that use them.
//!
//! What of it cannot be had here is named in one line, and the tests that need it are not run.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::packages::{Missing, cache, quiet};
use crate::process::{Counts, cargo_test, is_ci};
use crate::rights::is_root;
use crate::targets::of_all_code;
use crate::{apache, slurm};

/// What is installed, exactly; mrjob needs setuptools where Python has no distutils any more, and `moto` Flask for its server,
/// of whose own list (`moto[server]`) most is for other services than S3. `kubernetes-validate` has Kubernetes' own schemas.
const PACKAGES: [&str; 8] = [
    "ansible-core==2.17.14",
    "mrjob==0.7.4",
    "yarn-api-client==1.0.3",
    "setuptools<81",
    "moto[s3]==5.2.5",
    "flask==3.1.3",
    "flask-cors==6.0.5",
    "kubernetes-validate==1.37.0",
];
/// Where the tests find the Python that has them.
const PYTHON: &str = "HOWDAH_INTEROP_PYTHON";
/// Where they find Hadoop's jars.
const HADOOP: &str = "HOWDAH_INTEROP_HADOOP";
/// The tests that need these.
const OF_HADOOP: &str = "interop::apache::";
/// Where those of the kit find Slurm's packages.
const SLURM: &str = "HOWDAH_INTEROP_SLURM";
/// Of the kit's tests, the one that wants none of root's rights.
const OF_KUBERNETES: &str = "manifests::by_schema::";

/// Runs the step.
pub(crate) fn run() -> (Counts, Result<String>) {
    let python = match install() {
        Ok(python) => python,
        Err(error) => return (Counts::default(), Err(strictly(error))),
    };
    let hadoop = apache::install(&python);
    let lacking = match &hadoop {
        Err(error) if !error.is::<Missing>() || is_ci() => {
            return (Counts::default(), hadoop.map(|_| String::new()).map_err(strictly));
        }
        hadoop => hadoop.is_err(),
    };
    let folder = hadoop.as_ref().map_or(Path::new(""), PathBuf::as_path);
    let (Some(python), Some(folder)) = (python.to_str(), folder.to_str()) else {
        return (Counts::default(), Err(anyhow::anyhow!("the cache's path {python:?} is not UTF-8")));
    };
    let mut args = vec!["--test", "cluster", "--", "--test-threads=2", "interop::"];
    if lacking {
        args.extend(["--skip", OF_HADOOP]);
    }
    let (mut counts, result) = some(&of_all_code(&args), &[(PYTHON, python), (HADOOP, folder)], "interop::");
    let (of_kit, kit_result) = of_the_kit(python);
    counts += of_kit;
    let result = result.and(kit_result).and_then(|_| hadoop.map(|_| counts.to_string()));
    (counts, result)
}

/// Kubernetes' schemas, Ansible and Slurm on what is in `deploy/`; the last two are installed where only root can.
fn of_the_kit(python: &str) -> (Counts, Result<String>) {
    let ignored = ["--test", "deploy", "--", "--ignored"];
    if !is_root() {
        let args = [&ignored[..], &[OF_KUBERNETES]].concat();
        return some(&of_all_code(&args), &[(PYTHON, python)], OF_KUBERNETES);
    }
    let slurm = slurm::download().map(|folder| folder.display().to_string());
    match slurm {
        Ok(slurm) => some(&of_all_code(&ignored), &[(PYTHON, python), (SLURM, &slurm)], "slurm::"),
        Err(error) => (Counts::default(), Err(strictly(error))),
    }
}

/// Runs tests, of which there must be some.
fn some(args: &[&str], env: &[(&str, &str)], named: &str) -> (Counts, Result<String>) {
    let (counts, result) = cargo_test(args, env);
    let result = result.and_then(|said| match counts.passed {
        0 => bail!("no test ran, expected those whose names begin with `{named}`"),
        _ => Ok(said),
    });
    (counts, result)
}

/// Where nothing may be missing, what is missing is a failure.
fn strictly(error: anyhow::Error) -> anyhow::Error {
    if error.is::<Missing>() && is_ci() {
        anyhow::anyhow!("{error}; with CI=true nothing may be missing")
    } else {
        error
    }
}

/// The Python with the packages.
fn install() -> Result<PathBuf> {
    let folder = cache()?.join(format!("interop-{}", PACKAGES.join("-").replace(['=', '<', '.', '[', ']'], "_")));
    let (python, done) = (folder.join("bin/python"), folder.join("installed"));
    if done.is_file() {
        return Ok(python);
    }
    std::fs::create_dir_all(&folder).with_context(|| format!("create `{}`", folder.display()))?;
    if !quiet(Command::new("python3").args(["-m", "venv"]).arg(&folder))? {
        return Missing::of("`python3 -m venv` failed; install Python's venv with the system's packages");
    }
    let words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    if !quiet(Command::new(&python).args(words).args(PACKAGES))? {
        let names = PACKAGES.join(", ");
        return Missing::of(format!("{names} cannot be installed from the Python package index; is there a network?"));
    }
    std::fs::write(&done, PACKAGES.join("\n")).with_context(|| format!("write `{}`", done.display()))?;
    Ok(python)
}
