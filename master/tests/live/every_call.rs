//! Whatever comes over any call: bytes that are no message, messages that are too large, out of order or impossible.
//!
//! The calls are those of the `.proto` files, so that a new one is among them. Each message is answered or refused; nothing
//! panics, the core stands what is taken, and a worker and a client who mean well get their job done afterwards.
//! `PROPTEST_CASES` sets how many messages each call gets.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::{Buf, BufMut};
use howdah_core::models::Random;
use howdah_fuzz::Readings;
use howdah_master::replay::replay_decisions;
use howdah_proto::v1;
use prost::encoding::{WireType, encode_key, encode_varint};
use tokio::task::JoinSet;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

use super::fixture::{Cluster, FakeWorker, sleep_job};

const SERVICES: [(&str, &str); 2] = [
    ("ClientService", include_str!("../../../proto/proto/howdah/v1/client.proto")),
    ("WorkerService", include_str!("../../../proto/proto/howdah/v1/worker.proto")),
];
/// Ends the master, so it gets nothing that it could understand.
const SHUTDOWN: &str = "/howdah.v1.ClientService/Shutdown";
/// Messages for each call in the ordinary run.
const CASES: u64 = 100;
/// What a message of the master's may have here, and what none may.
const MESSAGE_BYTES: u64 = 1 << 16;
static READINGS: Readings = Readings::of("messages to calls");
/// A call that waits for something to happen is left then.
const PATIENCE: Duration = Duration::from_millis(700);
/// What is no message waits for nothing.
const GENEROUS: Duration = Duration::from_secs(30);
const AT_A_TIME: usize = 64;

/// Numbers at which arithmetic might stumble, and those of workers, jobs and attempts that are there.
const NUMBERS: [u64; 12] = [0, 1, 2, 3, 7, 64, 65_536, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, (1 << 63) - 1, u64::MAX];
/// What names and texts may be instead.
const TEXTS: [&str; 20] = [
    "",
    "w1",
    "default",
    "fair",
    "capacity",
    "NORMAL",
    "map",
    "stderr",
    "1",
    "-1",
    "*",
    "lab[1-99999999]",
    "../../../../etc/passwd",
    "/",
    "hdfs://nobody:1/x",
    "s3://b/k",
    "\u{202e}\u{1b}[2J\u{0}",
    r#"{"kind":"built_in","name":"sleep"}"#,
    r#"{"kind":"generated","n_maps":4294967295}"#,
    r#"{"kind":"generated","n_maps":2}"#,
];

/// Panics outside of tests so far: of handlers, which take no process with them.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn note_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let file = info.location().map(std::panic::Location::file).unwrap_or_default();
        if !file.contains("tests/") {
            PANICS.lock().unwrap().push(info.to_string());
        }
        before(info);
    }));
}

/// All calls, as paths.
fn calls() -> Vec<String> {
    let of = |(service, text): &(&str, &'static str)| {
        let names = text.lines().filter_map(|line| line.trim().strip_prefix("rpc ")?.split('(').next());
        names.map(|name| format!("/howdah.v1.{service}/{name}")).collect::<Vec<_>>()
    };
    SERVICES.iter().flat_map(of).collect()
}

