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

const HEADER: &str =
    "job,name,kind,index,attempt,worker,lane,wave,start_s,maps_done_s,sorted_s,end_s,state,cause,locality,speculative";

/// Writes header and rows.
pub(crate) fn write(timeline: &Timeline, placed: &Placed, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{HEADER}")?;
    for &Place { attempt, lane, wave } in &placed.attempts {
        let record = &timeline.attempts[attempt];
        let id = record.attempt;
        let job = timeline.jobs.get((id.job.0 as usize).wrapping_sub(1));
        let (job, name) = job.map_or_else(|| (id.job.0.to_string(), ""), |job| (quoted(&job.id), job.name.as_str()));
        let worker = timeline.worker(record.worker.0).unwrap_or("");
        let reduce = id.kind == TaskKind::Reduce;
        writeln!(
            out,
            "{job},{},{},{},{},{},{lane},{wave},{},{},{},{},{},{},{},{}",
            quoted(name),
            id.kind,
            id.index,
            id.number,
            quoted(worker),
            seconds(Some(record.start)),
            seconds(record.maps_done.filter(|_| reduce)),
            seconds(record.sorted.filter(|_| reduce)),
            seconds(Some(record.end)),
            record.state.name(),
            cause(record),
            locality(record.locality),
            record.speculative,
        )?;
    }
    Ok(())
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

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
