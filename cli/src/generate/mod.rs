//! `generate`: inputs of any size, the same for the same seed.

pub(crate) mod args;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use howdah_apps::sudoku::{Generator, Mix};
use howdah_apps::text::ZipfText;

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::generate::args::{GenerateCommand, GenerateSudokuArgs, GenerateTextArgs};
use crate::local::cannot;
use crate::output::note;
use crate::units;

pub(crate) fn run(command: &GenerateCommand) -> Outcome {
    match command {
        GenerateCommand::Sudoku(args) => sudoku(args),
        GenerateCommand::Text(args) => text(args),
    }
}

fn sudoku(args: &GenerateSudokuArgs) -> Outcome {
    let mix = Mix::parse(&args.clues).map_err(|error| Failure::usage(format!("--clues: {error}")))?;
    let generator = Generator::new(args.seed, mix);
    with_output(args.out.as_deref(), |out| {
        for index in 0..args.puzzles {
            let (puzzle, _) = generator.puzzle(index).map_err(|error| Failure::usage(error.to_string()))?;
            out.write_all(&puzzle.to_line())?;
            out.write_all(b"\n")?;
        }
        Ok(units::counted(args.puzzles, "puzzle"))
    })
}

fn text(args: &GenerateTextArgs) -> Outcome {
    let exponent = if args.zipf { 1.0 } else { args.exponent };
    let text = ZipfText::new(args.distinct, exponent, args.seed).map_err(|error| Failure::usage(error.to_string()))?;
    with_output(args.out.as_deref(), |mut out| {
        let written = text.write(0, args.bytes, &mut out, |_| Ok(()))?;
        let size = units::bytes(written.bytes);
        Ok(format!("{size}, {}, {}", units::counted(written.words, "word"), units::counted(written.lines, "line")))
    })
}

/// Calls `write` with the file or standard output; what it returns is said about a file.
fn with_output(path: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> Outcome<String>) -> Outcome {
    let Some(path) = path else {
        let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
        write(&mut out)?;
        out.flush()?;
        return Ok(Exit::Done);
    };
    let file = File::create(path).map_err(|error| cannot("create", path, &error))?;
    let mut out = BufWriter::with_capacity(1 << 16, file);
    let said = write(&mut out)?;
    out.flush().map_err(|error| cannot("write", path, &error))?;
    note(format!("{}: {said}", path.display()));
    Ok(Exit::Done)
}
