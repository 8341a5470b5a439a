//! How long heartbeats take, beside whatever else the master does: those of a worker without slots, one after another.
//!
//! Such a worker gets nothing and changes nothing, so that it may join a cluster whose jobs are measured. Its heartbeats are not
//! parked; what each takes is the wait for the core's thread and the way there and back.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use super::simulated_workers::HeartbeatSender;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// No two workers of a cluster have one name; those of other helpers count from 0.
const INDEX: u32 = 9_999;

/// `howdah bench heartbeat-times ADDRESS PAUSE_MS STOP`: a heartbeat every PAUSE_MS until the file STOP appears, then prints their
/// number and their percentiles in microseconds.
pub(crate) async fn main(args: &[String]) -> Outcome {
    let [address, pause_ms, stop] = args else {
        return Err(Failure::usage("expected ADDRESS PAUSE_MS STOP"));
    };
    let pause_ms: u64 =
        pause_ms.parse().map_err(|_| Failure::usage(format!("expected a number, found `{pause_ms}`")))?;
    let mut sender = HeartbeatSender::register(address, INDEX, 0).await?;
    let mut took_us: Vec<u64> = Vec::new();
    let mut pauses = tokio::time::interval(Duration::from_millis(pause_ms.max(1)));
    pauses.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    while !Path::new(stop).exists() {
        pauses.tick().await;
        let began = Instant::now();
        sender.send().await?;
        took_us.push(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
    }
    took_us.sort_unstable();
    let at = |percent: usize| took_us.get((took_us.len() * percent).div_ceil(100).max(1) - 1).copied();
    let found = json!({ "n": took_us.len(), "p50_us": at(50), "p99_us": at(99), "max_us": took_us.last() });
    writeln!(std::io::stdout(), "{found}")?;
    Ok(Exit::Done)
}
