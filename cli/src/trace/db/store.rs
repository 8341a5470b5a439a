//! Traces in and out of the database.

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_traces::{ImportNotes, howdah};
use rusqlite::{OptionalExtension, Transaction, params};
use serde::Serialize;

use super::TraceDb;
use crate::failure::{Failure, Outcome};
use crate::trace::view::{phases, used};

/// One trace of the listing.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) added_ms_epoch: u64,
    pub(crate) start_ms_epoch: Option<u64>,
    pub(crate) jobs: u64,
    pub(crate) maps: u64,
    pub(crate) reduces: u64,
}

impl TraceDb {
    /// Adds a trace under a name; takes the place of one that has it if `replace`.
    ///
    /// # Errors
    /// A name that is taken, or a database that cannot be written.
    pub(crate) fn add(&mut self, name: &str, trace: &Trace, now_ms: u64, replace: bool) -> Outcome<()> {
        let taken = self.id_of(name)?.is_some();
        if taken && !replace {
            return Err(Failure::usage(format!("trace `{name}`: the database has one of this name already"))
                .help("`--name` gives it another, `--replace` takes its place"));
        }
        let path = self.path.clone();
        let mut write = || -> rusqlite::Result<()> {
            let transaction = self.connection.transaction()?;
            transaction.execute("DELETE FROM traces WHERE name = ?1", [name])?;
            insert(&transaction, name, trace, now_ms)?;
            transaction.commit()
        };
        write().map_err(|error| super::broken(&path, "write", &error))
    }

    /// All traces, by name.
    ///
    /// # Errors
    /// A database that cannot be read.
    pub(crate) fn list(&self) -> Outcome<Vec<Entry>> {
        const QUERY: &str = "SELECT name, source, added_ms_epoch, start_ms_epoch, n_jobs, n_maps, n_reduces \
                             FROM traces ORDER BY name";
        let read = || -> rusqlite::Result<Vec<Entry>> {
            let mut statement = self.connection.prepare(QUERY)?;
            let rows = statement.query_map([], |row| {
                let count = |index: usize| row.get(index).map(unsigned);
                Ok(Entry {
                    name: row.get(0)?,
                    source: row.get(1)?,
                    added_ms_epoch: count(2)?,
                    start_ms_epoch: row.get::<_, Option<i64>>(3)?.map(unsigned),
                    jobs: count(4)?,
                    maps: count(5)?,
                    reduces: count(6)?,
                })
            })?;
            rows.collect()
        };
        read().map_err(|error| self.failed("read", &error))
    }

    /// The trace of this name, exactly as it was added.
    ///
    /// # Errors
    /// A name that does not exist, or a database that cannot be read.
    pub(crate) fn get(&self, name: &str) -> Outcome<Trace> {
        let Some(id) = self.id_of(name)? else { return Err(self.unknown(name)) };
        let read = || -> rusqlite::Result<String> {
            let mut text: String =
                self.connection.query_row("SELECT header FROM traces WHERE trace_id = ?1", [id], |row| row.get(0))?;
            let mut jobs =
                self.connection.prepare("SELECT template FROM jobs WHERE trace_id = ?1 ORDER BY job_index")?;
            let mut rows = jobs.query([id])?;
            while let Some(row) = rows.next()? {
                text.push('\n');
                text.push_str(row.get_ref(0)?.as_str()?);
            }
            Ok(text)
        };
        let text = read().map_err(|error| self.failed("read", &error))?;
        // The reader checks what somebody may have changed by hand.
        howdah::read(text.as_bytes(), &mut ImportNotes::default())
            .map_err(|error| Failure::usage(format!("trace `{name}` of `{}`, {error}", self.path.display())))
    }

    /// Removes the trace of this name.
    ///
    /// # Errors
    /// A name that does not exist, or a database that cannot be written.
    pub(crate) fn remove(&mut self, name: &str) -> Outcome<()> {
        let gone = self.connection.execute("DELETE FROM traces WHERE name = ?1", [name]);
        match gone.map_err(|error| self.failed("write", &error))? {
            0 => Err(self.unknown(name)),
            _ => Ok(()),
        }
    }

    fn id_of(&self, name: &str) -> Outcome<Option<i64>> {
        let query = "SELECT trace_id FROM traces WHERE name = ?1";
        let found = self.connection.query_row(query, [name], |row| row.get(0)).optional();
        found.map_err(|error| self.failed("read", &error))
    }

    fn unknown(&self, name: &str) -> Failure {
        Failure::usage(format!("trace database `{}` has no trace `{name}`", self.path.display()))
            .help("`howdah trace list` shows them all")
    }
}

fn insert(transaction: &Transaction<'_>, name: &str, trace: &Trace, now_ms: u64) -> rusqlite::Result<()> {
    let header = trace.header();
    let total = |of: fn(&JobTemplate) -> u32| trace.jobs.iter().map(|job| i64::from(of(job))).sum::<i64>();
    transaction.execute(
        "INSERT INTO traces (name, source, added_ms_epoch, start_ms_epoch, n_jobs, n_maps, n_reduces, header) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            name,
            trace.source,
            signed(now_ms),
            trace.start_ms_epoch.map(signed),
            trace.jobs.len() as i64,
            total(|job| job.n_maps),
            total(|job| job.n_reduces),
            json(&header)?,
        ],
    )?;
    let trace_id = transaction.last_insert_rowid();
    let mut jobs = transaction.prepare(
        "INSERT INTO jobs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, \
         ?19, ?20, ?21, ?22, ?23)",
    )?;
    let mut tasks = transaction.prepare("INSERT INTO tasks VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for (index, job) in trace.jobs.iter().enumerate() {
        let index = index as i64;
        let lost = |failed| job.lost_attempts.iter().filter(|attempt| attempt.failed == failed).count() as i64;
        jobs.execute(params![
            trace_id,
            index,
            given(&job.id),
            given(&job.name),
            given(&job.user),
            given(&job.queue),
            job.priority.name(),
            signed(job.submit_ms),
            job.deadline_ms.map(signed),
            job.n_maps,
            job.n_reduces,
            signed(job.commit_ms),
            job.input_bytes.map(signed),
            job.shuffle_bytes.map(signed),
            job.output_bytes.map(signed),
            lost(true),
            lost(false),
            given(&job.outcome),
            job.measured.as_ref().map(|measured| signed(measured.launch_ms)),
            job.measured.as_ref().map(|measured| signed(measured.maps_done_ms)),
            job.measured.as_ref().map(|measured| signed(measured.finish_ms)),
            job.completion_ms().map(signed),
            json(job)?,
        ])?;
        for (phase, list, n) in phases(job) {
            for (entry, (ms, uses)) in used(list, n).enumerate() {
                tasks.execute(params![trace_id, index, phase, entry as i64, signed(ms), signed(uses)])?;
            }
        }
    }
    Ok(())
}

/// SQLite's numbers are signed; what is larger is shown as the largest (the template keeps it).
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

fn given(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
