//! What is asked for, the jobs that it becomes, and what can be wrong with it.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;

use howdah_core::job::{App, InputFormat};

use crate::args::Args;

/// What the user asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanRequest {
    /// `--input`, as given: files, directories or globs. Empty when there was none.
    pub inputs: Vec<String>,
    /// `--output`.
    pub output: Option<String>,
    /// `--reduces`.
    pub n_reduces: Option<u32>,
    /// `-D key=value`.
    pub properties: BTreeMap<String, String>,
    /// The application's own options and arguments, in order; a `--` among them is skipped.
    pub args: Vec<String>,
}

/// One job to submit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobPlan {
    /// For people.
    pub name: String,
    /// What runs.
    pub app: App,
    /// How the input is read.
    pub input_format: InputFormat,
    /// Files, directories or globs; empty for generated input.
    pub inputs: Vec<String>,
    /// The directory for the result; `None` when nothing is written.
    pub output: Option<String>,
    /// Number of reduces; 0 makes the maps' records the result.
    pub n_reduces: u32,
    /// The properties of the request, and those that the application adds.
    pub properties: BTreeMap<String, String>,
    /// Directories that nobody needs once this job has succeeded: results of earlier jobs of the same chain.
    pub removes: Vec<String>,
}

/// A request that cannot become jobs.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// No such application.
    #[error("no application `{name}`; there are {known}{}", suggestion(near.as_deref()))]
    UnknownApp {
        /// As asked.
        name: String,
        /// All names, in order.
        known: String,
        /// A name that looks like it.
        near: Option<String>,
    },
    /// Something that the application cannot do without.
    #[error("{app}: expected {what}\nhelp: howdah submit {app} {usage}")]
    Missing {
        /// The application.
        app: &'static str,
        /// A noun phrase.
        what: String,
        /// Its arguments.
        usage: String,
    },
    /// A value that does not fit.
    #[error("{app}: {argument} `{value}` is not {expected}")]
    Value {
        /// The application.
        app: &'static str,
        /// An option's or property's name.
        argument: String,
        /// As given.
        value: String,
        /// A noun phrase.
        expected: String,
    },
    /// An argument that the application does not know.
    #[error("{app}: unexpected argument `{argument}`\nhelp: howdah submit {app} {usage}")]
    Unexpected {
        /// The application.
        app: &'static str,
        /// As given.
        argument: String,
        /// Its arguments.
        usage: String,
    },
    /// An argument that the application refuses with a reason of its own.
    #[error("{app}: {argument}: {reason}")]
    Refused {
        /// The application.
        app: &'static str,
        /// An option's name or a noun.
        argument: String,
        /// Why.
        reason: String,
    },
    /// Input that has to be read to plan.
    #[error("{app}: {action} `{path}`")]
    Input {
        /// The application.
        app: &'static str,
        /// A verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

pub(crate) fn suggestion(near: Option<&str>) -> String {
    near.map(|name| format!("\nhelp: did you mean `{name}`?")).unwrap_or_default()
}

/// A request in the hands of an application.
pub(crate) struct Planner<'a> {
    pub(crate) app: &'static str,
    pub(crate) usage: &'static str,
    pub(crate) args: Args,
    /// Of the request, and what [`Planner::set`] added.
    pub(crate) properties: BTreeMap<String, String>,
    pub(crate) request: &'a PlanRequest,
}

