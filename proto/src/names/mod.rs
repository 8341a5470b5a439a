//! Hosts and users by name, without the machine's name-service modules in this process.
//!
//! The executable is linked statically. The C library's `getaddrinfo` and `getpwuid` would load the machine's
//! `libnss_*.so` into it, which were built for another C library: that crashes where `nsswitch.conf` names more than
//! files. `/etc/hosts` and `/etc/passwd` are therefore read here, and for everything else (DNS, LDAP, SSSD, systemd) the
//! machine's own `getent` is asked as a program: it follows `nsswitch.conf` as every other program there does, which
//! a resolver of our own would not.

mod error;
mod getent;
mod host_port;
mod hosts;
mod users;

pub use self::error::NameError;
pub use host_port::{HostPort, HostPortError};
pub use users::{group_name, user_name};

use std::net::{IpAddr, SocketAddr};

/// The port of a master where none is said.
pub const MASTER_PORT: u16 = 9001;

/// The port of a master's HTTP interface where none is said: that of Hadoop's ResourceManager.
pub const HTTP_PORT: u16 = 8088;

/// The addresses of a host, at least one. An address is its own.
///
/// # Errors
/// When the name is unknown, or nobody can be asked.
pub async fn host(name: &str) -> Result<Vec<IpAddr>, NameError> {
    if let Ok(address) = name.parse::<IpAddr>() {
        return Ok(vec![address]);
    }
    let text = tokio::fs::read_to_string("/etc/hosts").await.unwrap_or_default();
    let mut found = hosts::addresses(&text, name);
    if found.is_empty() {
        found = getent::hosts(name).await?;
    }
    if found.is_empty() { Err(NameError::Unknown(name.to_owned())) } else { Ok(found) }
}

/// The addresses of `host` or `host:port`, at least one; `port` where none is said.
///
/// # Errors
/// As [`host`], and when the text has another form.
pub async fn sockets(text: &str, port: u16) -> Result<Vec<SocketAddr>, NameError> {
    let parsed: HostPort = text.parse()?;
    let port = parsed.port.unwrap_or(port);
    Ok(host(&parsed.host).await?.into_iter().map(|address| SocketAddr::new(address, port)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn an_address_is_its_own_and_a_port_left_out_is_the_default_one() {
        let sockets = |text| wait(sockets(text, MASTER_PORT)).unwrap();
        assert_eq!(sockets("10.0.0.1"), ["10.0.0.1:9001".parse().unwrap()]);
        assert_eq!(sockets("[fd00::1]:80"), ["[fd00::1]:80".parse().unwrap()]);
        assert_eq!(sockets("fd00::1"), ["[fd00::1]:9001".parse().unwrap()]);
        assert!(sockets("localhost:1").iter().all(|address| address.ip().is_loopback() && address.port() == 1));
    }

    #[test]
    fn an_unknown_host_is_named() {
        let error = wait(host("no-such-host.invalid")).unwrap_err().to_string();
        assert!(error.starts_with("host `no-such-host.invalid`"), "{error}");
    }
}
