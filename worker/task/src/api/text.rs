//! Keys and values as text and numbers.
//!
//! Longs travel as decimal text, so that `emit_long(key, 5)` and `emit(key, b"5")` are the same record and people
//! can read intermediate data. Where the *order* of integer keys matters, [`sortable`] gives eight bytes whose
//! order is the numbers' order.

use super::error::TaskError;

/// The words of a line: runs of bytes other than space, tab, line feed, carriage return and form feed
/// (Java's StringTokenizer, hence Hadoop's WordCount).
pub fn words(line: &[u8]) -> Words<'_> {
    Words { line, at: 0 }
}

/// Iterator of [`words`].
#[derive(Clone, Debug)]
pub struct Words<'a> {
    line: &'a [u8],
    at: usize,
}

#[inline(always)]
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

/// The high bit of each of eight bytes that may be white space: those from 0 to 32. Sets bits of no other bytes.
#[inline(always)]
fn maybe_spaces(bytes: u64) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    const FIRST_OTHER: u64 = 0x2121_2121_2121_2121;
    // With its high bit set, no byte borrows from the next.
    !((bytes | HIGH) - FIRST_OTHER) & !bytes & HIGH
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    #[inline(always)]
    fn next(&mut self) -> Option<&'a [u8]> {
        let line = self.line;
        let mut start = self.at;
        while is_space(*line.get(start)?) {
            start += 1;
        }
        // Eight bytes at a time: most words end in the first.
        let mut at = start;
        let end = loop {
            let rest = &line[at..];
            let Some(eight) = rest.first_chunk::<8>() else {
                break at + rest.iter().position(|&byte| is_space(byte)).unwrap_or(rest.len());
            };
            let mut found = maybe_spaces(u64::from_le_bytes(*eight));
            let mut end = None;
            while found != 0 {
                let index = (found.trailing_zeros() / 8) as usize;
                if is_space(eight[index & 7]) {
                    end = Some(at + index);
                    break;
                }
                found &= found - 1;
            }
            match end {
                Some(end) => break end,
                None => at += 8,
            }
        };
        self.at = end + 1;
        Some(&line[start..end])
    }
}

/// Reads decimal text, with an optional sign.
///
/// # Errors
/// When it is anything else or does not fit 64 bits.
#[inline]
pub fn parse_long(text: &[u8]) -> Result<i64, TaskError> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let mut value: i64 = 0;
    let mut fits = !digits.is_empty();
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        // Counted downwards: the smallest long has no positive twin.
        let next = value.checked_mul(10).and_then(|v| v.checked_sub(i64::from(digit)));
        match next {
            Some(next) if digit <= 9 => value = next,
            _ => {
                fits = false;
                break;
            }
        }
    }
    let value = if negative { Some(value) } else { value.checked_neg() };
    match value {
        Some(value) if fits => Ok(value),
        _ => Err(TaskError::Rule(format!("`{}` is not a long in decimal text", printable(text)))),
    }
}

/// Decimal text of a long, without allocation.
#[derive(Clone, Copy)]
pub struct Decimal {
    digits: [u8; 20],
    start: u8,
}

impl Decimal {
    /// Formats `value`.
    #[inline]
    pub fn new(value: i64) -> Decimal {
        let mut digits = [0; 20];
        let mut start = 20;
        let mut rest = value.unsigned_abs();
        loop {
            start -= 1;
            digits[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if value < 0 {
            start -= 1;
            digits[start] = b'-';
        }
        Decimal { digits, start: start as u8 }
    }

    /// The text.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.digits[usize::from(self.start)..]
    }
}

/// Eight bytes whose byte order is the order of the numbers. For descending order give `!value`.
#[inline]
pub fn sortable(value: i64) -> [u8; 8] {
    ((value as u64) ^ (1 << 63)).to_be_bytes()
}

/// Reads [`sortable`] back; `None` unless there are exactly eight bytes.
#[inline]
pub fn from_sortable(bytes: &[u8]) -> Option<i64> {
    Some((u64::from_be_bytes(bytes.try_into().ok()?) ^ (1 << 63)) as i64)
}

/// The byte offset that a text or fixed-length record's key holds (eight bytes, big-endian); `None` for other keys.
#[inline]
pub fn offset(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(key.try_into().ok()?))
}

/// At most 64 bytes of `bytes` for an error message, control characters and wrong UTF-8 escaped.
pub fn printable(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(64)];
    let text: String = cut.escape_ascii().map(char::from).collect();
    if cut.len() < bytes.len() { format!("{text}…") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longs_survive_decimal_text() {
        for value in [0, 1, -1, 9, 10, 12_345, i64::MAX, i64::MIN] {
            let text = Decimal::new(value);
            assert_eq!(text.as_bytes(), value.to_string().as_bytes());
            assert_eq!(parse_long(text.as_bytes()).expect("own text"), value);
        }
        for text in ["", "-", "1x", "9223372036854775808", "-9223372036854775809", " 1"] {
            assert!(parse_long(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn sortable_bytes_keep_the_order() {
        let values = [i64::MIN, -7, -1, 0, 1, 42, i64::MAX];
        assert!(values.windows(2).all(|w| sortable(w[0]) < sortable(w[1])));
        assert!(values.iter().all(|&v| from_sortable(&sortable(v)) == Some(v)));
    }

    #[test]
    fn words_are_what_whitespace_leaves() {
        let found: Vec<&[u8]> = words(b"  the quick\tbrown\r\n fox ").collect();
        assert_eq!(found, [&b"the"[..], b"quick", b"brown", b"fox"]);
        assert_eq!(words(b"").count(), 0);
    }

    proptest::proptest! {
        #[test]
        fn words_equal_a_split_at_white_space(line in proptest::collection::vec(0_u8..=255, 0..80), low in 0_u8..40) {
            let spaced: Vec<u8> = line.iter().map(|&b| if b % 5 == 0 { b % (low + 1) } else { b }).collect();
            let plain: Vec<&[u8]> = spaced.split(|&b| is_space(b)).filter(|word| !word.is_empty()).collect();
            proptest::prop_assert_eq!(words(&spaced).collect::<Vec<_>>(), plain);
        }
    }
}
