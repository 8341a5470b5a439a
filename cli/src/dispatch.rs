//! Sends what was typed to the folder of its command.

use std::future::Future;

use crate::commands::{Cli, Command};
use crate::config::Context;
use crate::config::args::ConfigCommand;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::queue::args::QueueCommand;
use crate::worker::args::WorkerCommand;
use crate::{
    bench, calibrate, cluster, compare, config, demo, experiment, generate, job, load, manual, master, optimize,
    predict, queue, replay, scheduler, submit, trace, tune, up, validate, what_if, worker,
};

/// Runs what was typed.
pub(crate) fn run(cli: Cli) -> Outcome {
    let context = Context::new(&cli.global)?;
    match cli.command {
        Command::Master(args) => master::master(&context, &args),
        Command::Worker(args) => match &args.command {
            None => worker::worker(&context, &args),
            Some(WorkerCommand::List(list)) => wait(worker::list_workers(&context, list)),
            Some(WorkerCommand::Vitals(vitals)) => wait(worker::vitals(&context, vitals)),
            Some(WorkerCommand::Drain(drain)) => wait(worker::drain(&context, drain)),
            Some(WorkerCommand::Enable(args)) => wait(worker::enable(&context, args)),
            Some(WorkerCommand::Remove(args)) => wait(worker::remove(&context, args)),
        },
        Command::Up(args) => wait(up::up(&context, &args)),
        Command::Down(args) => wait(up::down(&context, &args)),
        Command::Daemon(command) => wait(up::daemon::run(&context, &command)),
        Command::Submit(args) => wait(submit::submit(&context, &args)),
        Command::Job(command) => wait(job::run(&context, &command)),
        Command::Queue(QueueCommand::List(args)) => wait(queue::list_queues(&context, &args)),
        Command::Scheduler(command) => wait(scheduler::run(&context, &command)),
        Command::Cluster(args) => wait(cluster::show(&context, &args)),
        Command::Wait(args) => wait(crate::wait::wait(&context, &args)),
        Command::Doctor(args) => wait(crate::doctor::doctor(&context, &args)),
        Command::Demo(args) => wait(demo::demo(&context, &args)),
        Command::Load(args) => wait(load::load(&context, &args)),
        Command::Hadoop(command) => crate::hadoop::install(&context, &command),
        Command::Generate(command) => generate::run(&command),
        Command::Trace(command) => trace::run(&context, &command),
        Command::Replay(args) => replay::replay(&context, &args),
        Command::Compare(args) => compare::compare(&context, &args),
        Command::Optimize(args) => optimize::optimize(&context, &args),
        Command::Predict(args) => wait(predict::predict(&context, &args)),
        Command::WhatIf(args) => wait(what_if::what_if(&context, &args)),
        Command::Tune(args) => tune::run(&context, &args),
        Command::Validate(args) => validate::validate(&context, &args),
        Command::Journal(command) => crate::journal::run(&context, &command),
        Command::Calibrate(args) => calibrate::calibrate(&context, &args),
        Command::Experiment(command) => experiment::run(&context, &command),
        Command::Bench(args) => wait(bench::bench(&context, &args)),
        Command::Config(ConfigCommand::Show(args)) => config::show_settings(&context, &args),
        Command::Completions { shell } => manual::completions(&screen(&context)?, shell),
        Command::Complete(args) => wait(crate::complete::complete(&context, &args)),
        Command::Man { dir } => manual::man(&screen(&context)?, dir.as_deref()),
    }
}

/// A screen with the colours asked for.
fn screen(context: &Context) -> Outcome<Screen> {
    Ok(context.screen(context.colour()?))
}

/// Runs a client's command: one thread is plenty.
fn wait(command: impl Future<Output = Outcome>) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::broke(format!("start the runtime: {error}")))?;
    let outcome = runtime.block_on(command);
    // An interrupted command does not wait for what it had computing.
    runtime.shutdown_background();
    outcome
}
