//! Durations and sizes as people write them: the one grammar of flags, settings, properties and parameters.
//!
//! | written | means |
//! | --- | --- |
//! | `250ms` `90s` `15m` `2h` `1d`, with fractions | a duration |
//! | `64k` `64KiB` `1.5g` `1TiB` | a size in powers of 1024, as Hadoop has bare letters |
//! | `64kB` `10MB` `1GB` | a size in powers of 1000 |
//! | a bare number | what the place says: Hadoop's properties have milliseconds, bytes or MiB, flags seconds or bytes |
//!
//! Upper and lower case are the same. By hand, as no library has Hadoop's letters and a unit of choice for bare numbers.

use std::fmt;
use std::str::FromStr;

use crate::time::Span;

/// A text that is not what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAQuantity;

/// A duration in whole milliseconds; a bare number is milliseconds, as in Hadoop's properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millis(pub u64);

/// A size in bytes; a bare number is bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// A size in whole MiB; a bare number is MiB, as in Hadoop's properties that end in `.mb`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mebibytes(pub u64);

/// A duration; a bare number is seconds, as in flags and in parameters of schedulers.
pub fn span(text: &str) -> Option<Span> {
    microseconds(text, 1_000_000).map(Span::from_us)
}

/// Microseconds of `text`, of which a bare number is so many times `bare` microseconds.
fn microseconds(text: &str, bare: u64) -> Option<u64> {
    scaled(text, |unit| {
        Some(match unit {
            "" => bare,
            "us" => 1,
            "ms" => 1_000,
            "s" | "sec" => 1_000_000,
            "m" | "min" => 60_000_000,
            "h" => 3_600_000_000,
            "d" => 86_400_000_000,
            _ => return None,
        })
    })
}

/// Bytes of `text`, of which a bare number is so many times `bare` bytes.
fn bytes(text: &str, bare: u64) -> Option<u64> {
    scaled(text, |unit| {
        Some(match unit {
            "" => bare,
            "b" => 1,
            "k" | "kib" => 1 << 10,
            "m" | "mib" => 1 << 20,
            "g" | "gib" => 1 << 30,
            "t" | "tib" => 1 << 40,
            "kb" => 1_000,
            "mb" => 1_000_000,
            "gb" => 1_000_000_000,
            "tb" => 1_000_000_000_000,
            _ => return None,
        })
    })
}

/// A number times its unit, exact: no float decides anything. Of a fraction, nine digits count.
fn scaled(text: &str, factor: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = factor(&unit.trim().to_ascii_lowercase())?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction = &fraction[..fraction.len().min(9)];
    let nanos: u128 = if fraction.is_empty() { 0 } else { format!("{fraction:0<9}").parse().ok()? };
    let value = whole.checked_mul(1_000_000_000)?.checked_add(nanos)?.checked_mul(factor.into())? / 1_000_000_000;
    u64::try_from(value).ok()
}

impl FromStr for Millis {
    type Err = NotAQuantity;

    fn from_str(text: &str) -> Result<Millis, NotAQuantity> {
        microseconds(text, 1_000).map(|us| Millis(us / 1_000)).ok_or(NotAQuantity)
    }
}

impl FromStr for Bytes {
    type Err = NotAQuantity;

    fn from_str(text: &str) -> Result<Bytes, NotAQuantity> {
        bytes(text, 1).map(Bytes).ok_or(NotAQuantity)
    }
}

impl FromStr for Mebibytes {
    type Err = NotAQuantity;

    fn from_str(text: &str) -> Result<Mebibytes, NotAQuantity> {
        bytes(text, 1 << 20).map(|n| Mebibytes(n >> 20)).ok_or(NotAQuantity)
    }
}

/// As Hadoop writes it: the bare number.
impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// As Hadoop writes it: the bare number.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(text: &str) -> Option<u64> {
        text.parse::<Millis>().ok().map(|millis| millis.0)
    }

    fn size(text: &str) -> Option<u64> {
        text.parse::<Bytes>().ok().map(|bytes| bytes.0)
    }

    #[test]
    fn durations_have_units_and_bare_numbers_the_places() {
        assert_eq!(millis("2s"), Some(2_000));
        assert_eq!(millis(" 1.5 min "), Some(90_000));
        assert_eq!(millis("1d"), Some(86_400_000));
        assert_eq!(millis("250"), Some(250));
        assert_eq!(millis("0.25s"), Some(250));
        assert_eq!(span("2"), Some(Span::from_secs(2)));
        assert_eq!(span(".5h"), Some(Span::from_secs(1_800)));
        for text in ["", "s", "-1", "+1", "1.2.3s", ".", "1x", "2 s 3", "1e3", "inf", "99999999999999999999d"] {
            assert_eq!(millis(text), None, "{text}");
        }
    }

    #[test]
    fn bare_letters_are_binary_and_units_what_they_say() {
        assert_eq!(size("64m"), Some(64 << 20));
        assert_eq!(size("64MiB"), Some(64 << 20));
        assert_eq!(size("64MB"), Some(64_000_000));
        assert_eq!(size("1.5g"), Some(3 << 29));
        assert_eq!(size("12b"), Some(12));
        assert_eq!("100".parse(), Ok(Mebibytes(100)));
        assert_eq!("1GiB".parse(), Ok(Mebibytes(1024)));
        for text in ["", "m", "1x", "-1", "99999999999t", "0x10"] {
            assert_eq!(size(text), None, "{text}");
        }
    }

    #[test]
    fn whole_numbers_are_exact_to_the_last_bit() {
        assert_eq!(size("18446744073709551615"), Some(u64::MAX));
        assert_eq!(size("9007199254740993"), Some(9_007_199_254_740_993));
    }
}
