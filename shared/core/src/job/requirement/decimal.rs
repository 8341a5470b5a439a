//! Decimal numbers that compare exactly: no float decides where a task runs.

use std::str::FromStr;

/// Digits after the point that count.
const FRACTION_DIGITS: usize = 9;
/// Digits before the point; with the fraction they fit the integer.
const WHOLE_DIGITS: usize = 27;

/// A number in billionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Decimal(i128);

impl Decimal {
    pub(super) const ZERO: Decimal = Decimal(0);
}

/// Not a decimal number, or one with more digits than compare exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotDecimal;

impl FromStr for Decimal {
    type Err = NotDecimal;

    /// Digits with an optional sign and point, such as `4`, `-0.5` or `12.250`; no exponent and no other number words.
    fn from_str(text: &str) -> Result<Decimal, NotDecimal> {
        let (negative, digits) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(fraction) {
            return Err(NotDecimal);
        }
        let whole = whole.trim_start_matches('0');
        let fraction = fraction.trim_end_matches('0');
        if whole.len() > WHOLE_DIGITS || fraction.len() > FRACTION_DIGITS {
            return Err(NotDecimal);
        }
        let padding = std::iter::repeat_n(b'0', FRACTION_DIGITS - fraction.len());
        let billionths = whole
            .bytes()
            .chain(fraction.bytes())
            .chain(padding)
            .fold(0, |sum, digit| sum * 10 + i128::from(digit - b'0'));
        Ok(Decimal(if negative { -billionths } else { billionths }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Option<Decimal> {
        text.parse().ok()
    }

    #[test]
    fn numbers_compare_by_value_however_they_are_spelt() {
        assert_eq!(decimal("1.50"), decimal("01.5"));
        assert_eq!(decimal("-0"), Some(Decimal::ZERO));
        assert_eq!(decimal("+4"), decimal("4.000000000000"));
        assert!(decimal("0.1") < decimal("0.100000001"));
        assert!(decimal("-2") < decimal("-1.5"));
        assert!(decimal("9") < decimal("10"), "not as text");
        let largest = "9".repeat(WHOLE_DIGITS);
        assert!(decimal(&largest) > decimal("999999999999999999999999999.0").map(|Decimal(n)| Decimal(n - 1)));
    }

    #[test]
    fn what_would_not_compare_exactly_is_no_number() {
        for text in ["", "-", ".", ".5", "5.", "1e3", "0x10", "1_000", "1,5", "NaN", "inf", "0.1234567891", " 1", "--1"]
        {
            assert_eq!(decimal(text), None, "{text}");
        }
        assert_eq!(decimal(&"9".repeat(WHOLE_DIGITS + 1)), None);
        assert!(decimal(&format!("{}1", "0".repeat(1_000))).is_some(), "leading zeros are no digits that count");
    }
}
