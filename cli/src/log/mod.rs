//! `[log]`: where a daemon's own account goes, standard error or a file that is kept small.
//!
//! Lines for people by default, JSON with HOWDAH_LOG_FORMAT=json; HOWDAH_LOG filters as RUST_LOG does elsewhere.

mod rotate;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use tracing_subscriber::EnvFilter;

use self::rotate::Rotating;
use crate::config::{Context, Section};
use crate::failure::{Failure, Outcome};
use crate::output::note;
use crate::units::parse_bytes;

/// Smaller files would be gone before anybody looks.
const LEAST_BYTES: u64 = 4 << 10;

/// The section `[log]`, of master and worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LogConfig {
    /// The file; empty for standard error. A relative one lies below the daemon's own directory.
    pub(crate) file: PathBuf,
    /// A file that would be larger is put aside as FILE.1, the one before as FILE.2, and so on.
    pub(crate) max_size: String,
    /// So many are put aside; older ones go.
    pub(crate) keep: u32,
}

impl Default for LogConfig {
    fn default() -> LogConfig {
        LogConfig { file: PathBuf::new(), max_size: "10MiB".to_owned(), keep: 5 }
    }
}

/// Where one daemon's log goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Destination {
    /// `None` for standard error.
    file: Option<PathBuf>,
    max_bytes: u64,
    keep: u32,
}

impl Destination {
    /// As the settings say, for a daemon with this directory.
    pub(crate) fn of(context: &Context, dir: &Path) -> Outcome<Destination> {
        let (config, _) = context.settings::<LogConfig>(Section::Log, Vec::new())?;
        let max_bytes = parse_bytes(&config.max_size)
            .map_err(|problem| Failure::usage(format!("setting `log.max_size`: `{}`: {problem}", config.max_size)))?;
        if max_bytes < LEAST_BYTES {
            let size = &config.max_size;
            return Err(Failure::usage(format!(
                "setting `log.max_size`: `{size}` is too small, expected at least 4KiB"
            )));
        }
        let file = (!config.file.as_os_str().is_empty()).then(|| dir.join(&config.file));
        Ok(Destination { file, max_bytes, keep: config.keep })
    }

    /// The last entry: whoever reads the file need not look for standard error, where the same is said.
    pub(crate) fn end(&self, outcome: &Outcome) {
        if let (Some(_), Err(failure)) = (&self.file, outcome) {
            tracing::error!(error = failure.message(), "the daemon ends");
        }
    }

    /// From now on everything that this process notes goes there.
    pub(crate) fn begin(&self) -> Outcome<()> {
        let filter = EnvFilter::try_from_env("HOWDAH_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
        let json = std::env::var("HOWDAH_LOG_FORMAT").is_ok_and(|format| format == "json");
        let builder = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false);
        // A second subscriber in one process cannot happen outside tests.
        let _ = match &self.file {
            None if json => builder.with_writer(std::io::stderr).json().try_init(),
            None => builder.with_writer(std::io::stderr).try_init(),
            Some(path) => {
                let file = Rotating::open(path, self.max_bytes, self.keep).map_err(|error| {
                    Failure::usage(format!("setting `log.file`: cannot write `{}`: {error}", path.display()))
                })?;
                note(format!("the log is {}", path.display()));
                let builder = builder.with_writer(Mutex::new(file));
                if json { builder.json().try_init() } else { builder.try_init() }
            }
        };
        Ok(())
    }
}
