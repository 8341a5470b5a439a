//! The master's CPU time per heartbeat against a bare tonic server that answers messages of the same sizes.
//!
//! `cargo run --release -p howdah-master --example heartbeats -- [WORKERS] [PER_SECOND] [SECONDS]`
//!
//! A thousand simulated workers with two running attempts each report progress at a steady pace (0 for as fast
//! as it goes) over loopback, first to the bare server, then to a master with a job under way. Each server is
//! a process of its own; its user and system time comes from `/proc`.

#![allow(clippy::print_stdout, reason = "it prints its result")]

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use howdah_master::MasterConfig;
use howdah_proto::stop::Stop;
use howdah_proto::v1;
use howdah_proto::v1::client_service_client::ClientServiceClient;
use howdah_proto::v1::directive::Kind;
use howdah_proto::v1::worker_service_client::WorkerServiceClient;
use howdah_proto::v1::worker_service_server::{WorkerService, WorkerServiceServer};
use tonic::transport::{Channel, Server, server::TcpIncoming};
use tonic::{Request, Response, Status};

const CONNECTIONS: usize = 100;

/// Answers everything at once.
struct Bare;

type Never = tokio_stream::Empty<Result<v1::MapEventsResponse, Status>>;

#[tonic::async_trait]
impl WorkerService for Bare {
    async fn register(&self, _: Request<v1::RegisterRequest>) -> Result<Response<v1::RegisterResponse>, Status> {
        Ok(Response::new(v1::RegisterResponse::default()))
    }
    async fn heartbeat(
        &self,
        request: Request<v1::HeartbeatRequest>,
    ) -> Result<Response<v1::HeartbeatResponse>, Status> {
        let response_id = request.into_inner().response_id + 1;
        Ok(Response::new(v1::HeartbeatResponse {
            response_id,
            interval_ms: 1_000,
            directives: Vec::new(),
            prefetch: Vec::new(),
        }))
    }
    async fn get_job_file(
        &self,
        _: Request<v1::GetJobFileRequest>,
    ) -> Result<Response<v1::GetJobFileResponse>, Status> {
        Err(Status::unimplemented("bare"))
    }
    type MapEventsStream = Never;
    async fn map_events(&self, _: Request<v1::MapEventsRequest>) -> Result<Response<Never>, Status> {
        Err(Status::unimplemented("bare"))
    }
    async fn goodbye(&self, _: Request<v1::GoodbyeRequest>) -> Result<Response<v1::GoodbyeResponse>, Status> {
        Err(Status::unimplemented("bare"))
    }
}

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match args.get(1).map(String::as_str) {
        Some("--bare") => runtime.block_on(bare(args[2].clone().into())),
        Some("--master") => {
            let config = MasterConfig { dir: args[2].clone().into(), ..MasterConfig::default() };
            runtime.block_on(howdah_master::run(config, Stop::new()))
        }
        _ => {
            let number = |i: usize, default: u64| args.get(i).and_then(|a| a.parse().ok()).unwrap_or(default);
            runtime.block_on(compare(number(1, 1_000) as usize, number(2, 2_000), number(3, 10)))
        }
    }
}

