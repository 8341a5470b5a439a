//! Keys and values as text and numbers.
//!
//! Longs travel as decimal text, so that `emit_long(key, 5)` and `emit(key, b"5")` are the same record and people
//! can read intermediate data. Where the *order* of integer keys matters, [`sortable`] gives eight bytes whose
//! order is the numbers' order.

use super::error::TaskError;

/// The words of a line: runs of bytes other than space, tab, line feed, carriage return and form feed
/// (Java's StringTokenizer, hence Hadoop's WordCount).
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&b| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)).filter(|word| !word.is_empty())
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
}
