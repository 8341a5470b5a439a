//! `howdah`: the one binary. A cluster's daemons, the command that people type, and the attempts' processes.
//!
//! An attempt is `howdah task`, handled before anything else happens here: its start-up is overhead of every task.
//! So are Hadoop's commands, whose words are not ours.
//! All else parses arguments, reads settings, runs one command and ends with a code of the table in `exit`.

mod args;
mod bench;
mod calibrate;
mod caller;
mod client;
mod cluster;
mod codes;
mod commands;
mod compare;
mod complete;
mod config;
mod daemon;
mod define;
mod demo;
mod dispatch;
mod doctor;
#[cfg(test)]
mod documented;
mod exit;
mod experiment;
mod failure;
mod flag_values;
#[cfg(test)]
mod fuzz;
mod generate;
mod hadoop;
mod hadoop_files;
mod history_folder;
mod interrupt;
mod job;
mod job_end;
mod journal;
#[cfg(test)]
mod json_page;
mod load;
mod local;
mod log;
mod manual;
mod mapred_site;
mod master;
mod optimize;
mod output;
mod predict;
mod queue;
mod replay;
mod replay_log;
mod scheduler;
mod side_by_side;
mod submit;
mod trace;
mod trace_file;
mod tune;
mod units;
mod up;
mod validate;
mod wait;
mod what_if;
mod worker;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;

use failure::Failure;

/// A command of commands, alone, prints its help, which is no error line.
const HELP_FOR_NOTHING: ErrorKind = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == "task") {
        return howdah_apps::task_main();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == hadoop::WORD) {
        return hadoop::client_main(std::env::args_os().skip(2).collect());
    }
    let words: Vec<OsString> = std::env::args_os().collect();
    let json = asks_for_json(&words);
    let cli = match commands::Cli::read(submit::args::separate_app_args(words)) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && (json || error.kind() != HELP_FOR_NOTHING) => {
            return end(&usage(&error), json);
        }
        // Help and versions.
        Err(error) => error.exit(),
    };
    match dispatch::run(cli) {
        Ok(exit) => exit.into(),
        Err(failure) => end(&failure, json),
    }
}

fn end(failure: &Failure, json: bool) -> ExitCode {
    if !failure.is_silent() {
        output::note(if json { failure.json() } else { failure.to_string() });
    }
    failure.exit().into()
}

/// Whether answers, and so errors, are for programs. Looked for among the words themselves, as a line that cannot be
/// parsed is an error too.
fn asks_for_json(words: &[OsString]) -> bool {
    let ours = || words.iter().take_while(|word| *word != "--");
    let pairs = ours().zip(ours().skip(1));
    let typed = pairs.filter(|(flag, _)| *flag == "--output" || *flag == "-o").any(|(_, form)| form == "json");
    typed
        || ours().any(|word| word == "--output=json")
        || std::env::var("HOWDAH_OUTPUT").is_ok_and(|form| form == "json")
}

/// clap's own error as one of ours.
fn usage(error: &clap::Error) -> Failure {
    let text = error.to_string();
    let mut paragraphs = text.split("\n\n").map(|lines| lines.lines().map(str::trim).filter(|line| !line.is_empty()));
    let mut first = paragraphs.next().into_iter().flatten();
    let said = first.next().unwrap_or("wrong usage").trim_start_matches("error: ");
    // What is missing or possible stands on lines of its own there.
    let details: Vec<&str> = first.collect();
    let said = if details.is_empty() { said.to_owned() } else { format!("{said} {}", details.join(", ")) };
    let advice = paragraphs.flatten().map(|line| match line {
        "For more information, try '--help'." => "`--help` says more".to_owned(),
        line => line.trim_start_matches("tip: ").replace("Usage: ", "usage: "),
    });
    advice.fold(Failure::usage(expecting(said)), |failure, line| failure.help(line))
}

/// The words of Rust's own parsers say what they met, not what was expected.
fn expecting(said: String) -> String {
    const WORDS: [(&str, &str); 6] = [
        ("invalid digit found in string", "expected a whole number"),
        ("cannot parse integer from empty string", "expected a whole number"),
        ("number too large to fit in target type", "expected a smaller whole number"),
        ("number too small to fit in target type", "expected a whole number"),
        ("invalid float literal", "expected a number"),
        ("cannot parse float from empty string", "expected a number"),
    ];
    let found = WORDS.iter().find_map(|(theirs, ours)| Some(format!("{}{ours}", said.strip_suffix(theirs)?)));
    found.unwrap_or(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flags_value_that_does_not_read_is_named_with_the_flag_and_what_was_expected() {
        let said = |line: &str| {
            let words = submit::args::separate_app_args(line.split(' ').map(OsString::from).collect());
            usage(&commands::Cli::read(words).expect_err(line)).message().to_owned()
        };
        let submit = |flags: &str| said(&format!("howdah submit sleep {flags}"));
        assert_eq!(submit("--reduces 1.5"), "invalid value '1.5' for '--reduces <N>': expected a whole number");
        assert_eq!(submit("--reduces -1"), "invalid value '-1' for '--reduces <N>': -1 is not in 0..=4294967295");
        let time = "expected a number with ms, s, m, h or d, such as 90s";
        assert_eq!(submit("--deadline -5m"), format!("invalid value '-5m' for '--deadline <DURATION>': {time}"));
        assert_eq!(
            said("howdah worker --map-slots -1"),
            "invalid value '-1' for '--map-slots <N>': -1 is not in 0..=4294967295"
        );
        assert_eq!(
            said("howdah worker --map-slots x"),
            "invalid value 'x' for '--map-slots <N>': expected a whole number"
        );
        assert_eq!(said("howdah load --load x"), "invalid value 'x' for '--load <TASKS>': expected a number");
        assert!(said("howdah up --dir d --wrong").starts_with("unexpected argument '--wrong'"));
    }

    #[test]
    fn json_is_asked_for_in_any_place_before_the_applications_words() {
        let asks = |line: &str| asks_for_json(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(asks("howdah job list --output json") && asks("howdah --wrong --output=json"));
        assert!(asks("howdah submit sort --output o --output json"));
        assert!(!asks("howdah submit sort --output o") && !asks("howdah submit x -- --output json"));
    }
}
