//! Thousands of connections that never become requests, at each port on which a master and a worker listen.
//!
//! Some say nothing, the others half of a request. What they take is descriptors, of which each daemon has its own number:
//! where there are many, thousands are held; where there are few, those that asked nothing make room.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use howdah_guards::Guard;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::net::TcpSocket;

use super::load::expect_descriptors_run_out;
use super::readers::leave_large_log;
use super::{Usual, expect_all_live, expect_lasting, narrow, without};
use crate::harness::{Cluster, Setup, wait_for};

/// At each of three ports, where the system lets processes have so many.
const THOUSANDS: usize = 2_500;
/// Opened at each port of daemons that may have fewer files than that.
const OPENED: usize = 3_000;
/// What calls and what requests over HTTP begin with.
const HALF_CALL: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM";
const HALF_REQUEST: &[u8] = b"GET /logs/attempt_1_0001_m_0000";

/// A connection, unless the queue of those that nobody took yet is full.
fn connect(address: &str) -> std::io::Result<TcpStream> {
    TcpStream::connect_timeout(&address.parse().expect("an address"), Duration::from_secs(1))
}

/// As many files as this process, and what it starts, may have at most.
fn raise_own_descriptors() -> usize {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("the limit of files");
    let raised = setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok();
    usize::try_from(if raised { hard } else { soft }).unwrap_or(usize::MAX)
}

/// A connection of another machine's, as far as the daemons see: those who hold few of their own are not to pay for it.
async fn connect_from_elsewhere(address: &str) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind("127.0.0.2:0".parse().expect("an address"))?;
    let connecting = socket.connect(address.parse().expect("an address"));
    let stream = tokio::time::timeout(Duration::from_secs(1), connecting).await??.into_std()?;
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// Holds `n` connections to an address and opens others for those that are closed, until told to stop.
fn hold(address: &str, half: &[u8], n: usize, opened: &AtomicUsize, stop: &AtomicBool) {
    let mut held: Vec<TcpStream> = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("make a runtime");
    while !stop.load(Ordering::Relaxed) {
        held.retain_mut(|stream| !matches!(stream.read(&mut [0; 64]), Ok(0)));
        // Some at a time, so that others come in between.
        for _ in held.len()..n.min(held.len() + 300) {
            let Ok(mut stream) = runtime.block_on(connect_from_elsewhere(address)) else { break };
            let number = opened.fetch_add(1, Ordering::Relaxed);
            if number.is_multiple_of(2) {
                let _ = stream.write_all(half);
            }
            held.extend(stream.set_nonblocking(true).ok().map(|()| stream));
        }
        std::thread::sleep(Duration::from_millis(250));
    }
}

/// Where `worker-1` serves.
fn worker_address(cluster: &Cluster) -> String {
    let workers = cluster.workers();
    let first = workers.iter().find(|worker| worker["name"] == "worker-1").expect("it is listed");
    first["http_address"].as_str().expect("an address").to_owned()
}

/// Where its master, over both protocols, and its first worker listen.
fn ports(cluster: &Cluster) -> [String; 3] {
    [cluster.address.clone(), cluster.http_address(), worker_address(cluster)]
}

/// Does something while all ports are attacked; it is given how many connections were opened at each.
fn beside_half_open(cluster: &Cluster, at_each: usize, mut done: impl FnMut(&[AtomicUsize; 3]) + Send) {
    let (ports, stop) = (ports(cluster), AtomicBool::new(false));
    let opened: [AtomicUsize; 3] = Default::default();
    std::thread::scope(|scope| {
        let stop = &stop;
        for ((port, half), opened) in ports.iter().zip([HALF_CALL, HALF_REQUEST, HALF_REQUEST]).zip(&opened) {
            scope.spawn(move || hold(port, half, at_each, opened, stop));
        }
        let ended = scope.spawn(|| done(&opened)).join();
        stop.store(true, Ordering::Relaxed);
        if let Err(panic) = ended {
            std::panic::resume_unwind(panic);
        }
    });
}

fn with_http(setup: Setup) -> Setup {
    Setup { master_config: "[master]\nhttp_listen = \"127.0.0.1:0\"\n".to_owned(), ..setup }
}

/// Files that a process has open now.
fn files(process: u32) -> usize {
    std::fs::read_dir(PathBuf::from(format!("/proc/{process}/fd"))).expect("it runs").count()
}

/// Whether a server answers whatever it is asked, within a second.
fn answers(address: &str) -> bool {
    let asked = connect(address).and_then(|mut stream| {
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        stream.write_all(b"GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n")?;
        stream.read(&mut [0; 64])
    });
    matches!(asked, Ok(1..))
}

