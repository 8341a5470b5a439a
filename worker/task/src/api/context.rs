//! What a running attempt knows of itself, and what it tells its worker: counters, status, progress.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use howdah_core::job::counters::{Counters, KNOWN};
use howdah_core::job::limits::{self, Cut};
use howdah_core::job::{OutputFormat, Phase, Split, TaskKind};
use howdah_guards::Guard;
use howdah_webhdfs::RemotePath;

use super::error::TaskError;
use super::properties::Properties;
use crate::process::reporter::Reporter;
use crate::process::tally::Tally;
use crate::umbilical::TaskSpec;

/// A handle on the running attempt; cheap to clone and to keep.
#[derive(Clone)]
pub struct Context(Rc<Inner>);

struct Inner {
    spec: TaskSpec,
    properties: Properties,
    user: RefCell<Counters>,
    /// What the program said beyond its bounds.
    cut: Cell<Cut>,
    tally: Tally,
    reporter: RefCell<Reporter>,
    progress: Cell<f64>,
    /// Offset of the input record that the program works on.
    place: Cell<Option<u64>>,
}

impl Context {
    pub(crate) fn new(mut spec: TaskSpec, reporter: Reporter) -> Context {
        let properties = Properties::from(std::mem::take(&mut spec.properties));
        Context(Rc::new(Inner {
            spec,
            properties,
            user: RefCell::default(),
            cut: Cell::default(),
            tally: Tally::default(),
            reporter: RefCell::new(reporter),
            progress: Cell::new(0.0),
            place: Cell::new(None),
        }))
    }

    /// The job's properties.
    pub fn properties(&self) -> &Properties {
        &self.0.properties
    }

    /// Printed job id.
    pub fn job(&self) -> &str {
        &self.0.spec.job
    }

    /// Printed attempt id.
    pub fn attempt(&self) -> &str {
        &self.0.spec.attempt
    }

    /// Map or reduce.
    pub fn kind(&self) -> TaskKind {
        self.0.spec.kind
    }

    /// The task's index: which split of [`Context::n_maps`], or which partition of [`Context::n_reduces`].
    pub fn task_index(&self) -> u32 {
        self.0.spec.index
    }

    /// Which try this is: 0, 1, … (plus 1000 for each restart of the master).
    pub fn attempt_number(&self) -> u16 {
        self.0.spec.number
    }

    /// Maps of the job.
    pub fn n_maps(&self) -> u32 {
        self.0.spec.n_maps
    }

    /// Reduces of the job.
    pub fn n_reduces(&self) -> u32 {
        self.0.spec.n_reduces
    }

    /// A map's input; `None` in reduces.
    pub fn split(&self) -> Option<&Split> {
        self.0.spec.split.as_ref()
    }

    /// A directory on the worker's disk for this attempt alone. It is also the working directory.
    pub fn local_dir(&self) -> &Path {
        &self.0.spec.local_dir
    }

    /// Where the attempt's part of the job's output is written until it counts, on the worker's own disk if the output lies in
    /// an HDFS; `None` in jobs without output files, and in maps whose records go to reduces.
    pub fn output_dir(&self) -> Option<PathBuf> {
        let is_last = self.kind() == TaskKind::Reduce || self.n_reduces() == 0;
        match &self.0.spec.output {
            OutputFormat::Files { directory } if is_last => Some(private_output(self.spec(), directory)),
            _ => None,
        }
    }

    /// Adds to one of the program's own counters. Names are made when first used; the job's counters are the sums
    /// over its successful attempts. Names are cut to 128 bytes, and what finds no room among the 1,000 counters of an
    /// attempt is left out; the attempt's diagnostics then say so.
    pub fn count(&self, group: &str, name: &str, amount: i64) {
        if !Guard::Counters.stands() {
            self.0.user.borrow_mut().add(group, name, amount);
            return;
        }
        let mut cut = self.0.cut.get();
        let most = limits::COUNTERS - KNOWN.len();
        limits::count(&mut self.0.user.borrow_mut(), (group, name), amount, most, &mut cut);
        self.0.cut.set(cut);
    }

    /// Sets the status line that people see beside the attempt; it is cut to 1,024 bytes.
    pub fn set_status(&self, message: impl Into<String>) {
        let mut cut = self.0.cut.get();
        self.0.reporter.borrow_mut().set_message(limits::status(message.into(), &mut cut));
        self.0.cut.set(cut);
    }

    /// What the program said beyond its bounds.
    pub(crate) fn cut(&self) -> Cut {
        self.0.cut.get()
    }

    /// Says that the attempt is alive, in work that reads and writes nothing for long. Cheap; sent twice a second
    /// at most. A silent attempt is failed after `mapred.task.timeout` (ten minutes).
    ///
    /// # Errors
    /// When the worker is gone: the attempt should end.
    pub fn progress(&self) -> Result<(), TaskError> {
        self.beat()
    }

    /// Like [`Context::progress`], and sets how much of the map's work is done, from 0 to 1: for maps that make
    /// their own input. Progress of other tasks is known from their input.
    ///
    /// # Errors
    /// When the worker is gone: the attempt should end.
    pub fn set_progress(&self, fraction: f64) -> Result<(), TaskError> {
        self.report(fraction)
    }

    pub(crate) fn report(&self, fraction: f64) -> Result<(), TaskError> {
        self.0.progress.set(fraction);
        self.0.reporter.borrow_mut().beat(fraction, &|| self.counters())
    }

    /// Proves life with the progress that was reported last.
    pub(crate) fn beat(&self) -> Result<(), TaskError> {
        self.report(self.0.progress.get())
    }

    pub(crate) fn spec(&self) -> &TaskSpec {
        &self.0.spec
    }

    /// Adds a line to the attempt's `syslog`.
    pub fn log(&self, line: &str) {
        self.0.reporter.borrow_mut().log.line("INFO", line);
    }

    pub(crate) fn log_error(&self, line: &str) {
        self.0.reporter.borrow_mut().log.line("ERROR", line);
    }

    /// Remembers where the program is, for the message of a panic.
    #[inline]
    pub(crate) fn set_place(&self, offset: u64) {
        self.0.place.set(Some(offset));
    }

    /// Where the program is, if it reads a file.
    pub(crate) fn place(&self) -> Option<String> {
        match (&self.0.spec.split, self.0.place.get()) {
            (Some(Split::File { path, .. }), Some(offset)) => Some(format!("`{path}` at byte {offset}")),
            _ => None,
        }
    }

    /// Whether a beat would be sent.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.0.reporter.borrow().is_due(now)
    }

    pub(crate) fn enter(&self, phase: Phase, fraction: f64) -> Result<(), TaskError> {
        self.0.progress.set(fraction);
        let counters = self.counters();
        self.0.reporter.borrow_mut().enter(phase, fraction, counters)
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.0.tally
    }

    /// The program's counters and the framework's.
    pub(crate) fn counters(&self) -> Counters {
        let mut counters = self.0.user.borrow().clone();
        self.0.tally.add_to(&mut counters);
        counters
    }
}

/// An attempt's own directory in the job's output directory, or on this machine where that lies in an HDFS.
pub(crate) fn private_output(spec: &TaskSpec, output: &str) -> PathBuf {
    if RemotePath::is_one(output) {
        return spec.local_dir.join(format!(".output-{}", spec.attempt));
    }
    Path::new(output).join("_temporary").join(&spec.attempt)
}
