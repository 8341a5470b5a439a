//! `load`: holds a load, shows it, and says at the end what was asked and what was achieved.

use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use howdah_json::Listing;
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};

use crate::args::{ClusterArgs, Format};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::load::args::LoadArgs;
use crate::load::group::Group;
use crate::load::schedule::{Schedule, Step};
use crate::load::spin::Spinners;
use crate::local::cannot;
use crate::output::Screen;
use crate::output::progress::spinner;
use crate::units;

/// Between two looks at the group and the screen.
const LOOK: Duration = Duration::from_millis(200);

/// What was held.
#[derive(Debug, Serialize)]
struct Held {
    /// Of the control group joined; null without one.
    group: Option<String>,
    seconds: f64,
    /// Means over the whole time, in tasks.
    asked: f64,
    achieved: f64,
    /// Cores that the tasks got, on average: less than the load where cores are short.
    cores: f64,
    /// Whether it ended before its time.
    interrupted: bool,
    steps: Vec<HeldStep>,
}

#[derive(Debug, Serialize)]
struct HeldStep {
    from_s: f64,
    seconds: f64,
    asked: f64,
    achieved: f64,
    cores: f64,
}

/// `howdah load`
pub(crate) async fn load(context: &Context, args: &LoadArgs) -> Outcome {
    let config = context.client(&ClusterArgs::default(), args.format.output)?;
    let screen = context.screen(config.color);
    let schedule = schedule(args)?;
    let group = match &args.cgroup_of {
        Some(dir) => Group::of_worker(dir)?,
        None => Group::at(args.group.iter().flat_map(|groups| groups.0.clone()).collect()),
    };
    let mut ends =
        Ends::new(args.stop_with_stdin).map_err(|error| Failure::broke(format!("listen for signals: {error}")))?;
    group.join()?;
    let held = hold(&screen, config.output, &schedule, &group, &mut ends).await?;
    match config.output {
        Format::Json => screen.json(&Listing::new("load", &held))?,
        Format::Table => screen.line(sentence(&held))?,
    }
    if !held.interrupted {
        return Ok(Exit::Done);
    }
    if group.is_gone() {
        let name = group.name().unwrap_or_default();
        return Err(Failure::broke(format!("control group `{name}` is gone")).help("its worker has ended"));
    }
    Ok(Exit::Interrupted)
}

fn schedule(args: &LoadArgs) -> Outcome<Schedule> {
    let made = match (&args.schedule, args.load) {
        (Some(text), _) => {
            let text = if text.contains(':') && !Path::new(text).exists() {
                text.clone()
            } else {
                std::fs::read_to_string(text).map_err(|error| cannot("read", Path::new(text), &error))?
            };
            Schedule::parse(&text, args.duration)
        }
        (None, Some(load)) => match args.duration {
            Some(duration) => Schedule::steady(load, duration),
            None => Err("--for is not given".to_owned()),
        },
        (None, None) => Err("neither --load nor --schedule is given".to_owned()),
    };
    made.map_err(|error| Failure::usage(error).help("such as --load 3 --for 5m, or --schedule 0s:4,180s:8,10m:0"))
}

/// What ends it early.
struct Ends {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    stdin: tokio::sync::oneshot::Receiver<()>,
    /// Held so that the receiver waits for ever where standard input is not watched.
    _keep: Option<tokio::sync::oneshot::Sender<()>>,
}

impl Ends {
    fn new(stop_with_stdin: bool) -> std::io::Result<Ends> {
        let (gone, stdin) = tokio::sync::oneshot::channel();
        let keep = if stop_with_stdin {
            // A thread of its own: a blocking read must not keep the runtime from ending.
            std::thread::spawn(move || {
                let mut sink = [0; 64];
                while matches!(std::io::stdin().lock().read(&mut sink), Ok(n) if n > 0) {}
                let _ = gone.send(());
            });
            None
        } else {
            Some(gone)
        };
        let (terminate, interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        Ok(Ends { terminate, interrupt, stdin, _keep: keep })
    }

    async fn any(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = &mut self.stdin => {}
        }
    }
}

async fn hold(screen: &Screen, format: Format, schedule: &Schedule, group: &Group, ends: &mut Ends) -> Outcome<Held> {
    let spinners = Spinners::start(schedule.largest())
        .map_err(|error| Failure::broke(format!("start {} threads: {error}", schedule.largest().ceil())))?;
    let shown = (format == Format::Table).then(|| spinner(screen, "starting"));
    let began = Instant::now();
    let (first_cpu, mut steps, mut interrupted) = (cpu_time(), Vec::new(), false);
    for step in schedule.steps() {
        spinners.hold(step.load);
        let mark = (Instant::now(), spinners.busy(), cpu_time());
        while !interrupted && began.elapsed() < step.to {
            let left = step.to.saturating_sub(began.elapsed());
            interrupted = tokio::time::timeout(left.min(LOOK), ends.any()).await.is_ok() || group.is_gone();
            if let Some(shown) = &shown {
                let achieved = mean(spinners.busy() - mark.1, mark.0.elapsed());
                shown.set_message(line(step, schedule.end(), began.elapsed(), achieved));
            }
        }
        let passed = mark.0.elapsed();
        steps.push(HeldStep {
            from_s: rounded(step.from.as_secs_f64()),
            seconds: rounded(passed.as_secs_f64()),
            asked: step.load,
            achieved: rounded(mean(spinners.busy() - mark.1, passed)),
            cores: rounded(mean(cpu_time().saturating_sub(mark.2), passed)),
        });
        if interrupted {
            break;
        }
    }
    spinners.hold(0.0);
    if let Some(shown) = shown {
        shown.finish_and_clear();
    }
    let passed = began.elapsed();
    let asked = steps.iter().map(|step| step.asked * step.seconds).sum::<f64>();
    Ok(Held {
        group: group.name(),
        seconds: rounded(passed.as_secs_f64()),
        asked: rounded(asked / passed.as_secs_f64().max(1e-9)),
        achieved: rounded(mean(spinners.busy(), passed)),
        cores: rounded(mean(cpu_time().saturating_sub(first_cpu), passed)),
        interrupted,
        steps,
    })
}

fn line(step: Step, end: Duration, passed: Duration, achieved: f64) -> String {
    let mut text = format!("load {} asked, {achieved:.2} held", step.load);
    let (passed, end) = (units::seconds(passed.as_secs_f64()), units::seconds(end.as_secs_f64()));
    let _ = write!(text, ", {passed} of {end}");
    text
}

fn sentence(held: &Held) -> String {
    let place = held.group.as_ref().map(|group| format!(" in {group}")).unwrap_or_default();
    let Held { asked, achieved, cores, seconds, .. } = held;
    let how = if held.interrupted { "interrupted after" } else { "for" };
    let time = units::seconds(*seconds);
    format!("held a load of {achieved:.2} ({asked:.2} asked) {how} {time}{place}; it got {cores:.2} cores")
}

/// CPU time of this process.
fn cpu_time() -> Duration {
    crate::local::proc::cpu_time(std::process::id()).unwrap_or_default()
}

fn mean(sum: Duration, over: Duration) -> f64 {
    sum.as_secs_f64() / over.as_secs_f64().max(1e-9)
}

/// To thousandths: more would be noise.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}
