//! `host`, `host:port`, `address:port`, `[address]:port`: how people write where something listens.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// A host by name or address, and a port if one was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort {
    /// Without brackets.
    pub host: String,
    /// `None` when it was left out.
    pub port: Option<u16>,
}

/// The text has another form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no address, expected `host:port`, such as `lab0:9001`, `10.0.0.1:9001` or `[fd00::1]:9001`")]
pub struct HostPortError(String);

impl HostPort {
    /// The address, where the host is not a name.
    pub fn address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// Whether only this machine gets there.
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.address().is_some_and(|address| address.is_loopback())
    }

    /// Whether other machines get at who listens there, as far as the text tells.
    pub fn others_reach(listen: &str) -> bool {
        !listen.parse::<HostPort>().is_ok_and(|listen| listen.is_loopback())
    }

    /// The text as an URL has it, with this port where none was said.
    pub fn with_port(&self, port: u16) -> String {
        HostPort { port: Some(self.port.unwrap_or(port)), ..self.clone() }.to_string()
    }
}

impl From<SocketAddr> for HostPort {
    fn from(address: SocketAddr) -> HostPort {
        HostPort { host: address.ip().to_string(), port: Some(address.port()) }
    }
}

impl FromStr for HostPort {
    type Err = HostPortError;

    fn from_str(text: &str) -> Result<HostPort, HostPortError> {
        let wrong = || HostPortError(text.to_owned());
        let read_port = |port: &str| port.parse::<u16>().map(Some).map_err(|_| wrong());
        let (host, port) = if let Some(rest) = text.strip_prefix('[') {
            let (host, rest) = rest.split_once(']').ok_or_else(wrong)?;
            host.parse::<Ipv6Addr>().map_err(|_| wrong())?;
            match rest.strip_prefix(':') {
                Some(port) => (host, read_port(port)?),
                None if rest.is_empty() => (host, None),
                None => return Err(wrong()),
            }
        } else if text.parse::<Ipv6Addr>().is_ok() {
            (text, None)
        } else {
            match text.split_once(':') {
                Some((host, port)) => (host, read_port(port)?),
                None => (text, None),
            }
        };
        let is_address = host.parse::<IpAddr>().is_ok();
        let is_name_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if host.is_empty()
            || host.len() > 253
            || !(is_address || host.chars().all(is_name_char))
            || host.starts_with('-')
        {
            return Err(wrong());
        }
        Ok(HostPort { host: host.to_owned(), port })
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_v6 = self.host.contains(':');
        if is_v6 {
            write!(f, "[{}]", self.host)?
        } else {
            f.write_str(&self.host)?
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_are_read_and_written_alike() {
        for text in ["lab0", "lab0:9001", "10.0.0.1:0", "[fd00::1]:9001", "a.b-c_d.example:65535"] {
            assert_eq!(text.parse::<HostPort>().unwrap().to_string(), text);
        }
        assert_eq!("fd00::1".parse::<HostPort>().unwrap().with_port(9), "[fd00::1]:9");
        assert_eq!("lab0".parse::<HostPort>().unwrap().with_port(9001), "lab0:9001");
    }

    #[test]
    fn loopback_is_distinguished_from_other_addresses() {
        let is_loopback = |text: &str| text.parse::<HostPort>().unwrap().is_loopback();
        assert!(["127.0.0.1", "127.0.1.1:1", "[::1]:9", "localhost:9001"].into_iter().all(is_loopback));
        assert!(!["0.0.0.0:9001", "[::]:1", "lab0", "10.0.0.1"].into_iter().any(is_loopback));
    }

    #[test]
    fn what_is_no_address_is_said_with_an_example() {
        for text in
            ["", ":1", "lab0:", "lab0:70000", "lab 0", "http://lab0:1", "[lab0]:1", "[::1", "[::1]x", "-v:1", "a:b:c"]
        {
            let error = text.parse::<HostPort>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` is no address, expected `host:port`")), "{error}");
        }
    }
}
