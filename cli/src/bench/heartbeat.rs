//! The master's CPU time per heartbeat of 1,000 workers that have work to report.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::cluster::{Shape, request, submit};
use super::measure::median;
use super::report::{Bar, Report, Row};
use super::setting::Bench;
use crate::failure::{Failure, Outcome};
use crate::local::proc;

pub(crate) async fn run(bench: &Bench<'_>) -> Outcome<Report> {
    let workers: u32 = bench.size(1_000, 100);
    let rounds: u32 = bench.size(20, 5);
    raise_open_files();
    let dir = bench.dir.join("heartbeat");
    let (mut ours, mut base) = (Vec::new(), Vec::new());
    for turn in 0..bench.repeats() {
        base.push(echo(&dir.join(format!("echo-{turn}")), workers, rounds).await?);
        ours.push(master(&dir.join(format!("master-{turn}")), workers, rounds).await?);
        let last = |values: &[f64]| values.last().copied().unwrap_or(f64::NAN);
        bench.tell(format!(
            "turn {}: master {:.1} us per heartbeat, echo {:.1} us",
            turn + 1,
            last(&ours),
            last(&base)
        ));
    }
    Ok(Report {
        name: "heartbeat",
        title: format!("Heartbeats of {workers} workers over gRPC"),
        baseline: "a bare tonic server that answers the same messages (cli/src/bench/echo.rs)",
        rows: vec![Row {
            measure: "CPU time per heartbeat".to_owned(),
            unit: "us",
            howdah: median(&ours),
            baseline: Some(median(&base)),
            bar: Some(Bar::AtMost(2.0)),
        }],
        notes: vec![format!(
            "{workers} connections, each worker reports 2 running attempts once a second at moments of its own, with counters every fifth time; {rounds} heartbeats of each are measured"
        )],
        repeats: bench.repeats(),
        quick: bench.quick,
    })
}

async fn echo(dir: &Path, workers: u32, rounds: u32) -> Outcome<f64> {
    std::fs::create_dir_all(dir)?;
    let file = dir.join("address");
    let server = part("baseline-echo", &[file.display().to_string()])?;
    let address = appears(&file).await?;
    measure(dir, &address, server.0.id(), workers, rounds).await
}

async fn master(dir: &Path, workers: u32, rounds: u32) -> Outcome<f64> {
    std::fs::create_dir_all(dir)?;
    // No real workers: the simulated ones are all there are.
    let cluster = Shape { workers: 0, ..Shape::two(1, 1) }.start(&dir.join("cluster")).await?;
    let mut client = cluster.client().await?;
    let maps = (workers * 2).to_string();
    submit(&mut client, "sleep", &request(&["-m", &maps, "-mt", "0"])).await?;
    let pid = cluster.access().pids.first().copied().ok_or_else(|| Failure::broke("no master"))?;
    measure(dir, cluster.address(), pid, workers, rounds).await
    // Dropping the cluster stops it at once; its job would keep it for long.
}

/// CPU microseconds of process `pid` per heartbeat.
async fn measure(dir: &Path, address: &str, pid: u32, workers: u32, rounds: u32) -> Outcome<f64> {
    let (ready, go) = (dir.join("ready"), dir.join("go"));
    let mut args = vec![address.to_owned(), workers.to_string(), rounds.to_string(), "1000".to_owned()];
    args.extend([&ready, &go].map(|path| path.display().to_string()));
    let mut senders = part("simulated-workers", &args)?;
    let deadline = Instant::now() + Duration::from_secs(120);
    while !ready.exists() {
        if let Some(status) = senders.0.try_wait()? {
            return Err(Failure::broke(format!("the simulated workers ended early with {status}")));
        }
        if Instant::now() > deadline {
            return Err(Failure::broke("the simulated workers did not get ready"));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let gone = || Failure::broke("the server has ended");
    let before = proc::cpu_time(pid).ok_or_else(gone)?;
    std::fs::write(&go, "")?;
    let status = loop {
        if let Some(status) = senders.0.try_wait()? {
            break status;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let used = proc::cpu_time(pid).ok_or_else(gone)? - before;
    if !status.success() {
        return Err(Failure::broke(format!("the simulated workers ended with {status}")));
    }
    Ok(used.as_secs_f64() * 1e6 / f64::from(workers * rounds))
}

async fn appears(file: &PathBuf) -> Outcome<String> {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        match std::fs::read_to_string(file) {
            Ok(text) if !text.is_empty() => return Ok(text),
            _ if Instant::now() > deadline => return Err(Failure::broke("the echo server did not start")),
            _ => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

/// A part as a process that ends when it goes out of scope.
struct Part(Child);

impl Drop for Part {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn part(name: &str, args: &[String]) -> Outcome<Part> {
    let exe = std::env::current_exe().map_err(|error| Failure::broke(format!("find this program: {error}")))?;
    let mut command = Command::new(exe);
    command.args(["bench", name]).args(args).stdin(Stdio::piped()).stdout(Stdio::null());
    Ok(Part(command.spawn().map_err(|error| Failure::broke(format!("cannot start `bench {name}`: {error}")))?))
}

/// A thousand connections need as many open files, here and in the processes started from here.
fn raise_open_files() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        // Where this is refused, connecting will say so.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}
