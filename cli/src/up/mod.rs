//! `up` and `down`: a cluster that stays, on this machine or with `--hosts` on others.
//!
//! Both may be repeated: `up` on a cluster that is up says so, `down` on none says so, and both end with 0.

pub(crate) mod args;
pub(crate) mod daemon;
mod down;
mod machines;
mod room;
mod ssh;

use howdah_worker::WorkerConfig;

use crate::config::{Context, Flag, Section, Source, warn_of_misspelt};
use crate::daemon::choose_scheduler;
use crate::define::params;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::local::access::{Access, FILE};
use crate::local::logs::said_file;
use crate::local::{LocalCluster, Plan, cannot, local_files, make_dir, proc, stop_processes};
use crate::output::progress::spinner;
use crate::output::{Screen, Style, note};
use crate::units;
use crate::up::args::{DownArgs, UpArgs};

/// `howdah up`
pub(crate) async fn up(context: &Context, args: &UpArgs) -> Outcome {
    let screen = context.screen(context.colour()?);
    if let Some(file) = &args.machines.hosts {
        return machines::up(context, args, file).await;
    }
    // What is wrong with it is reported before anything is made.
    let (worker, of_worker) = context.settings::<WorkerConfig>(Section::Worker, Vec::new())?;
    warn_of_misspelt(&of_worker);
    let mut plan = plan(context, args, &worker, args.dir.clone())?;
    make_dir(&args.dir)?;
    plan.dir = args.dir.canonicalize().map_err(|error| cannot("use", &args.dir, &error))?;
    if let Some(access) = Access::read(&plan.dir)? {
        let alive = access.processes.iter().filter(|process| process.is_alive()).count();
        if alive > 0 {
            return already_up(&screen, args, &access, alive);
        }
    }
    let shown = spinner(&screen, "starting");
    let cluster = LocalCluster::start(&plan, |text| shown.set_message(text.to_owned())).await;
    shown.finish_and_clear();
    let cluster = cluster?;
    let dir = args.dir.display();
    screen.line(format!(
        "{}: one master at {} and {}",
        screen.paint(Style::Good, "up"),
        screen.paint(Style::Bold, cluster.address()),
        units::counted(u64::from(args.workers), "worker"),
    ))?;
    screen.line(format!("  submit a job   howdah submit wordcount --dir {dir} --input PATH --output PATH --wait"))?;
    screen
        .line(format!("  look around    howdah cluster --dir {dir}   ·   export HOWDAH_DIR={dir} saves the typing"))?;
    screen.line(format!("  stop it        howdah down --dir {dir}"))?;
    room::warning(&plan.dir, worker.min_free_disk_bytes).into_iter().for_each(note);
    Ok(Exit::Done)
}

fn already_up(screen: &Screen, args: &UpArgs, access: &Access, alive: usize) -> Outcome {
    let expected = access.processes.len();
    let (dir, workers) = (args.dir.display(), args.workers);
    if alive < expected {
        return Err(Failure::broke(format!("of the cluster in `{dir}` only {alive} of {expected} processes are left"))
            .help(format!("`howdah down --dir {dir}` clears it away")));
    }
    if expected != workers as usize + 1 {
        return Err(Failure::usage(format!(
            "a cluster with {} already runs in `{dir}`",
            units::counted(expected.saturating_sub(1) as u64, "worker")
        ))
        .help(format!("`howdah down --dir {dir}` stops it, then start it with --workers {workers}")));
    }
    screen.line(format!("already up: one master at {} and {workers} workers", access.master))?;
    let unused = of_a_start(args);
    if !unused.is_empty() {
        note(format!("note: not applied, as the cluster is up: {}", unused.join(" ")));
        if args.scheduler.is_some() || !args.define.is_empty() {
            note(format!("help: `howdah scheduler set NAME --dir {dir}` puts another scheduler in charge as it runs"));
        }
        note(format!("help: `howdah down --dir {dir}` stops it, then start it with these"));
    }
    Ok(Exit::Done)
}

/// Flags that only a start heeds, as they were given.
fn of_a_start(args: &UpArgs) -> Vec<String> {
    let mut given = Vec::new();
    let mut say = |flag: &str, value: Option<String>| given.extend(value.map(|value| format!("{flag} {value}")));
    say("--map-slots", args.map_slots.map(|n| n.to_string()));
    say("--reduce-slots", args.reduce_slots.map(|n| n.to_string()));
    let quotas: Vec<String> = args.cpu_quota.iter().map(f64::to_string).collect();
    say("--cpu-quota", (!quotas.is_empty()).then(|| quotas.join(",")));
    say("--vitals-source", args.vitals_source.clone());
    say("--scheduler", args.scheduler.clone());
    args.define.iter().for_each(|(key, value)| say("-D", Some(format!("{key}={value}"))));
    say("--mapred-site", args.mapred_site.as_ref().map(|file| file.display().to_string()));
    say("--listen", args.listen.clone());
    given
}

