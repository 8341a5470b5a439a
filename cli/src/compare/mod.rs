//! `compare`: one workload under several schedulers, side by side, over all cores and with confidence intervals.

mod answer;
pub(crate) mod args;
mod picture;

use howdah_core::job::profile::Trace;
use howdah_core::replay::ReplayError;
use howdah_core::schedulers::Scheduler;
use howdah_master::policies;
use howdah_planning::compare::{Compare, Contender, Run, compare as run_all};

use self::args::CompareArgs;
use crate::args::{ClusterArgs, Format};
use crate::config::Context;
use crate::define::apart;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::output::note;
use crate::output::progress::WorkProgress;
use crate::replay::{job_rows, pools, prepare};
use crate::trace_file::{self, check_figure, check_folder, import_options};
use crate::units::counted;

/// `howdah compare`
pub(crate) fn compare(context: &Context, args: &CompareArgs) -> Outcome {
    let config = context.client(&ClusterArgs::default(), args.format.output)?;
    let screen = context.screen(config.color);
    if args.scheduler.len() < 2 {
        return Err(Failure::usage(format!(
            "--scheduler: found `{}` alone, expected two or more",
            args.scheduler[0].label
        ))
        .help("`howdah replay` simulates one; `howdah scheduler list` names them all"));
    }
    args.csv.as_deref().map_or(Ok(()), |path| check_folder("--csv", path))?;
    args.figure.as_deref().map_or(Ok(()), |path| check_figure("--figure", path))?;
    let [parameters, import] = apart(&args.define);
    let trace = trace_file::read_jobs(&args.trace, &import_options(&import)?)?;
    let mut prepared = Vec::new();
    for one in &args.scheduler {
        let both: Vec<_> = parameters.iter().chain(&one.params).cloned().collect();
        let asked = args.replay(one);
        let options = prepare(&asked, &both, &trace)?;
        // Only what plans first needs a workload of its own.
        let mut own: Option<Trace> = None;
        if options.scheduler == "balanced-pools" {
            pools::find(own.insert(trace.clone()), &options)?;
        }
        prepared.push((own, options));
    }
    let contenders: Vec<Contender<'_>> = prepared
        .iter()
        .map(|(own, options)| Contender { trace: own.as_ref().unwrap_or(&trace), options: options.clone() })
        .collect();
    let interrupt = Interrupt::listen()?;
    let Some(runs) = replays(args, &contenders, &interrupt)? else {
        return Err(Failure::new(Exit::Interrupted, "interrupted; nothing was compared"));
    };
    if args.repeats > 1
        && runs.windows(2).all(|pair| pair[0].contender != pair[1].contender || is_same(&pair[0], &pair[1]))
    {
        note("note: nothing here is random, all seeds give the same; --arrivals load:0.7 or --attempt-failures draw");
    }
    let found = answer::Found::new(args, &contenders, &runs);
    match config.output {
        Format::Json => screen.json(&found.json())?,
        Format::Table => screen.line(found.page(&screen))?,
    }
    if let Some(path) = &args.csv {
        let rows =
            runs.iter().map(|run| (run, &contenders[run.contender], args.scheduler[run.contender].label.as_str()));
        trace_file::write_until(&interrupt, path, |out| {
            let mut out = csv::Writer::from_writer(out);
            out.write_record(["scheduler", "seed"].into_iter().chain(job_rows::HEADER))?;
            for (run, contender, label) in rows {
                let lead = [label, &run.seed.to_string()];
                job_rows::write(contender.trace, &run.report, &run.summary, &lead, &mut out)?;
            }
            out.flush()
        })?;
        note(format!("{}: a row for each job of {}", path.display(), counted(runs.len() as u64, "replay")));
    }
    if let Some(path) = &args.figure {
        let drawn = picture::distributions(args, &runs)?;
        trace_file::write_until(&interrupt, path, |out| out.write_all(drawn.as_bytes()))?;
        note(format!("{}: distributions of completion times", path.display()));
    }
    match runs.iter().map(|run| run.summary.jobs.unfinished).sum::<u64>() {
        0 => Ok(Exit::Done),
        n => Err(Failure::failed(format!("{} of the replays never finished", counted(n, "job")))
            .help("`howdah replay` with the same flags tells which and why")),
    }
}

/// Whether two replays went the same way.
fn is_same(one: &Run, other: &Run) -> bool {
    one.report.decisions_digest == other.report.decisions_digest
}

/// What goes wrong on the way.
#[derive(Debug)]
struct Wrong(String);

impl From<ReplayError> for Wrong {
    fn from(error: ReplayError) -> Wrong {
        Wrong(error.to_string())
    }
}

fn replays(args: &CompareArgs, contenders: &[Contender<'_>], interrupt: &Interrupt) -> Outcome<Option<Vec<Run>>> {
    let what = Compare { contenders, repeats: args.repeats, with_slowdown: !args.no_slowdown };
    // Made on the thread that runs it: what a policy holds need not cross threads.
    let make = |at: usize| -> Result<Box<dyn Scheduler>, Wrong> {
        let options = &contenders[at].options;
        policies::make(&options.scheduler, &options.scheduler_params).map_err(|error| Wrong(error.to_string()))
    };
    let progress = WorkProgress::new("replays simulated");
    let goes_on = |done: usize, all: usize| {
        progress.show(done as u64, all as u64, String::new);
        !interrupt.came()
    };
    run_all(&what, make, goes_on).map_err(|Wrong(problem)| Failure::usage(problem))
}
