//! Changes of good bytes: bits are flipped, pieces are cut, doubled, repeated or taken out, numbers are replaced by extreme ones.

use proptest::prelude::*;

/// Numbers in text at which arithmetic or parsing might stumble.
const EXTREMES: [&str; 14] = [
    "0",
    "-1",
    "",
    "0.5",
    "1e308",
    "NaN",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999",
];
/// And in words of a binary file.
const WORDS: [u64; 8] = [0, 1, 0x7f, 0xffff, 0x7fff_ffff, 0xffff_ffff, i64::MAX as u64, u64::MAX];
/// Bytes that a repeated piece comes to at most: more tells nothing that fewer do not.
const MOST_REPEATED: usize = 64 << 10;

/// One change.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// Of one bit.
    Flip(usize, u8),
    /// The rest is gone.
    Cut(usize),
    /// A piece is gone.
    Remove(usize, usize),
    /// A piece stands at another place as well.
    Double(usize, usize, usize),
    /// A piece follows itself many times.
    Repeat(usize, usize, usize),
    /// A byte more.
    Insert(usize, u8),
    /// A number of a text is another.
    Number(usize, usize),
    /// Two, four or eight bytes are an extreme number, the least significant first.
    Word(usize, u8, usize),
}

/// Any change.
pub fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        2 => (any::<usize>(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        1 => any::<usize>().prop_map(Change::Cut),
        1 => (any::<usize>(), 1..200_usize).prop_map(|(at, n)| Change::Remove(at, n)),
        1 => (any::<usize>(), 1..400_usize, any::<usize>()).prop_map(|(at, n, to)| Change::Double(at, n, to)),
        1 => (any::<usize>(), 1..80_usize, 2..300_usize).prop_map(|(at, n, times)| Change::Repeat(at, n, times)),
        1 => (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Change::Insert(at, byte)),
        3 => (any::<usize>(), 0..EXTREMES.len()).prop_map(|(which, extreme)| Change::Number(which, extreme)),
        1 => (any::<usize>(), 1..4_u8, 0..WORDS.len()).prop_map(|(at, size, word)| Change::Word(at, size, word)),
    ]
}

/// A few.
pub fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec(change(), 1..6)
}

/// Good bytes after some changes.
pub fn changed(good: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut bytes = good.to_vec();
    changes.iter().for_each(|change| apply(&mut bytes, change));
    bytes
}

/// Carries a change out.
pub fn apply(bytes: &mut Vec<u8>, change: &Change) {
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
        Change::Repeat(at, count, times) => {
            let piece = &bytes[at % n..(at % n + count).min(n)];
            let many = piece.repeat(times.min(MOST_REPEATED / piece.len()));
            bytes.splice(at % n..at % n, many);
        }
        Change::Insert(at, byte) => bytes.insert(at % n, byte),
        Change::Number(which, extreme) => {
            let begins = |at: &usize| bytes[*at].is_ascii_digit() && (*at == 0 || !bytes[*at - 1].is_ascii_digit());
            let starts: Vec<usize> = (0..n).filter(begins).collect();
            if let Some(&start) = starts.get(which % starts.len().max(1)) {
                let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                bytes.splice(start..start + length, EXTREMES[extreme].bytes());
            }
        }
        Change::Word(at, size, word) => {
            let (at, size) = (at % n, 1 << size);
            let end = (at + size).min(n);
            bytes[at..end].copy_from_slice(&WORDS[word].to_le_bytes()[..end - at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str, change: Change) -> String {
        String::from_utf8(changed(text.as_bytes(), &[change])).expect("text stays text")
    }

    #[test]
    fn each_change_is_what_it_says() {
        assert_eq!(after("abc", Change::Flip(1, 0)), "acc");
        assert_eq!(after("abc", Change::Cut(1)), "a");
        assert_eq!(after("abcd", Change::Remove(1, 2)), "ad");
        assert_eq!(after("abcd", Change::Double(2, 9, 0)), "cdabcd");
        assert_eq!(after("abcd", Change::Repeat(1, 2, 3)), "abcbcbcbcd");
        assert_eq!(after("abc", Change::Insert(3, b'-')), "-abc", "places count from the beginning again");
        assert_eq!(after("a=12, b=345", Change::Number(1, 6)), "a=12, b=65536");
        assert_eq!(after("none", Change::Number(1, 6)), "none");
        assert_eq!(changed(&[9; 6], &[Change::Word(1, 2, 4)]), [9, 0xff, 0xff, 0xff, 0x7f, 9]);
        assert_eq!(changed(&[9; 3], &[Change::Word(1, 3, 5)]), [9, 0xff, 0xff]);
        assert_eq!(changed(&[], &[Change::Cut(3)]), []);
    }

    proptest! {
        #[test]
        fn any_change_of_any_bytes_can_be_carried_out(
            good in prop::collection::vec(any::<u8>(), 0..40),
            changes in changes(),
        ) {
            let most = good.len() + changes.len() * MOST_REPEATED;
            prop_assert!(changed(&good, &changes).len() <= most);
        }
    }
}
