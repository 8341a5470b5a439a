//! Workers that exist only as heartbeats: registered, given attempts, reporting them as running.
//!
//! Each has a connection and a rhythm of its own, as real ones do: the same pause, begun at a random moment (the
//! same moments in every run). None of them parks: what is measured is the server's work per heartbeat, not how it
//! waits.

use std::time::{Duration, Instant};

use howdah_proto::v1 as pb;
use pb::worker_service_client::WorkerServiceClient;
use tonic::transport::{Channel, Endpoint};

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// Attempts that each worker runs.
const SLOTS: u32 = 2;
/// Counters come with every so many reports of a worker.
const COUNTERS_EVERY: u32 = 5;

pub(super) struct HeartbeatSender {
    client: WorkerServiceClient<Channel>,
    worker: u32,
    response_id: u32,
    sent: u32,
    attempts: Vec<pb::AttemptId>,
    slots: u32,
}

/// `howdah bench simulated-workers ADDRESS WORKERS ROUNDS PAUSE_MS READY GO`: gets everyone busy, writes READY, waits for GO to
/// appear, then sends ROUNDS heartbeats from each worker, a round every PAUSE_MS.
pub(crate) async fn main(args: &[String]) -> Outcome {
    let [address, workers, rounds, pause_ms, ready, go] = args else {
        return Err(Failure::usage("expected ADDRESS WORKERS ROUNDS PAUSE_MS READY GO"));
    };
    let number =
        |text: &String| text.parse::<u32>().map_err(|_| Failure::usage(format!("expected a number, found `{text}`")));
    let (workers, rounds, pause_ms) = (number(workers)?, number(rounds)?, number(pause_ms)?);
    let mut senders = Vec::new();
    for index in 0..workers {
        senders.push(HeartbeatSender::register(address, index, SLOTS).await?);
    }
    // A round hands out at most one map that is local to nobody; a few rounds give everyone all.
    for _ in 0..SLOTS * 3 {
        for sender in &mut senders {
            sender.send().await?;
        }
    }
    // The echo hands out nothing: its workers report the same attempts unasked.
    for (index, sender) in senders.iter_mut().enumerate() {
        while sender.attempts.len() < SLOTS as usize {
            let map = index as u32 * SLOTS + sender.attempts.len() as u32;
            sender.attempts.push(pb::AttemptId { job: 1, reduce: false, index: map, number: 0 });
        }
    }
    std::fs::write(ready, "")?;
    while !std::path::Path::new(go).exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let pause = Duration::from_millis(u64::from(pause_ms));
    let began = Instant::now();
    let mut all = tokio::task::JoinSet::new();
    for (phase, mut sender) in phases().zip(senders) {
        all.spawn(async move {
            for round in 0..rounds {
                tokio::time::sleep_until((began + pause.mul_f64(f64::from(round) + phase)).into()).await;
                sender.send().await?;
            }
            Ok::<(), Failure>(())
        });
    }
    while let Some(ended) = all.join_next().await {
        ended.map_err(|error| Failure::broke(error.to_string()))??;
    }
    Ok(Exit::Done)
}

/// Moments from 0 to 1, spread as by chance: a linear congruential generator (Knuth's MMIX).
fn phases() -> impl Iterator<Item = f64> {
    let mut state = 1u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    })
}

impl HeartbeatSender {
    pub(super) async fn register(address: &str, index: u32, slots: u32) -> Outcome<HeartbeatSender> {
        let endpoint = Endpoint::from_shared(format!("http://{address}")).map_err(|e| Failure::usage(e.to_string()))?;
        let channel = howdah_proto::dial::channel(&endpoint).await;
        let channel = channel.map_err(|error| Failure::broke(format!("connect worker {index}: {error}")))?;
        let mut client = WorkerServiceClient::new(channel);
        let request = pb::RegisterRequest {
            name: format!("beat-{index:04}"),
            host: format!("host-{index:04}"),
            rack: "/default-rack".to_owned(),
            map_slots: slots,
            reduce_slots: 0,
            http_address: "127.0.0.1:1".to_owned(),
            incarnation: 1,
            starts: true,
            attributes: Default::default(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            probe_warnings: Default::default(),
            directory: String::new(),
            advertised: false,
            protocol: howdah_proto::PROTOCOL,
            build: String::new(),
            kept: Vec::new(),
            kept_of_cluster: 0,
            met: None,
        };
        let worker = client.register(request).await?.into_inner().worker;
        Ok(HeartbeatSender { client, worker, response_id: 0, sent: 0, attempts: Vec::new(), slots })
    }

    pub(super) async fn send(&mut self) -> Outcome<()> {
        self.sent += 1;
        let request = pb::HeartbeatRequest {
            worker: self.worker,
            incarnation: 1,
            response_id: self.response_id,
            free_maps: self.slots - self.attempts.len() as u32,
            free_reduces: 0,
            accepts_tasks: true,
            may_park: false,
            attempts: self.attempts.iter().map(|attempt| status(*attempt, self.sent)).collect(),
            vitals: Some(vitals(self.sent)),
            sequence: 0,
            attributes: None,
            refusal: 0,
            met: None,
        };
        let answer = self.client.heartbeat(request).await?.into_inner();
        self.response_id = answer.response_id;
        for directive in answer.directives {
            match directive.kind {
                Some(pb::directive::Kind::Launch(launch)) => self.attempts.extend(launch.attempt),
                Some(pb::directive::Kind::Reinit(_)) => {
                    return Err(Failure::broke(format!("worker {} was told to start over", self.worker)));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn status(attempt: pb::AttemptId, sent: u32) -> pb::AttemptStatus {
    pb::AttemptStatus {
        attempt: Some(attempt),
        state: pb::AttemptState::Running as i32,
        phase: pb::Phase::Map as i32,
        progress: (sent * 7).min(9_900),
        counters: sent.is_multiple_of(COUNTERS_EVERY).then(|| counters(sent)),
        ..pb::AttemptStatus::default()
    }
}

fn counters(sent: u32) -> pb::Counters {
    let names = ["Map input records", "Map input bytes", "Map output records", "Map output bytes", "Spilled Records"];
    let counter = |name: &&str| pb::Counter { name: (*name).to_owned(), value: i64::from(sent) * 1_000 };
    let group =
        pb::CounterGroup { name: "Map-Reduce Framework".to_owned(), counters: names.iter().map(counter).collect() };
    pb::Counters { groups: vec![group], ..Default::default() }
}

fn vitals(sent: u32) -> pb::Vitals {
    pb::Vitals {
        load1_milli: 1_000 + sent,
        load5_milli: 900,
        load15_milli: 800,
        cpu_use_parts: 5_000,
        n_cpus: 8,
        cpu_khz: 2_400_000,
        memory_total_kib: 16 << 20,
        memory_free_kib: 8 << 20,
        disk_free_kib: 100 << 20,
        core_use_parts: vec![5_000; 8],
        cpus_milli: 8_000,
        run_queue_milli: 4_100,
        foreign_milli: 100,
        max_khz: 3_000_000,
        effective_khz: 3_000_000,
        details: None,
    }
}
