//! `/etc/hosts`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The addresses that the file has for a name, in its order. `localhost` needs no line.
pub(super) fn addresses(text: &str, name: &str) -> Vec<IpAddr> {
    let name = name.trim_end_matches('.');
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(Ok(address)) = words.next().map(str::parse::<IpAddr>) else { continue };
        if words.any(|word| word.eq_ignore_ascii_case(name)) && !found.contains(&address) {
            found.push(address);
        }
    }
    if found.is_empty() && name.eq_ignore_ascii_case("localhost") {
        found = vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_further_names_are_found_and_comments_are_not() {
        let text = "# lab\n127.0.0.1 localhost\n10.0.0.1\tlab0 lab0.example # lab9\nnonsense lab0\nfd00::1 LAB0\n";
        let found = |name| addresses(text, name).iter().map(IpAddr::to_string).collect::<Vec<_>>();
        assert_eq!(found("lab0"), ["10.0.0.1", "fd00::1"]);
        assert_eq!(found("lab0.example."), ["10.0.0.1"]);
        assert_eq!(found("lab9"), [""; 0]);
        assert_eq!(found("localhost"), ["127.0.0.1"]);
        assert_eq!(addresses("", "localhost").len(), 2);
    }
}
