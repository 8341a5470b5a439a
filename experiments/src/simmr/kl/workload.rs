//! Applications whose tasks are many enough to have a distribution.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;

use crate::framework::Lab;
use crate::live::{Program, Submission};

/// Maps of every job.
pub(super) const MAPS: u32 = 24;
/// Reduces of every job.
pub(super) const REDUCES: u32 = 8;

/// What the jobs read.
#[derive(Debug)]
pub(super) struct Inputs {
    text: PathBuf,
    puzzles: PathBuf,
    split_mib: u32,
    puzzles_per_map: u32,
}

impl Inputs {
    /// Generates them in the results' directory; equal seeds make equal inputs.
    pub(super) fn make(lab: &Lab<'_>) -> Result<Inputs> {
        let program = Program::new(&lab.program);
        let dir = lab.folder("input")?;
        let (split_mib, puzzles_per_map) = (lab.size(8, 2), lab.size(200, 50));
        let inputs =
            Inputs { text: dir.join("kl-text.txt"), puzzles: dir.join("kl-puzzles.txt"), split_mib, puzzles_per_map };
        let seed = lab.seed.to_string();
        let out = |path: &Path| path.display().to_string();
        let bytes = format!("{}MiB", split_mib * MAPS);
        program.run(["generate", "text", "--bytes", &bytes, "--seed", &seed, "-o", &out(&inputs.text)])?;
        let n = (puzzles_per_map * MAPS).to_string();
        program.run(["generate", "sudoku", "--puzzles", &n, "--seed", &seed, "-o", &out(&inputs.puzzles)])?;
        Ok(inputs)
    }
}

/// Every application so many times, in turns, one right after the other: what the machine does meanwhile falls on
/// all of them alike.
pub(super) fn jobs(inputs: &Inputs, repeats: u32, results: &Path) -> Vec<Submission> {
    let split = format!("mapred.max.split.size={}m", inputs.split_mib);
    let per_map = inputs.puzzles_per_map.to_string();
    let applications: [(&str, &[&str], &Path); 5] = [
        ("wordcount", &["wordcount", "--combiner", "reducer", "-D", &split], &inputs.text),
        ("uncombined", &["wordcount", "--combiner", "none", "-D", &split], &inputs.text),
        ("sort", &["sort", "-D", &split], &inputs.text),
        ("match", &["streaming", "--mapper", "grep -o [a-z]*ing", "--reducer", "uniq -c", "-D", &split], &inputs.text),
        ("sudoku", &["sudoku", "--work", "20", "--puzzles-per-map", &per_map], &inputs.puzzles),
    ];
    let mut jobs = Vec::new();
    for run in 1..=repeats {
        for (name, words, input) in applications {
            let name = format!("{name}-{run}");
            let mut words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            words.extend(["--reduces".to_owned(), REDUCES.to_string()]);
            words.extend(["--input".to_owned(), input.display().to_string()]);
            words.extend(["--output".to_owned(), results.join(&name).display().to_string()]);
            // In this order for sure: each submission is a process of its own.
            let at = Duration::from_millis(200 * jobs.len() as u64);
            jobs.push(Submission { name, words, at });
        }
    }
    jobs
}
