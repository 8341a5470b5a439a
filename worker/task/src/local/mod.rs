//! Runs a whole job in this process: for tests of programs, and to try them without a cluster.
//!
//! Attempts go through the same process loop, data path and shuffle as on a cluster; only the worker is replaced by a
//! few lines that speak the umbilical, and its shuffle server by a thread on 127.0.0.1. Each attempt has a thread.
//! What is missing is what a cluster adds: other processes, limits, retries elsewhere.
//!
//! ```
//! # use howdah_task::{Application, Fold, MapOutput, local::LocalJob, text};
//! # let dir = tempfile::tempdir()?;
//! let input = dir.path().join("text");
//! std::fs::write(&input, "to be or not to be\n")?;
//! let count = |line: &[u8], out: &mut MapOutput| text::words(line).try_for_each(|word| out.emit_long(word, 1));
//! let job = LocalJob::new(dir.path().join("out"), move |_, _| Ok(Application::lines(count).fold(Fold::Sum)))
//!     .input(&input)
//!     .n_reduces(1);
//! let done = job.run()?;
//! assert_eq!(std::fs::read_to_string(&done.parts[0])?, "be\t2\nnot\t1\nor\t1\nto\t2\n");
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```

pub(crate) mod attempt;
mod make;
pub(crate) mod server;

pub(crate) use self::make::Make;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use howdah_core::job::counters::Counters;
use howdah_core::job::splits::splits_of;
use howdah_core::job::{App, InputFormat, OutputFormat, Split, TaskKind};

use self::attempt::{Ended, run_attempt};
use self::server::ShuffleServer;
use crate::api::application::Application;
use crate::api::error::{Result, TaskError};
use crate::api::properties::Properties;
use crate::umbilical::{MapEvent, TaskSpec};

/// Attempts of a task before the job fails.
const MOST_ATTEMPTS: u16 = 4;
/// The token of all local jobs: their server answers this host only.
const TOKEN: &str = "00000000000000000000000000000000";
/// The id of all local jobs.
const JOB: &str = "job_197001010000_0001";

/// A job to run here.
pub struct LocalJob {
    make: Arc<Make>,
    app: App,
    inputs: Vec<PathBuf>,
    input_format: InputFormat,
    output: PathBuf,
    split_size: u64,
    n_reduces: u32,
    slots: usize,
    properties: BTreeMap<String, String>,
}

/// What a job left.
#[derive(Debug)]
pub struct LocalDone {
    /// Sums over the successful attempts.
    pub counters: Counters,
    /// Its part files, in order of their tasks.
    pub parts: Vec<PathBuf>,
}

impl LocalJob {
    /// A job that writes into `output`, which must not exist. `make` is called for each attempt, in its thread.
    pub fn new(
        output: impl Into<PathBuf>,
        make: impl Fn(&App, &Properties) -> Result<Application> + Send + Sync + 'static,
    ) -> LocalJob {
        LocalJob {
            make: Arc::new(make),
            app: App::BuiltIn { name: "local".to_owned() },
            inputs: Vec::new(),
            input_format: InputFormat::Text,
            output: output.into(),
            split_size: 64 << 20,
            n_reduces: 1,
            slots: 2,
            properties: BTreeMap::new(),
        }
    }

    /// Adds an input file.
    #[must_use]
    pub fn input(mut self, path: impl Into<PathBuf>) -> LocalJob {
        self.inputs.push(path.into());
        self
    }

    /// Sets how input is read; lines of text otherwise.
    #[must_use]
    pub fn input_format(mut self, format: InputFormat) -> LocalJob {
        self.input_format = format;
        self
    }

    /// Sets the size of splits in bytes, 64 MiB otherwise.
    #[must_use]
    pub fn split_size(mut self, bytes: u64) -> LocalJob {
        self.split_size = bytes;
        self
    }

    /// Sets the number of reduces, 1 otherwise; with 0 the maps write the output.
    #[must_use]
    pub fn n_reduces(mut self, n: u32) -> LocalJob {
        self.n_reduces = n;
        self
    }

    /// Sets how many attempts run at a time, 2 otherwise.
    #[must_use]
    pub fn slots(mut self, n: usize) -> LocalJob {
        self.slots = n.max(1);
        self
    }

    /// Sets a property.
    #[must_use]
    pub fn property(mut self, key: &str, value: impl ToString) -> LocalJob {
        self.properties.insert(key.to_owned(), value.to_string());
        self
    }

    /// Sets what `make` is told to make.
    #[must_use]
    pub fn app(mut self, app: App) -> LocalJob {
        self.app = app;
        self
    }

    /// Runs the job: all maps, then all reduces, then the commit.
    ///
    /// # Errors
    /// The cause of the last attempt of a task that failed four times, or what could not be read or written.
    pub fn run(&self) -> Result<LocalDone> {
        if self.output.exists() {
            return Err(format!("output `{}` exists already", self.output.display()).into());
        }
        let splits = self.splits()?;
        let local = tempfile::tempdir()?;
        let server = ShuffleServer::start(local.path().to_owned(), TOKEN)?;
        let n_maps = splits.len() as u32;
        let spec = |kind, index: u32, number| {
            let letter = match kind {
                TaskKind::Map => 'm',
                TaskKind::Reduce => 'r',
            };
            let attempt = format!("attempt_197001010000_0001_{letter}_{index:06}_{number}");
            let local_dir = local.path().join(&attempt);
            TaskSpec {
                marked: false,
                job: JOB.to_owned(),
                kind,
                index,
                number,
                app: self.app.clone(),
                properties: self.properties.clone(),
                n_maps,
                n_reduces: self.n_reduces,
                input_format: self.input_format.clone(),
                split: if kind == TaskKind::Map { splits.get(index as usize).cloned() } else { None },
                output: OutputFormat::Files { directory: self.output.to_string_lossy().into_owned() },
                asks_commit: true,
                log_dir: Some(local_dir.clone()),
                local_dir,
                token: TOKEN.to_owned(),
                worker_name: "local".to_owned(),
                attempt,
            }
        };
        let maps = self.run_tasks(n_maps, |index, number| spec(TaskKind::Map, index, number), &[])?;
        let address = server.address();
        let events: Vec<MapEvent> = (0..n_maps)
            .zip(&maps)
            .map(|(map, ended)| MapEvent {
                map,
                attempt: ended.attempt.clone(),
                address: Some(address.clone()),
                failed: false,
            })
            .collect();
        let reduces = self.run_tasks(self.n_reduces, |index, number| spec(TaskKind::Reduce, index, number), &events)?;
        let mut counters = Counters::default();
        maps.iter().chain(&reduces).for_each(|ended| counters.merge(&ended.counters));
        let winners = if self.n_reduces == 0 { maps } else { reduces };
        let parts = commit(&self.output, &winners)?;
        Ok(LocalDone { counters, parts })
    }

    fn splits(&self) -> Result<Vec<Split>> {
        if let InputFormat::Generated { n_maps } = self.input_format {
            return Ok(vec![Split::Generated; n_maps as usize]);
        }
        let mut splits = Vec::new();
        for path in &self.inputs {
            let length = std::fs::metadata(path).map_err(TaskError::io("examine", path))?.len();
            let name = path.to_str().ok_or_else(|| format!("path `{}` is not UTF-8", path.display()))?;
            splits.extend(splits_of(name, length, self.split_size, &[]));
        }
        Ok(splits)
    }

    /// Runs tasks in `slots` threads, each task until an attempt succeeds.
    fn run_tasks(&self, n: u32, spec: impl Fn(u32, u16) -> TaskSpec + Sync, events: &[MapEvent]) -> Result<Vec<Ended>> {
        let next = AtomicUsize::new(0);
        let ended: Mutex<BTreeMap<u32, Result<Ended>>> = Mutex::default();
        let slot = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed) as u32;
                if index >= n {
                    return;
                }
                let mut result = Err("not run".into());
                for number in 0..MOST_ATTEMPTS {
                    result = run_attempt(spec(index, number), &self.make, events);
                    if result.is_ok() {
                        break;
                    }
                }
                ended.lock().unwrap_or_else(PoisonError::into_inner).insert(index, result);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.slots.min(n as usize) {
                scope.spawn(slot);
            }
        });
        ended.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
    }
}

/// Moves the winners' files into the output directory.
fn commit(output: &Path, winners: &[Ended]) -> Result<Vec<PathBuf>> {
    let temporary = output.join("_temporary");
    let mut parts = Vec::new();
    std::fs::create_dir_all(&temporary)?;
    for winner in winners {
        for entry in std::fs::read_dir(temporary.join(&winner.attempt))? {
            let entry = entry?;
            let part = output.join(entry.file_name());
            std::fs::rename(entry.path(), &part)?;
            parts.push(part);
        }
    }
    std::fs::remove_dir_all(&temporary)?;
    std::fs::write(output.join("_SUCCESS"), b"")?;
    parts.sort();
    Ok(parts)
}
