//! Finished jobs in Hadoop's own form: a `.jhist` and a `_conf.xml` each, where a history server would have put them.
//!
//! `<run>/hadoop-history/done/YYYY/MM/DD/SSSSSS/`, by the day on which the job ended. Times are the master's; what a
//! worker measured of an attempt's phases is moved to the master's clock by the attempt's end.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use howdah_core::job::TaskKind;
use howdah_traces::jhist::{AttemptRecord, JobRecord};

use crate::history::{AttemptHistory, JobHistory};

/// Directory of a run in which they are.
pub const DIRECTORY: &str = "hadoop-history";

/// Writes both files of a job that is over; again when one of its attempts ends late.
pub(crate) fn write<A>(
    history: &JobHistory<A>,
    attempts: impl Iterator<Item = AttemptHistory>,
    run_dir: &Path,
) -> io::Result<PathBuf> {
    let record = record(history);
    let place = place(history, &record, run_dir);
    fs::create_dir_all(&place)?;
    let conf = place.join(record.conf_name());
    whole(&conf, |out| out.write_all(configuration(history).as_bytes()))?;
    let record = JobRecord { conf_path: format!("file://{}", conf.display()), ..record };
    let path = place.join(record.file_name());
    let attempts = attempts.filter(|attempt| attempt.state.is_final()).map(attempt);
    whole(&path, |out| record.write(out, attempts))?;
    Ok(path)
}

