//! Hadoop 0.18 to 1.x job histories: text records, each of which adds to what is known of a job, task or attempt.
//!
//! Records merge by id, in any order; a file may hold several jobs. `TASK_TYPE` decides what a task is: set-up and
//! clean-up run in slots of either kind under ids of either kind. All that is judged (clocks, winners, missing ends)
//! is judged in the profiler, as for the other histories.
//! Source: MR1 JobHistory; 0.18's ids are `tip_…` for tasks and `task_…` for attempts.

mod records;

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;
use std::str::FromStr;

use self::records::{Next, Record, Records};
use super::facts::{Ending, JobFacts, Place, known_bytes, known_ms, parse_attempt_id, parse_task_id};
use super::lines::shortened;
use super::{ImportNotes, TraceBuilder, TraceError};
use howdah_core::job::profile::Trace;
use howdah_core::job::{Priority, TaskKind};

/// Reads a history.
///
/// # Errors
/// When the source breaks, a record is no record of this format, or none is there.
pub fn read(source: impl BufRead, notes: &mut ImportNotes) -> Result<Trace, TraceError> {
    let mut records = Records::new(source);
    let mut builder = TraceBuilder::default();
    let mut open = Open::default();
    let mut any = false;
    loop {
        match records.next()? {
            Next::Record(record) => {
                if record.kind == "Meta" {
                    // Another file begins: what is over gets no more records.
                    open.close(true, &mut builder, notes);
                }
                any |= open.record(&record, notes)?;
            }
            Next::Other(place) if !any => {
                return Err(TraceError::Malformed {
                    place,
                    found: "a line that is no record".to_owned(),
                    expected: "records such as Job JOBID=\"…\"".to_owned(),
                });
            }
            Next::Other(place) => notes.add("line that is no record: left out", || place),
            Next::Torn(place) => notes.add("last record is cut off: left out", || place),
            Next::End => break,
        }
    }
    open.close(false, &mut builder, notes);
    if builder.is_empty() {
        return Err(TraceError::Malformed {
            place: "end of the file".to_owned(),
            found: "no job".to_owned(),
            expected: "records of at least one".to_owned(),
        });
    }
    Ok(builder.finish("Hadoop job history", notes))
}

/// The jobs whose records are being collected.
#[derive(Default)]
struct Open {
    /// By the part of ids that all ids of a job share, such as `200904211745_0002`.
    jobs: BTreeMap<String, JobFacts>,
    /// Ids of set-up and clean-up tasks.
    aside: BTreeSet<String>,
}

impl Open {
    /// Hands jobs over: all, or only those that have ended.
    fn close(&mut self, ended: bool, builder: &mut TraceBuilder, notes: &mut ImportNotes) {
        self.jobs.retain(|_, job| {
            let keep = ended && job.outcome.is_none();
            if !keep {
                builder.add(job, notes);
            }
            keep
        });
        self.aside.clear();
    }

