//! Sudoku: puzzles in, solutions out. CPU-bound work whose result anyone can check by rule.
//!
//! Each input line is a puzzle of 81 characters; the output is `puzzle TAB solution`. Lines that are no puzzle,
//! have no solution or several are counted in the group `Sudoku`, reported on standard error and left out: one bad
//! line does not fail a job. `sudoku.work` makes the work longer without making it pointless: each puzzle is solved
//! that many times, every time turned and relabelled into an equivalent one, and the answers must agree.

mod generate;
mod grid;
mod job;
mod solve;
mod symmetry;

pub use generate::{GenerateError, Generator, Mix};
pub use grid::{CELLS, Grid, GridError};
pub(crate) use job::{GENERATE, SOLVE};
pub use solve::{Difficulty, Effort, Verdict, solve};
pub use symmetry::Symmetry;
