//! `replay`: a trace simulated on a cluster that is asked for, and what came of it.
//!
//! All that can be wrong about the arguments is found before anything is simulated; files appear only when they
//! are whole, and not at all when the replay is interrupted.

mod answer;
pub(crate) mod args;
mod cluster;
pub(crate) mod cluster_file;
mod decisions;
mod defaults;
mod drive;
mod explain;
pub(crate) mod job_rows;
mod log;
mod page;
mod policy;
pub(crate) mod pools;
mod remarks;
mod replayed;
mod timeline;

use howdah_charts::timeline::Recorder;
use howdah_core::cluster::EndCause;
use howdah_core::job::profile::Trace;
use howdah_core::job::{AttemptId, Locality, WorkerId};
use howdah_core::replay::summary::{Summary, UsageByPartition, UsageByQueue};
use howdah_core::replay::{
    AttemptRecord, FaultPlan, Observer, ReplayOptions, ReplayReport, Simulation, View, WorkerLoss,
};
use howdah_core::schedulers::{Reason, Scheduler};
use howdah_core::time::Time;
use howdah_master::policies;

use self::policy::Policy;
use self::replayed::{Replayed, job_id};
use crate::args::{ClusterArgs, Format};
use crate::config::Context;
use crate::define::{apart, params};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::mapred_site::Site;
use crate::output::note;
use crate::replay::args::{Faults, ReplayArgs};
use crate::trace_file::import_options;
use crate::{trace_file, units};
use decisions::{Decided, DecisionRecorder};

/// `howdah replay`
pub(crate) fn replay(context: &Context, args: &ReplayArgs) -> Outcome {
    let config = context.client(&ClusterArgs::default(), args.answer.format.output)?;
    let screen = context.screen(config.color);
    let [parameters, import] = apart(&args.define);
    let policy = policy(args, &parameters)?;
    check_files(args)?;
    let mut trace = trace_file::read_jobs(&args.trace, &import_options(&import)?)?;
    let options = options(args, &trace, &policy)?;
    pools::find(&mut trace, &options)?;
    let remarks = remarks::remarks(args, &trace, &policy);
    if let Some(question) = &args.answer.explain {
        let simulation = Simulation::with_scheduler(&trace, &options, policy.policy);
        let simulation = simulation.map_err(|error| Failure::usage(error.to_string()))?;
        remarks.iter().for_each(note);
        return explain::explain(&screen, config.output, &trace, simulation, question);
    }
    // Until here there is nothing to tell, and a signal just ends the process.
    let interrupt = Interrupt::listen()?;
    let (replayed, kept) = simulate(args, &trace, &options, policy.policy, &interrupt)?;
    remarks.iter().for_each(note);
    match config.output {
        Format::Json => screen.json(&answer::Answer::new(&replayed))?,
        Format::Table => screen.line(page::page(&screen, &replayed, args.answer.all))?,
    }
    if interrupt.came() {
        let at = replayed.stopped_at.map_or_else(
            || "before all slowdowns were known".to_owned(),
            |at| format!("at {} of the trace's time", units::seconds(at.as_us() as f64 / 1e6)),
        );
        let files = if kept.is_some() || args.answer.csv.is_some() { "; no files were written" } else { "" };
        return Err(Failure::new(
            Exit::Interrupted,
            format!("interrupted {at}; this is what had happened by then{files}"),
        ));
    }
    write_files(args, &replayed, kept.unwrap_or_default(), &interrupt)?;
    match replayed.summary.jobs.unfinished {
        0 => Ok(Exit::Done),
        n => Err(Failure::failed(format!("{} never finished: nothing could move any more", units::counted(n, "job")))
            .help(match &replayed.stuck {
                Some(stuck) => format!("{stuck}; the state of each job stands in its row"),
                None => "is there a slot, or a worker that comes back, for every task?".to_owned(),
            })),
    }
}

/// What one replay of a trace is asked, for a command that makes many; the policy is made once, so that what is wrong
/// with it is wrong usage.
pub(crate) fn prepare(args: &ReplayArgs, parameters: &[(String, String)], trace: &Trace) -> Outcome<ReplayOptions> {
    let policy = policy(args, parameters)?;
    let options = options(args, trace, &policy)?;
    remarks::remarks(args, trace, &policy).iter().for_each(note);
    Ok(options)
}

