//! `demo`: the main job. A cluster of real processes, two jobs, every result checked, the run replayed.
//!
//! Whatever happens (Ctrl-C, a failed check, a panic), the guard in [`LocalCluster`] ends the processes and the
//! temporary directory goes; should this process be killed outright, its daemons see their standard input end and
//! stop by themselves. Exit code 0 only if everything held.

pub(crate) mod args;
mod inputs;
mod jobs;
mod leash;
mod replay;
mod report;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};

use crate::config::Context;
use crate::demo::args::DemoArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::local::{LocalCluster, Plan, cannot, local_files, make_dir};
use crate::output::progress::spinner;
use crate::output::{Screen, Style};
use crate::units;
use inputs::Inputs;
use report::Verdict;

/// How long daemons may take to stop; idle ones take milliseconds.
const GRACE: Duration = Duration::from_secs(10);

/// `howdah demo`
pub(crate) async fn demo(context: &Context, args: &DemoArgs) -> Outcome {
    let screen = context.screen(context.colour()?);
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::select! {
        outcome = run(&screen, args) => outcome,
        _ = tokio::signal::ctrl_c() => Err(interrupted()),
        _ = terminate.recv() => Err(interrupted()),
        _ = hangup.recv() => Err(interrupted()),
    }
    // Leaving the `select` drops `run`, and with it the cluster and the directory.
}

fn interrupted() -> Failure {
    let said = "interrupted: the cluster was stopped and its files were removed, unless --dir or --keep said otherwise";
    Failure::new(Exit::Interrupted, said)
}

async fn run(screen: &Screen, args: &DemoArgs) -> Outcome {
    let began = Instant::now();
    crate::daemon::check_scheduler(&args.scheduler)?;
    let place = Place::new(args)?;
    screen.line(format!(
        "{}\n",
        screen.paint(Style::Bold, "howdah demo: one master, real workers, two jobs, everything checked")
    ))?;
    let shown = spinner(screen, "making the input");
    let inputs = Inputs::make(args, &place.path, &shown).await;
    shown.finish_and_clear();
    let inputs = inputs?;
    let mut verdict = Verdict::default();
    let cluster = start(screen, args, &place.path).await?;
    for line in inputs.describe(screen) {
        screen.line(line)?;
    }
    screen.line("")?;

    let finished = jobs::run(screen, &cluster, &inputs, &place.path).await?;
    screen.line(report::job_table(&finished).render(screen))?;
    screen.line(format!("\n{}", screen.paint(Style::Bold, "Where the slots' time went")))?;
    screen.line(report::time_table(&finished).render(screen))?;
    screen.line(format!("\n{}", screen.paint(Style::Bold, "Checked")))?;
    for job in &finished {
        let line = jobs::check(job, &inputs, screen).await?;
        verdict.say(screen, line)?;
    }

    let processes = cluster.access().processes;
    let ended = cluster.stop(GRACE).await?;
    let left = processes.iter().filter(|process| process.is_alive()).count();
    let stopped = match (ended.killed.len() + ended.hurried.len(), left) {
        (0, 0) => Ok(format!("all {} processes stopped when asked", processes.len())),
        (_, 0) => Err(format!("{} did not stop when asked", [ended.hurried, ended.killed].concat().join(", "))),
        _ => Err(format!("{left} processes do not end")),
    };
    verdict.say(screen, stopped)?;
    let again = replay::compare(screen, &place.path).await?;
    verdict.say(screen, again.decisions)?;
    verdict.say(screen, again.simulated)?;
    if !again.times.is_empty() {
        screen.line(format!("\n{}", screen.paint(Style::Bold, "Measured and simulated completion times")))?;
        screen.line(report::prediction_table(again.times).render(screen))?;
    }
    place.finish(screen)?;
    verdict.close(screen, began.elapsed())
}

async fn start(screen: &Screen, args: &DemoArgs, dir: &Path) -> Outcome<LocalCluster> {
    let cores = std::thread::available_parallelism().map_or(2, |n| n.get() as u32);
    let maps = (cores / args.workers).max(2);
    let plan = Plan {
        dir: dir.join("cluster"),
        workers: args.workers,
        master_args: ["--listen", "127.0.0.1:0", "--scheduler", &args.scheduler].map(str::to_owned).to_vec(),
        worker_args: ["--map-slots", &maps.to_string(), "--reduce-slots", "1"].map(str::to_owned).to_vec(),
        cpu_quotas: Vec::new(),
        stays: false,
        inherits_settings: false,
        variables: vec![local_files()],
        log_file: None,
    };
    let began = Instant::now();
    let shown = spinner(screen, "starting the cluster");
    let cluster = LocalCluster::start(&plan, |text| shown.set_message(text.to_owned())).await;
    shown.finish_and_clear();
    let cluster = cluster?;
    let head = screen.paint(Style::Dim, "  cluster  ");
    screen.line(format!(
        "{head}1 master at {} and {} as processes, up in {}; {maps} map slots and 1 reduce slot each; scheduler {}",
        cluster.address(),
        units::counted(u64::from(args.workers), "worker"),
        units::seconds(began.elapsed().as_secs_f64()),
        args.scheduler
    ))?;
    Ok(cluster)
}

/// The demo's directory: temporary unless named or to be kept.
struct Place {
    path: PathBuf,
    temporary: Option<tempfile::TempDir>,
}

impl Place {
    fn new(args: &DemoArgs) -> Outcome<Place> {
        if let Some(dir) = &args.dir {
            make_dir(dir)?;
            let path = dir.canonicalize().map_err(|error| cannot("use", dir, &error))?;
            let mut entries = std::fs::read_dir(&path).map_err(|error| cannot("list", dir, &error))?;
            if entries.next().is_some() {
                return Err(Failure::usage(format!("directory `{}`: expected an empty or missing one", dir.display()))
                    .help("name another with --dir, or leave it out for a temporary one"));
            }
            return Ok(Place { path, temporary: None });
        }
        let dir = tempfile::Builder::new().prefix("howdah-demo-").tempdir();
        let dir = dir.map_err(|error| Failure::broke(format!("cannot make a temporary directory: {error}")))?;
        if args.keep {
            return Ok(Place { path: dir.keep(), temporary: None });
        }
        let path = dir.path().canonicalize().map_err(|error| cannot("use", dir.path(), &error))?;
        Ok(Place { path, temporary: Some(dir) })
    }

    fn finish(self, screen: &Screen) -> Outcome<()> {
        match self.temporary {
            Some(dir) => {
                let path = self.path;
                dir.close().map_err(|error| cannot("remove", &path, &error))
            }
            None => {
                let head = screen.paint(Style::Dim, "  kept ");
                screen.line(format!("{head}in {}", self.path.display())).map_err(Failure::from)
            }
        }
    }
}
