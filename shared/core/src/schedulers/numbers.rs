//! Decimals as people write them in parameters, read without floats.

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
    fn decimals_have_three_digits_at_most() {
        for (text, expected) in [("1", 1_000), ("2.5", 2_500), (".125", 125), ("3.", 3_000)] {
            assert_eq!(thousandths(text), Some(expected), "{text}");
        }
        for text in ["", ".", "1.2345", "-1", "1e3", "99999999999999999999"] {
            assert_eq!(thousandths(text), None, "{text}");
        }
    }
}
