//! `job logs --follow`: prints what attempts write until they are over.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::time::Duration;

use howdah_proto::v1::GetLogRequest;
use tonic::Code;

use crate::client::Client;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::job::args::LogsArgs;
use crate::output::{Screen, Style};

/// Between two looks.
const BEAT: Duration = Duration::from_millis(500);
/// States after which nothing is written any more.
const OVER: [&str; 3] = ["SUCCEEDED", "FAILED", "KILLED"];

/// Follows one attempt, or all attempts of a job, to the end.
pub(super) async fn follow(screen: &Screen, client: &mut Client, args: &LogsArgs, files: &[&'static str]) -> Outcome {
    let job = job_of(&args.of);
    let mut follower = Follower { headers: job == args.of || files.len() > 1, read: HashMap::new(), shown: None };
    let mut done = HashSet::new();
    loop {
        // Asked before the files are read: what was written until an attempt's end is read after that.
        let answer = client.job(&job).await?;
        let attempts: Vec<_> = answer.attempts.iter().filter(|a| job == args.of || a.attempt == args.of).collect();
        if attempts.is_empty() && job != args.of {
            return Err(Failure::usage(format!("attempt `{}` is not known here", args.of)));
        }
        for attempt in &attempts {
            if done.contains(&attempt.attempt) {
                continue;
            }
            for file in files {
                follower.print_news(screen, client, &attempt.attempt, file).await?;
            }
            if OVER.contains(&attempt.state.as_str()) {
                done.insert(attempt.attempt.clone());
            }
        }
        let job_is_over = answer.status.is_some_and(|status| OVER.contains(&status.state.as_str()));
        if attempts.iter().all(|attempt| done.contains(&attempt.attempt)) && (job != args.of || job_is_over) {
            return Ok(Exit::Done);
        }
        tokio::time::sleep(BEAT).await;
    }
}

/// The job of an attempt, or what is one already.
fn job_of(text: &str) -> String {
    let Some(rest) = text.strip_prefix("attempt_") else { return text.to_owned() };
    let parts: Vec<&str> = rest.splitn(3, '_').take(2).collect();
    format!("job_{}", parts.join("_"))
}

struct Follower {
    /// Whether a change from one file to another is said.
    headers: bool,
    /// Bytes of each file that were printed.
    read: HashMap<(String, &'static str), u64>,
    /// The file that was printed last.
    shown: Option<(String, &'static str)>,
}

impl Follower {
    async fn print_news(
        &mut self,
        screen: &Screen,
        client: &mut Client,
        attempt: &str,
        file: &'static str,
    ) -> Outcome<()> {
        let key = (attempt.to_owned(), file);
        let from_byte = self.read.get(&key).copied().unwrap_or(0);
        let request = GetLogRequest { attempt: attempt.to_owned(), file: file.to_owned(), tail_bytes: 0, from_byte };
        let mut stream = match client.rpc.get_log(request).await {
            Ok(stream) => stream.into_inner(),
            Err(status) => return missing(status),
        };
        loop {
            let chunk = match stream.message().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => return Ok(()),
                Err(status) => return missing(status),
            };
            if self.headers && self.shown.as_ref() != Some(&key) && !chunk.data.is_empty() {
                screen.line(screen.paint(Style::Bold, format!("==> {attempt} {file} <==")))?;
                self.shown = Some(key.clone());
            }
            let mut out = std::io::stdout().lock();
            out.write_all(&chunk.data)?;
            out.flush()?;
            *self.read.entry(key.clone()).or_default() += chunk.data.len() as u64;
        }
    }
}

/// A file that is not there yet, or a worker that is away for a moment, is looked for again.
fn missing(status: tonic::Status) -> Outcome<()> {
    match status.code() {
        Code::NotFound | Code::Unavailable => Ok(()),
        _ => Err(Failure::from(status)),
    }
}

#[cfg(test)]
mod tests {
    use super::job_of;

    #[test]
    fn an_attempts_job_is_part_of_its_name() {
        assert_eq!(job_of("attempt_202611201200_0001_m_000005_0"), "job_202611201200_0001");
        assert_eq!((job_of("job_1_0001").as_str(), job_of("7").as_str()), ("job_1_0001", "7"));
    }
}
