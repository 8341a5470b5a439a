//! Changes of good bytes: bits are flipped, pieces are cut, doubled or taken out, numbers are replaced by extreme ones.

use proptest::prelude::*;

/// Numbers at which arithmetic or parsing might stumble.
const EXTREMES: [&str; 8] =
    ["0", "-1", "", "1e308", "nan", "18446744073709551616", "-9223372036854775808", "99999999999999999999999999"];

/// One change of a text.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Flip(usize, u8),
    Cut(usize),
    Remove(usize, usize),
    Double(usize, usize, usize),
    Number(usize, usize),
}

/// Any change.
pub(super) fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<usize>(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        any::<usize>().prop_map(Change::Cut),
        (any::<usize>(), 1..60_usize).prop_map(|(at, n)| Change::Remove(at, n)),
        (any::<usize>(), 1..80_usize, any::<usize>()).prop_map(|(at, n, to)| Change::Double(at, n, to)),
        (any::<usize>(), 0..EXTREMES.len()).prop_map(|(which, extreme)| Change::Number(which, extreme)),
    ]
}

/// Carries it out.
pub(super) fn apply(bytes: &mut Vec<u8>, change: &Change) {
    let n = bytes.len();
    if n == 0 {
        return;
    }
    match *change {
        Change::Flip(at, bit) => bytes[at % n] ^= 1 << bit,
        Change::Cut(at) => bytes.truncate(at % n),
        Change::Remove(at, count) => drop(bytes.drain(at % n..(at % n + count).min(n))),
        Change::Double(at, count, to) => {
            let piece = bytes[at % n..(at % n + count).min(n)].to_vec();
            bytes.splice(to % n..to % n, piece);
        }
        Change::Number(which, extreme) => {
            let digits: Vec<usize> = (0..n).filter(|&at| bytes[at].is_ascii_digit()).collect();
            if let Some(&at) = digits.get(which % digits.len().max(1)) {
                bytes.splice(at..=at, EXTREMES[extreme].bytes());
            }
        }
    }
}
