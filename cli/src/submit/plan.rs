//! From an application's name to the requests that submit its jobs.

use std::path::Path;
use std::time::Duration;

use howdah_apps::{JobPlan, PlanError, PlanRequest};
use howdah_core::job::{FOLLOWS, JobProfile, Priority, Requirement};
use howdah_proto::v1::{GetClusterRequest, SubmitJobRequest};

use crate::caller::{absolute, absolute_output, user};
use crate::client::Client;
use crate::failure::{Failure, Outcome};
use crate::output::note;
use crate::submit::args::SubmitArgs;
use crate::submit::shown;
use crate::units;

/// Properties that name a job, where no flag does.
const NAME_KEYS: [&str; 2] = ["mapreduce.job.name", "mapred.job.name"];

/// What whoever submits should know of the scheduler as it is: that it orders by deadlines of which there are none, that
/// it has fewer slots than it promises.
pub(crate) async fn tell_doubts(client: &mut Client) -> Outcome<()> {
    let cluster = client.rpc.get_cluster(GetClusterRequest {}).await?.into_inner();
    cluster.warnings.iter().for_each(|warning| note(format!("warning: {warning}")));
    Ok(())
}

/// What to say of a script in the application's place. One may start a program that speaks for it, so it is no error; but what reads
/// lines and writes lines is waited for until its tasks' time-out.
pub(super) fn doubt_of_script(app: &str) -> Option<String> {
    let is_one = app.contains('/') && howdah_task::interpreter::is_script(Path::new(app));
    is_one.then(|| {
        format!(
            "warning: `{app}` is a script, expected a program built with the task library\nhelp: a script that reads lines and \
             writes lines is a mapper: `howdah submit streaming --mapper {app} …`"
        )
    })
}

/// The jobs that the application consists of. A `/` in its name makes it a program's path.
pub(crate) fn plans(args: &SubmitArgs, output: Option<&Path>) -> Outcome<Vec<JobPlan>> {
    let inputs = args.input.iter().map(|input| absolute("--input", input)).collect::<Outcome<Vec<String>>>()?;
    let output = output.map(|path| absolute_output("--output", &path.display().to_string(), args.remote_paths));
    let output = output.transpose()?;
    let mut own = args.args.clone();
    let streams = [("--mapper", &args.mapper), ("--combiner", &args.combiner), ("--reducer", &args.reducer)];
    for (flag, command) in streams {
        own.extend(command.iter().flat_map(|command| [flag.to_owned(), command.clone()]));
    }
    let mut app = args.app.as_deref().unwrap_or_default();
    if app.contains('/') {
        own.insert(0, app.to_owned());
        app = "program";
    }
    let request = PlanRequest {
        inputs,
        output,
        n_reduces: args.reduces,
        properties: args.define.iter().cloned().collect(),
        args: own,
    };
    let mut plans = howdah_apps::plan(app, &request).map_err(|error| {
        let cause = std::error::Error::source(&error).map_or_else(String::new, |cause| format!(": {cause}"));
        let failure = Failure::usage(format!("{error}{cause}"));
        let meant = match &error {
            PlanError::Unexpected { argument: word, .. } | PlanError::UnknownApp { name: word, .. } => {
                super::args::meant(word)
            }
            // What is missing may be there, misspelt: such words are the application's until it has looked at them.
            PlanError::Missing { .. } => args.args.iter().find_map(|word| super::args::meant(word)),
            _ => None,
        };
        match meant {
            Some(flag) => failure.help(format!("did you mean `{flag}`?")),
            None => failure,
        }
    })?;
    for plan in &mut plans {
        let property = || NAME_KEYS.iter().find_map(|key| plan.properties.get(*key));
        if let Some(name) = args.name.as_ref().or_else(property) {
            plan.name = name.clone();
        }
    }
    Ok(plans)
}

/// What goes with a job besides its plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubmitAs {
    pub(crate) queue: Option<String>,
    pub(crate) priority: Option<Priority>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) requires: Vec<Requirement>,
    pub(crate) profile: Option<JobProfile>,
    /// The job before it in its application's chain, which is over.
    pub(crate) follows: Option<String>,
    /// Paths are meant as the master sees them.
    pub(crate) remote_paths: bool,
}

/// Submits one job and returns its printed id.
pub(crate) async fn submit_plan(client: &mut Client, plan: &JobPlan, how: &SubmitAs) -> Outcome<String> {
    shown::submit(client, request(plan, how)?, how.remote_paths).await
}

/// A job as the master gets it.
pub(crate) fn request(plan: &JobPlan, how: &SubmitAs) -> Outcome<SubmitJobRequest> {
    let json = |what: &str, text: serde_json::Result<String>| {
        text.map_err(|error| Failure::broke(format!("cannot write the {what}: {error}")))
    };
    let follows = how.follows.clone().map(|job| (FOLLOWS.to_owned(), job));
    Ok(SubmitJobRequest {
        name: plan.name.clone(),
        user: user(),
        // Without one, the master looks at the job's properties.
        queue: how.queue.clone().unwrap_or_default(),
        priority: how.priority.map(|priority| priority.name().to_owned()).unwrap_or_default(),
        app_json: json("application", serde_json::to_string(&plan.app))?,
        input_format_json: json("input format", serde_json::to_string(&plan.input_format))?,
        inputs: plan.inputs.clone(),
        output: plan.output.clone().unwrap_or_default(),
        n_reduces: plan.n_reduces,
        properties: plan.properties.clone().into_iter().chain(follows).collect(),
        deadline_ms: how.deadline.map_or(0, units::millis),
        requires: how.requires.iter().map(Requirement::to_string).collect(),
        profile_json: match &how.profile {
            Some(profile) => json("profile", serde_json::to_string(profile))?,
            None => String::new(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_in_the_applications_place_is_told_of_streaming() {
        let dir = tempfile::tempdir().expect("a directory");
        let [script, program] = ["map.py", "map"].map(|name| dir.path().join(name).display().to_string());
        std::fs::write(&script, "#!/usr/bin/env python3\n").expect("write it");
        std::fs::write(&program, "\u{7f}ELF").expect("write it");
        let said = doubt_of_script(&script).expect("a doubt");
        assert!(said.starts_with(&format!("warning: `{script}` is a script, expected ")), "{said}");
        assert!(said.contains("\nhelp: ") && said.contains(&format!("`howdah submit streaming --mapper {script} …`")));
        for fine in [program.as_str(), "wordcount", "/no/such/program"] {
            assert_eq!(doubt_of_script(fine), None, "{fine}");
        }
    }
}
