//! Fields of a key, as Hadoop's KeyFieldHelper chooses them: `-k1,2 -k3.2nr`, with `sort`'s meaning.
//!
//! Positions count from 1; a character of 0 at the end is the field's last one. A character at the end counts from its
//! field's start and may lie in a later field; a start may, too. Partitioner and comparator share this.
//! `Deviation:` a word that is no option is refused; Hadoop passes over it.

use howdah_task::{Properties, Result};

pub(super) const SEPARATOR: [&str; 2] = ["mapreduce.map.output.key.field.separator", "map.output.key.field.separator"];

/// One `-k`, or the whole key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyRange {
    /// Field and character.
    first: (usize, usize),
    /// `None`: to the key's end.
    last: Option<(usize, usize)>,
    /// How a comparator compares it.
    pub(super) is_numeric: bool,
    pub(super) is_reverse: bool,
}

impl KeyRange {
    const WHOLE: KeyRange = KeyRange { first: (1, 1), last: None, is_numeric: false, is_reverse: false };

    /// The first `n` fields.
    pub(super) fn of_first(n: usize) -> KeyRange {
        KeyRange { last: Some((n, 0)), ..KeyRange::WHOLE }
    }
}

/// Where the fields of keys are, and which of them count.
#[derive(Debug)]
pub(super) struct KeyRanges {
    separator: Vec<u8>,
    pub(super) ranges: Vec<KeyRange>,
}

impl KeyRanges {
    pub(super) fn new(properties: &Properties, ranges: Vec<KeyRange>) -> KeyRanges {
        let separator = properties.first(&SEPARATOR).map_or("\t", |(_, value)| value).as_bytes().to_vec();
        KeyRanges { separator, ranges }
    }

    /// Reads the options of one of these properties; the whole key without any.
    pub(super) fn of(properties: &Properties, names: &[&str; 2]) -> Result<KeyRanges> {
        let ranges = match properties.first(names) {
            Some((name, options)) => parse(options)
                .ok_or_else(|| format!("property `{name}`: `{options}` is not of the form -k1.2,3.4nr …"))?,
            None => vec![KeyRange::WHOLE],
        };
        Ok(KeyRanges::new(properties, ranges))
    }

    /// Start and end of the `nth` field, from 1, without its separator.
    fn field(&self, key: &[u8], nth: usize) -> Option<(usize, usize)> {
        if self.separator.is_empty() {
            return (nth == 1).then_some((0, key.len()));
        }
        let mut start = 0;
        for _ in 1..nth {
            start += memchr::memmem::find(&key[start..], &self.separator)? + self.separator.len();
        }
        let length = memchr::memmem::find(&key[start..], &self.separator).unwrap_or(key.len() - start);
        Some((start, start + length))
    }

    /// What `range` is of `key`; `None` when the key ends before it.
    pub(super) fn bytes<'a>(&self, key: &'a [u8], range: KeyRange) -> Option<&'a [u8]> {
        let start = match range.first {
            (1, character) => character - 1,
            (field, character) => self.field(key, field)?.0.checked_add(character - 1)?,
        };
        if start >= key.len() {
            return None;
        }
        let end = match range.last {
            None => key.len(),
            Some((field, character)) => match self.field(key, field) {
                None => key.len(),
                Some((_, end)) if character == 0 => end,
                Some((start, _)) => start.saturating_add(character).min(key.len()),
            },
        };
        Some(key.get(start..end).unwrap_or_default())
    }
}

/// Reads options. Flags that stand alone hold for the keys without flags of their own, or for the whole key.
fn parse(options: &str) -> Option<Vec<KeyRange>> {
    let mut ranges = Vec::new();
    let mut all = KeyRange::WHOLE;
    let mut words = options.split_whitespace();
    while let Some(word) = words.next() {
        let Some(text) = word.strip_prefix("-k") else {
            let flags = word.strip_prefix('-').filter(|flags| !flags.is_empty())?;
            if !add_flags(&mut all, flags).is_empty() {
                return None;
            }
            continue;
        };
        ranges.push(range(if text.is_empty() { words.next()? } else { text })?);
    }
    for range in ranges.iter_mut().filter(|range: &&mut KeyRange| !range.is_numeric && !range.is_reverse) {
        (range.is_numeric, range.is_reverse) = (all.is_numeric, all.is_reverse);
    }
    if ranges.is_empty() {
        ranges.push(all);
    }
    Some(ranges)
}

