//! `cargo xtask test`: everything that a change must pass, in one command; the other words run one step each.
//!
//! The steps run in order, side by side where they do not disturb each other, and the first failure stops
//! the run. All of them use the debug build, overflow checks and debug assertions on, in `cargo`'s own target directory;
//! `release` looks at the build that people run.

mod apache;
mod arrows;
mod changed;
mod circles;
mod complain;
mod dist;
mod gate;
mod interop;
mod licences;
mod links;
mod not_permitted;
mod packages;
mod process;
mod readings;
mod rights;
mod slurm;
mod source;
mod spdx;
mod steps;
mod targets;
mod tidy;
mod tools;

use std::process::ExitCode;

use steps::{Step, run_steps};

const USAGE: &str = "\
usage: cargo xtask WORD

  check [COMMIT]  the fast loop: fmt, tidy, arrows, then clippy and unit tests of the crates that differ from the
             commit, else from where this branch left `main`
  test       all of the following in this order, up to `interop`; `test WORD` is one of them alone, as WORD is
  tools      the programs that tests run are there
  fmt        formatting
  tidy       file headers and sizes, no paths of one machine, links between documents
  arrows     which crate and which module may use which, and that no files need each other in a circle
  licences   the licence of every dependency
  unit       unit, property and documentation tests
  lint       clippy, warnings denied
  docs       rustdoc, warnings denied
  cluster    the command's tests, real daemons included
  measuring  tests that measure this machine, one after the other
  lab        real daemons on machines that are network namespaces
  user       tests that want rights, as a user without them (where root runs it)
  interop    other people's programs on real clusters, Apache's HDFS with them, installed by name from PyPI and Debian, and
             a cluster on Debian's Slurm (where root runs it).
             Without a network or a Java it says so and ends with code 3, unless CI is true
  release    not in `test`: the demo, inputs of 1 GiB, floods of questions, accuracy and the cost of sampling, on the release
             build
  dist       the executable that is handed on, stripped, its debug file beside it: target/dist/
  soak [N]   property tests of the core again and again for N minutes (10)
  soak swarm --hours N   simulated faults for N hours, from another seed each day
  soak faults [N]        real faults: a job through 20 kills of the master, mixed work through N (200), and through half as
                         many faults of machines, networks and disks that the day draws (release build)
  soak jobs [N]          a client that submits N jobs (100,000) as fast as it can (release build)
  soak fuzz [N]          readers of files, messages and journals on changed bytes for N minutes (10)";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let steps = match words.as_slice() {
        ["test"] => Step::ALL.to_vec(),
        ["check"] | ["check", _] => match Step::check(words.get(1).copied()) {
            Ok(steps) => steps,
            Err(error) => return usage(&format!("check: {error:#}")),
        },
        ["release"] => vec![Step::Release],
        ["dist"] => vec![Step::Dist],
        ["soak"] => vec![Step::Soak { minutes: 10 }],
        ["soak", "swarm", "--hours", hours] => match hours.parse::<f64>() {
            Ok(hours) if hours > 0.0 => vec![Step::SoakSwarm { seconds: (hours * 3_600.0) as u64 }],
            _ => return usage(&format!("soak swarm: `{hours}` is not a number of hours")),
        },
        ["soak", "faults"] => vec![Step::SoakFaults { kills: 200 }],
        ["soak", "faults", kills] => match kills.parse() {
            Ok(kills) => vec![Step::SoakFaults { kills }],
            Err(_) => return usage(&format!("soak faults: `{kills}` is not a number of kills")),
        },
        ["soak", "jobs"] => vec![Step::SoakJobs { jobs: 100_000 }],
        ["soak", "jobs", jobs] => match jobs.parse() {
            Ok(jobs) => vec![Step::SoakJobs { jobs }],
            Err(_) => return usage(&format!("soak jobs: `{jobs}` is not a number of jobs")),
        },
        ["soak", "fuzz"] => vec![Step::SoakFuzz { minutes: 10 }],
        ["soak", "fuzz", minutes] => match minutes.parse() {
            Ok(minutes) => vec![Step::SoakFuzz { minutes }],
            Err(_) => return usage(&format!("soak fuzz: `{minutes}` is not a number of minutes")),
        },
        ["soak", minutes] => match minutes.parse() {
            Ok(minutes) => vec![Step::Soak { minutes }],
            Err(_) => return usage(&format!("soak: `{minutes}` is not a number of minutes")),
        },
        [word] | ["test", word] => match Step::ALL.into_iter().find(|step| step.name() == *word) {
            Some(step) => vec![step],
            None => return usage(&format!("no such word: `{word}`")),
        },
        _ => return usage("expected one word"),
    };
    match run_steps(&steps) {
        Ok(()) => ExitCode::SUCCESS,
        Err(steps::Stopped::Failed) => ExitCode::FAILURE,
        Err(steps::Stopped::NotAll) => ExitCode::from(3),
    }
}

fn usage(what: &str) -> ExitCode {
    eprintln!("error: {what}\n\n{USAGE}");
    ExitCode::from(2)
}
