//! What a check is, and those of the cluster's parts.

use std::time::Duration;

use howdah_proto::dial;
use howdah_proto::v1::WorkerInfo;
use serde::Serialize;

use crate::units;

/// A machine that is there answers in milliseconds.
const PATIENCE: Duration = Duration::from_secs(3);
/// Less than this is soon full.
const LITTLE_DISK_KIB: u64 = 1 << 20;
/// Clocks that are further apart are said to be.
const MAX_OFFSET_MS: i64 = 1_000;

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
    /// What to do about it; may be empty.
    pub(super) help: String,
}

impl Check {
    pub(super) fn good(of: &str, what: &'static str, found: String) -> Check {
        Check { of: of.to_owned(), what, found, problem: None, help: String::new() }
    }

    pub(super) fn bad(of: &str, what: &'static str, problem: String, help: String) -> Check {
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
        _ => "its attempts failed too often: `howdah job attempts JOB` shows them".to_owned(),
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
        checks.push(Check::bad(of, "files and reach", problem.clone(), String::new()));
    }
    if let Some(vitals) = &worker.vitals {
        let free = units::bytes(vitals.disk_free_kib.saturating_mul(1_024));
        checks.push(if vitals.disk_free_kib >= LITTLE_DISK_KIB {
            Check::good(of, "disk", format!("{free} free"))
        } else {
            let help = "make room in its directory; below `min_free_disk_bytes` it takes no tasks".to_owned();
            Check::bad(of, "disk", format!("{free} free"), help)
        });
    }
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
