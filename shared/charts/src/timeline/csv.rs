//! The timeline as a table: one row per attempt, in order of launch.
//!
//! Times are seconds from the trace's start with all digits; an instant that was not reached is empty. Quoting is
//! RFC 4180's.

use std::io;
use std::io::Write;

use howdah_core::job::{Locality, TaskKind};
use howdah_core::time::Time;

use super::data::Timeline;
use super::lanes::{Place, Placed};

const HEADER: [&str; 16] = [
    "job",
    "name",
    "kind",
    "index",
    "attempt",
    "worker",
    "lane",
    "wave",
    "start_s",
    "maps_done_s",
    "sorted_s",
    "end_s",
    "state",
    "cause",
    "locality",
    "speculative",
];

/// Writes header and rows.
pub(crate) fn write(timeline: &Timeline, placed: &Placed, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = csv::Writer::from_writer(out);
    rows.write_record(HEADER)?;
    for &Place { attempt, lane, wave } in &placed.attempts {
        let record = &timeline.attempts[attempt];
        let id = record.attempt;
        let job = timeline.jobs.get((id.job.0 as usize).wrapping_sub(1));
        let (job, name) = job.map_or_else(|| (id.job.0.to_string(), ""), |job| (job.id.to_string(), job.name.as_str()));
        let worker = timeline.worker(record.worker.0).unwrap_or("");
        let reduce = id.kind == TaskKind::Reduce;
        rows.write_record([
            &job,
            name,
            &id.kind.to_string(),
            &id.index.to_string(),
            &id.number.to_string(),
            worker,
            &lane.to_string(),
            &wave.to_string(),
            &seconds(Some(record.start)),
            &seconds(record.maps_done.filter(|_| reduce)),
            &seconds(record.sorted.filter(|_| reduce)),
            &seconds(Some(record.end)),
            record.state.name(),
            &cause(record),
            locality(record.locality),
            &record.speculative.to_string(),
        ])?;
    }
    rows.flush()
}

fn cause(record: &howdah_core::replay::AttemptRecord) -> String {
    if record.state == howdah_core::job::AttemptState::Succeeded {
        return String::new();
    }
    // The name that journals and histories use.
    serde_json::to_value(record.cause).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn locality(locality: Locality) -> &'static str {
    match locality {
        Locality::Node => "node",
        Locality::Rack => "rack",
        Locality::OffRack => "off-rack",
        Locality::Unknown => "",
    }
}

fn seconds(time: Option<Time>) -> String {
    time.map_or_else(String::new, |time| format!("{}.{:06}", time.as_us() / 1_000_000, time.as_us() % 1_000_000))
}
