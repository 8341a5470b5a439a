//! `job logs`: an attempt's files, or those of a job's attempts, from wherever they ran.

use std::io::{IsTerminal, Write};

use howdah_core::job::ClusterId;
use howdah_proto::v1::GetLogRequest;

use crate::client::Client;
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome, all_reported};
use crate::job::args::LogsArgs;
use crate::job::follow::follow;
use crate::output::{Screen, Style, note};

/// `howdah job logs`
pub(crate) async fn logs(context: &Context, args: &LogsArgs) -> Outcome {
    let single = args.of.starts_with("attempt_");
    if single {
        // Once, and not once for each file.
        check_attempt(&args.of)?;
    }
    let config = context.client(&args.cluster, None)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let files = wanted(args);
    if args.follow {
        return follow(&screen, &mut client, args, &files).await;
    }
    let attempts = if single { vec![args.of.clone()] } else { of_job(&mut client, args).await? };
    if attempts.is_empty() {
        screen.line(if args.failed { "no attempt has failed" } else { "no attempt has been launched yet" })?;
    }
    let (mut printed, mut missing) = (0, Vec::new());
    for attempt in &attempts {
        for file in &files {
            let header = !(single && files.len() == 1);
            match print(&screen, &mut client, attempt, file, args.tail.unwrap_or(0), header).await {
                Ok(()) => printed += 1,
                Err(failure) if failure.is_silent() => return Err(failure),
                // One lost worker must not hide the logs of the others.
                Err(failure) => missing.push(failure),
            }
        }
    }
    if printed == 0 {
        return all_reported(missing);
    }
    missing.iter().for_each(|failure| note(failure.to_string()));
    Ok(Exit::Done)
}

/// Whether it is an attempt's id at all, of whichever cluster.
fn check_attempt(text: &str) -> Outcome<()> {
    match (ClusterId::of_attempt(text), ClusterId(0).parse_attempt(text)) {
        (None, Err(error)) => Err(Failure::usage(error.to_string())),
        _ => Ok(()),
    }
}

fn wanted(args: &LogsArgs) -> Vec<&'static str> {
    let named = [(args.stdout, "stdout"), (args.stderr, "stderr"), (args.syslog, "syslog")];
    let all = named.iter().all(|(wanted, _)| !wanted);
    named.into_iter().filter(|(wanted, _)| *wanted || all).map(|(_, name)| name).collect()
}

async fn of_job(client: &mut Client, args: &LogsArgs) -> Outcome<Vec<String>> {
    let answer = client.job(&args.of).await?;
    let attempts = answer.attempts.into_iter();
    Ok(attempts.filter(|a| !args.failed || a.state == "FAILED").map(|a| a.attempt).collect())
}

async fn print(
    screen: &Screen,
    client: &mut Client,
    attempt: &str,
    file: &str,
    tail_bytes: u64,
    header: bool,
) -> Outcome<()> {
    let request = GetLogRequest { attempt: attempt.to_owned(), file: file.to_owned(), tail_bytes, from_byte: 0 };
    let mut stream = client.rpc.get_log(request).await.map_err(|status| {
        let failure = Failure::from(status);
        if header { failure.help(format!("this was {file} of {attempt}")) } else { failure }
    })?;
    if header {
        screen.line(screen.paint(Style::Bold, format!("==> {attempt} {file} <==")))?;
    }
    let mut last = b'\n';
    while let Some(chunk) = stream.get_mut().message().await? {
        let mut out = std::io::stdout().lock();
        out.write_all(&chunk.data)?;
        out.flush()?;
        last = chunk.data.last().copied().unwrap_or(last);
    }
    // A prompt or the next header must not stick to an unfinished line; files in a pipe stay as they are.
    if last != b'\n' && (header || std::io::stdout().is_terminal()) {
        screen.line("")?;
    }
    Ok(())
}
