//! Hosts by name, by the machine's `getent`.
//!
//! The executable is linked statically, and its C library's own look-up would load the machine's name-service modules into
//! it (see `proto/src/names/`). Attempts ask no more than a few names, so there is no other way here than the program.

use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(2);
/// Answers are a few lines.
const MOST_BYTES: u64 = 64 << 10;

/// The first address of `host:port`, or of `host` with this port.
///
/// # Errors
/// In words, when the text is no such address or nobody knows the host.
pub fn socket(authority: &str, default_port: u16) -> Result<SocketAddr, String> {
    if let Ok(address) = authority.parse::<SocketAddr>() {
        return Ok(address);
    }
    if let Ok(address) = authority.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Ok(SocketAddr::new(address, default_port));
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) => (host, port.parse().map_err(|_| format!("`{port}` is no port"))?),
        None => (authority, default_port),
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    if host.is_empty() || host.len() > 253 || host.starts_with('-') || !host.chars().all(is_name) {
        return Err("it is no name of a host".to_owned());
    }
    Ok(SocketAddr::new(ask(host)?, port))
}

/// The first of the addresses that the machine's name service has.
fn ask(host: &str) -> Result<IpAddr, String> {
    let mut command = Command::new("getent");
    command.args(["ahosts", "--", host]).stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("`getent`, which would know its address: {error}"))?;
    let until = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if Instant::now() < until => std::thread::sleep(PAUSE),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("`getent ahosts` gave no address within {} s", PATIENCE.as_secs()));
            }
        }
    }
    let mut answer = String::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(MOST_BYTES).read_to_string(&mut answer).map_err(|error| error.to_string())?;
    }
    let first = answer.lines().find_map(|line| line.split_whitespace().next()?.parse().ok());
    first.ok_or_else(|| format!("host `{host}` is unknown here"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_stand_for_themselves_and_names_are_asked_for() {
        let found = |text: &str| socket(text, 80).map(|address| address.to_string());
        assert_eq!(found("10.0.0.1:9870").unwrap(), "10.0.0.1:9870");
        assert_eq!(found("10.0.0.1").unwrap(), "10.0.0.1:80");
        assert_eq!(found("[::1]").unwrap(), "[::1]:80");
        assert!(socket("localhost:5", 80).unwrap().ip().is_loopback());
        for bad in ["", ":1", "-v:1", "a b:1", "nn:x", "nn:99999"] {
            assert!(found(bad).is_err(), "{bad}");
        }
        assert_eq!(found("no-such-host.invalid:1").unwrap_err(), "host `no-such-host.invalid` is unknown here");
    }
}
