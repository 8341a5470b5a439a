//! What a live run left: its trace, and whether its decisions replay.

use std::path::Path;

use anyhow::{Context, Result};
use howdah_core::job::profile::{JobTemplate, Trace};

use super::program::Program;

/// A recorded run.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    /// Its profile and measurements.
    pub(crate) trace: Trace,
    /// Effects compared by the decision replay.
    pub(crate) compared: u64,
    /// Of them, identical.
    pub(crate) identical: u64,
}

/// Reads the run in `dir`, which has ended.
///
/// # Errors
/// When it does not read.
pub(crate) fn record(program: &Program, dir: &Path) -> Result<Recorded> {
    let place = dir.as_os_str();
    let text = program.run(["trace".as_ref(), "record".as_ref(), "--dir".as_ref(), place])?;
    let trace = parse(&text).with_context(|| format!("read the trace of `{}`", dir.display()))?;
    // Differing decisions end it with code 1, so its answer is read whatever the code.
    let mut command = program.command();
    command.args(["validate", "--output", "json", "--dir"]).arg(dir);
    let output = command.output().context("start `howdah validate`")?;
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).with_context(|| {
        format!("read what `howdah validate` says of `{}`: {}", dir.display(), String::from_utf8_lossy(&output.stderr))
    })?;
    let number = |name: &str| answer["decisions"][name].as_u64().unwrap_or(0);
    Ok(Recorded { trace, compared: number("compared"), identical: number("identical") })
}

/// The project's own trace format: a header, then a job per line; or one object with everything.
fn parse(text: &str) -> Result<Trace> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
    let head = values.next().context("expected a header, found nothing")??;
    let mut trace: Trace = serde_json::from_value(head).context("header")?;
    for value in values {
        let job: JobTemplate =
            serde_json::from_value(value?).with_context(|| format!("job {}", trace.jobs.len() + 1))?;
        trace.jobs.push(job);
    }
    Ok(trace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_read_in_both_forms() {
        let lines = "{\"schema\":\"howdah/trace/v1\",\"source\":\"s\"}\n{\"name\":\"a\"}\n{\"name\":\"b\"}\n";
        let whole = "{\"schema\":\"howdah/trace/v1\",\"source\":\"s\",\"jobs\":[{\"name\":\"a\"},{\"name\":\"b\"}]}";
        let (lines, whole) = (parse(lines).expect("reads"), parse(whole).expect("reads"));
        assert_eq!(lines, whole);
        assert_eq!(lines.jobs.iter().map(|job| &job.name[..]).collect::<Vec<_>>(), ["a", "b"]);
        assert!(parse("").is_err());
    }
}