fn policy(args: &ReplayArgs, parameters: &[(String, String)]) -> Outcome<Policy> {
    let site = Site::read(args.mapred_site.as_deref(), args.scheduler.as_deref())?;
    let named = args.scheduler.as_deref().or(site.scheduler());
    let (name, is_asked_for) = (named.unwrap_or("fifo").to_owned(), named.is_some());
    let params = site.under(params(parameters)?);
    let params = policies::with_files(&name, &params).map_err(|error| site.blame(&error))?;
    let policy = policies::make_warning(&name, &params, |text| note(format!("warning: {text}")))
        .map_err(|error| site.blame(&error))?;
    Ok(Policy { name, is_asked_for, params, policy, queue_names: site.queue_names().to_vec() })
}

/// Files to write must have a known form and a directory.
fn check_files(args: &ReplayArgs) -> Outcome<()> {
    if let Some(path) = &args.answer.timeline {
        let extension = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        if !["svg", "csv"].contains(&extension) {
            let found = path.display();
            return Err(Failure::usage(format!(
                "--timeline: found `{found}`, expected a name that ends in .svg or .csv"
            )));
        }
    }
    let files = &args.answer;
    for (flag, path) in [
        ("--timeline", &files.timeline),
        ("--csv", &files.csv),
        ("--log", &files.log),
        ("--decisions", &files.decisions),
    ] {
        path.as_ref().map_or(Ok(()), |path| trace_file::check_folder(flag, path))?;
    }
    Ok(())
}

fn options(args: &ReplayArgs, trace: &Trace, policy: &Policy) -> Outcome<ReplayOptions> {
    let view = cluster::view(args, trace)?;
    let losses = match &view {
        View::Slots { .. } => Vec::new(),
        View::Workers(view) => {
            let loss = |loss: &crate::flag_values::Loss| {
                let worker = cluster::find(&view.workers, &loss.worker, "--lose")?;
                Ok(WorkerLoss { worker, at: loss.at, expiry: args.faults.expiry, back_after: loss.back_after })
            };
            args.faults.lose.iter().map(loss).collect::<Outcome<Vec<WorkerLoss>>>()?
        }
    };
    Ok(ReplayOptions {
        scheduler: policy.name.clone(),
        scheduler_params: policy.params.clone(),
        view,
        arrivals: args.load.arrivals,
        deadlines: args.load.deadlines,
        shuffle: args.load.shuffle,
        slowstart_ppm: args.slowstart,
        faults: FaultPlan {
            scripted: args.faults.faults == Faults::Trace,
            attempt_failure_ppm: args.faults.attempt_failures,
            losses,
        },
        seed: args.load.seed,
    })
}

/// What files are made of.
#[derive(Default)]
struct Kept {
    attempts: Vec<AttemptRecord>,
    decisions: Vec<Decided>,
}

/// Runs it, and sums it up. Attempts and decisions are kept only if a file is to be made of them.
fn simulate<'a>(
    args: &ReplayArgs,
    trace: &'a Trace,
    options: &'a ReplayOptions,
    policy: Box<dyn Scheduler>,
    interrupt: &Interrupt,
) -> Outcome<(Replayed<'a>, Option<Kept>)> {
    let wrong = |error: howdah_core::replay::ReplayError| Failure::usage(error.to_string());
    let by_partition = policy.capabilities().divides_slots.then(UsageByPartition::default);
    let mut simulation = Simulation::with_scheduler(trace, options, policy).map_err(wrong)?;
    let usage = several_queues(trace).then(UsageByQueue::default);
    let recorder = (args.answer.timeline.is_some() || args.answer.log.is_some()).then(Recorder::default);
    // Watching costs as much as simulating: only who wants something of it pays.
    let decisions = args.answer.decisions.is_some().then(DecisionRecorder::default);
    if usage.is_some() || by_partition.is_some() || recorder.is_some() || decisions.is_some() {
        let (recorder, decisions) = (recorder.clone(), decisions.clone());
        let (usage, by_partition) = (usage.clone(), by_partition.clone());
        simulation.observe(Box::new(Watchers { usage, by_partition, recorder, decisions }));
    }
    let driven = drive::drive(&mut simulation, by_partition.as_ref(), interrupt);
    let report = simulation.report();
    let stuck = stuck(&simulation, &report, trace).filter(|_| driven.stopped_at.is_none());
    drop(simulation);
    let wanted = !args.answer.no_slowdown && driven.stopped_at.is_none();
    let references = if wanted { drive::alone(trace, options, interrupt).map_err(wrong)? } else { None };
    let summary = Summary::new(&report, trace, references.as_deref(), &args.answer.percentiles.0);
    let queues = usage.map(|usage| usage.queues(&report, trace)).unwrap_or_default();
    let partitions = by_partition.map(|usage| usage.partitions(&report, trace)).unwrap_or_default();
    let replayed = Replayed {
        trace,
        options,
        summary,
        queues,
        partitions,
        report,
        wall_s: driven.wall.as_secs_f64(),
        stopped_at: driven.stopped_at,
        stuck,
    };
    let any = recorder.is_some() || decisions.is_some();
    let kept = || Kept {
        attempts: recorder.map(|recorder| recorder.take()).unwrap_or_default(),
        decisions: decisions.map(|decisions| decisions.take()).unwrap_or_default(),
    };
    Ok((replayed, any.then(kept)))
}

