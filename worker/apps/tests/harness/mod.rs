//! Runs planned jobs in this process, through the task library's own process loop, data path and shuffle.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::path::{Path, PathBuf};

use howdah_apps::{JobPlan, PlanRequest, application, plan};
use howdah_task::Result;
use howdah_task::local::{LocalDone, LocalJob};

/// A directory that inputs and outputs live in.
pub(crate) struct Place(tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Place {
        Place(tempfile::tempdir().expect("a temporary directory"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("a temporary directory in UTF-8").to_owned()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("write a test's input");
    }

    /// A request to read one of these files or directories, and to write another.
    pub(crate) fn request(&self, input: &str, output: &str, args: &[&str]) -> PlanRequest {
        PlanRequest {
            inputs: if input.is_empty() { Vec::new() } else { vec![self.text(input)] },
            output: Some(self.text(output)),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            ..PlanRequest::default()
        }
    }
}

/// How a test wants its jobs run.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) n_reduces: Option<u32>,
    pub(crate) split_size: u64,
    pub(crate) properties: &'a [(&'a str, &'a str)],
}

impl Default for Run<'_> {
    fn default() -> Self {
        Run { n_reduces: None, split_size: 64 << 20, properties: &[] }
    }
}

/// Plans an application's jobs and runs them all; what the last one left.
pub(crate) fn run_with(app: &str, mut request: PlanRequest, run: Run<'_>) -> Result<LocalDone> {
    request.n_reduces = run.n_reduces;
    request.properties.extend(run.properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())));
    let mut last = None;
    for job in plan(app, &request)? {
        last = Some(run_job(&job, run.split_size)?);
        for directory in &job.removes {
            std::fs::remove_dir_all(directory)?;
        }
    }
    Ok(last.expect("an application has a job"))
}

/// As [`run_with`], with nothing special.
pub(crate) fn run(app: &str, request: PlanRequest) -> LocalDone {
    run_with(app, request, Run::default()).unwrap_or_else(|error| panic!("{app}: {error}"))
}

fn run_job(plan: &JobPlan, split_size: u64) -> Result<LocalDone> {
    let nowhere = tempfile::tempdir()?;
    let output = plan.output.as_ref().map_or(nowhere.path().join("none"), PathBuf::from);
    let mut job = LocalJob::new(output, application)
        .app(plan.app.clone())
        .input_format(plan.input_format.clone())
        .n_reduces(plan.n_reduces)
        .split_size(split_size);
    for input in &plan.inputs {
        for file in files(Path::new(input)) {
            job = job.input(file);
        }
    }
    for (key, value) in &plan.properties {
        job = job.property(key, value);
    }
    job.run()
}

fn files(input: &Path) -> Vec<PathBuf> {
    if input.is_file() {
        return vec![input.to_owned()];
    }
    let entries = std::fs::read_dir(input).expect("list a test's input");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("list a test's input").path()).collect();
    files.retain(|path| !path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"_")));
    files.sort();
    files
}

/// The parts, one after the other.
pub(crate) fn output(done: &LocalDone) -> String {
    done.parts.iter().map(|part| std::fs::read_to_string(part).expect("read a part")).collect()
}
