//! The two jobs: `sudokugen` makes puzzles, `sudoku` solves them.

use std::time::{Duration, Instant};

use howdah_core::job::quantity::Millis;
use howdah_task::{Application, Context, MapOutput, Mapper, Properties, Result, text};

use super::{Generator, Grid, Mix, Symmetry, Verdict, solve};
use crate::built_in::BuiltIn;
use crate::request::{JobPlan, PlanError, Planner};
use crate::share::share;

/// Group of the counters.
const GROUP: &str = "Sudoku";
/// How often each puzzle is solved.
const WORK: &str = "sudoku.work";
/// Milliseconds that each map keeps solving its puzzles again for, whatever the machine's speed.
const WORK_MS: &str = "sudoku.work.ms";
const PUZZLES: &str = "sudoku.puzzles";
const CLUES: &str = "sudoku.clues";
const SEED: &str = "sudoku.seed";
/// Games solved, again ones included, and the time that it took: what a machine is worth in games per second.
const GAMES: &str = "Games";
const SOLVING_US: &str = "SolvingMicroseconds";
/// Lines left out that an attempt tells of; the rest are only counted.
const TOLD: u32 = 20;
/// A puzzle and its line feed.
const LINE_BYTES: u64 = super::CELLS as u64 + 1;

pub(crate) const SOLVE: BuiltIn = BuiltIn {
    name: "sudoku",
    about: "solve sudoku puzzles, one of 81 characters per line; `--reduces 0` for maps alone",
    usage: "[--work N] [--work-ms TIME] [--puzzles-per-map N]",
    plan: plan_solve,
    stages: &[("sudoku", solver)],
};

pub(crate) const GENERATE: BuiltIn = BuiltIn {
    name: "sudokugen",
    about: "make sudoku puzzles that have one solution",
    usage: "[--puzzles N] [--clues 24-40|easy|medium|hard|mixed,…] [--seed N] [-m MAPS]",
    plan: plan_generate,
    stages: &[("sudokugen", generator)],
};

fn plan_solve(planner: &mut Planner<'_>) -> Result<Vec<JobPlan>, PlanError> {
    planner.set::<u64>(&["--work"], WORK, "a number of times from 1")?;
    planner.set::<Millis>(&["--work-ms"], WORK_MS, "a number of milliseconds, or a time such as 2s")?;
    let per_map: Option<u64> = planner.option(&["--puzzles-per-map"], "a number of puzzles")?;
    let mut job = planner.files_job("sudoku", 1)?;
    if let Some(n) = per_map {
        // Puzzles are short lines, so a block of the usual size would give all of them to one map.
        job.properties.insert("mapred.max.split.size".to_owned(), (n.max(1) * LINE_BYTES).to_string());
    }
    Ok(vec![job])
}

fn plan_generate(planner: &mut Planner<'_>) -> Result<Vec<JobPlan>, PlanError> {
    planner.set::<u64>(&["--puzzles"], PUZZLES, "a number of puzzles")?;
    planner.set::<u64>(&["--seed"], SEED, "a number")?;
    if let Some(clues) = planner.set::<String>(&["--clues"], CLUES, "a number or range of clues")? {
        Mix::parse(&clues).map_err(|error| planner.refuse("--clues", error))?;
    }
    Ok(vec![planner.generated_job("sudokugen", 2)?])
}

fn generator(properties: &Properties) -> Result<Application> {
    let n: u64 = properties.parse_or(&[PUZZLES], 1000, "a number of puzzles")?;
    let seed = properties.parse_or(&[SEED], 0, "a number")?;
    let generator = Generator::new(seed, properties.get(CLUES).map_or(Ok(Mix::default()), Mix::parse)?);
    Ok(Application::lines(move |_: &[u8], out: &mut MapOutput| {
        let context = out.context().clone();
        let mine = share(n, context.task_index(), context.n_maps());
        for index in mine.clone() {
            out.emit_key(&generator.puzzle(index)?.0.to_line())?;
            context.set_progress((index - mine.start + 1) as f64 / (mine.end - mine.start) as f64)?;
        }
        context.count(GROUP, "Generated", (mine.end - mine.start) as i64);
        Ok(())
    }))
}

