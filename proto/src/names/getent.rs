//! Asking the machine's `getent`, which is a program of the machine's own C library.

use std::io::Read;
use std::net::IpAddr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::error::{NameError, PATIENCE};

/// Answers are a few lines.
const MAX_ANSWER_BYTES: u64 = 64 << 10;

/// The addresses that the machine's name service has for a host; none when it does not know it.
pub(super) async fn hosts(name: &str) -> Result<Vec<IpAddr>, NameError> {
    let mut command = tokio::process::Command::new("getent");
    command.args(["ahosts", "--", name]).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let answer =
        tokio::time::timeout(PATIENCE, command.output()).await.map_err(|_| NameError::Slow(name.to_owned()))?;
    let answer = answer.map_err(|error| NameError::NoGetent { host: name.to_owned(), problem: error.to_string() })?;
    Ok(read_hosts(&String::from_utf8_lossy(&answer.stdout)))
}

/// Each address once; `getent` has a line for each kind of socket.
fn read_hosts(answer: &str) -> Vec<IpAddr> {
    let mut found = Vec::new();
    for address in answer.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()) {
        if !found.contains(&address) {
            found.push(address);
        }
    }
    found
}

/// The line of an id in a database, such as `passwd`, if the machine's name service knows one.
pub(super) fn line(database: &str, id: u32) -> Option<String> {
    let mut command = Command::new("getent");
    command.args([database, &id.to_string()]);
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::piped()).spawn().ok()?;
    let until = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(2)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    };
    let mut answer = String::new();
    child.stdout.take()?.take(MAX_ANSWER_BYTES).read_to_string(&mut answer).ok()?;
    status.success().then_some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_of_sockets_make_one_address() {
        let answer = "10.0.0.1        STREAM lab0\n10.0.0.1        DGRAM  \nfd00::1   STREAM \n";
        let found: Vec<String> = read_hosts(answer).iter().map(IpAddr::to_string).collect();
        assert_eq!(found, ["10.0.0.1", "fd00::1"]);
        assert!(read_hosts("").is_empty());
    }
}
