//! Submitting a job only where its output will be what this machine sees at that path.
//!
//! The master shows a file in the output that it has just made, and waits. Where the output's folder is here as well, the file
//! must be in it, or else the output would be made on the master's own disk, the job fail far from its cause, or its results
//! lie where nobody looks. Then nothing enters. A machine that has not the folder at all, as one without the share, may
//! submit, and is told where the output will be.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use howdah_proto::v1::submit_news::News;
use howdah_proto::v1::submit_step::Step;
use howdah_proto::v1::{ResubmitJobRequest, Shown, ShownVerdict, SubmitJobRequest, SubmitStep};
use howdah_webhdfs::RemotePath;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Code;

use crate::caller::host;
use crate::client::Client;
use crate::failure::{Failure, Outcome};
use crate::output::note;

/// Network file systems may take a moment to tell of what another machine has just made.
const PATIENCE: [Duration; 8] = [
    Duration::from_millis(20),
    Duration::from_millis(50),
    Duration::from_millis(130),
    Duration::from_millis(300),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(1),
    Duration::from_secs(2),
];
/// One that does not answer for so long is not waited for.
const SILENCE: Duration = Duration::from_secs(15);

/// Submits a job and returns its printed id. With `remote_paths` nobody looks.
pub(crate) async fn submit(client: &mut Client, request: SubmitJobRequest, remote_paths: bool) -> Outcome<String> {
    let output = request.output.clone();
    if is_looked_at(&output, remote_paths)
        && let Some(job) = enter(client, Step::Job(request.clone()), &output).await?
    {
        return Ok(job);
    }
    Ok(client.rpc.submit_job(request).await?.into_inner().job)
}

/// As [`submit`], of a job that is over. Where its output was is known; only another one is looked at.
pub(crate) async fn submit_again(
    client: &mut Client,
    request: ResubmitJobRequest,
    remote_paths: bool,
) -> Outcome<String> {
    let output = request.output.clone();
    if is_looked_at(&output, remote_paths)
        && let Some(job) = enter(client, Step::Again(request.clone()), &output).await?
    {
        return Ok(job);
    }
    Ok(client.rpc.resubmit_job(request).await?.into_inner().job)
}

fn is_looked_at(output: &str, remote_paths: bool) -> bool {
    !output.is_empty() && !remote_paths && !RemotePath::is_one(output)
}

/// `None` of a master that shows nothing.
async fn enter(client: &mut Client, job: Step, output: &str) -> Outcome<Option<String>> {
    let (send, steps) = mpsc::channel(2);
    let say = async |step| {
        let said = send.send(SubmitStep { step: Some(step) }).await;
        said.map_err(|_| Failure::broke("the master hung up in the middle of the submission"))
    };
    say(job).await?;
    let mut answers = match client.rpc.submit_shown(ReceiverStream::new(steps)).await {
        Err(status) if status.code() == Code::Unimplemented => return Ok(None),
        answers => answers?.into_inner(),
    };
    loop {
        match answers.message().await?.and_then(|news| news.news) {
            Some(News::Job(job)) => return Ok(Some(job)),
            Some(News::Shown(shown)) => {
                let sight = look(output, &shown).await;
                say(Step::Verdict(ShownVerdict { enter: !matches!(sight, Sight::Another(_)) })).await?;
                match sight {
                    Sight::Same => {}
                    Sight::Nothing => note(nothing_here(output, &shown.host)),
                    Sight::Untold(why) => note(untold(output, &shown.host, &why)),
                    Sight::Another(folder) => {
                        // Until what was made is cleared away; how that ends is the master's to say in its log.
                        let _ = answers.message().await;
                        return Err(another(output, &folder, &shown.host));
                    }
                }
            }
            None => return Err(Failure::broke("the master ended the submission without an answer")),
        }
    }
}

/// What is here in the place of the output that the master has made.
#[derive(Debug, PartialEq, Eq)]
enum Sight {
    Same,
    /// Not even the folder that it is to lie in.
    Nothing,
    /// That folder is another one.
    Another(PathBuf),
    Untold(String),
}

async fn look(output: &str, shown: &Shown) -> Sight {
    let (output, shown) = (PathBuf::from(output), shown.clone());
    let looked = tokio::task::spawn_blocking(move || look_for(&output, &shown, &PATIENCE));
    match tokio::time::timeout(SILENCE, looked).await {
        Ok(Ok(sight)) => sight,
        Ok(Err(error)) => Sight::Untold(error.to_string()),
        Err(_) => Sight::Untold(format!("no answer within {} s", SILENCE.as_secs())),
    }
}