/// Removes what [`write`] wrote; what is not there is no error.
pub(crate) fn remove<A>(history: &JobHistory<A>, run_dir: &Path) -> io::Result<()> {
    let record = record(history);
    let place = place(history, &record, run_dir);
    for name in [record.conf_name(), record.file_name()] {
        match fs::remove_file(place.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// The directory of the day on which the job ended.
fn place<A>(history: &JobHistory<A>, record: &JobRecord, run_dir: &Path) -> PathBuf {
    let ended = i64::try_from(history.finish_ms_epoch).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let day = ended.unwrap_or_default().to_zoned(jiff::tz::TimeZone::system()).strftime("%Y/%m/%d").to_string();
    run_dir.join(DIRECTORY).join("done").join(day).join(record.serial_directory())
}

/// Nobody sees half of a file.
fn whole(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let temporary = path.with_extension("tmp");
    let mut out = BufWriter::new(File::create(&temporary)?);
    write(&mut out)?;
    // The job's own history, which this can be made of again, is on disk already.
    out.into_inner().map_err(io::IntoInnerError::into_error)?;
    fs::rename(&temporary, path)
}

/// A job as Hadoop's history has it.
fn record<A>(history: &JobHistory<A>) -> JobRecord {
    let spec = &history.spec;
    JobRecord {
        id: history.id.clone(),
        name: spec.name.to_string(),
        user: spec.user.to_string(),
        queue: spec.queue.to_string(),
        priority: history.priority.name(),
        state: history.state,
        submit_ms: history.submit_ms_epoch,
        launch_ms: history.launch_ms_epoch,
        finish_ms: history.finish_ms_epoch,
        n_maps: spec.n_maps,
        n_reduces: spec.n_reduces,
        max_attempts: [spec.conf.max_map_attempts, spec.conf.max_reduce_attempts],
        split_hosts: (0..spec.n_maps).map(|map| spec.split_hosts.of(map).map(str::to_owned).collect()).collect(),
        conf_path: String::new(),
        why: history.why.clone(),
        counters: history.counters.clone(),
        n_done: [history.maps_done, history.reduces_done],
    }
}

fn attempt(attempt: AttemptHistory) -> AttemptRecord {
    let (start_ms, finish_ms) = (attempt.assigned_ms_epoch, attempt.ended_ms_epoch.max(attempt.assigned_ms_epoch));
    // An instant of the worker's clock, as long before the attempt's end as it was there, as in traces of recorded runs: stated
    // from the start, a reduce could have sorted before the map ended that it waited for.
    let here = |at_ms: u64| {
        let before = attempt.finished_ms_epoch.checked_sub(at_ms).filter(|_| at_ms > 0);
        before.map_or(finish_ms, |before| finish_ms.saturating_sub(before).max(start_ms))
    };
    let is_reduce = attempt.kind == TaskKind::Reduce;
    AttemptRecord {
        kind: attempt.kind,
        index: attempt.index,
        number: attempt.number,
        state: attempt.state,
        host: attempt.host,
        rack: attempt.rack,
        worker: attempt.worker,
        locality: attempt.locality,
        speculative: attempt.speculative,
        start_ms,
        shuffled_ms: if is_reduce { here(attempt.shuffle_done_ms_epoch) } else { 0 },
        sorted_ms: if is_reduce { here(attempt.sort_done_ms_epoch) } else { 0 },
        finish_ms,
        error: if attempt.diagnostics.is_empty() { attempt.cause } else { attempt.diagnostics },
        counters: attempt.counters,
    }
}

/// The job's properties, and what Hadoop's tools look for among them.
fn configuration<A>(history: &JobHistory<A>) -> String {
    let spec = &history.spec;
    let mut properties = history.properties.clone();
    let own = [
        ("mapreduce.job.name", spec.name.to_string()),
        ("mapreduce.job.user.name", spec.user.to_string()),
        ("mapreduce.job.queuename", spec.queue.to_string()),
        ("mapreduce.job.maps", spec.n_maps.to_string()),
        ("mapreduce.job.reduces", spec.n_reduces.to_string()),
        ("mapreduce.output.fileoutputformat.outputdir", history.output.clone()),
    ];
    let deadline = spec.conf.deadline.map(|deadline| ("howdah.job.deadline.ms", deadline.as_ms().to_string()));
    for (key, value) in own.into_iter().chain(deadline) {
        properties.entry(key.to_owned()).or_insert(value);
    }
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<configuration>\n".to_owned();
    for (key, value) in &properties {
        let (key, value) = (escaped(key), escaped(value));
        text.push_str(&format!("<property><name>{key}</name><value>{value}</value></property>\n"));
    }
    text + "</configuration>\n"
}

/// Text of an element. XML has no way to write most control characters; they become U+FFFD.
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut done, c| {
        match c {
            '&' => done.push_str("&amp;"),
            '<' => done.push_str("&lt;"),
            '>' => done.push_str("&gt;"),
            '\r' => done.push_str("&#13;"),
            '\t' | '\n' => done.push(c),
            _ if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => done.push('\u{fffd}'),
            _ => done.push(c),
        }
        done
    })
}

#[cfg(test)]
mod tests {
    use howdah_core::job::counters::Counters;
    use howdah_core::job::{AttemptState, Locality, Phase};

    use super::*;

    // Launched at 1,000 and told to be over at 1,060 by the master's clock; in between its process lived for 30 ms.
    fn reduce() -> AttemptHistory {
        AttemptHistory {
            attempt: String::new(),
            task: String::new(),
            kind: TaskKind::Reduce,
            index: 0,
            number: 0,
            state: AttemptState::Succeeded,
            phase: Phase::Reduce,
            progress: 1.0,
            worker: String::new(),
            host: String::new(),
            rack: String::new(),
            locality: Locality::Unknown,
            speculative: false,
            assigned_ms_epoch: 1_000,
            ended_ms_epoch: 1_060,
            cause: String::new(),
            exit_code: None,
            signal: None,
            diagnostics: String::new(),
            stderr_tail: String::new(),
            cpu_us: 0,
            peak_memory_kib: 0,
            started_ms_epoch: 700_020,
            shuffle_done_ms_epoch: 700_040,
            sort_done_ms_epoch: 700_041,
            finished_ms_epoch: 700_050,
            message: String::new(),
            counters: Counters::default(),
        }
    }

    #[test]
    fn phases_end_as_long_before_the_end_as_they_did_on_the_workers_clock() {
        let shuffle_end = |reduce: &AttemptHistory| {
            let AttemptRecord { shuffled_ms, sorted_ms, .. } = attempt(reduce.clone());
            [shuffled_ms, sorted_ms]
        };
        assert_eq!(shuffle_end(&reduce()), [1_050, 1_051]);
        // Never sorted, and a clock that jumped back by an hour.
        assert_eq!(shuffle_end(&AttemptHistory { sort_done_ms_epoch: 0, ..reduce() }), [1_050, 1_060]);
        assert_eq!(shuffle_end(&AttemptHistory { finished_ms_epoch: 5, ..reduce() }), [1_060, 1_060]);
    }

    #[test]
    fn what_xml_cannot_say_is_replaced() {
        assert_eq!(escaped("a<b>&c\r\n\u{1}"), "a&lt;b&gt;&amp;c&#13;\n\u{fffd}");
    }
}
