//! The master's own machine: what it is called, and what it has left, for `howdah doctor`; and where others get at it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::path::Path;

use howdah_proto::v1;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use procfs::Current;

/// What it calls itself.
pub(super) fn name() -> String {
    nix::unistd::gethostname().unwrap_or_default().to_string_lossy().into_owned()
}

/// Of the disk that a directory lies on, and of memory; what the system does not tell is absent.
pub(super) fn look(dir: &Path) -> v1::MasterMachine {
    let disk = rustix::fs::statvfs(dir).ok();
    let memory = procfs::Meminfo::current().ok();
    v1::MasterMachine {
        disk_free_kib: disk.map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) / 1_024),
        memory_total_kib: memory.as_ref().map(|memory| memory.mem_total / 1_024),
        memory_free_kib: memory.and_then(|memory| memory.mem_available).map(|bytes| bytes / 1_024),
        user: Some(v1::User::own()),
    }
}

/// At which address other machines get at this one: that of its default route, else its first one; none without a network.
pub(super) fn address_for_others() -> Option<IpAddr> {
    let all = getifaddrs().ok()?;
    let up = all
        .filter(|one| one.flags.contains(InterfaceFlags::IFF_UP) && !one.flags.contains(InterfaceFlags::IFF_LOOPBACK));
    let of = up.filter_map(|one| {
        let address = one.address?;
        let v4 = address.as_sockaddr_in().map(|v4| IpAddr::from(v4.ip()));
        v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::from(v6.ip())))
    });
    let is_local = |address: &IpAddr| match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    let mut found: Vec<IpAddr> = of.filter(|address| !is_local(address)).collect();
    found.sort_by_key(IpAddr::is_ipv6);
    by_default_route().into_iter().find(|address| found.contains(address)).or_else(|| found.first().copied())
}

/// From which addresses this machine would speak to one of a documentation's networks, which are nobody's; nothing is sent.
fn by_default_route() -> Vec<IpAddr> {
    let from = |own: IpAddr, to: IpAddr| {
        let socket = UdpSocket::bind((own, 0)).ok()?;
        socket.connect((to, 9)).ok()?;
        socket.local_addr().ok().map(|address| address.ip())
    };
    let v4 = from(Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::new(192, 0, 2, 1).into());
    let v6 = from(Ipv6Addr::UNSPECIFIED.into(), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into());
    v4.into_iter().chain(v6).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_get_at_this_machine_where_it_is_not_on_loopback() {
        let found = address_for_others();
        assert!(found.is_none_or(|address| !address.is_loopback() && !address.is_unspecified()), "{found:?}");
    }

    #[test]
    fn a_machine_has_some_disk_and_more_memory_than_is_free() {
        let dir = tempfile::tempdir().unwrap();
        let seen = look(dir.path());
        assert!(seen.disk_free_kib.is_some());
        assert!(seen.memory_total_kib > seen.memory_free_kib && seen.memory_free_kib > Some(0), "{seen:?}");
        assert_eq!(look(Path::new("/nowhere/at/all")).disk_free_kib, None);
    }
}