async fn bare(dir: std::path::PathBuf) -> anyhow::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    std::fs::write(dir.join("access.tmp"), format!(r#"{{"master":"{address}"}}"#))?;
    std::fs::rename(dir.join("access.tmp"), dir.join("access.json"))?;
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    Server::builder().add_service(WorkerServiceServer::new(Bare)).serve_with_incoming(incoming).await?;
    Ok(())
}

async fn compare(workers: usize, per_second: u64, seconds: u64) -> anyhow::Result<()> {
    let mut cost = Vec::new();
    for mode in ["--bare", "--master"] {
        let dir = std::env::temp_dir().join(format!("howdah-heartbeats-{}{mode}", std::process::id()));
        std::fs::create_dir_all(&dir)?;
        let mut server = Command::new(std::env::current_exe()?).arg(mode).arg(&dir).stdin(Stdio::null()).spawn()?;
        let result = load(&dir, &server, mode == "--master", workers, per_second, seconds).await;
        server.kill()?;
        server.wait()?;
        std::fs::remove_dir_all(&dir)?;
        let (beats, cpu_us) = result?;
        let each = cpu_us as f64 / beats as f64;
        println!("{mode:9} {beats} heartbeats, {each:.1} us of CPU each");
        cost.push(each);
    }
    println!("ratio     {:.2}", cost[1] / cost[0]);
    Ok(())
}

async fn load(
    dir: &std::path::Path,
    server: &Child,
    is_master: bool,
    n: usize,
    per_second: u64,
    seconds: u64,
) -> anyhow::Result<(u64, u64)> {
    let access = dir.join("access.json");
    while !access.exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let access: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(access)?)?;
    let address = format!("http://{}", access["master"].as_str().unwrap_or_default());
    let mut channels = Vec::new();
    for _ in 0..CONNECTIONS {
        channels.push(Channel::from_shared(address.clone())?.tcp_nodelay(true).connect().await?);
    }
    if is_master {
        let request = v1::SubmitJobRequest {
            name: "sleep".to_owned(),
            app_json: r#"{"kind":"built_in","name":"sleep"}"#.to_owned(),
            input_format_json: format!(r#"{{"kind":"generated","n_maps":{}}}"#, 4 * n),
            ..Default::default()
        };
        ClientServiceClient::new(channels[0].clone()).submit_job(request).await?;
    }
    let beats = Arc::new(AtomicU64::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    // Registration and first launches are not measured.
    let begin = Instant::now() + Duration::from_secs(3);
    let end = begin + Duration::from_secs(seconds);
    for i in 0..n {
        let client = WorkerServiceClient::new(channels[i % CONNECTIONS].clone());
        let pause = (per_second > 0).then(|| Duration::from_secs_f64(n as f64 / per_second as f64));
        tasks.spawn(worker(client, i, pause, begin, end, Arc::clone(&beats)));
    }
    tokio::time::sleep_until(begin.into()).await;
    let before = cpu_us(server.id())?;
    tokio::time::sleep_until(end.into()).await;
    let after = cpu_us(server.id())?;
    let counted = beats.load(Ordering::Relaxed);
    while let Some(result) = tasks.join_next().await {
        result??;
    }
    Ok((counted, after - before))
}

async fn worker(
    mut client: WorkerServiceClient<Channel>,
    index: usize,
    pause: Option<Duration>,
    begin: Instant,
    end: Instant,
    beats: Arc<AtomicU64>,
) -> anyhow::Result<()> {
    let request = v1::RegisterRequest {
        name: format!("worker-{index}"),
        host: format!("host-{index}"),
        rack: "/default-rack".to_owned(),
        map_slots: 2,
        reduce_slots: 2,
        incarnation: 1,
        http_address: ":1".to_owned(),
        protocol: howdah_proto::PROTOCOL,
        ..Default::default()
    };
    let worker = client.register(request).await?.into_inner().worker;
    let mut attempts: Vec<v1::AttemptId> = Vec::new();
    let mut response_id = 0;
    let mut progress = 0;
    let mut due = tokio::time::Instant::now() + Duration::from_millis(index as u64 % 1_000);
    while Instant::now() < end {
        tokio::time::sleep_until(due).await;
        due += pause.unwrap_or(Duration::from_millis(1));
        if pause.is_none() {
            due = tokio::time::Instant::now();
        }
        progress = (progress + 7) % 10_000;
        // The bare server gets messages of the same size.
        let running: Vec<v1::AttemptId> = match attempts.is_empty() {
            true => {
                (0..2).map(|i| v1::AttemptId { job: 1, reduce: false, index: index as u32 + i, number: 0 }).collect()
            }
            false => attempts.clone(),
        };
        let known = if attempts.is_empty() && response_id > 0 || !attempts.is_empty() { running } else { Vec::new() };
        let request = v1::HeartbeatRequest {
            worker,
            incarnation: 1,
            response_id,
            free_maps: 0,
            free_reduces: 2,
            accepts_tasks: true,
            may_park: false,
            attempts: known.into_iter().map(|id| status(id, progress)).collect(),
            vitals: Some(vitals()),
            sequence: 0,
            attributes: None,
            refusal: 0,
        };
        let mut request = request;
        request.free_maps = 2 - request.attempts.len() as u32;
        let answer = client.heartbeat(request).await?.into_inner();
        response_id = answer.response_id;
        for directive in answer.directives {
            if let Some(Kind::Launch(v1::Launch { attempt: Some(attempt), .. })) = directive.kind
                && !attempts.contains(&attempt)
            {
                attempts.push(attempt);
            }
        }
        if Instant::now() >= begin {
            beats.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}

fn status(attempt: v1::AttemptId, progress: u32) -> v1::AttemptStatus {
    v1::AttemptStatus {
        attempt: Some(attempt),
        state: v1::AttemptState::Running.into(),
        phase: v1::Phase::Map.into(),
        progress,
        ..Default::default()
    }
}

fn vitals() -> v1::Vitals {
    v1::Vitals {
        load1_milli: 1_234,
        load5_milli: 1_000,
        load15_milli: 900,
        cpu_use_parts: 5_000,
        n_cpus: 8,
        cpu_khz: 2_400_000,
        memory_total_kib: 32 << 20,
        memory_free_kib: 16 << 20,
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

/// User and system time of a process so far.
fn cpu_us(pid: u32) -> anyhow::Result<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
    // Linux counts a hundred ticks a second for user space on all common machines.
    Ok(ticks * 10_000)
}
