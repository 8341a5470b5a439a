//! What a check is, and those of the cluster's parts.

use std::time::Duration;

use howdah_proto::dial;
use howdah_proto::v1::{MasterMachine, WorkerInfo};
use serde::Serialize;

use crate::units;

/// A machine that is there answers in milliseconds.
const PATIENCE: Duration = Duration::from_secs(3);
/// Less than this is soon full.
const LITTLE_DISK_KIB: u64 = 1 << 20;
/// One attempt with a sort buffer of the default size wants about so much.
const LITTLE_MEMORY_KIB: u64 = 256 << 10;
/// Clocks that are further apart are said to be.
const MAX_OFFSET_MS: i64 = 1_000;

/// Where limits come from.
pub(super) const LIMITS: &str =
    "LimitNOFILE and LimitNPROC of the unit, or nofile and nproc in /etc/security/limits.conf";

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Check {
    /// Whose: this machine, the master, a worker.
    pub(super) of: String,
    /// What was looked at.
    pub(super) what: &'static str,
    /// What is so, where it is good.
    pub(super) found: String,
    /// What is wrong.
    pub(super) problem: Option<String>,
    /// What to do about it; empty where nothing is wrong.
    pub(super) help: String,
}

impl Check {
    pub(super) fn good(of: &str, what: &'static str, found: String) -> Check {
        Check { of: of.to_owned(), what, found, problem: None, help: String::new() }
    }

    /// With what to do about it, which everything bad has.
    pub(super) fn bad(of: &str, what: &'static str, problem: String, help: String) -> Check {
        debug_assert!(!help.is_empty(), "{of} {what}: {problem}: nobody knows what to do");
        Check { of: of.to_owned(), what, found: String::new(), problem: Some(problem), help }
    }
}

/// Whether the master or a worker is the version that asks.
pub(super) fn version(of: &str, theirs: &str) -> Check {
    let own = env!("CARGO_PKG_VERSION");
    if theirs == own {
        return Check::good(of, "version", theirs.to_owned());
    }
    let help = "install one version of howdah on all machines".to_owned();
    Check::bad(of, "version", format!("it is {theirs}, this is {own}"), help)
}

/// How far a machine's clock is from the master's. `doubt_ms` is what the measurement may be off by.
pub(super) fn clock(of: &str, offset_ms: i64, doubt_ms: i64) -> Check {
    if offset_ms.saturating_abs() <= MAX_OFFSET_MS.saturating_add(doubt_ms) {
        return Check::good(of, "clock", "as the master's, to a second".to_owned());
    }
    let apart = units::seconds(offset_ms.unsigned_abs() as f64 / 1e3);
    let way = if offset_ms < 0 { "behind" } else { "ahead of" };
    let help = "let a service of the system keep it (chrony, systemd-timesyncd): jobs run all the same, but times of \
                several machines in logs and histories do not fit together";
    Check::bad(of, "clock", format!("it is {apart} {way} the master's"), help.to_owned())
}

/// What the master knows of a worker.
pub(super) fn worker(worker: &WorkerInfo, checks: &mut Vec<Check>) {
    let of = &worker.name;
    let help = match worker.state.as_str() {
        "LIVE" => String::new(),
        "LOST" | "STOPPED" => "start it again; its log on its machine says how it ended".to_owned(),
        "SILENT" => "look whether its machine runs and reaches the master".to_owned(),
        "LOW_DISK" => "make room in its directory".to_owned(),
        "DRAINING" => format!("`howdah worker drain {of} --undo` takes it back"),
        "UNREACHABLE" => format!("open {} for the master and the other workers", worker.http_address),
        _ => format!(
            "its attempts failed too often, `howdah job attempts JOB` shows them; once that is mended, `howdah worker enable \
             {of}` takes it back"
        ),
    };
    checks.push(if worker.state == "LIVE" {
        Check::good(of, "state", worker.state.clone())
    } else {
        Check::bad(of, "state", format!("it is {}", worker.state), help)
    });
    if is_gone(worker) {
        return;
    }
    checks.push(version(of, &worker.version));
    checks.extend(worker.clock_offset_ms.map(|offset| clock(of, offset, 0)));
    for problem in &worker.problems {
        let help = "look at that file system, or that port, on its machine: the row goes when the worker sees it again";
        checks.push(Check::bad(of, "files and reach", problem.clone(), help.to_owned()));
    }
    if let Some(vitals) = &worker.vitals {
        let help = "make room in its directory; below `min_free_disk_bytes` it takes no tasks";
        checks.push(disk(of, vitals.disk_free_kib, help));
        // A worker that has not measured yet says 0 of 0.
        if vitals.memory_total_kib > 0 {
            checks.push(memory(of, vitals.memory_free_kib, vitals.memory_total_kib));
        }
    }
}

/// What the master says of its own machine.
pub(super) fn master(machine: &MasterMachine, checks: &mut Vec<Check>) {
    let help = "make room in its directory: without any it takes no jobs";
    checks.extend(machine.disk_free_kib.map(|free| disk("master", free, help)));
    let memory_kib = machine.memory_free_kib.zip(machine.memory_total_kib);
    checks.extend(memory_kib.map(|(free, total)| memory("master", free, total)));
}

