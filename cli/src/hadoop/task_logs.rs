//! Copies of failed attempts' logs under `logs/userlogs/application_…/container_…`, where clients look for the reason.
//!
//! Clients such as mrjob take a standard error for the cause only when the `syslog` beside it has an exception in Java's
//! form, so the copy of that says what the attempt said in this form.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::{fs, io};

use howdah_proto::v1::{AttemptInfo, GetLogRequest};

use super::log4j;
use super::names::{application, why};
use crate::client::Client;
use crate::failure::{Failure, Outcome};

/// Bytes of each log that are copied, the last ones.
const MAX_BYTES: u64 = 1 << 20;

/// Copies what there is; a copy that cannot be made is named in the log, for the job itself is not concerned.
pub(super) async fn keep(client: &mut Client, directory: &Path, job: &str, index: usize, attempt: &AttemptInfo) {
    let kept = copy(client, directory, job, index, attempt).await;
    if let Err(problem) = kept {
        log4j::warn("mapreduce.Job", format!("the logs of {} were not copied: {problem}", attempt.attempt));
    }
}

async fn copy(client: &mut Client, directory: &Path, job: &str, index: usize, attempt: &AttemptInfo) -> Outcome<()> {
    let numbers = job.strip_prefix("job").unwrap_or(job);
    // The first container would be the master's.
    let container = format!("container{numbers}_01_{:06}", index + 2);
    let logs = directory.join("userlogs").join(application(job));
    let place = logs.join(&container);
    fs::create_dir_all(&place)?;
    // Those who have read no history know the attempt's name only.
    let by_attempt = logs.join(&attempt.attempt);
    if !by_attempt.is_symlink() {
        symlink(&container, &by_attempt)?;
    }
    for file in ["stdout", "stderr"] {
        let bytes = read(client, &attempt.attempt, file).await?;
        fs::write(place.join(file), bytes)?;
    }
    let own = read(client, &attempt.attempt, "syslog").await?;
    fs::write(place.join("syslog"), [own.as_slice(), exception(attempt).as_bytes()].concat())?;
    Ok(())
}

async fn read(client: &mut Client, attempt: &str, file: &str) -> Outcome<Vec<u8>> {
    let request =
        GetLogRequest { attempt: attempt.to_owned(), file: file.to_owned(), tail_bytes: MAX_BYTES, from_byte: 0 };
    let mut stream = client.rpc.get_log(request).await?.into_inner();
    let mut bytes = Vec::new();
    while let Some(chunk) = stream.message().await? {
        bytes.extend_from_slice(&chunk.data);
        if bytes.len() as u64 > 2 * MAX_BYTES {
            return Err(Failure::from(io::Error::other(format!("{file} is longer than asked for"))));
        }
    }
    Ok(bytes)
}

/// The attempt's message as a record with an exception.
fn exception(attempt: &AttemptInfo) -> String {
    let now = jiff::Zoned::now();
    format!(
        "{} WARN [main] org.apache.hadoop.mapred.YarnChild: Exception running child : java.lang.RuntimeException: {}\n\
         \tat howdah.streaming(Native Method)\n",
        now.strftime("%Y-%m-%d %H:%M:%S,%3f"),
        why(attempt).replace('\n', " ")
    )
}
