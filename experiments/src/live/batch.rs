//! A batch, submitted to a cluster of its own by one command that waits for its end.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::cluster::{Cluster, Policy, Shape};
use super::program::{Program, described};
use super::record::{Recorded, record};
use super::study::fresh;
use super::workload::{LOOK, Leashed, within};
use crate::framework::Lab;

/// Where and how a batch runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchRun<'a> {
    /// Of its directory.
    pub(crate) label: &'a str,
    pub(crate) shape: Shape,
    pub(crate) scheduler: &'a str,
    /// As `howdah submit --batch` reads it.
    pub(crate) file: &'a Path,
    /// As `howdah submit --order` takes it.
    pub(crate) order: &'a str,
    /// No run takes longer on a machine that works.
    pub(crate) bound: Duration,
}

impl BatchRun<'_> {
    /// Runs it; the cluster is gone when this returns, whatever happened.
    ///
    /// # Errors
    /// When the batch is refused, a job does not succeed, a daemon ends, or the bound is over.
    pub(crate) fn run(&self, lab: &Lab<'_>) -> Result<Recorded> {
        let program = Program::new(&lab.program);
        let dir = fresh(&lab.dir.join("runs").join(self.label))?;
        let mut cluster = Cluster::start(&program, &dir, self.shape, &Policy::plain(self.scheduler))?;
        let mut command = program.command();
        command.args(["submit", "--wait", "--output", "json", "--master", cluster.address(), "--order", self.order]);
        command.arg("--batch").arg(self.file).stdout(Stdio::piped()).stderr(Stdio::piped());
        let said = described(&command);
        let mut child = Leashed::start(&mut command, &said)?;
        let began = Instant::now();
        while child.is_running()? {
            lab.progress.tick(&format!("{}: {} s", self.label, began.elapsed().as_secs()));
            within(began, self.bound, self.label)?;
            cluster.check_alive()?;
            std::thread::sleep(LOOK);
        }
        child.answer(&said).with_context(|| format!("run {}", self.label))?;
        cluster.stop()?;
        record(&program, &dir)
    }
}