/// Of the jobs that never finished the first whose requirements nobody meets, or else the first, with the policy's reason.
fn stuck(simulation: &Simulation<'_>, report: &ReplayReport, trace: &Trace) -> Option<String> {
    let left = report.jobs.iter().filter(|job| !job.state.is_final());
    let mut reasons = left.map(|job| (job, simulation.tracker().explain(job.id)));
    let first = reasons.next()?;
    let is_unmet = |reason: &Reason| matches!(reason, Reason::Requirements(_));
    let unmet = if is_unmet(&first.1) { None } else { reasons.find(|(_, reason)| is_unmet(reason)) };
    let (job, reason) = unmet.unwrap_or(first);
    let named = &trace.jobs[job.template as usize];
    let name = if named.name.is_empty() { String::new() } else { format!(" (`{}`)", named.name) };
    Some(format!("job {}{name}: {}", job_id(named, job.template), reason.to_string().trim_end_matches('.')))
}

fn several_queues(trace: &Trace) -> bool {
    trace.jobs.windows(2).any(|pair| pair[0].queue != pair[1].queue)
}

/// One observer for all who want to see.
struct Watchers {
    usage: Option<UsageByQueue>,
    by_partition: Option<UsageByPartition>,
    recorder: Option<Recorder>,
    decisions: Option<DecisionRecorder>,
}

impl Observer for Watchers {
    fn launched(&mut self, at: Time, attempt: AttemptId, worker: WorkerId, locality: Locality, speculative: bool) {
        if let Some(usage) = &mut self.by_partition {
            usage.launched(at, attempt, worker, locality, speculative);
        }
        if let Some(decisions) = &mut self.decisions {
            decisions.launched(at, attempt, worker, locality, speculative);
        }
    }

    fn stopped(&mut self, at: Time, attempt: AttemptId, worker: WorkerId, cause: EndCause) {
        if let Some(decisions) = &mut self.decisions {
            decisions.stopped(at, attempt, worker, cause);
        }
    }

    fn attempt(&mut self, record: &AttemptRecord) {
        if let Some(usage) = &mut self.usage {
            usage.attempt(record);
        }
        if let Some(usage) = &mut self.by_partition {
            usage.attempt(record);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.attempt(record);
        }
    }
}

fn write_files(
    args: &ReplayArgs,
    replayed: &Replayed<'_>,
    Kept { attempts, decisions }: Kept,
    interrupt: &Interrupt,
) -> Outcome<()> {
    if let Some(path) = &args.answer.decisions {
        trace_file::write_until(interrupt, path, |out| decisions::write(replayed, &decisions, out))?;
        let n = units::counted(decisions.len() as u64, "decision");
        note(format!("{}: {n}", path.display()));
    }
    if let Some(path) = &args.answer.csv {
        trace_file::write_until(interrupt, path, |out| {
            let mut out = csv::Writer::from_writer(out);
            out.write_record(job_rows::HEADER)?;
            job_rows::write(replayed.trace, &replayed.report, &replayed.summary, &[], &mut out)?;
            out.flush()
        })?;
        note(format!(
            "{}: a row for each of {}",
            path.display(),
            units::counted(replayed.report.jobs.len() as u64, "job")
        ));
    }
    if let Some(path) = &args.answer.log {
        trace_file::write_until(interrupt, path, |out| log::write(replayed, &attempts, out))?;
        let jobs = units::counted(replayed.report.jobs.len() as u64, "job");
        note(format!("{}: history of {jobs}", path.display()));
    }
    if let Some(path) = &args.answer.timeline {
        let timeline = timeline::timeline(args, replayed, attempts);
        let is_table = path.extension().is_some_and(|end| end == "csv");
        trace_file::write_until(interrupt, path, |out| {
            if is_table { timeline.write_csv(out) } else { timeline.write_svg(timeline::lanes(args), out) }
        })?;
        note(format!("{}: {}", path.display(), if is_table { "a row per attempt" } else { "slots over time" }));
    }
    Ok(())
}
