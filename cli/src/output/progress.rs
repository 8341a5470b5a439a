//! A job's progress: bars on a terminal, Hadoop's ` map 10% reduce 0%` lines in a pipe. A job of which nothing has been
//! launched is queued, and is not said to run.

use std::cell::OnceCell;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use howdah_proto::v1::JobStatus;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use unicode_width::UnicodeWidthStr;

use super::time_left::{TimeLeft, time_left};
use super::{Screen, escape};
use crate::job::view::at_master;

/// What is shown while one job runs.
#[derive(Debug)]
pub(crate) enum JobProgress {
    /// Two bars that are redrawn and vanish at the end.
    Bars { map: ProgressBar, reduce: Option<ProgressBar> },
    /// A line per change, after this prefix; the last one printed. Percents are rounded down to a multiple of `step`.
    /// `stages` are the last stage that was said, where they are said.
    Lines { prefix: String, step: u64, last: Option<(u64, u64)>, stages: Option<Option<Stage>> },
    /// Nothing.
    Quiet,
}

/// How far a job is, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Queued,
    Running,
    Committing,
    Over,
}

impl Stage {
    fn of(status: &JobStatus) -> Stage {
        match status.state.as_str() {
            "PREP" => Stage::Queued,
            "RUNNING" => Stage::Running,
            "COMMITTING" => Stage::Committing,
            _ => Stage::Over,
        }
    }

    /// What is said when it begins.
    fn line(self, status: &JobStatus) -> Option<String> {
        match self {
            Stage::Queued => Some(format!("Queued job: {}, in queue {}", status.job, status.queue)),
            Stage::Running => Some(format!("Running job: {}", status.job)),
            Stage::Committing | Stage::Over => None,
        }
    }
}

impl JobProgress {
    /// For the only job that is shown.
    pub(crate) fn new(screen: &Screen, name: &str, has_reduces: bool) -> JobProgress {
        if !screen.is_terminal() {
            return JobProgress::Lines { prefix: String::new(), step: 1, last: None, stages: Some(None) };
        }
        JobProgress::bars(screen, &bars(), name, has_reduces)
    }

    /// For one of several jobs that are waited for, one after the other: each line names it.
    pub(crate) fn of_several(screen: &Screen, job: &str, name: &str, has_reduces: bool) -> JobProgress {
        if !screen.is_terminal() {
            return JobProgress::Lines { prefix: format!("{job} "), step: 1, last: None, stages: Some(None) };
        }
        JobProgress::bars(screen, &bars(), &format!("{job} {name}"), has_reduces)
    }

    /// For one of several jobs that run at the same time.
    pub(crate) fn in_group(screen: &Screen, group: &MultiProgress, name: &str, has_reduces: bool) -> JobProgress {
        if !screen.is_terminal() {
            return JobProgress::Lines { prefix: format!(" {name:<10}"), step: 10, last: None, stages: None };
        }
        JobProgress::bars(screen, group, name, has_reduces)
    }