fn plan(context: &Context, args: &UpArgs, worker: &WorkerConfig, dir: std::path::PathBuf) -> Outcome<Plan> {
    let listen = args.listen.clone().unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let mut master_args = vec!["--listen".to_owned(), listen];
    let mut worker_args = Vec::new();
    let flags = vec![Flag::new("--scheduler", "scheduler", &args.scheduler)];
    let (mut config, settings) = context.settings::<howdah_master::MasterConfig>(Section::Master, flags)?;
    let scheduler = choose_scheduler(&mut config, &settings, args.mapred_site.as_deref(), params(&args.define)?)?;
    warn_of_misspelt(&settings);
    let each =
        [args.map_slots.unwrap_or(worker.map_slots.into()), args.reduce_slots.unwrap_or(worker.reduce_slots.into())];
    // Others may join, but the cluster that is asked for would not keep the promise.
    let slots = each.map(|slots| slots.saturating_mul(args.workers));
    scheduler.queues().validate_capacity(slots).map_err(|error| {
        let (workers, [maps, reduces]) = (units::counted(u64::from(args.workers), "worker"), each);
        Failure::usage(error.to_string()).help(format!("asked for: {workers} of {maps} map and {reduces} reduce slots"))
    })?;
    // The user's word counts, where there is one.
    let unsaid = settings.values.get("split_host").is_some_and(|setting| setting.source == Source::Default);
    if let Some(scheduler) = &args.scheduler {
        master_args.extend(["--scheduler".to_owned(), scheduler.clone()]);
    }
    master_args.extend(args.define.iter().flat_map(|(key, value)| ["-D".to_owned(), format!("{key}={value}")]));
    if let Some(site) = &args.mapred_site {
        let site = site.canonicalize().map_err(|error| cannot("use", site, &error))?;
        master_args.extend(["--mapred-site".to_owned(), site.display().to_string()]);
    }
    for (flag, value) in [("--map-slots", args.map_slots), ("--reduce-slots", args.reduce_slots)] {
        if let Some(value) = value {
            worker_args.extend([flag.to_owned(), value.to_string()]);
        }
    }
    if let Some(source) = &args.vitals_source {
        worker_args.extend(["--vitals-source".to_owned(), source.clone()]);
    }
    if let Some(file) = context.path() {
        let file = file.canonicalize().map_err(|error| cannot("use", file, &error))?.display().to_string();
        master_args.extend(["--config".to_owned(), file.clone()]);
        worker_args.extend(["--config".to_owned(), file]);
    }
    Ok(Plan {
        dir,
        workers: args.workers,
        master_args,
        worker_args,
        cpu_quotas: args.cpu_quota.clone(),
        stays: true,
        inherits_settings: true,
        variables: if unsaid { vec![local_files()] } else { Vec::new() },
        log_file: said_file(context)?,
    })
}

/// `howdah down`
pub(crate) async fn down(context: &Context, args: &DownArgs) -> Outcome {
    let screen = context.screen(context.colour()?);
    if let Some(file) = &args.machines.hosts {
        return machines::down(&screen, args, file).await;
    }
    let dir = args.dir.display();
    let Some(access) = Access::read(&args.dir)? else {
        down::check_lock(&args.dir)?;
        screen.line(format!("nothing to stop: no cluster runs in `{dir}`"))?;
        return Ok(Exit::Done);
    };
    let path = args.dir.join(FILE);
    if access.processes.is_empty() {
        return Err(Failure::usage(format!("`{}` names no processes: it is not from `howdah up`", path.display()))
            .help("stop the daemons where they were started, with SIGTERM"));
    }
    down::check_permission(&access.processes, proc::may_signal)?;
    let alive = access.processes.iter().filter(|process| process.is_alive()).count();
    let shown = spinner(&screen, format!("stopping {}", units::counted(alive as u64, "process")));
    let stopped = stop_processes(&access.processes, args.grace).await;
    shown.finish_and_clear();
    if let Some(left) = access.processes.iter().find(|process| process.is_alive()) {
        return Err(Failure::broke(format!("{} (pid {}) does not end", left.name, left.pid)));
    }
    std::fs::remove_file(&path).map_err(|error| cannot("remove", &path, &error))?;
    down::check_lock(&args.dir)?;
    if alive == 0 {
        screen.line(format!("nothing to stop: the processes of `{dir}` had ended already"))?;
    } else if !stopped.killed.is_empty() {
        screen.line(format!("down: {} did not end and had to be killed", stopped.killed.join(", ")))?;
    } else if !stopped.hurried.is_empty() {
        let grace = units::seconds(args.grace.as_secs_f64());
        let who = stopped.hurried.join(", ");
        screen.line(format!("down: {who} still had work after {grace} and had to leave it"))?;
    } else {
        screen.line(format!("down: all {alive} processes of `{dir}` have ended"))?;
    }
    Ok(Exit::Done)
}
