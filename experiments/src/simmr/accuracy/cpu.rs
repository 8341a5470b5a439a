//! The workload that computes: word count, grep, sort and sudoku at three sizes each, arriving over time.
//!
//! It is made to compute, and to touch little memory for it. A virtual machine may give free memory back to its host
//! within seconds, and then the next process or page of a file that takes it waits for the host: of two equal reduces
//! that fetched 120 MB and wrote as much one took 0.4 s and the next 0.8 s, which no fixed piece of work tells. So map
//! outputs and part files are compressed, which computes, and jobs read little text. Grep is two jobs, the second of
//! which sorts what the first found; its pattern finds most word pairs, so that the second takes almost as long as the
//! first. Word count combines by the reducer's rule and not by the faster fold; and sort orders words, one a line, where
//! whole lines of text would be more moved about than sorted. Splits are of 4 MiB, and processes run one map after
//! another: CPU times of word count's maps of 1 MiB, 17 ms each, ranged over 24 % among fifteen runs, all of a run alike,
//! where the fixed piece of work saw nothing. Those of 4 MiB range over 6 to 17 %, those of 12 MiB over more again.
//!
//! Jobs take 2 to 8 s where a core is like ours and held at one speed, and come 10 s apart, so that hardly any waits for
//! another: a queue multiplies every error of the work before a job by its waiting time, and then two real runs differ by
//! more than the simulation is asked to. Queues are what the sleeping workload is for, whose tasks take what they are
//! reported.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use howdah_core::models::Random;
use howdah_planning::accuracy::Kind;

use super::bar::Bars;
use crate::framework::Lab;
use crate::live::{Other, Program, Shape, Submission};

/// What the project asks of it.
pub(super) const BARS: [(Kind, Bars); 3] = [
    (Kind::Own, Bars { mean: 0.02, max: None }),
    (Kind::CrossRun, Bars { mean: 0.05, max: Some(0.12) }),
    (Kind::CrossShape, Bars { mean: 0.05, max: Some(0.12) }),
];

/// Two workers, one for maps and one for reduces: no more slots than cores, so that no task takes another's time.
pub(super) const BASE: Shape = Shape { split: true, pinned: true, ..Shape::even(2, 1, 1) };

/// Other clusters. The first has the same slots on one worker, and tasks have a core each as they had when their
/// profile was taken. The second has twice as many slots as cores: whatever tasks then take from each other is in
/// the run and not in the profile, which no profile of durations can know. It is measured to show how much that is.
pub(super) const OTHERS: [Other; 2] = [
    Other { name: "joined", shape: Shape { apart: true, ..Shape::even(1, 1, 1) }, judged: true },
    Other { name: "crowded", shape: Shape::even(2, 1, 1), judged: false },
];

/// Sizes of each application, as multiples of its unit.
const SIZES: [u32; 3] = [3, 4, 5];
/// Texts in the unit of each application that reads them.
const WORDCOUNT: u32 = 3;
const GREP: u32 = 1;
const SORT: u32 = 2;
/// Mean time between two jobs.
const BETWEEN_MS: f64 = 10_000.0;
/// Of all jobs that read text. A process runs as many tasks of its job as there are; map outputs and part files are
/// small; these reach the disk when the kernel likes, not while a reduce waits for a disk that others use as well; and
/// reduces start with the first map. Fair looks at its jobs every half second: grep's second job has one map, and its
/// reduce waited for that look as long as the run's beginning made it wait.
const SETTINGS: [&str; 7] = [
    "mapred.max.split.size=4m",
    "mapred.job.reuse.jvm.num.tasks=-1",
    "mapred.compress.map.output=true",
    "mapred.map.output.compression.codec=zstd",
    "mapred.output.compress=true",
    "howdah.output.sync=false",
    "mapred.reduce.slowstart.completed.maps=0",
];
const PATTERN: &str = "[a-z]+ [a-z]{6,}";

/// What the jobs read.
#[derive(Debug)]
pub(super) struct Inputs {
    /// Of equal size, and different: twice the text has twice the word pairs.
    texts: Vec<PathBuf>,
    /// The same, a word a line.
    words: Vec<PathBuf>,
    /// By size.
    puzzles: Vec<PathBuf>,
    between_ms: f64,
    puzzles_per_map: u32,
    /// How often each sudoku is solved.
    work: u32,
}

