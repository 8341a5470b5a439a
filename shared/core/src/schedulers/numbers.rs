//! Numbers as people write them in parameters: lengths of time and decimals, read without floats.

/// `500ms`, `10s`, `2.5m`, `3h`; without a unit, seconds. To the millisecond.
pub(super) fn microseconds(word: &str) -> Option<u64> {
    let word = word.trim();
    let unit_at = word.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(word.len());
    let (number, unit) = word.split_at(unit_at);
    let unit_us: u64 = match unit {
        "ms" => 1_000,
        "s" | "" => 1_000_000,
        "m" | "min" => 60_000_000,
        "h" => 3_600_000_000,
        _ => return None,
    };
    thousandths(number)?.checked_mul(unit_us).map(|us| us / 1_000)
}

/// A decimal number in thousandths, so that no float decides; at most three decimals.
pub(super) fn thousandths(number: &str) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if (whole.is_empty() && part.is_empty()) || !digits(whole) || !digits(part) || part.len() > 3 {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let part: u64 = if part.is_empty() { 0 } else { format!("{part:0<3}").parse().ok()? };
    whole.checked_mul(1_000)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_read_with_and_without_units() {
        for (text, us) in [("500ms", 500_000), ("10", 10_000_000), ("2.5m", 150_000_000), (" 3h ", 10_800_000_000)] {
            assert_eq!(microseconds(text), Some(us), "{text}");
        }
        for text in ["", "s", "1.2345s", "-1s", "1e3", "5 parsecs", "99999999999999999999h"] {
            assert_eq!(microseconds(text), None, "{text}");
        }
    }
}
