//! Keys and values in lines, and partitions by some fields of a key.
//!
//! [`KeyFields`] is Hadoop's KeyFieldBasedPartitioner: its hash starts at 0, not at 1 as that of whole keys, and runs
//! over the chosen fields.

use howdah_task::{Partitioner, Properties, Result};

use super::key_fields::{KeyRange, KeyRanges};

/// Where the key of a line ends and its value begins.
#[derive(Clone, Debug)]
pub(super) struct Separator {
    bytes: Vec<u8>,
    /// From 1: which separator it is.
    nth: usize,
}

impl Separator {
    /// Reads the two properties; a tab and the first one by default.
    pub(super) fn of(properties: &Properties, separator: &str, n_fields: &str) -> Result<Separator> {
        let nth = properties.parse_or(&[n_fields], 1_usize, "a number of fields from 1")?;
        if nth == 0 {
            return Err(format!("property `{n_fields}`: `0` is not a number of fields from 1").into());
        }
        Ok(Separator { bytes: text(properties, separator), nth })
    }

    /// Key and value of a line; the whole line is the key when there are too few separators.
    pub(super) fn split<'a>(&self, line: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        if self.bytes.is_empty() {
            return (line, b"");
        }
        match memchr::memmem::find_iter(line, &self.bytes).nth(self.nth - 1) {
            Some(at) => (&line[..at], &line[at + self.bytes.len()..]),
            None => (line, b""),
        }
    }
}

/// A separator's bytes, a tab by default.
pub(super) fn text(properties: &Properties, name: &str) -> Vec<u8> {
    properties.get(name).unwrap_or("\t").as_bytes().to_vec()
}

const OPTIONS: [&str; 2] = ["mapreduce.partition.keypartitioner.options", "mapred.text.key.partitioner.options"];
const N_FIELDS: &str = "num.key.fields.for.partition";
const CLASS: [&str; 2] = ["mapreduce.job.partitioner.class", "mapred.partitioner.class"];

/// Partitions by fields of the key.
pub(super) enum KeyFields {
    Some(KeyRanges),
    /// No fields are named: the key is taken as a text, of UTF-16 units, which are other numbers than its bytes.
    Whole,
}

impl KeyFields {
    /// Whether the job names this partitioner. As in Hadoop, its options alone mean nothing: the whole key counts then.
    pub(super) fn are_asked_for(properties: &Properties) -> bool {
        properties.first(&CLASS).is_some_and(|(_, class)| class.ends_with("KeyFieldBasedPartitioner"))
    }

    /// Reads the fields.
    pub(super) fn of(properties: &Properties) -> Result<KeyFields> {
        if properties.first(&OPTIONS).is_some() {
            return KeyRanges::of(properties, &OPTIONS).map(KeyFields::Some);
        }
        if properties.get(N_FIELDS).is_none() {
            return Ok(KeyFields::Whole);
        }
        let n = properties.parse_or(&[N_FIELDS], 1, "a number of fields from 1")?;
        Ok(KeyFields::Some(KeyRanges::new(properties, vec![KeyRange::of_first(n)])))
    }
}

impl Partitioner for KeyFields {
    fn partition(&self, key: &[u8], n_partitions: u32) -> u32 {
        let add = |hash: i32, unit: i32| hash.wrapping_mul(31).wrapping_add(unit);
        let hash = match self {
            KeyFields::Some(fields) => {
                let bytes = fields.ranges.iter().filter_map(|range| fields.bytes(key, *range)).flatten();
                bytes.fold(0_i32, |hash, &byte| add(hash, i32::from(byte as i8)))
            }
            KeyFields::Whole => {
                let text = String::from_utf8_lossy(key);
                text.encode_utf16().fold(0_i32, |hash, unit| add(hash, i32::from(unit)))
            }
        };
        (hash & 0x7fff_ffff) as u32 % n_partitions
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::key_fields::SEPARATOR;
    use super::*;

    fn properties(pairs: &[(&str, &str)]) -> Properties {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<BTreeMap<_, _>>().into()
    }

    #[test]
    fn lines_split_at_the_nth_separator() {
        let of = |pairs: &[(&str, &str)]| Separator::of(&properties(pairs), "sep", "n").expect("in range");
        assert_eq!(of(&[]).split(b"a\tb\tc"), (&b"a"[..], &b"b\tc"[..]));
        assert_eq!(of(&[("n", "2")]).split(b"a\tb\tc"), (&b"a\tb"[..], &b"c"[..]));
        assert_eq!(of(&[("n", "2")]).split(b"a\tb"), (&b"a\tb"[..], &b""[..]));
        assert_eq!(of(&[("sep", "::")]).split(b"a:b::c"), (&b"a:b"[..], &b"c"[..]));
        assert!(Separator::of(&properties(&[("n", "0")]), "sep", "n").is_err());
    }

    #[test]
    fn chosen_fields_alone_decide_the_partition() {
        let of =
            |options: &str| KeyFields::of(&properties(&[(OPTIONS[0], options), (SEPARATOR[1], ".")])).expect("good");
        let hash = |bytes: &[u8]| bytes.iter().fold(0_u32, |h, &b| h * 31 + u32::from(b)) % 1000;
        let first_two = of("-k1,2");
        assert_eq!(first_two.partition(b"11.12.1.2", 1000), hash(b"11.12"));
        assert_eq!(of("-k2,2 -k 4").partition(b"11.12.1.2", 1000), hash(b"122"));
        assert_eq!(of("-k1.2,2.1nr").partition(b"abc.def", 1000), hash(b"bc.d"));
        assert_eq!(of("-k9").partition(b"a.b", 1000), 0);
        assert!(KeyFields::of(&properties(&[(OPTIONS[0], "-k0")])).is_err());
        assert!(KeyFields::of(&properties(&[(OPTIONS[0], "2,3")])).is_err());
        for alone in [N_FIELDS, OPTIONS[0], OPTIONS[1]] {
            assert!(!KeyFields::are_asked_for(&properties(&[(alone, "1")])), "{alone}");
        }
        let class = properties(&[(CLASS[0], "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner")]);
        assert!(KeyFields::are_asked_for(&class));
        assert_eq!(KeyFields::of(&class).expect("good").partition(b"a\tb", 1000), hash(b"a\tb"));
        // Java says that `"Zürich".hashCode()` is -1_482_116_162.
        let of_text = KeyFields::of(&class).expect("good").partition("Zürich".as_bytes(), 1000);
        assert_eq!(of_text, 486);
        let other = properties(&[(CLASS[0], "org.apache.hadoop.mapred.lib.HashPartitioner")]);
        assert!(!KeyFields::are_asked_for(&other));
    }
}