    fn bars(screen: &Screen, group: &MultiProgress, name: &str, has_reduces: bool) -> JobProgress {
        let bar = bar_columns(screen.width());
        let (bar_style, message_style) = if screen.has_colour() { (".cyan/238", ":.dim") } else { ("", "") };
        // A wide message ends where the terminal ends.
        let template = format!(
            "  {{prefix:<{LABEL}}} {{bar:{bar}{bar_style}}} {{percent:>3}} %  {{elapsed:>4}}  {{wide_msg{message_style}}}"
        );
        let style = ProgressStyle::with_template(&template)
            .map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("━╸─"));
        let make = |label: String| {
            let bar = group.add(ProgressBar::new(10_000).with_style(style.clone()).with_prefix(label));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        };
        let name = escape::cell(name);
        let map = make(format!("{name} map"));
        let reduce = has_reduces.then(|| make(format!("{name} reduce")));
        JobProgress::Bars { map, reduce }
    }

    /// Shows the job as it is now.
    pub(crate) fn show(&mut self, screen: &Screen, status: &JobStatus) -> io::Result<()> {
        match self {
            JobProgress::Bars { map, reduce } => {
                map.set_position(parts(status.map_progress));
                // Since the job came, not since somebody looks.
                let now_ms = at_master(status.now_ms_epoch);
                let until = Some(status.finish_ms_epoch).filter(|&at| at > 0).unwrap_or(now_ms);
                let since = until.saturating_sub(status.submit_ms_epoch);
                for bar in [Some(&*map), reduce.as_ref()].into_iter().flatten() {
                    let _ = bar.clone().with_elapsed(Duration::from_millis(since));
                }
                let room = room(screen.width(), &map.prefix());
                map.set_message(message(&of_tasks(status), time_left(status, now_ms), room));
                if let Some(reduce) = reduce {
                    reduce.set_position(parts(status.reduce_progress));
                    reduce.set_message(format!(
                        "{}/{} done, {} running",
                        status.reduces_done, status.n_reduces, status.reduces_running
                    ));
                }
                Ok(())
            }
            JobProgress::Lines { prefix, step, last, stages } => {
                let stage = Stage::of(status);
                if let Some(said) = stages
                    && said.replace(stage) != Some(stage)
                    && let Some(line) = stage.line(status)
                {
                    screen.line(line)?;
                }
                if stages.is_some() && stage == Stage::Queued {
                    return Ok(());
                }
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

/// What is said of a job's maps, in ever fewer words.
fn of_tasks(status: &JobStatus) -> Vec<String> {
    if Stage::of(status) == Stage::Queued {
        return vec!["queued".to_owned()];
    }
    let of = format!("{}/{}", status.maps_done, status.n_maps);
    vec![format!("{of} done, {} running", status.maps_running), format!("{of} done"), of]
}

/// What is said beside a bar: as much of the tasks as leaves room for the time that is left, which is what people wait for.
fn message(tasks: &[String], left: Option<TimeLeft>, room: usize) -> String {
    let Some(TimeLeft { about, interval }) = left else { return tasks.first().cloned().unwrap_or_default() };
    let whole = format!("{about}{interval}");
    let candidates = tasks.iter().map(|tasks| format!("{tasks}, {whole}")).chain([whole.clone()]);
    candidates.into_iter().find(|text| text.width() <= room).unwrap_or(about)
}

/// Columns of a bar's label, at least.
const LABEL: usize = 18;
/// Columns of a bar's line beside its label, the bar and its message: gaps, the share, and the time that has passed.
const AROUND: usize = 17;

/// How long a bar is.
fn bar_columns(width: Option<usize>) -> usize {
    if width.is_some_and(|width| width < WIDE) { 12 } else { 32 }
}

/// Columns that are left for a bar's message.
fn room(width: Option<usize>, label: &str) -> usize {
    let taken = AROUND + label.width().max(LABEL) + bar_columns(width);
    width.map_or(usize::MAX, |width| width.saturating_sub(taken))
}

/// Columns of a terminal from which on a job's bar is long.
const WIDE: usize = 110;
/// Shorter work shows no bar.
const PATIENCE: Duration = Duration::from_millis(400);

/// How far long work is, on standard error, which answers do not use: invisible unless that is a terminal, and while it
/// goes fast. It vanishes with its owner.
pub(crate) struct WorkProgress {
    what: &'static str,
    style: &'static str,
    patience: Duration,
    begun: Instant,
    bar: OnceCell<ProgressBar>,
}

/// Done of all, as numbers.
const NUMBERS: &str = "  {prefix} {wide_bar} {percent:>3} %  {human_pos} of {human_len}, {eta} left{msg}";
/// Bytes of a file.
const BYTES: &str = "  {prefix} {wide_bar} {percent:>3} %  {binary_bytes} of {binary_total_bytes}, {eta} left{msg}";
/// Bytes of a pipe, of which nobody knows how many there are.
const BYTES_SO_FAR: &str = "  {prefix} {spinner} {binary_bytes} so far, {binary_bytes_per_sec}{msg}";

impl WorkProgress {
    /// `what` is counted: "tasks simulated".
    pub(crate) fn new(what: &'static str) -> WorkProgress {
        WorkProgress::with(what, NUMBERS)
    }

    /// Bytes of `what` are counted; `is_known` says whether their number is known beforehand.
    fn of_bytes(what: &'static str, is_known: bool) -> WorkProgress {
        WorkProgress::with(what, if is_known { BYTES } else { BYTES_SO_FAR })
    }

    fn with(what: &'static str, style: &'static str) -> WorkProgress {
        WorkProgress { what, style, patience: PATIENCE, begun: Instant::now(), bar: OnceCell::new() }
    }

    /// So many of so many are done; `message` follows.
    pub(crate) fn show(&self, done: u64, of: u64, message: impl FnOnce() -> String) {
        if self.begun.elapsed() >= self.patience {
            let bar = self.bar.get_or_init(|| work_bar(self.what, self.style));
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

fn work_bar(what: &'static str, style: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(15)).with_prefix(what);
    let style = ProgressStyle::with_template(style);
    bar.with_style(style.map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("━╸─")))
}

/// What is read from a source, shown like other long work. Reading pays for a look at the clock each time, so whoever
/// reads should ask for thousands of bytes at once.
pub(crate) struct WatchedRead<R> {
    source: R,
    progress: WorkProgress,
    done: u64,
    of: Option<u64>,
}

impl<R: Read> WatchedRead<R> {
    /// `source` has `of` bytes, if that is known; `what` is said of them: "trace read".
    pub(crate) fn new(source: R, of: Option<u64>, what: &'static str) -> WatchedRead<R> {
        WatchedRead { source, progress: WorkProgress::of_bytes(what, of.is_some()), done: 0, of }
    }
}

impl<R: Read> Read for WatchedRead<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        self.done += read as u64;
        // A file that grows meanwhile is longer than it was.
        self.progress.show(self.done, self.of.unwrap_or(0).max(self.done), String::new);
        Ok(read)
    }
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use howdah_proto::v1::PredictedEnd;
    use indicatif::TermLike;

    use super::*;

    fn watched(bytes: &[u8], of: Option<u64>) -> WatchedRead<&[u8]> {
        let mut watched = WatchedRead::new(bytes, of, "trace read");
        watched.progress.patience = Duration::ZERO;
        watched
    }

    #[test]
    fn bytes_pass_unchanged_and_are_counted_against_the_size() {
        let mut watched = watched(b"0123456789", Some(40));
        let mut text = [0; 10];
        watched.read_exact(&mut text).unwrap();
        assert_eq!(&text, b"0123456789");
        let bar = watched.progress.bar.get().expect("shown");
        assert_eq!((bar.position(), bar.length(), bar.prefix().as_str()), (10, Some(40), "trace read"));
    }

    #[test]
    fn a_file_that_grows_while_it_is_read_is_never_read_beyond_its_size() {
        let mut watched = watched(&[7; 50], Some(20));
        watched.read_to_end(&mut Vec::new()).unwrap();
        let bar = watched.progress.bar.get().expect("shown");
        assert_eq!((bar.position(), bar.length()), (50, Some(50)));
    }

    #[test]
    fn what_goes_fast_shows_no_bar() {
        let mut watched = WatchedRead::new(&b"short"[..], None, "trace read");
        watched.read_to_end(&mut Vec::new()).unwrap();
        assert!(watched.progress.bar.get().is_none());
    }

    /// A third done, and predicted to end in 38 s, between 35 s and 52 s.
    fn running() -> JobStatus {
        let at = |s: u64| NOW_MS + s * 1_000;
        let (finish_ms_epoch, low_ms_epoch, high_ms_epoch) = (at(38), at(35), at(52));
        let predicted =
            PredictedEnd { finish_ms_epoch, low_ms_epoch, high_ms_epoch, seen: true, ..PredictedEnd::default() };
        let (state, submit_ms_epoch) = ("RUNNING".to_owned(), NOW_MS - 12_000);
        let (n_maps, maps_done, maps_running, map_progress) = (40, 12, 2, 0.3);
        let status = JobStatus { state, submit_ms_epoch, now_ms_epoch: NOW_MS, ..JobStatus::default() };
        JobStatus { predicted: Some(predicted), n_maps, maps_done, maps_running, map_progress, ..status }
    }

    const NOW_MS: u64 = 1_000_000;

    #[test]
    fn where_there_is_no_room_for_all_the_tasks_give_way_to_the_time_left() {
        let status = running();
        let said = |room| message(&of_tasks(&status), time_left(&status, NOW_MS), room);
        assert_eq!(said(usize::MAX), "12/40 done, 2 running, about 40 s left (35 to 52)");
        assert_eq!(said(48), "12/40 done, about 40 s left (35 to 52)");
        assert_eq!(said(33), "12/40, about 40 s left (35 to 52)");
        assert_eq!(said(32), "about 40 s left (35 to 52)");
        assert_eq!(said(20), "about 40 s left");
        assert_eq!(message(&of_tasks(&status), None, 5), "12/40 done, 2 running", "the bar cuts it");
    }

    /// A terminal that keeps what is written on it.
    #[derive(Clone, Debug, Default)]
    struct Paper(Arc<Mutex<Vec<String>>>);

    impl TermLike for Paper {
        fn width(&self) -> u16 {
            80
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, line: &str) -> io::Result<()> {
            self.write_str(line)
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().expect("nobody panicked").push(text.to_owned());
            Ok(())
        }

        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_bar_with_the_interval_of_its_end_fits_eighty_columns() {
        let paper = Paper::default();
        let group =
            MultiProgress::with_draw_target(ProgressDrawTarget::term_like_with_hz(Box::new(paper.clone()), 255));
        let screen = Screen { colour: false, terminal: true, width: Some(80) };
        let mut progress = JobProgress::bars(&screen, &group, "wordcount", false);
        progress.show(&screen, &running()).unwrap();
        let JobProgress::Bars { map, .. } = &progress else { panic!("no bars: {progress:?}") };
        // Draws it whatever was drawn a moment ago.
        map.abandon();
        let lines = paper.0.lock().unwrap().clone();
        let last = lines.iter().rfind(|line| line.contains("left")).unwrap_or_else(|| panic!("no end: {lines:?}"));
        assert!(last.trim_end().ends_with(" 30 %   12s  12/40, about 40 s left (35 to 52)"), "{last:?}");
        assert!(lines.iter().all(|line| line.width() <= 80), "{lines:?}");
    }

    #[test]
    fn every_style_is_understood() {
        for style in [NUMBERS, BYTES, BYTES_SO_FAR] {
            ProgressStyle::with_template(style).unwrap();
        }
    }
}