/// `FIELD[.CHARACTER][nr][,FIELD[.CHARACTER][nr]]`
fn range(text: &str) -> Option<KeyRange> {
    let mut range = KeyRange::WHOLE;
    let (first, last) = text.split_once(',').map_or((text, None), |(first, last)| (first, Some(last)));
    let (field, character) = position(add_flags(&mut range, first), 1)?;
    if field == 0 || character == 0 {
        return None;
    }
    range.first = (field, character);
    if let Some(last) = last {
        // A last field of 0 is none.
        range.last = Some(position(add_flags(&mut range, last), 0)?).filter(|(field, _)| *field > 0);
    }
    Some(range)
}

/// Takes the flags off the end of a position.
fn add_flags<'a>(range: &mut KeyRange, position: &'a str) -> &'a str {
    let rest = position.trim_end_matches(['n', 'r']);
    let flags = &position[rest.len()..];
    range.is_numeric |= flags.contains('n');
    range.is_reverse |= flags.contains('r');
    rest
}

/// `FIELD[.CHARACTER]`
fn position(text: &str, default: usize) -> Option<(usize, usize)> {
    match text.split_once('.') {
        Some((field, character)) => Some((field.parse().ok()?, character.parse().ok()?)),
        None => Some((text.parse().ok()?, default)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(options: &str, key: &'static str) -> Vec<Option<&'static str>> {
        let ranges = parse(options).unwrap_or_else(|| panic!("{options} is good"));
        let keys = KeyRanges { separator: b".".to_vec(), ranges };
        let bytes = |range: &KeyRange| keys.bytes(key.as_bytes(), *range);
        keys.ranges.iter().map(bytes).map(|bytes| bytes.map(|b| std::str::from_utf8(b).expect("text"))).collect()
    }

    #[test]
    fn positions_choose_what_hadoops_do() {
        assert_eq!(chosen("-k1,2", "11.12.1.2"), [Some("11.12")]);
        assert_eq!(chosen("-k2 -k 4,4", "11.12.1.2"), [Some("12.1.2"), Some("2")]);
        assert_eq!(chosen("-k1.2,2.1nr", "abc.def"), [Some("bc.d")]);
        assert_eq!(chosen("-k1,0", "a.b"), [Some("a.b")]);
        // A last character counts from its field's start, and only the key ends it.
        assert_eq!(chosen("-k1.1,1.5 -k1.1,1.9", "ab.cde"), [Some("ab.cd"), Some("ab.cde")]);
        // An empty field is there; one behind the end is not.
        assert_eq!(chosen("-k2,2 -k3,3 -k4", "a..b"), [Some(""), Some("b"), None]);
        assert_eq!(chosen("-k2,1", "a.b"), [Some("")]);
        assert_eq!(chosen("-n", ""), [None]);
    }

    #[test]
    fn flags_alone_hold_for_keys_without_their_own() {
        let flags = |options| {
            let ranges = parse(options).expect("good");
            ranges.iter().map(|range| (range.is_numeric, range.is_reverse)).collect::<Vec<_>>()
        };
        assert_eq!(flags("-nr -k1,1 -k2,2n -k3r,3"), [(true, true), (true, false), (false, true)]);
        assert_eq!(flags("-n"), [(true, false)]);
        assert_eq!(flags("-k1n,1r"), [(true, true)]);
        for bad in ["-k0", "-k", "2,3", "-x", "-", "-k1.0", "-k1,1x", "-k1,,2", "-kn"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
