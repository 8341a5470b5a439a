//! The steps, what each runs, and the lines around them.
//!
//! Steps that only read run side by side. So do clippy and the documentation beside the unit tests once those are built: builds
//! take all cores, these tests one or less, and a test that is slower for it is not a test of speed. The tests over real daemons
//! run beside the command's other tests: six of them at a time, as they wait more than they compute. Those that measure come
//! after that, one after the other.
//!
//! All of it uses the debug build: compiling the other takes as long as a third of the whole run, and what sets it apart is
//! speed. `release` looks at it before it is handed on; what howdah may cost is the matter of `howdah bench`.
//!
//! The closing line `N passed, M failed` counts tests. A step that is not made of tests counts only when it
//! fails, as one failure, so that the line never reads well over a broken run.

pub(crate) use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Result;

use crate::changed::Changed;
use crate::gate::{Builder, Gate};
use crate::process::{Counts, cargo, cargo_test, cargo_test_built, say};
use crate::targets::of_all_code;
use crate::{arrows, changed, dist, interop, licences, links, not_permitted, packages, rights, targets, tidy, tools};

/// The package of the command.
const COMMAND: &str = "howdah";
/// The package whose tests wait most for time to pass.
const MASTER: &str = "howdah-master";
/// The command's tests over daemons.
const DAEMONS: &str = "cluster";
/// Its tests of what `deploy/` has.
const KIT: &str = "deploy";
/// All that is over daemons, in the debug build.
const OVER_DAEMONS: [&str; 3] = ["--test", DAEMONS, "--"];
/// Simulated faults, and for how long a run of all tests has them.
const SWARM: &str = "a_swarm_of_worlds_keeps_what_was_acknowledged_and_ends_well";
const SWARM_SECONDS: &str = "120";
/// How the tests run that measure nothing.
const SIDE_BY_SIDE: &str = "--test-threads=6";
/// Each lab is a handful of machines.
const LABS: &str = "--test-threads=4";
/// The tests over daemons that measure loads or how fast a machine is, by the beginning of their names.
const MEASURING: [&str; 6] = [
    "calibration::",
    "hostile::questions::",
    "validation::",
    "vitals::",
    "prediction::cold_input_behind",
    "prediction::a_map_that_nobody_foresaw",
];
/// Those that say more about the executable which people run: what is in it, how much it takes, how fast and how exactly.
const RELEASED: [&str; 7] = [
    "hdfs::a_bucket_is_refused",
    "hostile::questions::",
    "leftovers::the_demo",
    "same_bytes::",
    "the_version_names_commit",
    "validation::",
    SAMPLING,
];
/// What sampling costs in a debug build says nothing.
const SAMPLING: &str = "vitals::sampling_takes";

/// One line of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Tools,
    Fmt,
    Tidy,
    Arrows,
    Licences,
    Lint,
    Unit,
    Cluster,
    /// What measures this machine, on the debug build.
    Measuring,
    Lab,
    /// Tests that want rights, as a user without them.
    User,
    Interop,
    Docs,
    /// Clippy and unit tests of some crates; not part of `test`.
    Crates(Changed),
    /// What is about the release build; not part of `test`.
    Release,
    /// Not part of `test`.
    Dist,
    /// Not part of `test`.
    Soak {
        minutes: u64,
    },
    /// Not part of `test`.
    SoakSwarm {
        seconds: u64,
    },
    /// Not part of `test`.
    SoakFaults {
        kills: u32,
    },
    /// Not part of `test`.
    SoakJobs {
        jobs: u32,
    },
    /// Not part of `test`.
    SoakFuzz {
        minutes: u64,
    },
}

/// Why the run is not a good one; the reason has been printed.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// A step failed.
    Failed,
    /// All that ran was good, but a step could not run here.
    NotAll,
}

impl Step {
    /// What `cargo xtask test` runs, in this order.
    pub(crate) const ALL: [Step; 13] = [
        Step::Tools,
        Step::Fmt,
        Step::Tidy,
        Step::Arrows,
        Step::Licences,
        Step::Unit,
        Step::Lint,
        Step::Docs,
        Step::Cluster,
        Step::Measuring,
        Step::Lab,
        Step::User,
        Step::Interop,
    ];

