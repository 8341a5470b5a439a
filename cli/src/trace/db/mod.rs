//! The trace database: traces in one SQLite file that people can query with ordinary tools.
//!
//! Three tables: `traces`, `jobs` and `tasks` (documented in the guide's page on traces; columns are only added).
//! `jobs.template` and `traces.header` hold the trace as it is in the own format, so that a trace comes out exactly
//! as it went in; the other columns are there to be asked. A trace is added whole or not at all.

mod query;
mod store;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::failure::{Failure, Outcome};

pub(crate) use query::Answer;

/// "howd": marks the file as ours, also for `file(1)`.
const APPLICATION: i32 = 0x686f_7764;

/// Of the tables below.
const VERSION: i32 = 1;

const TABLES: &str = "
CREATE TABLE traces (
    trace_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,
    added_ms_epoch INTEGER NOT NULL,
    start_ms_epoch INTEGER,
    n_jobs INTEGER NOT NULL,
    n_maps INTEGER NOT NULL,
    n_reduces INTEGER NOT NULL,
    header TEXT NOT NULL
);
CREATE TABLE jobs (
    trace_id INTEGER NOT NULL REFERENCES traces ON DELETE CASCADE,
    job_index INTEGER NOT NULL,
    id TEXT, name TEXT, user TEXT, queue TEXT,
    priority TEXT NOT NULL,
    submit_ms INTEGER NOT NULL,
    deadline_ms INTEGER,
    n_maps INTEGER NOT NULL,
    n_reduces INTEGER NOT NULL,
    commit_ms INTEGER NOT NULL,
    input_bytes INTEGER, shuffle_bytes INTEGER, output_bytes INTEGER,
    failed_attempts INTEGER NOT NULL,
    killed_attempts INTEGER NOT NULL,
    outcome TEXT,
    launch_ms INTEGER, maps_done_ms INTEGER, finish_ms INTEGER, completion_ms INTEGER,
    template TEXT NOT NULL,
    PRIMARY KEY (trace_id, job_index)
);
CREATE TABLE tasks (
    trace_id INTEGER NOT NULL,
    job_index INTEGER NOT NULL,
    phase TEXT NOT NULL CHECK (phase IN ('map', 'first_shuffle', 'typical_shuffle', 'reduce')),
    entry INTEGER NOT NULL,
    ms INTEGER NOT NULL,
    uses INTEGER NOT NULL,
    PRIMARY KEY (trace_id, job_index, phase, entry),
    FOREIGN KEY (trace_id, job_index) REFERENCES jobs ON DELETE CASCADE
) WITHOUT ROWID;
";

/// An open database.
#[derive(Debug)]
pub(crate) struct TraceDb {
    connection: Connection,
    path: PathBuf,
}

impl TraceDb {
    /// For adding and removing; made if it is missing.
    ///
    /// # Errors
    /// A file that is something else, or cannot be written.
    pub(crate) fn open(path: &Path) -> Outcome<TraceDb> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut db = TraceDb::with(path, flags)?;
        db.prepare().map_err(|error| db.failed("open", &error))?;
        db.check()?;
        Ok(db)
    }

    /// For asking only.
    ///
    /// # Errors
    /// A file that is missing or something else.
    pub(crate) fn open_to_read(path: &Path) -> Outcome<TraceDb> {
        if !path.exists() {
            return Err(Failure::usage(format!("trace database `{}` does not exist", path.display()))
                .help("`howdah trace add TRACE --db FILE` makes it"));
        }
        let db = TraceDb::with(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        db.check()?;
        Ok(db)
    }

    fn with(path: &Path, flags: OpenFlags) -> Outcome<TraceDb> {
        let open = || -> rusqlite::Result<Connection> {
            let connection = Connection::open_with_flags(path, flags)?;
            // Another command may be adding a trace.
            connection.busy_timeout(Duration::from_secs(10))?;
            connection.pragma_update(None, "foreign_keys", true)?;
            Ok(connection)
        };
        let connection = open().map_err(|error| broken(path, "open", &error))?;
        Ok(TraceDb { connection, path: path.to_path_buf() })
    }

    /// Makes the tables of a new file.
    fn prepare(&mut self) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let tables: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        let mark: i32 = transaction.pragma_query_value(None, "application_id", |row| row.get(0))?;
        if tables == 0 && mark == 0 {
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
        }
        transaction.commit()
    }

    fn check(&self) -> Outcome<()> {
        let pragma = |name| self.connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        let mark = pragma("application_id").map_err(|error| self.failed("read", &error))?;
        let version = pragma("user_version").map_err(|error| self.failed("read", &error))?;
        let path = self.path.display();
        if mark != APPLICATION {
            return Err(Failure::usage(format!("`{path}`: found another program's database, expected one of traces")));
        }
        if version != VERSION {
            return Err(Failure::usage(format!(
                "trace database `{path}`: found version {version}, expected {VERSION}"
            )));
        }
        Ok(())
    }

    fn failed(&self, what: &str, error: &rusqlite::Error) -> Failure {
        broken(&self.path, what, error)
    }
}

fn broken(path: &Path, what: &str, error: &rusqlite::Error) -> Failure {
    let path = path.display();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            Failure::usage(format!("`{path}`: found no SQLite file, expected a trace database"))
        }
        _ => Failure::usage(format!("cannot {what} trace database `{path}`: {error}")),
    }
}

#[cfg(test)]
mod tests;
