//! Hadoop's KeyFieldBasedComparator: keys in the order of some of their fields, as text or as numbers, up or down.
//!
//! Keys whose fields compare as equal are one group. Properties: `mapreduce.job.output.key.comparator.class` and
//! `mapreduce.partition.keycomparator.options`, or their old names. Source: `docs/hadoop.md#streaming`.
//! `Deviation:` two keys that both lack a field are equal in it; in Hadoop each comes before the other.

use std::cmp::Ordering;

use howdah_task::text::printable;
use howdah_task::{KeyComparator, Properties, Result};

use super::key_fields::{KeyRange, KeyRanges};
use super::number::Number;

const CLASS: [&str; 2] = ["mapreduce.job.output.key.comparator.class", "mapred.output.key.comparator.class"];
const GROUP_CLASS: [&str; 2] = ["mapreduce.job.output.group.comparator.class", "mapred.output.value.groupfn.class"];
const OPTIONS: [&str; 2] = ["mapreduce.partition.keycomparator.options", "mapred.text.key.comparator.options"];
/// The one class that is known, in whichever package.
const KNOWN: &str = "KeyFieldBasedComparator";

/// Compares keys by their fields.
#[derive(Debug)]
pub(super) struct FieldComparator(KeyRanges);

impl FieldComparator {
    /// Whether the job's properties ask for it. Other comparators, which would be Java's, are refused.
    pub(super) fn is_asked_for(properties: &Properties) -> Result<bool> {
        let is_known = |names: &[&'static str; 2]| match properties.first(names) {
            None => Ok(false),
            Some((_, class)) if class.rsplit(['.', '$']).next() == Some(KNOWN) => Ok(true),
            Some((name, class)) => {
                let class = printable(class.as_bytes());
                Err(format!("property `{name}`: `{class}` is not known here, expected {KNOWN}"))
            }
        };
        let sorts = is_known(&CLASS)?;
        if is_known(&GROUP_CLASS)? && !sorts {
            return Err(format!(
                "property `{}`: {KNOWN} groups only what it sorts, expected it in `{}` too",
                GROUP_CLASS[0], CLASS[0]
            )
            .into());
        }
        Ok(sorts)
    }

    /// Reads its options; it compares whole keys without any.
    pub(super) fn of(properties: &Properties) -> Result<FieldComparator> {
        KeyRanges::of(properties, &OPTIONS).map(FieldComparator)
    }

    fn compare_range(&self, a: &[u8], b: &[u8], range: KeyRange) -> Ordering {
        let order = match (self.0.bytes(a, range), self.0.bytes(b, range)) {
            (Some(a), Some(b)) if range.is_numeric => Number::read(a).compare(&Number::read(b)),
            // A field that is not there comes before all that are.
            (a, b) => a.cmp(&b),
        };
        if range.is_reverse { order.reverse() } else { order }
    }
}

impl KeyComparator for FieldComparator {
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.0.ranges.iter().fold(Ordering::Equal, |order, range| order.then_with(|| self.compare_range(a, b, *range)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn properties(pairs: &[(&str, &str)]) -> Properties {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<BTreeMap<_, _>>().into()
    }

    /// Two keys with the fields of those of Hadoop's own test of its comparator.
    const FIRST: &str = "123 -123 005120 123.9 0.01 0.18 010 10.0 4444.1 011 011 234";
    const SECOND: &str = "134 -12 005100 123.10 -1.01 0.19 02 10.1 4444";

    #[test]
    fn keys_compare_field_by_field_as_text_or_number_up_or_down() {
        for (options, expected) in [
            ("-k1,1", Ordering::Less),
            ("-k1,1nr", Ordering::Greater),
            // `-123` comes after `-12 …` as text, the digits against the separator, and before it as a number.
            ("-k2,2", Ordering::Greater),
            ("-k2,2n", Ordering::Less),
            ("-k3,3", Ordering::Greater),
            ("-k4,4", Ordering::Greater),
            ("-k4,4n", Ordering::Greater),
            ("-k5,5n", Ordering::Greater),
            ("-k6,6n", Ordering::Less),
            ("-k7,7", Ordering::Less),
            ("-k7,7n", Ordering::Greater),
            ("-k9,9n", Ordering::Greater),
            // The second key has no tenth field.
            ("-k10,10", Ordering::Greater),
            ("-k10,10r", Ordering::Less),
            ("-k2.2,2.3n", Ordering::Equal),
            ("-k1.1,1.1 -k2.2,2.3 -k3.1,3.4r -k5n", Ordering::Greater),
            ("-nr", Ordering::Greater),
        ] {
            let comparator =
                FieldComparator::of(&properties(&[(OPTIONS[1], options), ("map.output.key.field.separator", " ")]));
            let comparator = comparator.unwrap_or_else(|error| panic!("{options}: {error}"));
            assert_eq!(comparator.compare(FIRST.as_bytes(), SECOND.as_bytes()), expected, "{options}");
            assert_eq!(comparator.compare(SECOND.as_bytes(), FIRST.as_bytes()), expected.reverse(), "{options}");
        }
    }

    #[test]
    fn without_options_whole_keys_are_compared() {
        let comparator = FieldComparator::of(&properties(&[])).expect("good");
        assert_eq!(comparator.compare(b"a\tc", b"a\tb"), Ordering::Greater);
    }

    #[test]
    fn only_the_known_class_is_taken() {
        let asked = |pairs: &[(&str, &str)]| FieldComparator::is_asked_for(&properties(pairs));
        let (new, old) = (
            "org.apache.hadoop.mapreduce.lib.partition.KeyFieldBasedComparator",
            "org.apache.hadoop.mapred.lib.KeyFieldBasedComparator",
        );
        assert!(!asked(&[]).expect("none"));
        // As in Hadoop, options alone mean nothing.
        assert!(!asked(&[(OPTIONS[0], "-k1,1")]).expect("none"));
        assert!(asked(&[(CLASS[0], new), (GROUP_CLASS[0], new)]).expect("known"));
        assert!(asked(&[(CLASS[1], old)]).expect("known"));
        let other = asked(&[(CLASS[1], "org.apache.hadoop.io.Text$Comparator")]).expect_err("unknown").to_string();
        assert!(other.contains("`org.apache.hadoop.io.Text$Comparator`"), "{other}");
        assert!(asked(&[(GROUP_CLASS[1], old)]).is_err());
        assert!(FieldComparator::of(&properties(&[(OPTIONS[0], "-k1,1x")])).is_err());
    }
}
