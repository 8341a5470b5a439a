//! The steps, what each runs, and the lines around them.
//!
//! The closing line `N passed, M failed` counts tests. A step that is not made of tests counts only when it
//! fails, as one failure, so that the line never reads well over a broken run.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::process::{Counts, cargo, cargo_test};
use crate::{arrows, licences, links, tidy, tools};

/// One line of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Tools,
    Fmt,
    Tidy,
    Arrows,
    Licences,
    Lint,
    Unit,
    Cluster,
    Docs,
    /// Not part of `test`.
    Soak {
        minutes: u64,
    },
}

/// A step failed; its reason has been printed.
#[derive(Debug)]
pub(crate) struct Stopped;

impl Step {
    /// What `cargo xtask test` runs, in this order.
    pub(crate) const ALL: [Step; 9] = [
        Step::Tools,
        Step::Fmt,
        Step::Tidy,
        Step::Arrows,
        Step::Licences,
        Step::Lint,
        Step::Docs,
        Step::Unit,
        Step::Cluster,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Step::Tools => "tools",
            Step::Fmt => "fmt",
            Step::Tidy => "tidy",
            Step::Arrows => "arrows",
            Step::Licences => "licences",
            Step::Lint => "lint",
            Step::Unit => "unit",
            Step::Cluster => "cluster",
            Step::Docs => "docs",
            Step::Soak { .. } => "soak",
        }
    }

    fn run(self) -> (Counts, Result<String>) {
        match self {
            Step::Tools => (Counts::default(), tools::check()),
            Step::Fmt => checked(cargo(&["fmt", "--all", "--check"], &[]), "rustfmt agrees"),
            Step::Tidy => {
                (Counts::default(), tidy::check().and_then(|files| Ok(format!("{files}, {}", links::check()?))))
            }
            Step::Arrows => (Counts::default(), arrows::check()),
            Step::Licences => (Counts::default(), licences::check()),
            Step::Lint => checked(
                cargo(&["clippy", "--locked", "--workspace", "--all-targets", "--", "--deny", "warnings"], &[]),
                "no warnings",
            ),
            Step::Unit => unit(),
            Step::Cluster => {
                let args = ["--release", "--package", "howdah", "--", "--test-threads=1"];
                cargo_test(&args, &[])
            }
            Step::Docs => checked(
                cargo(&["doc", "--locked", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "--deny warnings")]),
                "no warnings",
            ),
            Step::Soak { minutes } => soak(Duration::from_secs(minutes * 60)),
        }
    }
}

fn checked(result: Result<()>, good: &str) -> (Counts, Result<String>) {
    (Counts::default(), result.map(|()| good.to_owned()))
}

/// All crates but the command's, whose tests drive real processes and want the release build.
fn unit() -> (Counts, Result<String>) {
    let (mut counts, tests) =
        cargo_test(&["--workspace", "--exclude", "howdah", "--lib", "--bins", "--tests", "--examples"], &[]);
    if tests.is_err() {
        return (counts, tests);
    }
    let (more, docs) = cargo_test(&["--workspace", "--exclude", "howdah", "--doc"], &[]);
    counts += more;
    (counts, docs.map(|_| counts.to_string()))
}

fn soak(span: Duration) -> (Counts, Result<String>) {
    let started = Instant::now();
    let mut counts = Counts::default();
    let mut rounds = 0;
    while started.elapsed() < span {
        let (more, result) =
            cargo_test(&["--release", "--package", "howdah-core", "--lib", "--tests"], &[("PROPTEST_CASES", "5000")]);
        counts += more;
        rounds += 1;
        if let Err(error) = result {
            return (counts, Err(error.context(format!("run property tests, round {rounds}"))));
        }
    }
    (counts, Ok(format!("{rounds} rounds, {counts}")))
}

/// Runs the steps in order and stops at the first failure.
pub(crate) fn run_steps(steps: &[Step]) -> Result<(), Stopped> {
    let started = Instant::now();
    let mut total = Counts::default();
    let mut lines = Vec::new();
    let mut failed = None;
    for step in steps {
        println!("== {}", step.name());
        let began = Instant::now();
        let (counts, result) = step.run();
        total += counts;
        let (mark, said) = match &result {
            Ok(said) => ("ok", said.clone()),
            Err(error) => ("FAILED", format!("{error:#}")),
        };
        let line = format!("{mark:<6} {:<9} {:>8}  {said}", step.name(), seconds(began.elapsed()));
        println!("{line}");
        lines.push(line);
        if result.is_err() {
            total.failed += u64::from(counts.failed == 0);
            failed = Some(step.name());
            break;
        }
    }
    println!("\n{}", lines.join("\n"));
    println!("{:<6} {:<9} {:>8}", "", "all", seconds(started.elapsed()));
    if let Some(step) = failed {
        println!("stopped at the first failure: {step}; run it alone with `cargo xtask {step}`");
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    if failed.is_some() { Err(Stopped) } else { Ok(()) }
}

fn seconds(span: Duration) -> String {
    format!("{:.1} s", span.as_secs_f64())
}

/// Joins complaints into one error: each on its own line, the number of them first.
pub(crate) fn complain(complaints: Vec<String>, good: String) -> Result<String> {
    if complaints.is_empty() {
        return Ok(good);
    }
    for complaint in &complaints {
        println!("  {complaint}");
    }
    bail!("{} complaints, listed above", complaints.len())
}