fn disk(of: &str, free_kib: u64, help: &str) -> Check {
    let free = units::bytes(free_kib.saturating_mul(1_024));
    match free_kib {
        LITTLE_DISK_KIB.. => Check::good(of, "disk", format!("{free} free")),
        _ => Check::bad(of, "disk", format!("{free} free"), help.to_owned()),
    }
}

/// How much memory a machine has for programs without taking it from others.
pub(super) fn memory(of: &str, free_kib: u64, total_kib: u64) -> Check {
    let [free, total] = [free_kib, total_kib].map(|kib| units::bytes(kib.saturating_mul(1_024)));
    let found = format!("{free} of {total} free");
    if free_kib >= LITTLE_MEMORY_KIB {
        return Check::good(of, "memory", found);
    }
    let help =
        "fewer slots, a smaller `io.sort.mb`, or end what else runs there: where memory runs out, the kernel kills";
    Check::bad(of, "memory", found, help.to_owned())
}

/// Whether there is nothing to look at.
pub(super) fn is_gone(worker: &WorkerInfo) -> bool {
    ["LOST", "STOPPED"].contains(&worker.state.as_str())
}

/// Whether this machine gets to a worker's HTTP port.
pub(super) async fn port(worker: &WorkerInfo) -> Check {
    let address = &worker.http_address;
    let problem = match tokio::time::timeout(PATIENCE, dial::tcp(address, 0)).await {
        Ok(Ok(_)) => return Check::good(&worker.name, "port from here", address.clone()),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("connect to {address}: no answer within {} s", PATIENCE.as_secs()),
    };
    let help = "logs come through the master; workers need this port of each other".to_owned();
    Check::bad(&worker.name, "port from here", problem, help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_worker_is_bad_and_a_live_one_is_looked_at_closer() {
        let known = |state: &str| WorkerInfo {
            name: "lab1".to_owned(),
            state: state.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            vitals: Some(howdah_proto::v1::Vitals { disk_free_kib: 10, ..Default::default() }),
            ..WorkerInfo::default()
        };
        let bad = |state: &str| {
            let mut checks = Vec::new();
            worker(&known(state), &mut checks);
            checks.into_iter().filter(|check| check.problem.is_some()).map(|check| check.what).collect::<Vec<_>>()
        };
        assert_eq!(bad("LOST"), ["state"]);
        assert_eq!(bad("LIVE"), ["disk"]);
        assert_eq!(bad("UNREACHABLE"), ["state", "disk"]);
    }

    #[test]
    fn memory_that_does_not_hold_one_more_attempt_is_bad_and_so_is_a_master_without_disk() {
        let good = memory("lab1", 2 << 20, 8 << 20);
        assert_eq!((good.found.as_str(), good.problem), ("2.0 GiB of 8.0 GiB free", None));
        let bad = memory("lab1", 100 << 10, 8 << 20);
        assert!(
            bad.problem.as_deref() == Some("100.0 MiB of 8.0 GiB free") && bad.help.contains("fewer slots"),
            "{bad:?}"
        );
        let of_master = |disk: u64| {
            let mut checks = Vec::new();
            let machine = MasterMachine {
                disk_free_kib: Some(disk),
                memory_total_kib: Some(1 << 20),
                memory_free_kib: Some(1 << 19),
                user: None,
            };
            master(&machine, &mut checks);
            checks.into_iter().map(|check| (check.what, check.problem.is_some())).collect::<Vec<_>>()
        };
        assert_eq!(of_master(10), [("disk", true), ("memory", false)]);
        assert_eq!(of_master(1 << 30), [("disk", false), ("memory", false)]);
        let mut none = Vec::new();
        master(&MasterMachine::default(), &mut none);
        assert!(none.is_empty());
    }

    #[test]
    fn a_clock_that_is_off_by_more_than_a_second_is_bad_and_says_which_way() {
        assert_eq!(clock("lab1", -400, 0).found, "as the master's, to a second");
        let said = clock("lab1", -1_500, 0).problem.expect("too far");
        assert_eq!(said, "it is 1.50 s behind the master's");
        assert!(clock("lab1", 1_000, 0).problem.is_none() && clock("lab1", 1_001, 0).problem.is_some());
        assert!(clock("this machine", 2_500, 2_000).problem.is_none(), "the answer took long to come");
        let said = clock("lab1", 3_600_000, 0).problem.expect("an hour");
        assert!(said.starts_with("it is 1 h") && said.ends_with("ahead of the master's"), "{said}");
        assert!(clock("lab1", i64::MIN, i64::MAX).problem.is_none(), "no overflow");
    }

    #[test]
    fn another_version_is_bad() {
        assert!(version("master", "0.0.1").problem.is_some());
        assert!(version("master", env!("CARGO_PKG_VERSION")).problem.is_none());
    }
}
