//! Every command of the README and of the guide, held against what is parsed.
//!
//! `cli/tests/pages` types the commands themselves. This is the fast half, which needs no daemon and reads what that one must
//! leave out, too: the words that a reader meets first, commands, flags, their values, and schedulers with their parameters.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;

use clap::Parser;

use crate::commands::{Cli, Command};
use crate::define;
use crate::scheduler::args::SchedulerCommand;
use crate::submit::args::separate_app_args;

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = ["docs", "docs/guide", "docs/guide/schedulers"].map(|folder| root.join(folder));
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("a folder").flatten());
    let is_page = |path: &PathBuf| path.extension().is_some_and(|end| end == "md");
    let mut pages: Vec<PathBuf> = files.map(|file| file.path()).filter(is_page).collect();
    pages.push(root.join("README.md"));
    pages.sort();
    pages
}

/// The lines of `sh` and `bash` blocks, continued ones as one.
fn shell_lines(page: &str) -> Vec<String> {
    let (mut inside, mut lines, mut open) = (false, Vec::<String>::new(), false);
    for line in page.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            inside = !inside && ["sh", "bash", "console"].contains(&language);
            open = false;
            continue;
        }
        if !inside {
            continue;
        }
        let (text, continues) = line.trim().strip_suffix('\\').map_or((line.trim(), false), |text| (text, true));
        match lines.last_mut().filter(|_| open) {
            Some(last) => {
                last.push(' ');
                last.push_str(text);
            }
            None => lines.push(text.to_owned()),
        }
        open = continues;
    }
    lines
}

/// The words of the commands of a line that are ours, as a shell would split them.
fn commands(line: &str) -> Vec<Vec<String>> {
    let (mut commands, mut words, mut word) = (Vec::new(), Vec::<String>::new(), None::<String>);
    let mut characters = line.chars().peekable();
    let mut redirected = false;
    while let Some(character) = characters.next() {
        let ends = matches!(character, '|' | ';' | '&' | '#' | '>' | '<') && !(character == '#' && word.is_some());
        if character.is_whitespace() || ends {
            if character == '>' || character == '<' {
                // Of `2>`, the number belongs to the arrow.
                word.take_if(|word| word == "2");
            }
            let ended = word.take();
            if !std::mem::take(&mut redirected) || ended.is_none() {
                words.extend(ended);
            }
            match character {
                '#' => break,
                '>' | '<' => redirected = true,
                '|' | ';' | '&' => commands.push(std::mem::take(&mut words)),
                _ => {}
            }
            while redirected && characters.next_if(|next| next.is_whitespace() || *next == '&').is_some() {}
            continue;
        }
        let word = word.get_or_insert_default();
        match character {
            '\'' | '"' => word.extend(characters.by_ref().take_while(|&next| next != character)),
            '\\' => word.extend(characters.next()),
            character => word.push(character),
        }
    }
    if !redirected {
        words.extend(word);
    }
    commands.push(words);
    commands.retain(|words| words.first().is_some_and(|word| word == "howdah"));
    commands
}

/// What is wrong with a command.
fn complaint(words: &[String]) -> Option<String> {
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    let cli = match Cli::try_parse_from(separate_app_args(words)) {
        Ok(cli) => cli,
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => return None,
        // A file that earlier commands of the page would have written.
        Err(error) if error.to_string().contains("No such file or directory") => return None,
        Err(error) => return Some(error.to_string()),
    };
    let policy = match &cli.command {
        Command::Replay(args) => Some((args.scheduler.as_deref().unwrap_or("fifo"), &args.define)),
        Command::Up(args) => args.scheduler.as_deref().map(|name| (name, &args.define)),
        Command::Master(args) => args.scheduler.as_deref().map(|name| (name, &args.define)),
        Command::Scheduler(SchedulerCommand::Set(args)) => Some((args.name.as_str(), &args.define)),
        _ => None,
    };
    let (name, define) = policy?;
    let [define, _] = define::apart(define);
    // What a parameter names as a file is not here.
    let is_file = |(key, value): &&(String, String)| {
        key.ends_with("file") || [".json", ".toml", ".xml"].iter().any(|end| value.ends_with(end))
    };
    if name == howdah_master::policies::EXTERNAL || define.iter().any(|pair| is_file(&pair)) {
        return None;
    }
    let made = define::params(&define).map_err(|failure| failure.to_string());
    let made = made.and_then(|params| howdah_master::policies::make(name, &params).map_err(|error| error.to_string()));
    made.err()
}

#[test]
fn every_command_of_the_pages_is_one_that_is_parsed() {
    let (mut n, mut wrong) = (0, Vec::new());
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page");
        for line in shell_lines(&text) {
            for words in commands(&line) {
                n += 1;
                if let Some(complaint) = complaint(&words) {
                    wrong.push(format!("{}: {line}\n{complaint}", page.display()));
                }
            }
        }
    }
    assert!(n > 150, "{n} commands: are the pages read?");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lines_are_split_as_a_shell_does() {
    let split = |line: &str| commands(line).iter().map(|words| words.join("_")).collect::<Vec<_>>();
    assert_eq!(split("howdah a 'b c' \"d\"e # f"), ["howdah_a_b c_de"]);
    assert_eq!(split("howdah a > b 2>/dev/null && cd x; howdah c | head"), ["howdah_a", "howdah_c"]);
    assert_eq!(shell_lines("```sh\nhowdah a \\\n  b\n```\n```text\nhowdah c\n```\n"), ["howdah a  b"]);
}

#[test]
fn what_is_wrong_on_a_page_would_be_found() {
    let complaint = |line: &str| complaint(&commands(line)[0]);
    assert_eq!(complaint("howdah replay run.json --scheduler fbq -D queues=2"), None);
    for wrong in [
        "howdah replay run.json --schedler fbq",
        "howdah replay run.json --scheduler fbq -D queues=3",
        "howdah scheduler set fifo -D no.such=1",
        "howdah up --scheduler fbq -D queues=3",
        "howdah jub list",
    ] {
        assert!(complaint(wrong).is_some(), "{wrong}");
    }
}