impl Inputs {
    /// Generates them in the results' directory; equal seeds make equal inputs.
    pub(super) fn make(lab: &Lab<'_>) -> Result<Inputs> {
        let program = Program::new(&lab.program);
        let dir = lab.folder("input")?;
        let seed = lab.seed.to_string();
        let bytes = format!("{}MiB", lab.size(12, 2));
        let out = |path: &Path| path.display().to_string();
        let (mut texts, mut words) = (Vec::new(), Vec::new());
        let largest = SIZES[SIZES.len() - 1];
        for n in 0..largest * WORDCOUNT.max(GREP).max(SORT) {
            let path = dir.join(format!("text-{n}.txt"));
            let seed = lab.seed.wrapping_add(n.into()).to_string();
            program.run(["generate", "text", "--bytes", &bytes, "--seed", &seed, "-o", &out(&path)])?;
            if n < largest * SORT {
                words.push(a_word_a_line(&path, &dir.join(format!("words-{n}.txt")))?);
            }
            texts.push(path);
        }
        let unit = lab.size(1_100, 130);
        let mut puzzles = Vec::new();
        for size in SIZES {
            let path = dir.join(format!("puzzles-{size}.txt"));
            let n = (unit * size).to_string();
            program.run(["generate", "sudoku", "--puzzles", &n, "--seed", &seed, "-o", &out(&path)])?;
            puzzles.push(path);
        }
        Ok(Inputs {
            texts,
            words,
            puzzles,
            between_ms: BETWEEN_MS / f64::from(lab.size(1, 7)),
            puzzles_per_map: unit / 8,
            work: 150,
        })
    }
}

/// Writes a text's words to another file, which is returned.
fn a_word_a_line(text: &Path, list: &Path) -> Result<PathBuf> {
    let mut words = std::fs::read(text).with_context(|| format!("read `{}`", text.display()))?;
    words.iter_mut().filter(|byte| **byte == b' ').for_each(|byte| *byte = b'\n');
    std::fs::write(list, words).with_context(|| format!("write `{}`", list.display()))?;
    Ok(list.to_owned())
}

/// Every application at every size, in an order drawn from the seed.
pub(super) fn jobs(inputs: &Inputs, seed: u64, results: &Path) -> Vec<Submission> {
    let mut jobs: Vec<(String, Vec<String>)> = Vec::new();
    for (index, size) in SIZES.into_iter().enumerate() {
        let puzzles = ["--input".to_owned(), inputs.puzzles[index].display().to_string()];
        let mut add = |app: &str, own: &[&str], input: Vec<String>| {
            let name = format!("{app}-{size}");
            let mut words = vec![app.to_owned()];
            words.extend(own.iter().map(|&word| word.to_owned()));
            words.extend(input);
            words.extend(["--output".to_owned(), results.join(&name).display().to_string()]);
            jobs.push((name, words));
        };
        let of = |files: &[PathBuf], units: u32| {
            let settings = SETTINGS.into_iter();
            let mut words: Vec<_> = settings.flat_map(|setting| ["-D".to_owned(), setting.to_owned()]).collect();
            let files = files.iter().cycle().take((units * size) as usize);
            words.extend(files.flat_map(|file| ["--input".to_owned(), file.display().to_string()]));
            words
        };
        add("wordcount", &["--combiner", "reducer", "--reduces", "2"], of(&inputs.texts, WORDCOUNT));
        add("grep", &[PATTERN], of(&inputs.texts, GREP));
        add("sort", &["--reduces", "2"], of(&inputs.words, SORT));
        let (work, per_map) = (inputs.work.to_string(), inputs.puzzles_per_map.to_string());
        add("sudoku", &["--work", &work, "--puzzles-per-map", &per_map, "--reduces", "1"], puzzles.to_vec());
    }
    let mut random = Random::new(seed, 2);
    random.shuffle(&mut jobs);
    let mut at_ms = 0.0;
    jobs.into_iter()
        .map(|(name, mut words)| {
            words.extend(["--deadline".to_owned(), format!("{:.1}s", 10.0 + 50.0 * random.unit())]);
            let job = Submission { name, words, at: Duration::from_millis(at_ms as u64) };
            // Within a tenth of the mean: jobs that come in bunches queue.
            at_ms += inputs.between_ms * (0.9 + 0.2 * random.unit());
            job
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_application_comes_at_each_size_once_with_an_output_of_its_own() {
        let inputs = Inputs {
            texts: vec!["t1".into(), "t2".into()],
            words: vec!["w1".into(), "w2".into()],
            puzzles: vec!["p3".into(), "p4".into(), "p5".into()],
            between_ms: 1_000.0,
            puzzles_per_map: 250,
            work: 1,
        };
        let made = jobs(&inputs, 3, Path::new("out"));
        let names: std::collections::BTreeSet<_> = made.iter().map(|job| job.name.as_str()).collect();
        assert_eq!(names.len(), 12);
        for app in ["wordcount", "grep", "sort", "sudoku"] {
            assert_eq!(names.iter().filter(|name| name.starts_with(app)).count(), 3, "{app}");
        }
        assert!(made.iter().all(|job| job.words.contains(&format!("out/{}", job.name))));
        let reads = |name: &str, file: &str| {
            let job = made.iter().find(|job| job.name == name).expect("it is there");
            job.words.iter().filter(|word| *word == file).count()
        };
        assert_eq!((reads("sort-5", "w1"), reads("sort-5", "t1"), reads("wordcount-3", "t1")), (5, 0, 5));
        assert_eq!(made, jobs(&inputs, 3, Path::new("out")));
        assert_ne!(made, jobs(&inputs, 4, Path::new("out")));
    }
}
