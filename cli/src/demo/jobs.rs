//! The demo's two jobs: submitted together, watched together, each checked by something that shares no code with it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use howdah_apps::{PlanRequest, check};
use howdah_json::{Attempt, Job};
use indicatif::MultiProgress;

use super::inputs::Inputs;
use crate::client::{Client, succeeded};
use crate::failure::{Failure, Outcome};
use crate::job::time_spent::TimeSpent;
use crate::local::LocalCluster;
use crate::output::Screen;
use crate::output::progress::{JobProgress, bars};
use crate::submit::{SubmitAs, submit_plan};
use crate::units;

/// A job that succeeded.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) kind: Kind,
    pub(crate) job: Job,
    pub(crate) n_attempts: usize,
    pub(crate) spent: TimeSpent,
    pub(crate) output: PathBuf,
}

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    WordCount,
    Sudoku,
}

impl Kind {
    fn app(self) -> &'static str {
        match self {
            Kind::WordCount => "wordcount",
            Kind::Sudoku => "sudoku",
        }
    }
}

/// Runs both jobs at the same time.
pub(crate) async fn run(
    screen: &Screen,
    cluster: &LocalCluster,
    inputs: &Inputs,
    dir: &Path,
) -> Outcome<Vec<Finished>> {
    let group = bars();
    let mut client = cluster.client().await?;
    // In this order, so that every run looks the same.
    let words = submit(&mut client, Kind::WordCount, inputs, dir).await?;
    let sudoku = submit(&mut client, Kind::Sudoku, inputs, dir).await?;
    let words = follow(screen, client.clone(), words, &group);
    let sudoku = follow(screen, client, sudoku, &group);
    let (words, sudoku) = tokio::join!(words, sudoku);
    // Where the bars were, the table follows.
    let _ = group.clear();
    Ok(vec![words?, sudoku?])
}

/// A job that was accepted.
struct Submitted {
    kind: Kind,
    job: String,
    has_reduces: bool,
    output: PathBuf,
}

async fn submit(client: &mut Client, kind: Kind, inputs: &Inputs, dir: &Path) -> Outcome<Submitted> {
    let output = dir.join("output").join(kind.app());
    let plans = howdah_apps::plan(kind.app(), &request(kind, inputs, &output));
    let mut plans = plans.map_err(|error| Failure::broke(error.to_string()))?;
    let plan = plans.pop().ok_or_else(|| Failure::broke("the application has no job"))?;
    let job = submit_plan(client, &plan, &SubmitAs::default()).await?;
    Ok(Submitted { kind, job, has_reduces: plan.n_reduces > 0, output })
}

async fn follow(screen: &Screen, mut client: Client, submitted: Submitted, group: &MultiProgress) -> Outcome<Finished> {
    let Submitted { kind, job, has_reduces, output } = submitted;
    let mut progress = JobProgress::in_group(screen, group, kind.app(), has_reduces);
    let status = client.watch(&job, |status| progress.show(screen, status)).await;
    progress.finish();
    let status = status?;
    if !succeeded(&status) {
        let why = if status.why.is_empty() { "no reason was given" } else { &status.why };
        return Err(Failure::failed(format!("{} ended {}: {why}", kind.app(), status.state))
            .help("run it again with --dir DIR to keep the logs"));
    }
    let answer = client.job(&job).await?;
    let attempts: Vec<Attempt> = answer.attempts.iter().map(Attempt::from).collect();
    let job = Job::from(&answer.status.unwrap_or(status));
    Ok(Finished { kind, job, n_attempts: attempts.len(), spent: TimeSpent::of(&attempts), output })
}

fn request(kind: Kind, inputs: &Inputs, output: &Path) -> PlanRequest {
    let mut request = PlanRequest { output: Some(output.display().to_string()), ..PlanRequest::default() };
    let text = |path: &PathBuf| path.display().to_string();
    match kind {
        Kind::WordCount => {
            request.inputs = inputs.text.iter().map(text).collect();
            request.n_reduces = Some(2);
        }
        Kind::Sudoku => {
            request.inputs = vec![text(&inputs.puzzles)];
            request.args = vec!["--puzzles-per-map".to_owned(), inputs.n_puzzles.div_ceil(8).max(1).to_string()];
        }
    }
    request
}

/// Checks a job's result; the sentence says what held, or what did not.
pub(crate) async fn check(job: &Finished, inputs: &Inputs, screen: &Screen) -> Outcome<Result<String, String>> {
    let (kind, output) = (job.kind, job.output.clone());
    let (text, puzzles, n_puzzles) = (inputs.text.clone(), inputs.puzzles.clone(), inputs.n_puzzles);
    let shown = crate::output::progress::spinner(screen, format!("checking {}", kind.app()));
    let checked = tokio::task::spawn_blocking(move || match kind {
        Kind::WordCount => words(&text, &output),
        Kind::Sudoku => sudokus(&puzzles, n_puzzles, &output),
    });
    let checked = checked.await;
    shown.finish_and_clear();
    checked.map_err(|error| Failure::broke(format!("checking {}: {error}", kind.app())))
}

fn words(inputs: &[PathBuf], output: &Path) -> Result<String, String> {
    let began = Instant::now();
    let report = check::wordcount(inputs, output).map_err(|error| format!("word count: {error}"))?;
    Ok(format!(
        "word count: {}, {} distinct; every count equals an independent one (taken in {})",
        units::counted(report.words, "word"),
        units::count(report.distinct),
        units::seconds(began.elapsed().as_secs_f64()),
    ))
}

fn sudokus(puzzles: &Path, n: u64, output: &Path) -> Result<String, String> {
    let report = check::sudoku(output).map_err(|error| format!("sudoku: {error}"))?;
    if report.solutions != n {
        return Err(format!("sudoku: {} solutions for {n} puzzles", report.solutions));
    }
    // Right solutions, but also to the very puzzles that were given.
    let mut given = lines(puzzles)?;
    let mut solved = Vec::new();
    for part in 0..report.parts {
        let mut path = output.join(format!("part-r-{part:05}"));
        if !path.exists() {
            path = output.join(format!("part-m-{part:05}"));
        }
        solved.extend(lines(&path)?.into_iter().map(|line| line.split('\t').next().unwrap_or_default().to_owned()));
    }
    given.sort_unstable();
    solved.sort_unstable();
    if given != solved {
        return Err("sudoku: the puzzles in the output are not those of the input".to_owned());
    }
    Ok(format!("sudoku: {} puzzles, {} right solutions by the rule, every clue kept", units::count(n), units::count(n)))
}

fn lines(path: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    Ok(text.lines().map(str::to_owned).collect())
}
