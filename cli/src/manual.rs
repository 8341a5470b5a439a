//! `completions` and `man`, both made from the same tree of commands that is parsed.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::commands::Cli;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::local::{cannot, make_dir};
use crate::output::Screen;

/// `howdah completions`
pub(crate) fn completions(screen: &Screen, shell: Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "howdah", &mut script);
    let script = String::from_utf8(script).map_err(|error| Failure::broke(format!("the script: {error}")))?;
    screen.raw(with_names(shell, script).as_bytes())?;
    Ok(Exit::Done)
}

/// Commands behind which a job's or a worker's name comes.
const OF_JOBS: &[&str] =
    &["status", "attempts", "wait", "kill", "set-priority", "move", "logs", "why", "explain", "counters", "history"];
const OF_WORKERS: &[&str] = &["vitals", "drain", "enable", "remove"];

/// The script, with what asks the cluster for names.
fn with_names(shell: Shell, script: String) -> String {
    let filled = |names: &str, separator: &str| {
        names.replace("JOB_COMMANDS", &OF_JOBS.join(separator)).replace("WORKER_COMMANDS", &OF_WORKERS.join(separator))
    };
    match shell {
        Shell::Bash => script + &filled(include_str!("completions/names.bash"), " "),
        Shell::Fish => script + &filled(include_str!("completions/names.fish"), " "),
        // Its last lines call the function or register it: what it is must be settled before them.
        Shell::Zsh => match script.rfind("\nif [ \"$funcstack[1]\"") {
            Some(end) => {
                let (functions, last) = script.split_at(end);
                format!("{functions}{}{last}", filled(include_str!("completions/names.zsh"), "|"))
            }
            None => script,
        },
        _ => script,
    }
}

/// `howdah man`
pub(crate) fn man(screen: &Screen, dir: Option<&Path>) -> Outcome {
    let Some(dir) = dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page)?;
        screen.raw(&page)?;
        return Ok(Exit::Done);
    };
    make_dir(dir)?;
    clap_mangen::generate_to(Cli::command(), dir).map_err(|error| cannot("write manual pages to", dir, &error))?;
    let pages = std::fs::read_dir(dir).map_err(|error| cannot("list", dir, &error))?.count();
    if pages == 0 {
        return Err(Failure::broke(format!("no page was written to `{}`", dir.display())));
    }
    screen.line(format!("{pages} pages in {}; read one with `man {}/howdah.1`", dir.display(), dir.display()))?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_that_take_names_are_there() {
        let mut cli = Cli::command();
        cli.build();
        for (group, commands) in [("job", OF_JOBS), ("worker", OF_WORKERS)] {
            let group = cli.find_subcommand(group).expect("it is a command");
            for command in commands {
                assert!(group.find_subcommand(command).is_some(), "{command}");
            }
        }
    }

    #[test]
    fn the_script_of_zsh_asks_for_names_before_it_registers_itself() {
        let mut script = Vec::new();
        clap_complete::generate(Shell::Zsh, &mut Cli::command(), "howdah", &mut script);
        let script = with_names(Shell::Zsh, String::from_utf8(script).unwrap());
        let [ours, last] = ["functions[_howdah_words]", "compdef _howdah howdah"].map(|part| script.rfind(part));
        assert!(ours.is_some() && ours < last, "{ours:?} {last:?}");
    }
}