    /// What `cargo xtask check` runs: all that answers soon.
    pub(crate) fn check(base: Option<&str>) -> Result<Vec<Step>> {
        let mut steps = vec![Step::Fmt, Step::Tidy, Step::Arrows];
        let crates = changed::crates(base)?;
        if !crates.names.is_empty() {
            steps.push(Step::Crates(crates));
        }
        Ok(steps)
    }

    /// Whether it may run beside the step before it.
    fn beside(&self, before: &Step) -> bool {
        let reads = |step: &Step| matches!(step, Step::Tools | Step::Fmt | Step::Tidy | Step::Arrows | Step::Licences);
        (reads(self) && reads(before)) || matches!((before, self), (Step::Unit, Step::Lint) | (Step::Lint, Step::Docs))
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Step::Tools => "tools",
            Step::Fmt => "fmt",
            Step::Tidy => "tidy",
            Step::Arrows => "arrows",
            Step::Licences => "licences",
            Step::Lint => "lint",
            Step::Unit => "unit",
            Step::Cluster => "cluster",
            Step::Measuring => "measuring",
            Step::Lab => "lab",
            Step::User => "user",
            Step::Interop => "interop",
            Step::Docs => "docs",
            Step::Crates(_) => "check",
            Step::Release => "release",
            Step::Dist => "dist",
            Step::Soak { .. } => "soak",
            Step::SoakSwarm { .. } => "swarm",
            Step::SoakFaults { .. } => "faults",
            Step::SoakJobs { .. } => "jobs",
            Step::SoakFuzz { .. } => "fuzz",
        }
    }

    /// What is to build first keeps the gate closed for its neighbours until it has.
    fn run(&self, builder: Option<Builder<'_>>) -> (Counts, Result<String>) {
        match self {
            Step::Tools => (Counts::default(), tools::check()),
            Step::Fmt => checked(cargo(&["fmt", "--all", "--check"], &[]), "rustfmt agrees"),
            Step::Tidy => {
                (Counts::default(), tidy::check().and_then(|files| Ok(format!("{files}, {}", links::check()?))))
            }
            Step::Arrows => (Counts::default(), arrows::check()),
            Step::Licences => (Counts::default(), licences::check()),
            Step::Lint => checked(lint(), "no warnings"),
            Step::Unit => unit(builder),
            Step::Cluster => cluster(),
            Step::Measuring => measuring(),
            Step::Lab => lab(),
            Step::User => rights::run(),
            Step::Interop => interop::run(),
            Step::Docs => checked(docs(), "no warnings"),
            Step::Crates(changed) => crates(changed),
            Step::Release => release(),
            Step::Dist => (Counts::default(), dist::build()),
            Step::Soak { minutes } => soak(Duration::from_secs(minutes * 60)),
            Step::SoakSwarm { seconds } => {
                // Seeds that no soak of another day has had, should it run for less than ten million worlds.
                let variables = [
                    ("HOWDAH_SWARM_SECONDS", seconds.to_string()),
                    ("HOWDAH_SWARM_FIRST", (day() * 10_000_000).to_string()),
                ];
                let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
                cargo_test(&["--release", "--package", "howdah-core", "--lib", SWARM, "--", "--nocapture"], &variables)
            }
            Step::SoakFaults { kills } => soak_faults(*kills),
            Step::SoakJobs { jobs } => {
                let test = "hostile::submissions::a_client_that_submits_without_end";
                let args = ["--release", "--package", COMMAND, "--test", DAEMONS, test, "--", "--nocapture"];
                cargo_test(&args, &[("HOWDAH_TEST_SUBMISSIONS", &jobs.to_string())])
            }
            Step::SoakFuzz { minutes } => fuzz(Duration::from_secs(minutes * 60)),
        }
    }
}

fn checked(result: Result<()>, good: &str) -> (Counts, Result<String>) {
    (Counts::default(), result.map(|()| good.to_owned()))
}

fn lint() -> Result<()> {
    let rest = of_all_code(&["--all-targets", "--", "--deny", "warnings"]);
    cargo(&[&["clippy", "--locked"], &rest[..]].concat(), &[])
}

/// With the examples, so that dependencies of tests count for features, and what is not ours need not be checked a second time
/// after `lint`.
fn docs() -> Result<()> {
    let rest = of_all_code(&["--no-deps", "--lib", "--bins", "--examples"]);
    cargo(&[&["doc", "--locked"], &rest[..]].concat(), &[("RUSTDOCFLAGS", "--deny warnings")])
}

