//! Where the worker's HTTP server listens, and what it says of that to the master.
//!
//! Unless somebody sets an address, the worker says its port alone: the master takes the host from each connection
//! that registers, so an address that came late, or changed, is right at the next registration.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::{Context, anyhow};
use howdah_proto::names::{self, HostPort};
use tokio::net::TcpListener;

use crate::config::WorkerConfig;

/// What a registration says of the HTTP server's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Announced {
    /// `host:port`, or `:port` for the master to complete.
    pub(crate) address: String,
    /// Whether somebody set it.
    pub(crate) advertised: bool,
}

/// Listens where the settings say; else on loopback where the master is there, on all addresses where it is not.
pub(crate) async fn listen(config: &WorkerConfig) -> anyhow::Result<TcpListener> {
    if !config.listen.is_empty() {
        let addresses = names::sockets(&config.listen, 0).await.context("setting `listen`")?;
        return bind(&addresses).await;
    }
    let master: HostPort = config.master.parse().context("setting `master`")?;
    match master.address() {
        Some(address) if address.is_loopback() => bind(&[(address, 0).into()]).await,
        None if master.host == "localhost" => {
            bind(&[(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 0).into()]).await
        }
        // One that takes both kinds, where the machine has the newer one.
        _ => bind(&[(Ipv6Addr::UNSPECIFIED, 0).into(), (Ipv4Addr::UNSPECIFIED, 0).into()]).await,
    }
}

/// Listens on the first of these that is this machine's.
async fn bind(addresses: &[SocketAddr]) -> anyhow::Result<TcpListener> {
    let mut last = None;
    for address in addresses {
        match TcpListener::bind(address).await {
            Ok(listener) => return Ok(listener),
            Err(error) => last = Some((address, error)),
        }
    }
    let (address, error) = last.ok_or_else(|| anyhow!("setting `listen`: no address"))?;
    Err(error).with_context(|| format!("setting `listen`: listen on {address}\nhelp: port 0 takes any free port"))
}

/// What the settings and the listening socket make of it.
pub(crate) fn announced(config: &WorkerConfig, listening: SocketAddr) -> anyhow::Result<Announced> {
    if !config.advertise.is_empty() {
        let said: HostPort = config.advertise.parse().context("setting `advertise`")?;
        return Ok(Announced { address: said.with_port(listening.port()), advertised: true });
    }
    let is_set = !config.listen.is_empty() && !is_any(listening.ip());
    let address = if is_set { listening.to_string() } else { format!(":{}", listening.port()) };
    Ok(Announced { address, advertised: is_set })
}

fn is_any(address: IpAddr) -> bool {
    address.to_canonical().is_unspecified()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(listen: &str, advertise: &str) -> WorkerConfig {
        WorkerConfig { listen: listen.to_owned(), advertise: advertise.to_owned(), ..WorkerConfig::default() }
    }

    fn said(listen: &str, advertise: &str, listening: &str) -> (String, bool) {
        let Announced { address, advertised } =
            announced(&config(listen, advertise), listening.parse().unwrap()).unwrap();
        (address, advertised)
    }

    #[test]
    fn the_port_alone_is_said_unless_somebody_set_an_address() {
        assert_eq!(said("", "", "[::]:50060"), (":50060".to_owned(), false));
        assert_eq!(said("", "", "127.0.0.1:50060"), (":50060".to_owned(), false));
        assert_eq!(said("0.0.0.0:50060", "", "0.0.0.0:50060"), (":50060".to_owned(), false));
        assert_eq!(said("lab3:0", "", "10.0.0.3:50060"), ("10.0.0.3:50060".to_owned(), true));
    }

    #[test]
    fn what_is_advertised_stands_over_it_and_takes_the_port_if_it_has_none() {
        assert_eq!(said("", "gate:80", "[::]:50060"), ("gate:80".to_owned(), true));
        assert_eq!(said("", "lab3", "[::]:50060"), ("lab3:50060".to_owned(), true));
        assert!(announced(&config("", "lab 3"), "[::]:1".parse().unwrap()).is_err());
    }

    #[tokio::test]
    async fn a_worker_of_a_master_elsewhere_listens_on_all_addresses_even_without_a_network() {
        let elsewhere = WorkerConfig { master: "not-yet-known.invalid:9001".to_owned(), ..WorkerConfig::default() };
        assert!(is_any(listen(&elsewhere).await.unwrap().local_addr().unwrap().ip()));
        let here = WorkerConfig { master: "127.0.0.1:9001".to_owned(), ..WorkerConfig::default() };
        assert!(listen(&here).await.unwrap().local_addr().unwrap().ip().is_loopback());
    }
}
