//! A job's progress: bars on a terminal, Hadoop's ` map 10% reduce 0%` lines in a pipe.

use std::cell::OnceCell;
use std::io;
use std::time::{Duration, Instant};

use howdah_proto::v1::JobStatus;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Screen;

/// What is shown while one job runs.
#[derive(Debug)]
pub(crate) enum JobProgress {
    /// Two bars that are redrawn and vanish at the end.
    Bars { map: ProgressBar, reduce: Option<ProgressBar> },
    /// A line per change, after this prefix; the last one printed. Percents are rounded down to a multiple of `step`.
    Lines { prefix: String, step: u64, last: Option<(u64, u64)> },
    /// Nothing.
    Quiet,
}

impl JobProgress {
    /// For the only job that is shown.
    pub(crate) fn new(screen: &Screen, name: &str, has_reduces: bool) -> JobProgress {
        if !screen.is_terminal() {
            return JobProgress::Lines { prefix: String::new(), step: 1, last: None };
        }
        JobProgress::in_group(screen, &bars(), name, has_reduces)
    }

    /// For one of several jobs that run at the same time.
    pub(crate) fn in_group(screen: &Screen, group: &MultiProgress, name: &str, has_reduces: bool) -> JobProgress {
        if !screen.is_terminal() {
            return JobProgress::Lines { prefix: format!(" {name:<10}"), step: 10, last: None };
        }
        let template = if screen.has_colour() {
            "  {prefix:<18} {bar:32.cyan/238} {percent:>3} %  {msg:.dim}"
        } else {
            "  {prefix:<18} {bar:32} {percent:>3} %  {msg}"
        };
        let style = ProgressStyle::with_template(template)
            .map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("━╸─"));
        let make = |label: String| {
            let bar = group.add(ProgressBar::new(10_000).with_style(style.clone()).with_prefix(label));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        };
        let map = make(format!("{name} map"));
        let reduce = has_reduces.then(|| make(format!("{name} reduce")));
        JobProgress::Bars { map, reduce }
    }

    /// Shows the job as it is now.
    pub(crate) fn show(&mut self, screen: &Screen, status: &JobStatus) -> io::Result<()> {
        match self {
            JobProgress::Bars { map, reduce } => {
                map.set_position(parts(status.map_progress));
                map.set_message(format!(
                    "{}/{} done, {} running",
                    status.maps_done, status.n_maps, status.maps_running
                ));
                if let Some(reduce) = reduce {
                    reduce.set_position(parts(status.reduce_progress));
                    reduce.set_message(format!(
                        "{}/{} done, {} running",
                        status.reduces_done, status.n_reduces, status.reduces_running
                    ));
                }
                Ok(())
            }
            JobProgress::Lines { prefix, step, last } => {
                let percent = |fraction| parts(fraction) / 100 / *step * *step;
                let now = (percent(status.map_progress), percent(status.reduce_progress));
                if last.replace(now) == Some(now) {
                    return Ok(());
                }
                screen.line(format!("{prefix} map {}% reduce {}%", now.0, now.1))
            }
            JobProgress::Quiet => Ok(()),
        }
    }

    /// Takes the bars away.
    pub(crate) fn finish(&mut self) {
        if let JobProgress::Bars { map, reduce } = self {
            map.finish_and_clear();
            if let Some(reduce) = reduce {
                reduce.finish_and_clear();
            }
        }
    }
}

/// Shorter work shows no bar.
const PATIENCE: Duration = Duration::from_millis(400);

/// How far long work is, on standard error, which answers do not use: invisible unless that is a terminal, and while it
/// goes fast. It vanishes with its owner.
pub(crate) struct WorkProgress {
    what: &'static str,
    begun: Instant,
    bar: OnceCell<ProgressBar>,
}

impl WorkProgress {
    /// `what` is counted: "tasks simulated".
    pub(crate) fn new(what: &'static str) -> WorkProgress {
        WorkProgress { what, begun: Instant::now(), bar: OnceCell::new() }
    }

    /// So many of so many are done; `message` follows.
    pub(crate) fn show(&self, done: u64, of: u64, message: impl FnOnce() -> String) {
        if self.begun.elapsed() > PATIENCE {
            let bar = self.bar.get_or_init(|| work_bar(self.what));
            bar.set_length(of);
            bar.set_position(done);
            bar.set_message(message());
        }
    }
}

impl Drop for WorkProgress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

fn work_bar(what: &'static str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(15)).with_prefix(what);
    let style = ProgressStyle::with_template(
        "  {prefix} {wide_bar} {percent:>3} %  {human_pos} of {human_len}, {eta} left{msg}",
    );
    bar.with_style(style.map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("━╸─")))
}

/// Room for the bars of several jobs.
pub(crate) fn bars() -> MultiProgress {
    MultiProgress::with_draw_target(ProgressDrawTarget::stdout_with_hz(15))
}

/// A spinner with a message on a terminal; nothing in a pipe.
pub(crate) fn spinner(screen: &Screen, message: impl Into<String>) -> ProgressBar {
    if !screen.is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout_with_hz(15));
    let style = ProgressStyle::with_template("  {spinner} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    bar.set_style(style);
    bar.set_message(message.into());
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

fn parts(fraction: f64) -> u64 {
    (fraction.clamp(0.0, 1.0) * 10_000.0 + 1e-6) as u64
}