/// Bytes as they are.
#[derive(Clone, Copy, Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = usize;
    type Encoder = Raw;
    type Decoder = Raw;

    fn encoder(&mut self) -> Raw {
        Raw
    }

    fn decoder(&mut self) -> Raw {
        Raw
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        to.put_slice(&item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = usize;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<usize>, Status> {
        let n = from.remaining();
        from.advance(n);
        Ok(Some(n))
    }
}

/// Sends a message and waits for the first answer; `None` if there is none yet.
async fn call(channel: Channel, path: String, message: Vec<u8>, patience: Duration) -> Option<Result<(), Status>> {
    let ask = async {
        let mut client = Grpc::new(channel);
        client.ready().await.map_err(|error| Status::unknown(error.to_string()))?;
        let path: PathAndQuery = path.parse().expect("a path");
        let answers = client.server_streaming(Request::new(message), path, Raw).await?;
        answers.into_inner().message().await.map(|_| ())
    };
    tokio::time::timeout(patience, ask).await.ok()
}

/// A message with any of the fields that there might be, or bytes that are none. `ids` are printed ids of what is there.
fn message(draws: &mut Random, ids: &[String], depth: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..draws.below(9) {
        let field = draws.below(24) as u32 + 1;
        match draws.below(9) {
            0..=2 => {
                encode_key(field, WireType::Varint, &mut bytes);
                encode_varint(NUMBERS[draws.below(NUMBERS.len())], &mut bytes);
            }
            3 => {
                encode_key(field, WireType::SixtyFourBit, &mut bytes);
                let float = [f64::NAN, f64::INFINITY, -1.0, 1e300][draws.below(4)];
                bytes.put_f64_le(float);
            }
            kind => {
                let part = match kind {
                    4 => ids[draws.below(ids.len())].clone().into_bytes(),
                    5 if depth > 0 => message(draws, ids, depth - 1),
                    6 => vec![draws.bits32() as u8; draws.below(2_000)],
                    _ => TEXTS[draws.below(TEXTS.len())].as_bytes().to_vec(),
                };
                encode_key(field, WireType::LengthDelimited, &mut bytes);
                encode_varint(part.len() as u64, &mut bytes);
                bytes.extend(part);
            }
        }
    }
    // A few are cut or changed, so that they are messages no more.
    if depth > 1 && !bytes.is_empty() && draws.below(8) == 0 {
        let at = draws.below(bytes.len());
        if draws.below(2) == 0 { bytes.truncate(at) } else { bytes[at] ^= 1 << draws.below(8) }
    }
    bytes
}

#[test]
fn all_calls_of_the_contract_are_known_here() {
    let calls = calls();
    for known in ["/howdah.v1.ClientService/Examine", "/howdah.v1.WorkerService/Saw", SHUTDOWN] {
        assert!(calls.iter().any(|call| call == known), "{known}: {calls:?}");
    }
    assert!(calls.len() >= 27, "{calls:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_message_or_too_large_is_refused_by_every_call() {
    note_panics();
    let cluster = Cluster::start_with(|config| config.limits.message_bytes = MESSAGE_BYTES).await;
    let channel = cluster.channel().await;
    for path in calls() {
        // A field of the number 0, a length beyond the end, a key without a value, a group that never ends.
        for malformed in [&[0, 1][..], &[10, 200, 1], &[8], &[11, 8]] {
            let told = call(channel.clone(), path.clone(), malformed.to_vec(), GENEROUS).await;
            let status = told.unwrap_or_else(|| panic!("{path}: no answer")).expect_err(&path);
            assert_eq!(status.code(), Code::Internal, "{path}: {status}");
        }
        // One that would do, but for its length.
        let mut large = Vec::new();
        encode_key(2_000, WireType::LengthDelimited, &mut large);
        encode_varint(2 * MESSAGE_BYTES, &mut large);
        large.resize(large.len() + 2 * MESSAGE_BYTES as usize, b'x');
        let told = call(channel.clone(), path.clone(), large, GENEROUS).await;
        let status = told.unwrap_or_else(|| panic!("{path}: no answer")).expect_err(&path);
        assert_eq!(status.code(), Code::OutOfRange, "{path}: {status}");
    }
    assert_eq!(*PANICS.lock().unwrap(), [""; 0]);
    let run = cluster.stop().await;
    assert_eq!(replay_decisions(&run).unwrap().first_difference, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_every_call_is_told_a_job_runs_afterwards() {
    note_panics();
    let cases = std::env::var("PROPTEST_CASES").map_or(CASES, |text| text.parse().expect("a number of messages"));
    let mut cluster = Cluster::start().await;
    // There is something that messages can be about.
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 1).await;
    let job = cluster.submit(sleep_job(2)).await.unwrap();
    let map = worker.next_launch().await;
    worker.running(map).await;
    let attempt = job.replace("job_", "attempt_") + "_m_000000_0";
    let ids = [job, attempt.clone(), attempt.replace("attempt_", "task_")];
    let (channel, answered) = (cluster.channel().await, AtomicUsize::new(0));
    let mut under_way = JoinSet::new();
    let mut told = 0;
    for case in 0..cases {
        for (n, path) in calls().into_iter().enumerate().filter(|(_, path)| path != SHUTDOWN) {
            let message = message(&mut Random::new(case, n as u64), &ids, 3);
            under_way.spawn(call(channel.clone(), path, message, PATIENCE));
            told += 1;
            while under_way.len() >= AT_A_TIME {
                let answer = under_way.join_next().await.expect("some are under way").expect("no panic");
                answered.fetch_add(usize::from(answer.is_some()), Ordering::Relaxed);
            }
        }
    }
    while let Some(answer) = under_way.join_next().await {
        answered.fetch_add(usize::from(answer.expect("no panic").is_some()), Ordering::Relaxed);
    }
    let answered = answered.into_inner();
    eprintln!("{told} messages, {answered} answered at once");
    READINGS.add(told as u64);
    assert!(answered * 4 > told, "{answered} of {told} messages were answered");
    assert_eq!(*PANICS.lock().unwrap(), [""; 0]);
    // They may have set anything: a priority, a scheduler, a drain of whoever was there.
    let mut honest = FakeWorker::register(&mut cluster, "honest", 2, 0).await;
    for job in cluster.client.list_jobs(v1::ListJobsRequest {}).await.unwrap().into_inner().jobs {
        let _ = cluster.client.kill_job(v1::KillJobRequest { job: job.job }).await;
    }
    let job = cluster.submit(sleep_job(2)).await.unwrap();
    for _ in 0..2 {
        let map = honest.next_launch().await;
        honest.succeed(map, 1).await;
    }
    assert_eq!(cluster.wait(&job).await.state, "SUCCEEDED");
    let run = cluster.stop().await;
    assert_eq!(replay_decisions(&run).unwrap().first_difference, None);
}