fn solver(properties: &Properties) -> Result<Application> {
    let work = properties.parse_or(&[WORK], 1, "a number of times from 1")?;
    let Millis(ms) = properties.parse_or(&[WORK_MS], Millis(0), "a number of milliseconds")?;
    Ok(Application::new(move || Solver {
        work,
        budget: Duration::from_millis(ms),
        solved: Vec::new(),
        left_out: 0,
        games: 0,
        solving: Duration::ZERO,
    }))
}

struct Solver {
    work: u64,
    budget: Duration,
    /// Puzzles and their solutions, kept for the time budget's rounds.
    solved: Vec<(Grid, Grid)>,
    /// Lines that were no puzzles with one solution.
    left_out: u32,
    /// Solved so far, again ones included, and how long that took.
    games: u64,
    solving: Duration,
}

impl Solver {
    /// Counts a line, and says why it has no solution in the output.
    fn leave_out(&mut self, context: &Context, offset: &[u8], counter: &str, why: &str) -> Result {
        context.count(GROUP, counter, 1);
        self.left_out = self.left_out.saturating_add(1);
        if self.left_out <= TOLD {
            let at = text::offset(offset).unwrap_or_default();
            eprintln!("left out the line at byte {at}: {why}");
        } else if self.left_out == TOLD + 1 {
            eprintln!("more lines are left out, see the counters of group {GROUP}");
        }
        Ok(())
    }
}

impl Mapper for Solver {
    fn map(&mut self, offset: &[u8], line: &[u8], out: &mut MapOutput) -> Result {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            return Ok(());
        }
        let context = out.context().clone();
        let puzzle = match Grid::parse(line) {
            Ok(puzzle) => puzzle,
            Err(error) => return self.leave_out(&context, offset, "Malformed", &error.to_string()),
        };
        let began = Instant::now();
        let (verdict, effort) = solve(&puzzle);
        context.count(GROUP, "Guesses", effort.guesses as i64);
        let solution = match verdict {
            Verdict::Unique(solution) => solution,
            Verdict::Unsolvable => return self.leave_out(&context, offset, "Unsolvable", "a puzzle without solution"),
            Verdict::Ambiguous(..) => {
                return self.leave_out(&context, offset, "Ambiguous", "a puzzle with many solutions");
            }
        };
        if !solution.is_solution() || !solution.keeps_clues_of(&puzzle) {
            return Err(format!("the solver is wrong: puzzle {puzzle}, answer {solution}").into());
        }
        for round in 1..self.work {
            solve_again(&puzzle, &solution, round)?;
            context.progress()?;
        }
        self.games += self.work.max(1);
        self.solving += began.elapsed();
        if !self.budget.is_zero() {
            self.solved.push((puzzle, solution));
        }
        context.count(GROUP, "Solved", 1);
        context.count(GROUP, effort.difficulty().name(), 1);
        out.emit(line, &solution.to_line())
    }

    fn close(&mut self, out: &mut MapOutput) -> Result {
        // Speed differs between machines, so a budget of time is only kept where work is to last, not to be equal.
        let started = Instant::now();
        let mut round = self.work;
        while !self.solved.is_empty() && started.elapsed() < self.budget {
            for (puzzle, solution) in &self.solved {
                solve_again(puzzle, solution, round)?;
                self.games += 1;
                // The input is read, and is no measure of what is left.
                out.context().set_progress(started.elapsed().as_secs_f64() / self.budget.as_secs_f64())?;
                if started.elapsed() >= self.budget {
                    break;
                }
            }
            round += 1;
        }
        self.solving += started.elapsed();
        let context = out.context();
        context.count(GROUP, GAMES, i64::try_from(self.games).unwrap_or(i64::MAX));
        context.count(GROUP, SOLVING_US, i64::try_from(self.solving.as_micros()).unwrap_or(i64::MAX));
        Ok(())
    }
}

/// Solves an equivalent puzzle, which must have the equivalent solution.
fn solve_again(puzzle: &Grid, solution: &Grid, round: u64) -> Result {
    let symmetry = Symmetry::random(u64::from_le_bytes(*b"symmetry"), round);
    let expected = Verdict::Unique(symmetry.apply(solution));
    let (found, _) = solve(&symmetry.apply(puzzle));
    if found == expected {
        return Ok(());
    }
    Err(format!("the solver contradicts itself: puzzle {puzzle}, round {round}: {found:?}, not {expected:?}").into())
}
