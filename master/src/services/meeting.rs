//! A worker's first words: whether it speaks what this master speaks, and where others find its HTTP server.
//!
//! A wrong address is worse than none: the worker would take maps whose output nobody can fetch. What the worker leaves
//! out is therefore taken from its connection, anew at every registration, and what it says is checked against it.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering;
use std::time::Duration;

use howdah_guards::Guard;
use howdah_proto::names::HostPort;
use howdah_proto::v1::MasterStart;
use howdah_proto::{PROTOCOL, build, dial, v1};
use tonic::Status;

use super::Shared;
use super::status::with_help;

/// How long a worker's own word for its address may take to prove true.
const REACH_PATIENCE: Duration = Duration::from_secs(5);

/// Refuses a worker whose words this master could misunderstand.
pub(super) fn check_protocol(request: &v1::RegisterRequest) -> Result<(), Status> {
    if request.protocol == PROTOCOL {
        return Ok(());
    }
    let (own, version) = (env!("CARGO_PKG_VERSION"), &request.version);
    let protocol = request.protocol;
    let message = format!(
        "worker `{}` is howdah {version} with protocol {protocol}, this master is howdah {own} with protocol {PROTOCOL}",
        request.name
    );
    Err(Status::failed_precondition(with_help(message, "install one version of howdah on all machines")))
}

/// Refuses a worker that has met a newer start of this cluster: the master there has taken over, and this one must not be obeyed.
pub(super) fn check_start(
    shared: &Shared,
    who: impl FnOnce() -> String,
    met: Option<MasterStart>,
) -> Result<(), Status> {
    let Some(newer) = met.filter(|met| shared.start.is_older_than(met)) else { return Ok(()) };
    let who = who();
    let (cluster, own, epoch) = (shared.start.cluster_id, shared.start.epoch, newer.epoch);
    let message = format!("this master is start {own} of cluster {cluster}, and {who} has met the newer start {epoch}");
    let help = "stop this master: another one goes on with a copy of its directory";
    if !shared.superseded.swap(true, Ordering::Relaxed) {
        tracing::error!("{message}; workers that have met it refuse this one\nhelp: {help}");
    }
    Err(Status::failed_precondition(with_help(message, help)))
}

/// Notes that a worker is another build than the master.
pub(super) fn note_build(request: &v1::RegisterRequest) {
    if !request.build.is_empty() && request.build != build::id() {
        let (worker, version) = (&request.name, &request.version);
        tracing::warn!(worker, version, build = request.build, master = build::id(), "the worker is another build");
    }
}

/// The worker's address as others get it, from what it said and where its connection comes from. One that speaks over loopback is
/// on this machine, which others get at where `own` says, if it knows.
pub(super) async fn address(
    request: &v1::RegisterRequest,
    peer: Option<IpAddr>,
    own: impl FnOnce() -> Option<IpAddr>,
) -> Result<String, Status> {
    let said = request.http_address.as_str();
    // Without a network, as in tests of this service alone, there is nothing to compare with.
    let Some(peer) = peer.map(|peer| peer.to_canonical()) else { return Ok(said.to_owned()) };
    if let Some(port) = said.strip_prefix(':') {
        let port =
            port.parse().map_err(|_| refuse(format!("HTTP address `{said}`: expected a port after the colon")))?;
        let own = if peer.is_loopback() { own() } else { None };
        if let Some(there) = own.map(|own| SocketAddr::new(own, port).to_string()) {
            match reached(&there).await {
                Ok(()) => return Ok(there),
                // It is of use to this machine, and there may be no other.
                Err(_) => tracing::warn!(
                    worker = request.name,
                    "the worker is on this machine and listens on loopback alone, where workers of other machines could not \
                     fetch from it\nhelp: give it --master with a name or an address of this machine that others use"
                ),
            }
        }
        return Ok(SocketAddr::new(peer, port).to_string());
    }
    let parsed: HostPort = said.parse().map_err(|error| refuse(format!("HTTP address {error}")))?;
    if parsed.port.is_none() {
        return Err(refuse(format!("HTTP address `{said}`: expected a port")));
    }
    let host = parsed.address().map(|host| host.to_canonical());
    if host == Some(peer) {
        return Ok(said.to_owned());
    }
    if parsed.host == "localhost" || host.is_some_and(|host| host.is_loopback()) && !peer.is_loopback() {
        let message = format!(
            "the HTTP address `{said}` is on loopback, but the worker is at {peer}: nobody else could fetch from it"
        );
        return Err(Status::failed_precondition(with_help(
            message,
            "leave out --advertise, or give an address that others reach",
        )));
    }
    if !Guard::AnnouncedAddress.stands() {
        return Ok(said.to_owned());
    }
    if host.is_some_and(|host| host.is_unspecified()) || !request.advertised {
        let message = format!("the HTTP address `{said}` is not the worker's: its connection comes from {peer}");
        return Err(Status::failed_precondition(with_help(
            message,
            "give an address that others reach with --advertise",
        )));
    }
    reached(said).await?;
    Ok(said.to_owned())
}

