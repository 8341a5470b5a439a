//! Word count as a user's own program.
//!
//! Build it with `cargo build --release --package howdah-task --example wordcount`, then submit it by its path:
//! `howdah submit target/*/release/examples/wordcount --input TEXT --output DIR`.

use std::process::ExitCode;

use howdah_task::{Application, Fold, MapOutput, Result, text};

/// Called for each line of the input.
fn map(line: &[u8], out: &mut MapOutput) -> Result {
    for word in text::words(line) {
        out.emit_long(word, 1)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    // Sums are associative, so they can be taken while mapping. The long way, with the same result, is
    // `.combiner(|| sum).reducer(|| sum)` and
    // `fn sum(word: &[u8], ones: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
    //     let n = ones.sum()?;
    //     out.emit_long(word, n)
    // }`.
    howdah_task::main(Application::lines(map).fold(Fold::Sum))
}
