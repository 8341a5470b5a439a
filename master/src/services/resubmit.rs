//! The same job again: what was asked for when it was submitted, read back from the job's own file.
//!
//! Its files are cut into splits anew, since they may have changed. Where only some maps are wanted their splits stay as
//! they were, with the state of the file: a map whose file has changed since says so and fails.

use howdah_core::job::{JobFile, JobId, OutputFormat, Split};
use howdah_proto::v1;
use howdah_webhdfs::RemotePath;
use tonic::Status;

use super::{SharedRef, status};

/// The request that makes the job again, and its splits if they are to stay as they were.
pub(super) async fn again(
    shared: &SharedRef,
    job: JobId,
    state: &str,
    asked: v1::ResubmitJobRequest,
) -> Result<(v1::SubmitJobRequest, Option<Vec<Split>>), Status> {
    if !matches!(state, "SUCCEEDED" | "FAILED" | "KILLED") {
        let message = format!("{} is {state}, expected a job that is over", asked.job);
        return Err(Status::failed_precondition(status::with_help(message, "`howdah job wait` waits for it")));
    }
    let path = shared.job_path(job);
    let bytes = tokio::fs::read(&path).await.map_err(|error| {
        let message = format!("the file of {} cannot be read: {error}", asked.job);
        Status::failed_precondition(status::with_help(message, "submit the job as it was submitted first"))
    })?;
    let file: JobFile = serde_json::from_slice(&bytes).map_err(|error| {
        Status::failed_precondition(format!("the file of {} is not understood: {error}", asked.job))
    })?;
    let given = if asked.maps.is_empty() { None } else { Some(chosen(&file, &asked.maps)?) };
    Ok((request(file, asked)?, given))
}

/// The splits of these maps, in their order.
fn chosen(file: &JobFile, maps: &[u32]) -> Result<Vec<Split>, Status> {
    if file.spec.n_reduces > 0 {
        return Err(Status::invalid_argument(format!(
            "{} has reduces, and each of them needs all of its maps",
            file.id
        )));
    }
    let split = |&map: &u32| match file.splits.get(map as usize) {
        Some(split @ Split::File { .. }) => Ok(split.clone()),
        Some(Split::Generated) => {
            Err(Status::invalid_argument(format!("the maps of {} make their own input, by their number", file.id)))
        }
        None => {
            let n = file.splits.len();
            Err(Status::invalid_argument(format!("map {map} of {}: it has {n} maps, counted from 0", file.id)))
        }
    };
    maps.iter().map(split).collect()
}

fn request(file: JobFile, asked: v1::ResubmitJobRequest) -> Result<v1::SubmitJobRequest, Status> {
    let json = |text: serde_json::Result<String>| text.map_err(|e| status::internal("serialise the job", e));
    // Text in which nothing stands for anything else.
    let mut inputs: Vec<String> = file
        .splits
        .iter()
        .filter_map(|split| match split {
            Split::File { path, .. } => Some(escaped(path)),
            Split::Generated => None,
        })
        .collect();
    inputs.dedup();
    let output = match file.output {
        OutputFormat::Files { directory } if asked.output.is_empty() => directory,
        OutputFormat::None if !asked.output.is_empty() => {
            return Err(Status::invalid_argument(format!("{} writes no files: it takes no output", file.id)));
        }
        _ => asked.output,
    };
    let spec = file.spec;
    Ok(v1::SubmitJobRequest {
        name: spec.name.to_string(),
        user: asked.user,
        queue: spec.queue.to_string(),
        priority: spec.priority.name().to_owned(),
        app_json: json(serde_json::to_string(&file.app))?,
        input_format_json: json(serde_json::to_string(&file.input_format))?,
        inputs,
        output,
        n_reduces: spec.n_reduces,
        properties: file.properties.into_iter().collect(),
        deadline_ms: spec.conf.deadline.map_or(0, |deadline| deadline.as_us() / 1_000),
        requires: spec.conf.requires.texts(),
        profile_json: match &spec.profile {
            Some(profile) => json(serde_json::to_string(profile))?,
            None => String::new(),
        },
    })
}

/// A path whose text means nothing else. Of a file in an HDFS the name node's address is no pattern.
fn escaped(path: &str) -> String {
    match path.parse::<RemotePath>() {
        Ok(remote) => remote.with_path(glob::Pattern::escape(&remote.path)).to_string(),
        Err(_) => glob::Pattern::escape(path),
    }
}

#[cfg(test)]
mod tests {
    use howdah_core::job::{App, InputFormat, JobSpec};

    use super::*;

    fn file(splits: Vec<Split>, n_reduces: u32) -> JobFile {
        JobFile {
            id: "job_1".to_owned(),
            submit_ms_epoch: 0,
            spec: JobSpec { n_maps: splits.len() as u32, n_reduces, ..JobSpec::default() },
            app: App::BuiltIn { name: "wordcount".to_owned() },
            input_format: InputFormat::Text,
            splits,
            output: OutputFormat::Files { directory: "/out".to_owned() },
            marked: true,
            properties: [("a".to_owned(), "b".to_owned())].into(),
            token: "secret".to_owned(),
        }
    }

    fn split(path: &str, offset: u64) -> Split {
        Split::File { path: path.to_owned(), offset, length: 1, hosts: Vec::new(), file: None }
    }

    #[test]
    fn files_are_named_once_each_and_mean_themselves() {
        let remote = split("hdfs://[::1]:9000/a*", 0);
        let file = file(vec![split("/in/a*", 0), split("/in/a*", 1), split("/in/b", 0), remote], 3);
        let request = request(file, v1::ResubmitJobRequest::default()).expect("it can be asked for");
        assert_eq!(request.inputs, ["/in/a[*]", "/in/b", "hdfs://[::1]:9000/a[*]"]);
        assert_eq!((request.output.as_str(), request.n_reduces, request.properties["a"].as_str()), ("/out", 3, "b"));
    }

    #[test]
    fn single_maps_are_taken_of_jobs_that_read_files_and_have_no_reduces() {
        let splits = vec![split("/in/a", 0), split("/in/a", 1)];
        assert_eq!(chosen(&file(splits.clone(), 0), &[1]).expect("it has one"), [splits[1].clone()]);
        let why = |file, maps: &[u32]| chosen(&file, maps).expect_err("refused").message().to_owned();
        assert!(why(file(splits.clone(), 1), &[1]).contains("has reduces"));
        assert!(why(file(splits, 0), &[2]).contains("it has 2 maps"));
        assert!(why(file(vec![Split::Generated], 0), &[0]).contains("make their own input"));
    }
}