/// All tests but the command's integration tests, which drive real processes. Those of the libraries, of the master and the
/// others run beside each other: each has tests that wait, and tests that compute on one core. The swarm computes on one core for as
/// long as it is given.
fn unit(builder: Option<Builder<'_>>) -> (Counts, Result<String>) {
    let packages = match targets::packages() {
        Ok(packages) => packages,
        Err(error) => return (Counts::default(), Err(error)),
    };
    let of_master = targets::tests(&packages, |package, _| package == MASTER);
    let others = targets::tests(&packages, |package, _| package != COMMAND && package != MASTER);
    let [of_master, others] = [targets_of_all_code(&of_master), targets_of_all_code(&others)];
    let libraries = of_all_code(&["--lib", "--bins", "--examples", "--", "--skip", SWARM]);
    let swarm = of_all_code(&["--lib", SWARM, "--", "--nocapture"]);
    let chains: [&[Selection<'_>]; 4] = [
        &[(&libraries, &[])],
        &[(&swarm, &[("HOWDAH_SWARM_SECONDS", SWARM_SECONDS)])],
        &[(&of_master, &[])],
        &[(&others, &[]), (&of_all_code(&["--doc"]), &[])],
    ];
    beside_each_other(&chains, builder)
}

/// All code, and of it these targets.
fn targets_of_all_code(targets: &[String]) -> Vec<&str> {
    of_all_code(&targets.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The command's integration tests that measure nothing: those over daemons, the kit's, and the others.
fn cluster() -> (Counts, Result<String>) {
    if let Err(error) = tools::provide_disks() {
        return (Counts::default(), Err(error));
    }
    let own = match targets::packages() {
        Ok(packages) => targets::tests(&packages, |package, test| package == COMMAND && test != DAEMONS && test != KIT),
        Err(error) => return (Counts::default(), Err(error)),
    };
    let others = targets_of_all_code(&own);
    let skipped = MEASURING.iter().chain(&["interop::"]).flat_map(|name| ["--skip", name]);
    let most: Vec<&str> = OVER_DAEMONS.into_iter().chain([SIDE_BY_SIDE]).chain(skipped).collect();
    side_by_side(&[&of_all_code(&most), &of_all_code(&["--test", KIT]), &others])
}

/// Runs `cargo test` with each of these selections at the same time; fails with the first that did.
fn side_by_side(selections: &[&[&str]]) -> (Counts, Result<String>) {
    let chains: Vec<[Selection<'_>; 1]> = selections.iter().map(|&args| [(args, NONE)]).collect();
    beside_each_other(&chains.iter().map(<[_; 1]>::as_slice).collect::<Vec<_>>(), None)
}

/// What `cargo test` is given, and its variables.
type Selection<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)]);
const NONE: &[(&str, &str)] = &[];

/// Runs each of these in order, until one fails, and all of them at the same time. Who waits for the builder goes on when the
/// first of each have been built.
fn beside_each_other(chains: &[&[Selection<'_>]], builder: Option<Builder<'_>>) -> (Counts, Result<String>) {
    let chain = |selections: &[Selection<'_>], mut builder: Option<Builder<'_>>| {
        let mut counts = Counts::default();
        for (args, variables) in selections {
            let mut built = || builder.iter_mut().for_each(Builder::has_built);
            let (more, result) = cargo_test_built(args, variables, &mut built);
            built();
            counts += more;
            if result.is_err() {
                return (counts, result);
            }
        }
        (counts, Ok(String::new()))
    };
    let chain = &chain;
    let ended: Vec<(Counts, Result<String>)> = std::thread::scope(|scope| {
        let of_each = chains.iter().map(|_| builder.as_ref().map(Builder::another)).collect::<Vec<_>>();
        drop(builder);
        let running: Vec<_> =
            chains.iter().zip(of_each).map(|(of_it, own)| scope.spawn(move || chain(of_it, own))).collect();
        running.into_iter().map(|one| one.join().expect("steps report, and do not panic")).collect()
    });
    let mut counts = Counts::default();
    ended.iter().for_each(|(more, _)| counts += *more);
    let failed = ended.into_iter().find_map(|(_, result)| result.err());
    (counts, failed.map_or_else(|| Ok(counts.to_string()), Err))
}

fn measuring() -> (Counts, Result<String>) {
    let all: Vec<&str> =
        OVER_DAEMONS.into_iter().chain(["--test-threads=1", "--skip", SAMPLING]).chain(MEASURING).collect();
    cargo_test(&of_all_code(&all), &[])
}

/// One after the other: they measure.
fn release() -> (Counts, Result<String>) {
    let args = ["--release", "--package", COMMAND, "--test", DAEMONS, "--test", "command", "--", "--test-threads=1"];
    cargo_test(&[&args[..], &RELEASED].concat(), &[])
}

/// Clippy over all of the crates' targets, and the tests beside their code.
fn crates(Changed { names, any_library }: &Changed) -> (Counts, Result<String>) {
    let packages: Vec<&str> = names.iter().flat_map(|name| ["--package", name]).collect();
    let lint = [&["clippy", "--locked", "--all-targets"], packages.as_slice(), &["--", "--deny", "warnings"]].concat();
    if let Err(error) = cargo(&lint, &[]) {
        return (Counts::default(), Err(error));
    }
    let (counts, tests) =
        cargo_test(&[packages.as_slice(), if *any_library { &["--lib", "--bins"] } else { &["--bins"] }].concat(), &[]);
    (counts, tests.map(|said| format!("{}: {said}", names.join(", "))))
}

/// Real daemons on machines that are namespaces. They wait for times to run out, each in a lab of its own.
fn lab() -> (Counts, Result<String>) {
    if let Err(error) = tools::provide_lab() {
        return (Counts::default(), Err(error));
    }
    cargo_test(&of_all_code(&["--test", "lab", "--", "--ignored", LABS]), &[])
}

/// Since the epoch: soaks of two days draw differently.
fn day() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400)
}

/// Real faults: kills of masters and workers on this machine, and whatever a seed of the day draws on machines of a lab.
fn soak_faults(kills: u32) -> (Counts, Result<String>) {
    let test = ["--release", "--package", COMMAND, "--test", DAEMONS, "master_kills", "--"];
    let args = [&test[..], &["--nocapture", "--test-threads=1"]].concat();
    // Moments that no soak of another day has had.
    let (seed, mixed, drawn) = (day().to_string(), kills.to_string(), kills.div_ceil(2).to_string());
    let variables = [("HOWDAH_TEST_KILLS", "20"), ("HOWDAH_TEST_MIXED_KILLS", &mixed), ("HOWDAH_TEST_SEED", &seed)];
    let (mut counts, killed) = cargo_test(&args, &variables);
    if killed.is_err() {
        return (counts, killed);
    }
    if let Err(error) = tools::provide_lab() {
        return (counts, Err(error));
    }
    let args = ["--release", "--package", COMMAND, "--test", "lab", "mixed::", "--", "--ignored", "--nocapture"];
    let (more, lab) = cargo_test(&args, &[("HOWDAH_TEST_LAB_FAULTS", &drawn), ("HOWDAH_TEST_SEED", &seed)]);
    counts += more;
    (counts, lab.map(|_| counts.to_string()))
}

/// The fuzz targets: by what their names have, and where they are. What answers of stores go through is in no usual build, so that
/// one is a debug build, which `interop` has as well.
const FUZZ: [(&str, &[&str]); 11] = [
    ("fuzz", &["--release", "--package", "howdah", "--bins"]),
    ("", &["--release", "--package", "howdah-traces", "--test", "fuzz_readers"]),
    ("", &["--release", "--package", "howdah-planning", "--test", "fuzz_memory"]),
    ("convert", &["--release", "--package", "howdah-proto", "--lib"]),
    ("fuzz", &["--release", "--package", "howdah-webhdfs", "--lib"]),
    ("fuzz", &["--release", "--package", "howdah-task", "--lib"]),
    ("fuzz", &["--release", "--package", "howdah-apps", "--lib"]),
    ("fuzz", &["--release", "--package", "howdah-worker", "--lib"]),
    ("journal", &["--release", "--package", "howdah-master", "--lib"]),
    ("fuzz", &["--release", "--package", "howdah-master", "--lib"]),
    ("every_call", &["--release", "--package", "howdah-master", "--test", "live"]),
];
/// The one with the client of stores.
const FUZZ_S3: &str = "interop::s3::answers";

/// Everything that reads what people, peers and disks give, on more and more bytes; each test says how many.
fn fuzz(span: Duration) -> (Counts, Result<String>) {
    let started = Instant::now();
    let mut counts = Counts::default();
    let mut readings = match crate::readings::Readings::start() {
        Ok(readings) => readings,
        Err(error) => return (counts, Err(error)),
    };
    let folder = readings.folder().to_owned();
    let into = (crate::readings::VARIABLE, &*folder);
    let mut rounds = 0;
    let of_s3 = of_all_code(&["--test", DAEMONS]);
    while started.elapsed() < span {
        for (target, args) in FUZZ.into_iter().chain([(FUZZ_S3, &of_s3[..])]) {
            let (more, result) =
                cargo_test(&[args, &["--", "--nocapture", target]].concat(), &[("PROPTEST_CASES", "2000"), into]);
            counts += more;
            if let Err(error) = result {
                return (counts, Err(error.context(format!("fuzz {}, round {}", args.join(" "), rounds + 1))));
            }
            if let Err(error) = readings.take() {
                return (counts, Err(error));
            }
        }
        rounds += 1;
    }
    say(&format!("{readings}"));
    (counts, Ok(format!("{rounds} rounds, {counts}")))
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

/// Runs the steps in order, neighbours side by side where they may, and stops at the first failure.
pub(crate) fn run_steps(steps: &[Step]) -> Result<(), Stopped> {
    let started = Instant::now();
    let mut total = Counts::default();
    let mut lines = Vec::new();
    let (mut failed, mut not_all) = (None, false);
    for group in steps.chunk_by(|before, step| step.beside(before)) {
        say(&format!("== {}", group.iter().map(Step::name).collect::<Vec<_>>().join(", ")));
        for (step, (counts, result, took)) in group.iter().zip(run_group(group)) {
            total += counts;
            let missing = result.as_ref().is_err_and(|error| error.is::<packages::Missing>());
            not_all |= missing;
            let (mark, said) = match &result {
                Ok(said) => ("ok", said.clone()),
                Err(error) if missing => ("NOT RUN", error.to_string()),
                Err(error) => ("FAILED", format!("{error:#}")),
            };
            let line = format!("{mark:<6} {:<9} {:>8}  {said}", step.name(), seconds(took));
            say(&line);
            lines.push(line);
            if result.is_err() && !missing {
                total.failed += u64::from(counts.failed == 0);
                failed = failed.or(Some(step.name()));
            }
        }
        if failed.is_some() {
            break;
        }
    }
    say(&format!("\n{}", lines.join("\n")));
    for what in not_permitted::take(not_permitted::file()) {
        say(&format!("not tested here: {what}"));
    }
    say(&format!("{:<6} {:<9} {:>8}", "", "all", seconds(started.elapsed())));
    if let Some(step) = failed {
        say(&format!("stopped at the first failure: {step}; run it alone with `cargo xtask {step}`"));
    }
    say(&format!("{} passed, {} failed", total.passed, total.failed));
    match (failed, not_all) {
        (Some(_), _) => Err(Stopped::Failed),
        (None, true) => Err(Stopped::NotAll),
        (None, false) => Ok(()),
    }
}

/// What each step of a group gave, and how long it took, once it might begin: the unit tests build before their neighbours.
fn run_group(group: &[Step]) -> Vec<(Counts, Result<String>, Duration)> {
    let gate = Gate::default();
    let timed = |step: &Step, builder: Option<Builder<'_>>| {
        if builder.is_none() {
            gate.wait();
        }
        let began = Instant::now();
        let (counts, result) = step.run(builder);
        (counts, result, began.elapsed())
    };
    let timed = &timed;
    std::thread::scope(|scope| {
        let builders: Vec<_> = group.iter().map(|step| (*step == Step::Unit).then(|| Builder::of(&gate))).collect();
        let running: Vec<_> =
            group.iter().zip(builders).map(|(step, builder)| scope.spawn(move || timed(step, builder))).collect();
        running.into_iter().map(|step| step.join().expect("steps report, and do not panic")).collect()
    })
}

fn seconds(span: Duration) -> String {
    format!("{:.1} s", span.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_measures_runs_alone() {
        let groups: Vec<Vec<&str>> = Step::ALL
            .chunk_by(|before, step| step.beside(before))
            .map(|group| group.iter().map(Step::name).collect())
            .collect();
        let reading = vec!["tools", "fmt", "tidy", "arrows", "licences"];
        let alone = ["cluster", "measuring", "lab", "user", "interop"].map(|name| vec![name]);
        assert_eq!(groups[..2], [reading, vec!["unit", "lint", "docs"]]);
        assert_eq!(groups[2..], alone);
    }
}