    /// Takes one record; whether it was one of this format.
    fn record(&mut self, record: &Record, notes: &mut ImportNotes) -> Result<bool, TraceError> {
        let fields = Fields { record };
        match record.kind.as_str() {
            "Meta" => {}
            "Job" => {
                let id = fields.needed("JOBID")?;
                job(self.job(id.trim_start_matches("job_"), id), &fields)?;
            }
            "Task" => self.task(&fields, notes)?,
            "MapAttempt" | "ReduceAttempt" => self.attempt(&fields, notes)?,
            _ => {
                notes.add("record of unknown type: left out", || format!("{} {}", fields.place(), record.kind));
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn job(&mut self, key: &str, id: &str) -> &mut JobFacts {
        self.jobs.entry(key.to_owned()).or_insert_with(|| JobFacts::new(id))
    }

    /// The job that a task's id belongs to.
    fn job_of(&mut self, task: &str) -> &mut JobFacts {
        let key = task.split_once('_').map_or(task, |(_, rest)| rest);
        let key = key.rsplitn(3, '_').last().unwrap_or(key).to_owned();
        let id = format!("job_{key}");
        self.job(&key, &id)
    }

    fn task(&mut self, fields: &Fields<'_>, notes: &mut ImportNotes) -> Result<(), TraceError> {
        let id = fields.needed("TASKID")?;
        let Some((kind, index)) = self.kind(fields, id, parse_task_id(id), notes)? else { return Ok(()) };
        let start_ms = fields.ms("START_TIME")?;
        let finish_ms = fields.ms("FINISH_TIME")?;
        let task = self.job_of(id).task(kind, index);
        task.start_ms = task.start_ms.or(start_ms);
        task.finish_ms = finish_ms.or(task.finish_ms);
        if let Some(splits) = fields.get("SPLITS").filter(|splits| !splits.is_empty()) {
            task.preferred = splits.split(',').filter_map(Place::parse).collect();
        }
        Ok(())
    }

    fn attempt(&mut self, fields: &Fields<'_>, notes: &mut ImportNotes) -> Result<(), TraceError> {
        let id = fields.needed("TASK_ATTEMPT_ID")?;
        let parsed = parse_attempt_id(id);
        let task = match fields.get("TASKID") {
            Some(task) => task,
            None => id.rsplit_once('_').map_or(id, |(task, _)| task),
        };
        let Some((kind, index)) = self.kind(fields, task, parse_task_id(task), notes)? else { return Ok(()) };
        let (_, _, number) = parsed.ok_or_else(|| fields.malformed("TASK_ATTEMPT_ID", "an attempt's id"))?;
        let times = ["START_TIME", "SHUFFLE_FINISHED", "SORT_FINISHED", "FINISH_TIME"].map(|key| fields.ms(key));
        let [start_ms, shuffled_ms, sorted_ms, finish_ms] = times;
        let attempt = self.job_of(task).attempt(kind, index, number);
        attempt.start_ms = start_ms?.or(attempt.start_ms);
        attempt.shuffled_ms = shuffled_ms?.or(attempt.shuffled_ms);
        attempt.sorted_ms = sorted_ms?.or(attempt.sorted_ms);
        attempt.finish_ms = finish_ms?.or(attempt.finish_ms);
        attempt.result = fields.get("TASK_STATUS").and_then(Ending::from_name).or(attempt.result);
        let named = fields.get("HOSTNAME").or(fields.get("TRACKER_NAME"));
        // A rack once stated is not forgotten for a bare name.
        if let Some(place) = named.and_then(|name| Place::parse(host_of(name)))
            && (attempt.place.is_none() || !place.rack.is_empty())
        {
            attempt.place = Some(place);
        }
        if let Some(counters) = fields.get("COUNTERS") {
            let names: [&[&str]; 2] = match kind {
                TaskKind::Map => [
                    &["HDFS_BYTES_READ", "HDFS bytes read", "MAP_INPUT_BYTES", "Map input bytes"],
                    &["HDFS_BYTES_WRITTEN", "HDFS bytes written"],
                ],
                TaskKind::Reduce => {
                    [&["REDUCE_SHUFFLE_BYTES", "Reduce shuffle bytes"], &["HDFS_BYTES_WRITTEN", "HDFS bytes written"]]
                }
            };
            let find = |names: &[&str]| names.iter().find_map(|name| counter(counters, name)).and_then(known_bytes);
            attempt.bytes_in = find(names[0]).or(attempt.bytes_in);
            attempt.bytes_out = find(names[1]).or(attempt.bytes_out);
        }
        Ok(())
    }

    /// Kind and index of a map or reduce; nothing for set-up and clean-up.
    fn kind(
        &mut self,
        fields: &Fields<'_>,
        task: &str,
        parsed: Option<(TaskKind, u32)>,
        notes: &mut ImportNotes,
    ) -> Result<Option<(TaskKind, u32)>, TraceError> {
        let (letter, index) = parsed.ok_or_else(|| fields.malformed("TASKID", "a task's id"))?;
        let kind = match fields.get("TASK_TYPE") {
            Some("MAP") => TaskKind::Map,
            Some("REDUCE") => TaskKind::Reduce,
            None if !self.aside.contains(task) => {
                notes.add("record without TASK_TYPE: the letter in its id decides", || fields.place());
                letter
            }
            Some("SETUP" | "CLEANUP" | "JOB_SETUP" | "JOB_CLEANUP" | "TASK_CLEANUP") | None => {
                if self.aside.insert(task.to_owned()) {
                    self.job_of(task).aside += 1;
                }
                return Ok(None);
            }
            Some(_) => return Err(fields.malformed("TASK_TYPE", "MAP, REDUCE, SETUP or CLEANUP")),
        };
        Ok(Some((kind, index)))
    }
}

fn job(job: &mut JobFacts, fields: &Fields<'_>) -> Result<(), TraceError> {
    let texts =
        [("JOBNAME", &mut job.name), ("USER", &mut job.user), ("JOB_QUEUE", &mut job.queue), ("JOBID", &mut job.id)];
    for (key, text) in texts {
        if let Some(value) = fields.get(key) {
            value.clone_into(text);
        }
    }
    if let Some(priority) = fields.get("JOB_PRIORITY") {
        job.priority = Priority::from_str(priority)
            .map_err(|_| fields.malformed("JOB_PRIORITY", "VERY_HIGH, HIGH, NORMAL, LOW or VERY_LOW"))?;
    }
    job.submit_ms = fields.ms("SUBMIT_TIME")?.or(job.submit_ms);
    job.launch_ms = fields.ms("LAUNCH_TIME")?.or(job.launch_ms);
    job.finish_ms = fields.ms("FINISH_TIME")?.or(job.finish_ms);
    job.declared_maps = fields.count("TOTAL_MAPS")?.or(job.declared_maps);
    job.declared_reduces = fields.count("TOTAL_REDUCES")?.or(job.declared_reduces);
    job.outcome = fields.get("JOB_STATUS").and_then(Ending::from_name).or(job.outcome);
    Ok(())
}

/// `tracker_HOST:…` names a host, too.
fn host_of(name: &str) -> &str {
    match name.strip_prefix("tracker_") {
        Some(rest) => rest.split(':').next().unwrap_or(rest),
        None => name,
    }
}

/// A counter's value, from `[(NAME)(display name)(value)]`, or from 0.18's `group.display name:value,…`.
fn counter(text: &str, name: &str) -> Option<i64> {
    let bracketed = text.split_once(&format!("[({name})(")).and_then(|(_, rest)| {
        let (_, value) = rest.split_once(")(")?;
        value.split_once(')')?.0.parse().ok()
    });
    bracketed.or_else(|| {
        let (_, value) = text.split_once(&format!(".{name}:"))?;
        value.split(',').next()?.trim().parse().ok()
    })
}

/// The values of one record, with its place for complaints.
struct Fields<'a> {
    record: &'a Record,
}

impl Fields<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.record.values.get(key).map(String::as_str)
    }

    fn needed(&self, key: &str) -> Result<&str, TraceError> {
        self.get(key).ok_or_else(|| TraceError::Malformed {
            place: self.place(),
            found: format!("a {} record without {key}", self.record.kind),
            expected: "one with it".to_owned(),
        })
    }

    fn ms(&self, key: &str) -> Result<Option<u64>, TraceError> {
        Ok(self.number(key)?.and_then(known_ms))
    }

    fn count(&self, key: &str) -> Result<Option<u64>, TraceError> {
        Ok(self.number(key)?.and_then(|n| u64::try_from(n).ok()))
    }

    fn number(&self, key: &str) -> Result<Option<i64>, TraceError> {
        match self.get(key).filter(|text| !text.is_empty()) {
            Some(text) => text.trim().parse().map(Some).map_err(|_| self.malformed(key, "a whole number")),
            None => Ok(None),
        }
    }

    fn place(&self) -> String {
        format!("line {}", self.record.line)
    }

    fn malformed(&self, key: &str, expected: &str) -> TraceError {
        TraceError::Malformed {
            place: format!("{}, {} {key}", self.place(), self.record.kind),
            found: shortened(self.get(key).unwrap_or_default()),
            expected: expected.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
