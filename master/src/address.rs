//! Where a master listens, the same after a restart.
//!
//! With port 0 the first start takes any free port and notes it; later starts take that one again, as workers and
//! waiting clients look for the master there. Nobody waits at the HTTP interface, so its port is not noted.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use howdah_proto::names::{self, HTTP_PORT, HostPort, MASTER_PORT};
use tokio::net::TcpListener;

use crate::noted;

/// Name of the file that holds the address.
const FILE: &str = "address";
/// How long a start waits for the noted port: the process that had it may just be ending.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(100);

/// Listens for workers and clients.
pub(crate) async fn listen(dir: &Path, listen: &str) -> anyhow::Result<TcpListener> {
    first("listen", listen, MASTER_PORT, Some(dir)).await
}

/// Listens for HTTP.
pub(crate) async fn listen_http(listen: &str) -> anyhow::Result<TcpListener> {
    first("http_listen", listen, HTTP_PORT, None).await
}

/// Listens on the first address of `listen` that this machine has; on loopback only where nothing else is asked for.
async fn first(setting: &str, listen: &str, port: u16, dir: Option<&Path>) -> anyhow::Result<TcpListener> {
    let mut addresses = names::sockets(listen, port).await.with_context(|| format!("setting `{setting}`"))?;
    // Distributions write this machine's own name into /etc/hosts, on loopback, where no other machine gets.
    addresses.sort_by_key(|address| address.ip().is_loopback());
    let mut problem = None;
    for address in addresses {
        match bind(dir, address).await {
            Ok(listener) => {
                if address.ip().is_loopback() && listen.parse::<HostPort>().is_ok_and(|said| is_name(&said)) {
                    tracing::warn!(setting, listen, %address, "this name is on loopback here: no other machine can reach it");
                }
                return Ok(listener);
            }
            Err(error) => problem = Some((address, error)),
        }
    }
    let (address, error) = problem.with_context(|| format!("setting `{setting}`: `{listen}` has no address"))?;
    Err(error).with_context(|| format!("setting `{setting}`: listen on {address}"))
}

fn is_name(said: &HostPort) -> bool {
    said.address().is_none() && said.host != "localhost"
}

/// Binds `wanted`, or where the master of this directory listened before if any port will do.
async fn bind(dir: Option<&Path>, wanted: SocketAddr) -> io::Result<TcpListener> {
    let noted = dir.and_then(|dir| noted::noted::<SocketAddr>(dir, FILE));
    if let Some(noted) = noted.filter(|noted| wanted.port() == 0 && noted.ip() == wanted.ip()) {
        let until = Instant::now() + PATIENCE;
        loop {
            match TcpListener::bind(noted).await {
                Ok(listener) => return Ok(listener),
                Err(e) if e.kind() == ErrorKind::AddrInUse && Instant::now() < until => {
                    tokio::time::sleep(PAUSE).await;
                }
                Err(error) => {
                    let why = "the master takes another port; its workers do not know that one";
                    tracing::warn!(address = %noted, %error, "the port of the start before is taken: {why}");
                    break;
                }
            }
        }
    }
    TcpListener::bind(wanted).await
}

/// Notes the address for the next start.
pub(crate) fn note(dir: &Path, address: SocketAddr) -> anyhow::Result<()> {
    noted::note(dir, FILE, address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_port_that_was_free_to_choose_is_chosen_again() {
        let dir = tempfile::tempdir().unwrap();
        let any = "127.0.0.1:0";
        let first = listen(dir.path(), any).await.unwrap();
        let address = first.local_addr().unwrap();
        note(dir.path(), address).unwrap();
        drop(first);
        let second = listen(dir.path(), any).await.unwrap();
        assert_eq!(second.local_addr().unwrap(), address);
        // Told otherwise, the note does not count; with the port taken, any other will do.
        let other: SocketAddr = "127.0.0.2:0".parse().unwrap();
        assert_eq!(listen(dir.path(), "127.0.0.2:0").await.unwrap().local_addr().unwrap().ip(), other.ip());
        assert_ne!(listen(dir.path(), any).await.unwrap().local_addr().unwrap(), address);
    }

    #[tokio::test]
    async fn the_http_interface_is_named_like_the_other_port_and_has_one_of_its_own() {
        assert!(listen_http("localhost:0").await.unwrap().local_addr().unwrap().ip().is_loopback());
        let taken = TcpListener::bind("127.0.0.3:8088").await;
        // Whether we have that port or somebody else does, it is the one that is meant.
        let error = format!("{:#}", listen_http("127.0.0.3").await.unwrap_err());
        assert!(error.starts_with("setting `http_listen`: listen on 127.0.0.3:8088: "), "{error}");
        drop(taken);
        let error = format!("{:#}", listen_http("no-such-host.invalid").await.unwrap_err());
        assert!(error.starts_with("setting `http_listen`: host `no-such-host.invalid`"), "{error}");
    }
}
