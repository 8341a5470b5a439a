//! The end of a job that the command waits for: progress until then, and the failure that a job without success is.

use howdah_proto::v1::JobStatus;

use crate::client::Client;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::escape::cell;
use crate::output::progress::JobProgress;

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

/// What a job that failed or was killed ends the command with; `why` is empty where nothing is known.
pub(crate) fn not_succeeded(job: &str, state: &str, why: &str) -> Failure {
    let verb = if state == "KILLED" { "was killed" } else { "failed" };
    let message = match why {
        "" => format!("job {job} {verb}"),
        // Of somebody else: a line feed in it must not begin a line of ours.
        why => format!("job {job} {verb}: {}", cell(why)),
    };
    let failure = Failure::failed(message);
    if state == "KILLED" { failure } else { failure.help(format!("`howdah job why {job}` shows the probable cause")) }
}
