//! Durations and sizes as flags have them and as people read them. Their grammar is [`howdah_core::job::quantity`].

use std::time::Duration;

pub(crate) use howdah_charts::count;
use howdah_core::job::quantity::{self, Bytes};
use howdah_core::time::Span;

/// Reads a duration; a bare number is seconds.
///
/// # Errors
/// Says what was expected.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    parse_span(text).map(|span| Duration::from_micros(span.as_us()))
}

/// As [`parse_duration`], as the core counts.
///
/// # Errors
/// Says what was expected.
pub(crate) fn parse_span(text: &str) -> Result<Span, String> {
    quantity::span(text).ok_or_else(|| "expected a number with ms, s, m, h or d, such as 90s".to_owned())
}

/// As messages have it; centuries are the longest there is.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Reads a size; a bare number is bytes.
///
/// # Errors
/// Says what was expected.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    text.parse().map(|Bytes(n)| n).map_err(|_| "expected a number of bytes, such as 4096, 64KiB or 1GiB".to_owned())
}

/// `950 B`, `12.5 MiB`.
pub(crate) fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if n < 1024 {
        return format!("{n} B");
    }
    let mut value = n as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// `1 task`, `2 tasks`.
pub(crate) fn counted(n: u64, noun: &str) -> String {
    let ending = if n == 1 {
        ""
    } else if noun.ends_with("ch") {
        "es"
    } else {
        "s"
    };
    format!("{} {noun}{ending}", count(n))
}

/// `40 µs`, `0.4 ms`, `820 ms`, `4.21 s`, `12.3 s`, `3 min 20 s`, `2 h 05 min`.
pub(crate) fn seconds(s: f64) -> String {
    if s < 0.0 {
        return "-".to_owned();
    }
    if s < 0.000_000_5 {
        return "0 s".to_owned();
    }
    if s < 0.000_05 {
        return format!("{:.0} µs", s * 1e6);
    }
    if s < 0.01 {
        return format!("{:.1} ms", s * 1e3);
    }
    if s < 0.9995 {
        return format!("{:.0} ms", s * 1e3);
    }
    if s < 9.995 {
        return format!("{s:.2} s");
    }
    if s < 99.95 {
        return format!("{s:.1} s");
    }
    let whole = s.round() as u64;
    if whole < 3600 {
        return format!("{} min {:02} s", whole / 60, whole % 60);
    }
    format!("{} h {:02} min", whole / 3600, whole % 3600 / 60)
}

/// `87 %`, cut so that only the finished is 100 %.
pub(crate) fn percent(fraction: f64) -> String {
    format!("{} %", (fraction.clamp(0.0, 1.0) * 100.0 + 1e-9).floor())
}

/// `87.5 %`, not cut: errors and shares, where a decimal tells small ones apart.
pub(crate) fn share(fraction: f64) -> String {
    format!("{:.1} %", fraction * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_numbers_are_seconds_and_bytes() {
        assert_eq!(parse_duration("7"), Ok(Duration::from_secs(7)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert!(parse_duration("soon").is_err() && parse_bytes("10 pounds").is_err());
    }

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(bytes(1_572_864), "1.5 MiB");
        assert_eq!(bytes(1_048_575), "1.0 MiB");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(999), "999");
        assert_eq!(counted(1, "map"), "1 map");
        assert_eq!(seconds(200.2), "3 min 20 s");
        assert_eq!(seconds(0.0042), "4.2 ms");
        assert_eq!(seconds(9.999), "10.0 s");
        assert_eq!([seconds(0.000_04), seconds(0.000_06), seconds(0.0)], ["40 µs", "0.1 ms", "0 s"]);
        assert_eq!(percent(0.9999), "99 %");
        assert_eq!(percent(1.0), "100 %");
    }
}
