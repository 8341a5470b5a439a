//! Numbers in text, compared as `-n` of Hadoop's KeyFieldBasedComparator does: digit by digit, so of any length.
//!
//! A number is a sign, digits, and digits behind a point; what follows them counts only between equal numbers, as the
//! byte that ended them, or as the first byte of the field if it ended there. So `x` is a zero, `7a` comes after `7`, and
//! `012` before `12`, and an empty field before them all.
//! `Deviation:` Hadoop's rule contradicts itself, and no order can follow all of it, which sorting, merging and grouping need:
//! `012` is before `12` and both equal `12.0`; `0,` is before `0` and both equal `0.` and `-0`; `7,` is before `7` and both equal
//! `7.`. Here `12.0` is `12`, `0.` and `-0` are `0`, and `7.` is `7`, as they are in Hadoop where none of the others is.

use std::cmp::Ordering;

/// A field, read.
#[derive(Debug)]
pub(super) struct Number<'a> {
    is_negative: bool,
    /// Without the zeros in front.
    whole: &'a [u8],
    /// Without the zeros at the end.
    fraction: &'a [u8],
    /// Orders equal numbers.
    last: i8,
}

impl<'a> Number<'a> {
    pub(super) fn read(field: &'a [u8]) -> Number<'a> {
        let (digits, has_sign) = field.strip_prefix(b"-").map_or((field, false), |digits| (digits, true));
        let zeros = n_leading(digits, is_zero_digit);
        let (whole, rest) = digits[zeros..].split_at(n_leading(&digits[zeros..], is_digit));
        let fraction = rest.strip_prefix(b".").map_or(&b""[..], |rest| {
            let fraction = &rest[..n_leading(rest, is_digit)];
            let n_zeros = n_leading(fraction.iter().rev(), is_zero_digit);
            &fraction[..fraction.len() - n_zeros]
        });
        let is_zero = whole.is_empty() && fraction.is_empty();
        let plain = if has_sign { b'-' } else { whole.first().copied().unwrap_or(b'0') };
        let last = match rest.first() {
            _ if has_sign && is_zero => b'0',
            Some(b'.') if fraction.is_empty() => plain,
            Some(b'.') => 0,
            Some(other) => *other,
            None => field.first().copied().unwrap_or(0),
        };
        Number { is_negative: has_sign && !is_zero, whole, fraction, last: last as i8 }
    }

    pub(super) fn compare(&self, other: &Number<'_>) -> Ordering {
        let magnitude = || {
            let whole = self.whole.len().cmp(&other.whole.len()).then_with(|| self.whole.cmp(other.whole));
            whole.then_with(|| self.fraction.cmp(other.fraction)).then(self.last.cmp(&other.last))
        };
        match (self.is_negative, other.is_negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => magnitude(),
            (true, true) => magnitude().reverse(),
        }
    }
}

fn n_leading<'a>(bytes: impl IntoIterator<Item = &'a u8>, is_one: fn(u8) -> bool) -> usize {
    bytes.into_iter().take_while(|byte| is_one(**byte)).count()
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

fn is_zero_digit(byte: u8) -> bool {
    byte == b'0'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_order_by_value_whatever_their_length() {
        let ordered = [
            "-123456789012345678901234567890",
            "-12.5",
            "-12",
            "-1.01",
            "-0.5",
            "",
            "0",
            "0.01",
            ".18",
            "0.19",
            "02",
            "9",
            "010",
            "10",
            "10.01",
            "10.1",
            "123.10",
            "123.9",
            "4444",
            "123456789012345678901234567890",
        ];
        for (at, a) in ordered.iter().enumerate() {
            for (other, b) in ordered.iter().enumerate() {
                let found = Number::read(a.as_bytes()).compare(&Number::read(b.as_bytes()));
                assert_eq!(found, at.cmp(&other), "{a} {b}");
            }
        }
    }

    #[test]
    fn forms_of_a_number_are_equal() {
        for (a, b) in [("-0", "0"), ("-0.0", "0.00"), ("12", "12.0"), ("12.5", "12.50"), ("00", "0"), ("7.5x", "7.5")] {
            assert_eq!(Number::read(a.as_bytes()).compare(&Number::read(b.as_bytes())), Ordering::Equal, "{a} {b}");
        }
    }

    /// Of each three Hadoop says that the first is before the second and that the third equals both.
    #[test]
    fn where_hadoops_rule_contradicts_itself_the_third_equals_the_one_without_a_comma() {
        let compare = |a: &str, b: &str| Number::read(a.as_bytes()).compare(&Number::read(b.as_bytes()));
        for [first, second, third] in [
            ["012", "12", "12.0"],
            ["0,", "0", "0."],
            ["0,", "0", "0.00"],
            ["0,", "0", "-0"],
            ["0,", "0", "-0."],
            ["7,", "7", "7."],
        ] {
            assert_eq!(compare(first, second), Ordering::Less, "{first} {second}");
            assert_eq!(compare(second, third), Ordering::Equal, "{second} {third}");
            assert_eq!(compare(first, third), Ordering::Less, "{first} {third}");
        }
        // Below zero it is the other way round.
        assert_eq!(compare("-7", "-7,"), Ordering::Less);
        assert_eq!(compare("-7", "-7."), Ordering::Equal);
        assert_eq!(compare("-7.", "-7,"), Ordering::Less);
    }

    #[test]
    fn what_is_no_number_is_a_zero() {
        let compare = |a: &str, b: &str| Number::read(a.as_bytes()).compare(&Number::read(b.as_bytes()));
        assert_eq!(compare("abc", "1"), Ordering::Less);
        assert_eq!(compare("abc", "-1"), Ordering::Greater);
        assert_eq!(compare("abc", "xyz"), Ordering::Less);
        assert_eq!(compare("+5", "1"), Ordering::Less);
        assert_eq!(compare("7a", "7"), Ordering::Greater);
    }
}
