//! No line that a command of streaming writes, and no option of a job's, makes an attempt panic: both are users' own.

use std::collections::BTreeMap;

use howdah_fuzz::{Readings, cases, changed, changes};
use howdah_task::{KeyComparator, Partitioner, Properties};
use proptest::prelude::*;

use super::comparator::FieldComparator;
use super::fields::{KeyFields, Separator};
use super::reporter::{self, Report};

static READINGS: Readings = Readings::of("lines and options of streaming");

const LINES: [&str; 3] =
    ["reporter:counter:My Group,lines,12", "reporter:status: half way through 3 of 7 ", "a plain warning"];
/// Options of fields, as text and as numbers.
const OPTIONS: [&str; 3] = ["-k1,2 -k3.2nr", "-k2.1,2.4 -n", "-k 4,4 -k10r"];

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn properties(pairs: &[(&str, &str)]) -> Properties {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect::<BTreeMap<_, _>>().into()
}

proptest! {
    #![proptest_config(cases(1))]

    #[test]
    fn changed_lines_are_for_the_framework_or_for_people(
        which in 0..LINES.len(),
        changes in changes(),
        prefix in prop_oneof![3 => Just("reporter:"), 1 => Just("")],
    ) {
        let line = changed(LINES[which].as_bytes(), &changes);
        match reporter::parse(&line, prefix) {
            Some(Report::Count { group, name, .. }) => prop_assert!(!group.contains(',') && !name.contains(',')),
            Some(Report::Status(message)) => prop_assert_eq!(message.trim(), &message),
            Some(Report::Malformed) => prop_assert!(line.starts_with(prefix.as_bytes())),
            None => prop_assert!(!line.starts_with(prefix.as_bytes())),
        }
        READINGS.add(1);
    }

    #[test]
    fn changed_options_choose_fields_of_any_key_or_are_refused_by_name(
        which in 0..OPTIONS.len(),
        changes in changes(),
        separator in prop::sample::select(&["\t", ".", "", "ab"][..]),
        keys in prop::array::uniform3(prop::collection::vec(prop_oneof![any::<u8>(), Just(b'.'), Just(b'7')], 0..30)),
        n_fields in any::<usize>(),
    ) {
        let options = text(&changed(OPTIONS[which].as_bytes(), &changes));
        let n_fields = n_fields.to_string();
        let job = properties(&[
            ("mapreduce.partition.keypartitioner.options", &options),
            ("mapreduce.partition.keycomparator.options", &options),
            ("mapreduce.map.output.key.field.separator", separator),
            ("stream.map.output.field.separator", separator),
            ("stream.num.map.output.key.fields", &n_fields),
        ]);
        let (fields, comparator) = (KeyFields::of(&job), FieldComparator::of(&job));
        prop_assert_eq!(fields.is_ok(), comparator.is_ok());
        if let Ok(fields) = fields {
            for n in [1, 7, u32::MAX] {
                prop_assert!(keys.iter().all(|key| fields.partition(key, n) < n));
            }
        }
        match comparator {
            Ok(comparator) => {
                let [a, b, c] = &keys;
                prop_assert!(comparator.compare(a, a).is_eq());
                prop_assert_eq!(comparator.compare(a, b), comparator.compare(b, a).reverse());
                let ordered = comparator.compare(a, b).is_le() && comparator.compare(b, c).is_le();
                prop_assert!(!ordered || comparator.compare(a, c).is_le(), "it is no order: {} of {:?}", options, keys);
            }
            Err(error) => prop_assert!(error.to_string().starts_with("property `mapreduce.partition.key"), "{}", error),
        }
        let split =
            Separator::of(&job, "stream.map.output.field.separator", "stream.num.map.output.key.fields");
        if let Ok(split) = split {
            for line in &keys {
                let (key, value) = split.split(line);
                prop_assert!(line.starts_with(key) && line.ends_with(value));
            }
        }
        READINGS.add(3);
    }
}