#[test]
fn thousands_of_half_open_connections_are_held_beside_jobs() {
    // This process has an end of each, and a worker lets a quarter of its files be connections, half of them of one machine.
    let at_each = THOUSANDS.min(raise_own_descriptors() / 10);
    let cluster = Cluster::start(with_http(narrow()));
    let usual = Usual::of(&cluster);
    beside_half_open(&cluster, at_each, |_| {
        let held = |process, n| (files(process) >= n).then_some(());
        wait_for("the master to hold them at both ports", || held(cluster.master_pid(), 2 * at_each));
        wait_for("the worker to hold them", || held(cluster.worker_process(0), at_each));
        usual.submit(&cluster, "innocent").expect_right_bytes(&cluster);
        assert!(answers(&cluster.http_address()), "the HTTP interface");
        expect_all_live(&cluster, 2);
    });
    cluster.stop_and_replay();
}

#[test]
fn half_open_connections_make_room_where_there_are_few_descriptors() {
    let few = Setup { master_descriptors: Some(400), worker_descriptors: Some(200), ..narrow() };
    let cluster = Cluster::start(with_http(few));
    let usual = Usual::of(&cluster);
    let worker = worker_address(&cluster);
    beside_half_open(&cluster, OPENED, |opened| {
        for name in ["first", "second"] {
            usual.submit(&cluster, name).expect_right_bytes(&cluster);
        }
        wait_for("thousands to be opened at each port", || {
            opened.iter().all(|opened| opened.load(Ordering::Relaxed) >= OPENED).then_some(())
        });
        usual.submit(&cluster, "third").expect_right_bytes(&cluster);
        wait_for("the HTTP interface to answer", || answers(&cluster.http_address()).then_some(()));
        wait_for("the worker to answer", || answers(&worker).then_some(()));
        expect_all_live(&cluster, 2);
    });
    let log = cluster.master_log();
    for trouble in ["connections cannot be taken", "the journal cannot be written", "a worker is lost"] {
        assert!(!log.contains(trouble), "{log}");
    }
    cluster.stop_and_replay();
}

#[test]
fn half_open_connections_take_all_descriptors_of_a_worker_where_nobody_counts_them() {
    let cluster = Cluster::start(with_http(Setup { worker_descriptors: Some(200), ..without(&[Guard::Connections]) }));
    let [_, _, worker] = ports(&cluster);
    beside_half_open(&cluster, 400, |_| {
        wait_for("the worker to answer nobody", || (!answers(&worker)).then_some(()));
        expect_lasting("the worker answers nobody", || !answers(&worker));
    });
}

#[test]
fn half_open_connections_at_its_other_port_take_all_descriptors_of_a_master_where_nobody_counts_them() {
    let cluster = Cluster::start(with_http(Setup { master_descriptors: Some(200), ..without(&[Guard::Connections]) }));
    let (opened, http) = (AtomicUsize::new(0), cluster.http_address());
    expect_descriptors_run_out(&cluster, |stop| hold(&http, HALF_REQUEST, 400, &opened, stop));
}

/// Readers of a worker's log, straight from its server, who take nothing of the answer.
const DEAF: usize = 200;

/// Asks for a log that is larger than all buffers on the way, again and again.
fn ask_and_read_nothing(worker: &str, attempt: &str) -> Vec<TcpStream> {
    let ask = |_| {
        let mut stream = connect(worker).ok()?;
        write!(stream, "GET /logs/{attempt}/stderr HTTP/1.1\r\nhost: x\r\n\r\n").ok()?;
        Some(stream)
    };
    (0..DEAF).filter_map(ask).collect()
}

#[test]
fn readers_of_a_workers_server_that_take_nothing_make_room() {
    let cluster = Cluster::start(Setup { workers: 1, worker_descriptors: Some(200), ..narrow() });
    let usual = Usual::of(&cluster);
    let attempt = leave_large_log(&cluster);
    let worker = worker_address(&cluster);
    let deaf = ask_and_read_nothing(&worker, &attempt);
    wait_for("the worker to answer others", || answers(&worker).then_some(()));
    usual.submit(&cluster, "innocent").expect_right_bytes(&cluster);
    assert_eq!(cluster.run(&["job", "logs", &attempt, "--stderr"]).expect_code(0).stdout.len(), 1_500_000);
    drop(deaf);
    expect_all_live(&cluster, 1);
    cluster.stop_and_replay();
}

#[test]
fn readers_of_a_workers_server_that_take_nothing_keep_all_its_descriptors_where_nobody_counts_them() {
    let off = without(&[Guard::Connections]);
    let cluster = Cluster::start(Setup { workers: 1, worker_descriptors: Some(200), ..off });
    let attempt = leave_large_log(&cluster);
    let worker = worker_address(&cluster);
    let _deaf = ask_and_read_nothing(&worker, &attempt);
    wait_for("the worker to answer nobody", || (!answers(&worker)).then_some(()));
    expect_lasting("the worker answers nobody", || !answers(&worker));
}
