//! `teravalidate`: are the rows of all parts, read one after the other, sorted?
//!
//! Each map reads a piece of one file, checks the order within it and sends its first and last key; the one reduce
//! sees the pieces in order of file and place, and checks the borders. The output has a line `rows`, a line
//! `checksum` (Hadoop's: the sum of the rows' CRC-32), and a line `error` for every place out of order, so sorted
//! input of an unchanged checksum is sorted output.

use std::fmt;

use howdah_core::job::{InputFormat, Split};
use howdah_task::{Application, Context, MapOutput, Mapper, Properties, ReduceOutput, Reducer, Result, Values, text};

use super::{KEY, ROW};
use crate::built_in::BuiltIn;
use crate::request::{JobPlan, PlanError, Planner};

pub(crate) const APP: BuiltIn = BuiltIn {
    name: "teravalidate",
    about: "check that terasort's output is in order, and sum up its rows",
    usage: "",
    plan,
    stages: &[("teravalidate", application)],
};

fn plan(planner: &mut Planner<'_>) -> Result<Vec<JobPlan>, PlanError> {
    let mut job = planner.files_job("teravalidate", 1)?;
    if job.n_reduces != 1 {
        return Err(planner.not("--reduces", &job.n_reduces.to_string(), "1: one reduce sees all borders"));
    }
    job.input_format = InputFormat::FixedLength { record_bytes: ROW as u32 };
    Ok(vec![job])
}

fn application(_: &Properties) -> Result<Application> {
    Ok(Application::new(Piece::default).reducer(Whole::default))
}

/// A sum that does not depend on the order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum(u128);

impl Checksum {
    pub fn add(&mut self, row: &[u8]) {
        self.0 += u128::from(crc32fast::hash(row));
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

/// What a map learns of its piece.
#[derive(Default)]
struct Piece {
    first: Option<[u8; KEY]>,
    last: [u8; KEY],
    rows: u64,
    checksum: Checksum,
}

impl Mapper for Piece {
    fn map(&mut self, offset: &[u8], row: &[u8], out: &mut MapOutput) -> Result {
        let key: [u8; KEY] = row[..KEY].try_into().expect("a row is longer than its key");
        if self.first.is_none() {
            self.first = Some(key);
        } else if key < self.last {
            let at = text::offset(offset).unwrap_or_default();
            let place = format!("{} byte {at}", file(out.context()));
            out.emit(b"error", format!("{place}: {} after {}", show(&key), show(&self.last)).as_bytes())?;
        }
        self.last = key;
        self.rows += 1;
        self.checksum.add(row);
        Ok(())
    }

    /// The key sorts by file and place; the value is the two keys, the rows and the checksum.
    fn close(&mut self, out: &mut MapOutput) -> Result {
        let Some(first) = self.first else { return Ok(()) };
        let start = match out.context().split() {
            Some(Split::File { offset, .. }) => *offset,
            _ => 0,
        };
        let key = format!("piece {}\0{start:020}", file(out.context()));
        let mut value = Vec::with_capacity(2 * KEY + 24);
        value.extend_from_slice(&first);
        value.extend_from_slice(&self.last);
        value.extend_from_slice(&self.rows.to_be_bytes());
        value.extend_from_slice(&self.checksum.0.to_be_bytes());
        out.emit(key.as_bytes(), &value)
    }
}

fn file(context: &Context) -> &str {
    match context.split() {
        Some(Split::File { path, .. }) => path,
        _ => "",
    }
}

fn show(key: &[u8]) -> String {
    key.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the reduce has seen so far.
#[derive(Default)]
struct Whole {
    last: Option<(String, [u8; KEY])>,
    rows: u64,
    checksum: Checksum,
}

impl Reducer for Whole {
    fn reduce(&mut self, key: &[u8], values: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
        let Some(piece) = key.strip_prefix(b"piece ") else {
            while let Some(error) = values.next()? {
                out.emit(key, error)?;
            }
            return Ok(());
        };
        let place = String::from_utf8_lossy(piece).replace('\0', " from byte ");
        while let Some(value) = values.next()? {
            let (first, rest) = value.split_first_chunk::<KEY>().ok_or("a piece without first key")?;
            let (last, rest) = rest.split_first_chunk::<KEY>().ok_or("a piece without last key")?;
            let (rows, rest) = rest.split_first_chunk::<8>().ok_or("a piece without rows")?;
            let checksum = rest.try_into().map_err(|_| "a piece without checksum")?;
            if let Some((before, end)) = self.last.as_ref().filter(|(_, end)| first < end) {
                let error = format!("{place} begins with {}, {before} ends with {}", show(first), show(end));
                out.emit(b"error", error.as_bytes())?;
            }
            self.rows += u64::from_be_bytes(*rows);
            self.checksum.0 += u128::from_be_bytes(checksum);
            self.last = Some((place.clone(), *last));
        }
        Ok(())
    }

    fn close(&mut self, out: &mut ReduceOutput) -> Result {
        out.emit(b"rows", self.rows.to_string().as_bytes())?;
        out.emit(b"checksum", self.checksum.to_string().as_bytes())
    }
}