impl Planner<'_> {
    /// An option's value.
    pub(crate) fn option<T: FromStr>(&mut self, names: &[&str], expected: &str) -> Result<Option<T>, PlanError> {
        let value = self.args.option(names).map_err(|name| self.missing(&format!("{expected} after {name}")))?;
        let Some(value) = value else { return Ok(None) };
        match value.parse() {
            Ok(parsed) => Ok(Some(parsed)),
            Err(_) => Err(self.not(names[0], &value, expected)),
        }
    }

    /// The values of an option that may come several times, in order.
    pub(crate) fn all_options(&mut self, names: &[&str], expected: &str) -> Result<Vec<String>, PlanError> {
        self.args.options(names).map_err(|name| self.missing(&format!("{expected} after {name}")))
    }

    /// Makes an option's value, when it is given, the value of a property, and returns it. A property given with
    /// `-D` is checked here too, so that its mistakes show before the job runs.
    pub(crate) fn set<T: FromStr + Display>(
        &mut self,
        names: &[&str],
        property: &str,
        expected: &str,
    ) -> Result<Option<T>, PlanError> {
        if let Some(value) = self.option::<T>(names, expected)? {
            self.properties.insert(property.to_owned(), value.to_string());
        }
        match self.properties.get(property) {
            None => Ok(None),
            Some(value) => match value.trim().parse() {
                Ok(parsed) => Ok(Some(parsed)),
                Err(_) => Err(self.not(property, value, expected)),
            },
        }
    }

    /// Whether an option without value is there.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        self.args.flag(name)
    }

    /// The next positional argument; to be asked for after all options.
    pub(crate) fn positional(&mut self) -> Option<String> {
        self.args.positional()
    }

    /// The inputs, of which there must be some.
    pub(crate) fn inputs(&self) -> Result<Vec<String>, PlanError> {
        match self.request.inputs.as_slice() {
            [] => Err(self.missing("at least one --input PATH")),
            inputs => Ok(inputs.to_vec()),
        }
    }

    /// The output directory, which must be named.
    pub(crate) fn output(&self) -> Result<String, PlanError> {
        self.request.output.clone().ok_or_else(|| self.missing("--output PATH"))
    }

    /// The number of reduces: as asked, else as the properties say, else `default`.
    pub(crate) fn reduces(&self, default: u32) -> Result<u32, PlanError> {
        match self.request.n_reduces {
            Some(n) => Ok(n),
            None => Ok(self.count(&["mapred.reduce.tasks", "mapreduce.job.reduces"])?.unwrap_or(default)),
        }
    }

    /// The number of maps of a job that makes its own input: `-m` or `--maps`, else as the properties say, else
    /// `default`.
    pub(crate) fn maps(&mut self, default: u32) -> Result<u32, PlanError> {
        if let Some(n) = self.option::<NonZeroU32>(&["-m", "--maps"], "a number of maps from 1")? {
            return Ok(n.get());
        }
        Ok(self.count(&["mapred.map.tasks", "mapreduce.job.maps"])?.unwrap_or(default).max(1))
    }

    pub(crate) fn count(&self, names: &[&str]) -> Result<Option<u32>, PlanError> {
        let Some((name, value)) = names.iter().find_map(|&name| Some((name, self.properties.get(name)?))) else {
            return Ok(None);
        };
        value.trim().parse().map(Some).map_err(|_| self.not(name, value, "a number of tasks"))
    }

    /// A job of this application that reads lines of files and writes files.
    pub(crate) fn files_job(&self, stage: &str, default_reduces: u32) -> Result<JobPlan, PlanError> {
        Ok(JobPlan {
            name: self.app.to_owned(),
            app: App::BuiltIn { name: stage.to_owned() },
            input_format: InputFormat::Text,
            inputs: self.inputs()?,
            output: Some(self.output()?),
            n_reduces: self.reduces(default_reduces)?,
            properties: self.properties.clone(),
            removes: Vec::new(),
        })
    }

    /// A job of maps that make what they write.
    pub(crate) fn generated_job(&mut self, stage: &str, default_maps: u32) -> Result<JobPlan, PlanError> {
        if let Some(input) = self.request.inputs.first() {
            return Err(
                self.refuse("--input", format!("`{input}` would not be read: {} makes its own input", self.app))
            );
        }
        Ok(JobPlan {
            name: self.app.to_owned(),
            app: App::BuiltIn { name: stage.to_owned() },
            input_format: InputFormat::Generated { n_maps: self.maps(default_maps)? },
            inputs: Vec::new(),
            output: Some(self.output()?),
            n_reduces: self.request.n_reduces.unwrap_or(0),
            properties: self.properties.clone(),
            removes: Vec::new(),
        })
    }

    /// A job of tasks that neither read nor write.
    pub(crate) fn outputless_job(&self, stage: &str, n_maps: u32, n_reduces: u32) -> JobPlan {
        JobPlan {
            name: self.app.to_owned(),
            app: App::BuiltIn { name: stage.to_owned() },
            input_format: InputFormat::Generated { n_maps },
            inputs: Vec::new(),
            output: None,
            n_reduces,
            properties: self.properties.clone(),
            removes: Vec::new(),
        }
    }

    /// The error for something that is not there.
    pub(crate) fn missing(&self, what: &str) -> PlanError {
        PlanError::Missing { app: self.app, what: what.to_owned(), usage: self.usage.to_owned() }
    }

    /// The error for a value that does not fit.
    pub(crate) fn not(&self, argument: &str, value: &str, expected: &str) -> PlanError {
        PlanError::Value {
            app: self.app,
            argument: argument.to_owned(),
            value: value.to_owned(),
            expected: expected.to_owned(),
        }
    }

    /// The error for a value that something else refused.
    pub(crate) fn refuse(&self, argument: &str, reason: impl Display) -> PlanError {
        PlanError::Refused { app: self.app, argument: argument.to_owned(), reason: reason.to_string() }
    }

    /// The error for input that cannot be read while planning.
    pub(crate) fn unreadable(&self, action: &'static str, path: PathBuf, source: io::Error) -> PlanError {
        PlanError::Input { app: self.app, action, path, source }
    }
}
