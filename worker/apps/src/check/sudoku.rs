//! Judges solutions by the rule of the game: no solver is asked.

use std::path::Path;

use super::lines::{CheckError, lines, parts};
use crate::sudoku::Grid;

/// What was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SudokuReport {
    /// Puzzles with a right solution: all of them.
    pub solutions: u64,
    /// Part files.
    pub parts: u32,
}

/// Checks that every line of the output is a puzzle, a tab and a grid that obeys the rule and keeps the clues.
///
/// # Errors
/// The first wrong line, or what cannot be read.
pub fn sudoku(output: &Path) -> Result<SudokuReport, CheckError> {
    let parts = parts(output)?;
    let mut solutions = 0;
    for path in &parts {
        solutions += lines(path, judge)?;
    }
    Ok(SudokuReport { solutions, parts: parts.len() as u32 })
}

fn judge(line: &[u8]) -> Result<(), String> {
    let tab = line.iter().position(|&byte| byte == b'\t').ok_or("expected a puzzle, a tab and a solution")?;
    let grid = |text| Grid::parse(text).map_err(|error| error.to_string());
    let (puzzle, solution) = (grid(&line[..tab])?, grid(&line[tab + 1..])?);
    if !solution.is_solution() {
        return Err(format!("{solution} breaks the rule"));
    }
    if !solution.keeps_clues_of(&puzzle) {
        return Err(format!("{solution} solves another puzzle than {puzzle}"));
    }
    Ok(())
}
