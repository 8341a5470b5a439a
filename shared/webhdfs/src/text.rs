//! Text of a peer, made fit for a message of ours; text of ours, made fit for a URL.

use std::fmt::Write as _;

/// Characters of a peer's text that a message repeats.
const MOST_CHARS: usize = 300;

/// A peer's words on one line, without what would steer a terminal, and not too many of them.
pub(crate) fn said(text: &str) -> String {
    let mut short: String = text.chars().take(MOST_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(MOST_CHARS).is_some() {
        short.push('…');
    }
    short
}

/// Percent-encodes all but letters, digits, `-._~` and `/`.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for &byte in text.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_peer_says_stays_on_one_line_and_is_cut() {
        assert_eq!(said("a\n\u{1b}[31mb"), "a  [31mb");
        let long = said(&"ä".repeat(1_000));
        assert_eq!((long.chars().count(), long.ends_with('…')), (MOST_CHARS + 1, true));
    }

    #[test]
    fn only_plain_characters_stand_for_themselves_in_a_url() {
        assert_eq!(encoded("/a b/100%/ä?x#y&z=+"), "/a%20b/100%25/%C3%A4%3Fx%23y%26z%3D%2B");
    }
}
