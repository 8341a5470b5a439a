//! `master` and `worker`: from settings to a running daemon, and how it is told to stop.
//!
//! SIGTERM or one SIGINT asks to drain, any second signal to stop at once. On a leash (`--stop-with-stdin`) the
//! end of standard input, that is, the end of whoever started us, stops at once.

use std::future::Future;
use std::io::Read;
use std::path::Path;

use clap::Args;
use howdah_core::schedulers::Scheduler;
use howdah_core::schedulers::registry::Params;
use howdah_master::{MasterConfig, policies};
use howdah_proto::stop::Stop;
use tokio::signal::unix::{SignalKind, signal};

use crate::config::{Settings, Source};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::log::Destination;
use crate::mapred_site::Site;

/// How a daemon is started by other processes; people need none of these.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct LeashArgs {
    /// Stop when standard input ends: whoever holds its other end is gone
    #[arg(long, hide = true)]
    pub(crate) stop_with_stdin: bool,
    /// Leave the terminal's session
    #[arg(long, hide = true)]
    pub(crate) detach: bool,
}

/// A daemon of root's that other machines get at runs everybody's programs as root: that is to be meant.
/// `by` is the setting by which they do, and its value.
pub(crate) fn check_root(what: &str, by: Option<(&str, &str)>, as_root: bool) -> Outcome<()> {
    let Some((setting, value)) = by.filter(|_| !as_root && nix::unistd::geteuid().is_root()) else { return Ok(()) };
    let message = format!("this {what} is root's and other machines get at it (`{setting}` is `{value}`)");
    Err(Failure::usage(format!("{message}: every job of anybody could do what root may"))
        .help("start it as a user of its own, as the units in deploy/ do")
        .help("--as-root says that this is meant"))
}

/// A name that no scheduler has is wrong usage, whoever starts the master.
pub(crate) fn check_scheduler(name: &str) -> Outcome<()> {
    policies::make(name, &Params::new()).map(drop).map_err(|error| Failure::usage(error.to_string()))
}

/// Lays what was typed over the settings, and these over Hadoop's own file where one is named; then makes the scheduler
/// once, as what is wrong with it is wrong usage, whoever starts the master.
pub(crate) fn choose_scheduler(
    config: &mut MasterConfig,
    settings: &Settings,
    mapred_site: Option<&Path>,
    typed: Params,
) -> Outcome<Box<dyn Scheduler>> {
    let unsaid = |key: &str| settings.values.get(key).is_some_and(|setting| setting.source == Source::Default);
    let asked = Some(config.scheduler.as_str()).filter(|_| !unsaid("scheduler"));
    let site = Site::read(mapred_site, asked)?;
    if let (None, Some(scheduler)) = (asked, site.scheduler()) {
        config.scheduler = scheduler.to_owned();
    }
    if unsaid("queue_names") && !site.queue_names().is_empty() {
        config.queue_names = site.queue_names().to_vec();
    }
    config.scheduler_params.extend(typed);
    config.scheduler_params = site.under(std::mem::take(&mut config.scheduler_params));
    let (name, params) = (&config.scheduler, &config.scheduler_params);
    let made = policies::with_files(name, params).and_then(|params| policies::make(name, &params));
    made.map_err(|error| site.blame(&error))
}

pub(crate) fn run<F>(leash: LeashArgs, log: &Destination, daemon: impl FnOnce(Stop) -> F) -> Outcome
where
    F: Future<Output = anyhow::Result<()>>,
{
    if leash.detach {
        nix::unistd::setsid().map_err(|error| Failure::broke(format!("leave the terminal's session: {error}")))?;
    }
    log.begin()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::broke(format!("start the runtime: {error}")))?;
    let stop = Stop::new();
    if leash.stop_with_stdin {
        watch_stdin(stop.clone());
    }
    let result = runtime.block_on(async {
        // Before the daemon starts: from its first moment on, signals mean "drain".
        watch_signals(stop.clone()).map_err(|error| Failure::broke(format!("listen for signals: {error}")))?;
        daemon(stop).await.map_err(Failure::from)
    });
    // Blocking tasks of a stopped daemon have nothing left to say.
    runtime.shutdown_background();
    let outcome = result.map(|()| Exit::Done);
    log.end(&outcome);
    outcome
}

fn watch_signals(stop: Stop) -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    // A terminal that closes is no reason to stop.
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        loop {
            let name = tokio::select! {
                _ = terminate.recv() => "SIGTERM",
                _ = interrupt.recv() => "SIGINT",
                _ = hangup.recv() => continue,
            };
            if stop.drain.is_cancelled() {
                tracing::warn!(signal = name, "stopping at once");
                stop.now.cancel();
            } else {
                tracing::info!(signal = name, "draining; once more stops at once");
                stop.drain.cancel();
            }
        }
    });
    Ok(())
}

fn watch_stdin(stop: Stop) {
    // A thread of its own: a blocking read must not keep the runtime from ending.
    std::thread::spawn(move || {
        let mut sink = [0; 64];
        while matches!(std::io::stdin().lock().read(&mut sink), Ok(n) if n > 0) {}
        stop.now.cancel();
    });
}