fn look_for(output: &Path, shown: &Shown, patience: &[Duration]) -> Sight {
    let mut waits = patience.iter();
    loop {
        let problem = match text_of(Path::new(&shown.path)) {
            Ok(text) if text == shown.text => return Sight::Same,
            Ok(_) => None,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
            Err(error) => Some(error),
        };
        match (problem, meant(output)) {
            (_, None) => return Sight::Nothing,
            (Some(error), _) if error.kind() == ErrorKind::PermissionDenied => return Sight::Untold(error.to_string()),
            (problem, Some(folder)) => {
                let Some(&wait) = waits.next() else {
                    return problem.map_or(Sight::Another(folder), |error| Sight::Untold(error.to_string()));
                };
                // Opening a folder makes network file systems ask their server again.
                let _ = output.parent().map(fs::read_dir);
                std::thread::sleep(wait);
            }
        }
    }
}

/// The folder here that whoever gave this path has in mind: the one that the output is to lie in, or, of a path into folders that
/// are still to be made, the current one. The root has every machine for itself.
fn meant(output: &Path) -> Option<PathBuf> {
    let parent = output.parent()?;
    if parent.parent().is_some() && parent.is_dir() {
        return Some(parent.to_owned());
    }
    let here = std::env::current_dir().ok()?;
    (here.parent().is_some() && output.starts_with(&here)).then_some(here)
}

fn text_of(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(256).read_to_string(&mut text)?;
    Ok(text)
}

fn nothing_here(output: &str, master: &str) -> String {
    format!(
        "note: {} has no folder for `{output}`: the output will be where the master has that path, on {master}",
        host()
    )
}

fn untold(output: &str, master: &str, why: &str) -> String {
    format!("note: whether `{output}` on {} is what the master has there, on {master}, cannot be told: {why}", host())
}

fn another(output: &str, folder: &Path, master: &str) -> Failure {
    let (here, folder) = (host(), folder.display());
    Failure::usage(format!(
        "output directory `{output}`: the folder `{folder}` on {here} is not the one that the master has on {master}"
    ))
    .help(format!("nothing was submitted; mount the cluster's share on {here}, or choose an --output that lies on it"))
    .help(format!(
        "`howdah submit --remote-paths` submits it all the same, with the output where {master} has that path"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(output: &Path, text: &str) -> Shown {
        let path = output.join("_temporary/_shown").display().to_string();
        Shown { path, text: text.to_owned(), host: "lab0".to_owned() }
    }

    #[test]
    fn the_file_that_is_shown_must_be_in_a_folder_that_is_here() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("out");
        let look = |text: &str| look_for(&output, &shown(&output, text), &[]);
        assert_eq!(look("it"), Sight::Another(dir.path().to_owned()));
        fs::create_dir_all(output.join("_temporary")).unwrap();
        assert_eq!(look("it"), Sight::Another(dir.path().to_owned()));
        fs::write(output.join("_temporary/_shown"), "it").unwrap();
        assert_eq!((look("it"), look("other")), (Sight::Same, Sight::Another(dir.path().to_owned())));
    }

    #[test]
    fn what_comes_a_moment_later_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("out");
        let make = || {
            fs::create_dir_all(output.join("_temporary")).unwrap();
            fs::write(output.join("_temporary/_shown"), "it").unwrap();
        };
        std::thread::scope(|scope| {
            let looks = scope.spawn(|| look_for(&output, &shown(&output, "it"), &[Duration::from_millis(5); 4_000]));
            make();
            assert_eq!(looks.join().unwrap(), Sight::Same);
        });
    }

    #[test]
    fn a_folder_that_is_not_here_is_not_meant_and_what_lies_below_the_current_one_is() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("absent/out");
        assert_eq!(look_for(&output, &shown(&output, "it"), &[]), Sight::Nothing);
        assert_eq!(meant(Path::new("/out")), None);
        let here = std::env::current_dir().unwrap();
        assert_eq!(meant(&here.join("absent/out")), Some(here));
    }

    #[test]
    fn where_one_may_not_look_nothing_is_said_against_it() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("out");
        // As a name that is too long for the file system: an error, and no answer.
        let path = dir.path().join("x".repeat(300)).display().to_string();
        let shown = Shown { path, ..shown(&output, "it") };
        assert!(matches!(look_for(&output, &shown, &[]), Sight::Untold(_)));
    }

    #[test]
    fn only_paths_of_file_systems_are_looked_at() {
        assert!(is_looked_at("/share/out", false));
        for output in ["", "hdfs://nn/out", "s3://bucket/out"] {
            assert!(!is_looked_at(output, false), "{output}");
        }
        assert!(!is_looked_at("/share/out", true));
    }
}
