//! Questions in SQL. The file is opened for reading only, so no question can change a trace.

use rusqlite::types::ValueRef;
use serde::Serialize;
use serde_json::Value;

use super::TraceDb;
use crate::failure::{Failure, Outcome};

/// What a question gives.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Answer {
    pub(crate) columns: Vec<String>,
    /// Numbers, texts and nulls; blobs as their length.
    pub(crate) rows: Vec<Vec<Value>>,
}

impl TraceDb {
    /// Asks one question.
    ///
    /// # Errors
    /// What SQLite does not understand, or would change something.
    pub(crate) fn ask(&self, sql: &str) -> Outcome<Answer> {
        let wrong = |error: rusqlite::Error| Failure::usage(format!("query: {}", one_line(&error)));
        let mut statement = self.connection.prepare(sql).map_err(|error| {
            wrong(error).help("tables: traces, jobs, tasks; `SELECT sql FROM sqlite_schema` shows their columns")
        })?;
        if !statement.readonly() {
            return Err(Failure::usage("query: found a statement that changes something, expected a SELECT"));
        }
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([]).map_err(wrong)?;
        let mut answer = Answer { columns, rows: Vec::new() };
        while let Some(row) = rows.next().map_err(wrong)? {
            let cells = (0..answer.columns.len()).map(|index| row.get_ref(index).map(value));
            answer.rows.push(cells.collect::<rusqlite::Result<_>>().map_err(wrong)?);
        }
        Ok(answer)
    }
}

fn value(cell: ValueRef<'_>) -> Value {
    match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => format!("{} bytes", bytes.len()).into(),
    }
}

/// SQLite's message, which may quote a statement of many lines.
fn one_line(error: &rusqlite::Error) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}
