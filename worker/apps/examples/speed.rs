//! How fast the generators and the solver are here: `cargo run --release -p howdah-apps --example speed`.

use std::io::{self, Write};
use std::time::Instant;

use howdah_apps::sudoku::{Generator, Mix, solve};
use howdah_apps::text::ZipfText;

const PUZZLES: u64 = 2_000;
const TEXT_BYTES: u64 = 1 << 30;

fn main() -> io::Result<()> {
    let mut out = io::stderr().lock();
    for mix in ["easy", "medium", "hard"] {
        let generator = Generator::new(1, Mix::parse(mix).expect("a known mix"));
        let started = Instant::now();
        let puzzles: Vec<_> = (0..PUZZLES).map(|i| generator.puzzle(i).expect("24 clues or more").0).collect();
        let made = PUZZLES as f64 / started.elapsed().as_secs_f64();
        let started = Instant::now();
        let guesses: u64 = (0..10).flat_map(|_| &puzzles).map(|puzzle| solve(puzzle).1.guesses).sum();
        let solved = 10.0 * PUZZLES as f64 / started.elapsed().as_secs_f64();
        let mean = guesses as f64 / 10.0 / PUZZLES as f64;
        writeln!(out, "sudoku {mix:<7}{made:>9.0} made/s{solved:>9.0} solved/s{mean:>7.2} guesses each")?;
    }
    let started = Instant::now();
    let text = ZipfText::new(200_000, 1.0, 1).expect("in range");
    let tables = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let written = text.write(0, TEXT_BYTES, &mut io::sink(), |_| Ok(()))?;
    let seconds = started.elapsed().as_secs_f64();
    let (mib, words) = (written.bytes as f64 / seconds / 1e6, written.words as f64 / 1e6);
    writeln!(out, "text: tables in {tables:.3} s, {mib:.0} MB/s, {words:.1} million words in 1 GiB")
}
