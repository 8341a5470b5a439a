//! Subcommands of `generate`, and their flags.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::units::parse_bytes;

/// Make input.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum GenerateCommand {
    /// Sudoku puzzles with exactly one solution, one per line
    Sudoku(GenerateSudokuArgs),
    /// Text with words as frequent as in natural language
    Text(GenerateTextArgs),
}

/// `generate sudoku`
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  howdah generate sudoku --puzzles 10000 --clues 25 -o puzzles.txt")]
pub(crate) struct GenerateSudokuArgs {
    /// Number of puzzles
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) puzzles: u64,
    /// Given cells: 30, 24-40, easy, medium, hard, mixed, or several of these with commas; few are slow to make
    #[arg(long, value_name = "MIX", default_value = "mixed")]
    pub(crate) clues: String,
    /// The same seed makes the same puzzles
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// `generate text`
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  howdah generate text --bytes 1GiB --distinct 200000 -o text.txt")]
pub(crate) struct GenerateTextArgs {
    /// Size; the text ends with the line that reaches it
    #[arg(long, value_name = "BYTES", default_value = "16MiB", value_parser = parse_bytes)]
    pub(crate) bytes: u64,
    /// Number of distinct words
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) distinct: u32,
    /// Frequencies fall with the rank as in natural language (Zipf's law), which is the default
    #[arg(long, conflicts_with = "exponent")]
    pub(crate) zipf: bool,
    /// The law's exponent; 0 makes all words equally frequent
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub(crate) exponent: f64,
    /// The same seed makes the same text
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
