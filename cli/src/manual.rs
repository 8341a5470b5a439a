//! `completions` and `man`, both made from the same tree of commands that is parsed.

use std::path::Path;

use clap::CommandFactory;

use crate::args::Cli;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::local::{cannot, make_dir};
use crate::output::Screen;

/// `howdah completions`
pub(crate) fn completions(screen: &Screen, shell: clap_complete::Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "howdah", &mut script);
    screen.raw(&script)?;
    Ok(Exit::Done)
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
