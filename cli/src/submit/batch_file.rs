//! A file of jobs to submit together: TOML with a `[[job]]` each, or a JSON object per line with the same names.
//!
//! What a job is to take, for the plan, comes from a trace: of the job's name, or of the one that `profile` names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{Priority, Requirements};
use howdah_traces::ImportOptions;
use serde::Deserialize;

use crate::failure::{Failure, Outcome};
use crate::local::cannot;
use crate::trace_file::read_jobs;

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchFile {
    /// Trace of an earlier run, for jobs that name none.
    pub(crate) trace: Option<PathBuf>,
    /// In the file's order.
    #[serde(default, rename = "job")]
    pub(crate) jobs: Vec<BatchJob>,
}

/// One job; the names are those of `submit`'s flags.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct BatchJob {
    pub(crate) app: String,
    pub(crate) args: Vec<String>,
    pub(crate) name: Option<String>,
    pub(crate) input: Vec<String>,
    pub(crate) output: Option<PathBuf>,
    pub(crate) reduces: Option<u32>,
    pub(crate) properties: BTreeMap<String, String>,
    pub(crate) queue: Option<String>,
    pub(crate) priority: Option<Priority>,
    /// As `submit --deadline` takes it.
    pub(crate) deadline: Option<String>,
    /// A list such as `["gpu>=1", "rack=r2"]`.
    pub(crate) requires: Requirements,
    /// Trace of an earlier run.
    pub(crate) trace: Option<PathBuf>,
    /// Id or name of the job in it; the name of this one unless given.
    pub(crate) profile: Option<String>,
}

impl BatchFile {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// Names the file, the job and what was expected.
    pub(crate) fn read(path: &Path) -> Outcome<BatchFile> {
        let text = std::fs::read_to_string(path).map_err(|error| cannot("read", path, &error))?;
        BatchFile::parse(&text).map_err(|problem| Failure::usage(format!("batch `{}`: {problem}", path.display())))
    }

    fn parse(text: &str) -> Result<BatchFile, String> {
        let file = if text.trim_start().starts_with('{') { lines(text)? } else { whole(text)? };
        if file.jobs.is_empty() {
            return Err("found no jobs, expected at least one [[job]]".to_owned());
        }
        match file.jobs.iter().position(|job| job.app.is_empty()) {
            Some(place) => Err(format!("job {}: found no `app`, expected an application's name", place + 1)),
            None => Ok(file),
        }
    }

    /// What each job took in its trace, with its own number of reduces.
    ///
    /// # Errors
    /// When a job has none.
    pub(crate) fn templates(&self, names: &[String], reduces: &[u32]) -> Outcome<Vec<JobTemplate>> {
        let mut traces: BTreeMap<&Path, Trace> = BTreeMap::new();
        let mut templates = Vec::with_capacity(self.jobs.len());
        for ((job, name), &n_reduces) in self.jobs.iter().zip(names).zip(reduces) {
            let Some(path) = job.trace.as_deref().or(self.trace.as_deref()) else {
                let said = format!("batch job `{name}`: found no trace, expected one of an earlier run");
                return Err(Failure::usage(said).help(
                    "`trace = \"FILE\"` at the top of the batch serves all jobs; \
                    `howdah trace record` makes one of a recorded run",
                ));
            };
            if !traces.contains_key(path) {
                traces.insert(path, read_jobs(path, &ImportOptions::default())?);
            }
            let wanted = job.profile.as_deref().unwrap_or(name);
            let known = traces[path].jobs.iter().rev().find(|known| known.name == wanted || known.id == wanted);
            let Some(known) = known else {
                let path = path.display();
                return Err(Failure::usage(format!("batch job `{name}`: trace `{path}` has no job `{wanted}`"))
                    .help("`profile = \"NAME\"` names the job of the trace that stands for it"));
            };
            templates.push(JobTemplate { name: name.clone(), n_reduces, ..known.clone() });
        }
        Ok(templates)
    }
}

fn whole(text: &str) -> Result<BatchFile, String> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(0, |span| 1 + text[..span.start].matches('\n').count());
        format!("line {line}: {}", error.message())
    })
}

fn lines(text: &str) -> Result<BatchFile, String> {
    let filled = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let job = |(place, line)| serde_json::from_str(line).map_err(|error| format!("line {}: {error}", place + 1));
    Ok(BatchFile { trace: None, jobs: filled.map(job).collect::<Result<_, String>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let toml = "[[job]]\napp = \"grep\"\nargs = [\"x\"]\ninput = [\"a\"]\noutput = \"o\"\nreduces = 2\n\
            requires = [\"gpu>=1\", \"rack=r2\"]\ntrace = \"t\"\npriority = \"HIGH\"\nproperties = { \"io.sort.mb\" = \"9\" }\n\n[[job]]\napp = \"sleep\"\n";
        let json = "{\"app\":\"grep\",\"args\":[\"x\"],\"input\":[\"a\"],\"output\":\"o\",\"reduces\":2,\"trace\":\"t\",\
            \"priority\":\"HIGH\",\"requires\":[\"rack=r2\",\"gpu>=1\"],\"properties\":{\"io.sort.mb\":\"9\"}}\n\n{\"app\":\"sleep\"}\n";
        let (toml, json) = (BatchFile::parse(toml).expect("reads"), BatchFile::parse(json).expect("reads"));
        assert_eq!(toml, json);
        assert_eq!((toml.jobs.len(), &toml.jobs[0].app[..], toml.jobs[0].priority), (2, "grep", Some(Priority::High)));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let said = |text| BatchFile::parse(text).unwrap_err();
        assert_eq!(said(""), "found no jobs, expected at least one [[job]]");
        assert_eq!(said("[[job]]\nname = \"x\"\n"), "job 1: found no `app`, expected an application's name");
        assert!(
            said("[[job]]\napp = \"a\"\ninputs = [\"x\"]\n").starts_with("line 3: unknown field `inputs`"),
            "{}",
            said("[[job]]\napp = \"a\"\ninputs = [\"x\"]\n")
        );
        let wrong = said("[[job]]\napp = \"a\"\nrequires = [\"gpu>x\"]\n");
        assert!(wrong.starts_with("line 3: requirement `gpu>x`: `x` is no number"), "{wrong}");
        assert!(said("{\"app\":\"a\"}\n{\"app\":1}\n").starts_with("line 2: invalid type"));
    }

    #[test]
    fn a_job_takes_the_last_job_of_its_name_or_of_the_one_it_names() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("t.jsonl");
        let job =
            |name: &str, n_maps| JobTemplate { name: name.to_owned(), n_maps, n_reduces: 1, ..JobTemplate::default() };
        let trace = Trace { jobs: vec![job("a", 1), job("a", 2), job("b", 3)], ..Trace::default() };
        crate::trace_file::write_file(&path, |out| howdah_traces::howdah::write(&trace, out)).expect("written");
        let batch = |profile: Option<&str>| BatchFile {
            trace: Some(path.clone()),
            jobs: vec![BatchJob { profile: profile.map(str::to_owned), ..BatchJob::default() }],
        };
        let maps = |profile, name: &str| {
            batch(profile).templates(&[name.to_owned()], &[4]).map(|found| (found[0].n_maps, found[0].n_reduces))
        };
        assert_eq!(maps(None, "a").expect("known"), (2, 4));
        assert_eq!(maps(Some("b"), "new").expect("known"), (3, 4));
        assert!(maps(None, "new").unwrap_err().to_string().contains("has no job `new`"));
    }
}
