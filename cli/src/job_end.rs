//! The end of a job that the command waits for: progress until then, and the failure that a job without success is.

use howdah_json::Job;
use howdah_proto::v1::JobStatus;

use crate::client::Client;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::escape::cell;
use crate::output::progress::JobProgress;
use crate::units;

/// Shows a job's progress until it is over.
pub(crate) async fn follow_to_end(
    screen: &Screen,
    client: &mut Client,
    job: &str,
    mut progress: JobProgress,
) -> Outcome<JobStatus> {
    let status = client.watch(job, |status| progress.show(screen, status)).await;
    progress.finish();
    status
}

/// What a job that failed or was killed ends the command with.
pub(crate) fn not_succeeded(job: &Job) -> Failure {
    let Job { job: id, state, .. } = job;
    let verb = if state == "KILLED" { "was killed" } else { "failed" };
    let after = job.completion_s.map_or_else(String::new, |took| format!(" after {}", units::seconds(took)));
    // Of somebody else: a line feed in it must not begin a line of ours.
    let why = job.why.as_deref().map_or_else(String::new, |why| format!(": {}", cell(why)));
    let failure = Failure::failed(format!("job {id} {verb}{after}{why}"));
    if state == "KILLED" { failure } else { failure.help(format!("`howdah job why {id}` shows the probable cause")) }
}
