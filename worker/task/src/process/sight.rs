//! Whether this machine sees a job's files at all.
//!
//! Inputs and outputs lie on a file system that all machines share. Where it is not mounted, an attempt would make the
//! output's folders on the machine's own disk and succeed there, unseen by everybody. The master therefore leaves a mark
//! in the output's `_temporary`, and an attempt starts only where it reads that mark. What is missed here is the
//! machine's fault, not the job's, and the worker is told so.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use howdah_core::job::{OUTPUT_MARK, OutputFormat, Split};
use howdah_webhdfs::RemotePath;

use crate::api::context::Context;
use crate::api::error::TaskError;
use crate::output::check_mark;

/// Network file systems may take a moment to tell of what another machine has just made.
const PATIENCE: [Duration; 5] = [
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_millis(1_000),
];

/// Fails where the master's mark is not seen; an input that was made a moment ago is waited for.
pub(super) fn check(context: &Context) -> Result<(), TaskError> {
    let spec = context.spec();
    match &spec.output {
        // Every machine that reaches the name node sees the same, and what it says is not this machine's fault.
        OutputFormat::Files { directory } if RemotePath::is_one(directory) => check_mark(context)?,
        OutputFormat::Files { directory } if spec.marked => look_for(Path::new(directory), &spec.job)?,
        _ => {}
    }
    match &spec.split {
        Some(Split::File { path, .. }) if !RemotePath::is_one(path) => await_input(Path::new(path), &PATIENCE),
        _ => {}
    }
    Ok(())
}

/// Waits until a file is there, within reason: whoever opens it will say what is wrong.
fn await_input(path: &Path, patience: &[Duration]) {
    for wait in patience {
        match std::fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => ask_again(path, *wait),
            _ => return,
        }
    }
}

/// Opening a folder makes network file systems ask their server again.
fn ask_again(path: &Path, wait: Duration) {
    let _ = path.parent().map(std::fs::read_dir);
    std::thread::sleep(wait);
}

fn look_for(output: &Path, job: &str) -> Result<(), TaskError> {
    let path = output.join(OUTPUT_MARK);
    let mut waits = PATIENCE.iter();
    loop {
        let problem = match std::fs::read_to_string(&path) {
            Ok(text) if text.trim() == job => return Ok(()),
            Ok(text) => format!("it is the mark of `{}`", text.trim()),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Err(unseen(&path, error.to_string())),
            Err(error) => error.to_string(),
        };
        let Some(&wait) = waits.next() else { return Err(unseen(&path, problem)) };
        ask_again(output, wait);
    }
}

fn unseen(path: &Path, problem: String) -> TaskError {
    TaskError::Unseen { path: path.to_owned(), problem }
}

/// The path that this machine does not see, where that is what an error says.
pub(super) fn missed(error: &TaskError, split: Option<&Split>) -> Option<String> {
    match error {
        TaskError::Unseen { path, .. } => Some(path.display().to_string()),
        TaskError::Io { action, path, source } if action == "open" => {
            let is_input = matches!(split, Some(Split::File { path: input, .. }) if Path::new(input) == path);
            let is_absent = matches!(
                source.kind(),
                ErrorKind::NotFound
                    | ErrorKind::PermissionDenied
                    | ErrorKind::StaleNetworkFileHandle
                    | ErrorKind::NotConnected
                    | ErrorKind::HostUnreachable
                    | ErrorKind::NotADirectory
            );
            (is_input && is_absent).then(|| path.display().to_string())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_of_this_job_is_needed_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("_temporary")).unwrap();
        let error = look_for(dir.path(), "job_1").unwrap_err().to_string();
        assert!(error.starts_with("this machine does not see `") && error.contains("_temporary/_job"), "{error}");
        std::fs::write(dir.path().join(OUTPUT_MARK), "job_2\n").unwrap();
        assert!(look_for(dir.path(), "job_1").unwrap_err().to_string().contains("the mark of `job_2`"));
        std::fs::write(dir.path().join(OUTPUT_MARK), "job_1\n").unwrap();
        look_for(dir.path(), "job_1").unwrap();
    }

    #[test]
    fn an_input_that_comes_a_moment_later_is_waited_for_and_one_that_does_not_come_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("in");
        await_input(&path, &[Duration::ZERO; 3]);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| {
                await_input(&path, &[Duration::from_millis(5); 4_000]);
                path.exists()
            });
            std::fs::write(&path, "text").unwrap();
            assert!(waits.join().unwrap(), "it was not waited for");
        });
    }

    #[test]
    fn an_input_that_is_not_there_is_missed_and_other_files_are_not() {
        let split =
            |path: &str| Split::File { path: path.to_owned(), offset: 0, length: 1, hosts: Vec::new(), file: None };
        let error = |kind: ErrorKind| TaskError::io("open", "/share/in")(kind.into());
        let input = split("/share/in");
        assert_eq!(missed(&error(ErrorKind::NotFound), Some(&input)).as_deref(), Some("/share/in"));
        assert_eq!(missed(&error(ErrorKind::PermissionDenied), Some(&input)).as_deref(), Some("/share/in"));
        assert_eq!(missed(&error(ErrorKind::NotFound), Some(&split("/share/other"))), None);
        assert_eq!(missed(&error(ErrorKind::NotFound), None), None);
        assert_eq!(missed(&error(ErrorKind::OutOfMemory), Some(&input)), None);
    }
}