/// Fails when the master cannot connect to an advertised address.
async fn reached(address: &str) -> Result<(), Status> {
    let problem = match tokio::time::timeout(REACH_PATIENCE, dial::tcp(address, 0)).await {
        Ok(Ok(_)) => return Ok(()),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("no answer within {} s", REACH_PATIENCE.as_secs()),
    };
    let message = format!("the worker advertises `{address}`, but the master cannot reach it: {problem}");
    Err(Status::failed_precondition(with_help(message, "check --advertise and what filters packets between the two")))
}

fn refuse(message: String) -> Status {
    Status::invalid_argument(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(http_address: &str, advertised: bool) -> v1::RegisterRequest {
        v1::RegisterRequest { http_address: http_address.to_owned(), advertised, ..v1::RegisterRequest::default() }
    }

    async fn check(http_address: &str, advertised: bool, peer: &str) -> Result<String, String> {
        check_on(None, http_address, advertised, peer).await
    }

    async fn check_on(own: Option<&str>, http_address: &str, advertised: bool, peer: &str) -> Result<String, String> {
        let (peer, own) = (Some(peer.parse().unwrap()), own.map(|own| own.parse().unwrap()));
        address(&said(http_address, advertised), peer, || own).await.map_err(|status| status.message().to_owned())
    }

    #[tokio::test]
    async fn a_worker_beside_its_master_is_where_others_get_at_the_machine() {
        let own = Some("127.0.0.2");
        let listener = tokio::net::TcpListener::bind("127.0.0.2:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let said = format!(":{port}");
        for peer in ["127.0.0.1", "127.0.1.1", "::1"] {
            assert_eq!(check_on(own, &said, false, peer).await.unwrap(), format!("127.0.0.2:{port}"));
        }
        let elsewhere = check_on(own, &said, false, "10.0.0.3").await.unwrap();
        assert_eq!(elsewhere, format!("10.0.0.3:{port}"));
        drop(listener);
        let alone = check_on(own, &said, false, "127.0.0.1").await.unwrap();
        assert_eq!(alone, format!("127.0.0.1:{port}"), "it listens there alone");
    }

    #[tokio::test]
    async fn a_port_alone_gets_the_host_of_the_connection() {
        assert_eq!(check(":50060", false, "10.0.0.3").await.unwrap(), "10.0.0.3:50060");
        assert_eq!(check(":50060", false, "::ffff:10.0.0.3").await.unwrap(), "10.0.0.3:50060");
        assert_eq!(check(":50060", false, "fd00::3").await.unwrap(), "[fd00::3]:50060");
        assert_eq!(check(":1", false, "127.0.0.1").await.unwrap(), "127.0.0.1:1");
    }

    #[tokio::test]
    async fn a_loopback_address_is_refused_where_the_worker_is_elsewhere() {
        for loopback in ["127.0.0.1:5", "[::1]:5", "localhost:5", "127.0.1.1:5"] {
            let error = check(loopback, true, "10.0.0.3").await.unwrap_err();
            assert!(error.starts_with(&format!("the HTTP address `{loopback}` is on loopback")), "{error}");
        }
    }

    #[tokio::test]
    async fn another_host_needs_to_be_advertised_and_to_answer() {
        let error = check("127.0.0.2:5", false, "127.0.0.1").await.unwrap_err();
        assert!(error.contains("its connection comes from 127.0.0.1"), "{error}");
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let there = format!("127.0.0.1:{port}");
        assert_eq!(check(&there, true, "127.0.0.2").await.unwrap(), there);
        drop(listener);
        let error = check(&there, true, "127.0.0.2").await.unwrap_err();
        assert!(
            error.starts_with(&format!("the worker advertises `{there}`, but the master cannot reach it")),
            "{error}"
        );
    }

    #[tokio::test]
    async fn what_is_no_address_is_refused() {
        for wrong in [":", ":x", "host", "host:", "0.0.0.0:5"] {
            assert!(check(wrong, false, "10.0.0.3").await.is_err(), "{wrong}");
        }
    }

    #[test]
    fn another_protocol_is_refused_with_both_versions() {
        let request = v1::RegisterRequest { version: "0.0.9".to_owned(), name: "w".to_owned(), ..Default::default() };
        let error = check_protocol(&request).unwrap_err();
        let expected = format!(
            "worker `w` is howdah 0.0.9 with protocol 0, this master is howdah {} with protocol {PROTOCOL}",
            env!("CARGO_PKG_VERSION")
        );
        assert!(error.message().starts_with(&expected), "{}", error.message());
        assert!(check_protocol(&v1::RegisterRequest { protocol: PROTOCOL, ..request }).is_ok());
    }
}
