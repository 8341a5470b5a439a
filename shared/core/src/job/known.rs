//! The properties that attempts read as numbers or switches, with their kinds: checked when a job is submitted.
//!
//! Attempts check them too, but only one by one and when they need them. What schedules a job is checked by
//! [`JobConf`](super::JobConf), and what makes its splits where they are made. A property that is not in the table is the
//! program's own, and any text.

use std::collections::BTreeMap;

use super::SpecError;
use super::file::WISHED_MAPS;
use super::quantity::{Bytes, Mebibytes, Millis};

/// What a property's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `true` or `false`.
    Switch,
    /// A whole number from the first to infinity.
    From(u64),
    /// A whole number.
    Whole,
    /// A number with a fraction.
    Number,
    /// A duration of at least so many milliseconds, which a bare number is.
    Millis(u64),
    /// A size in MiB, which a bare number is.
    Mebibytes,
    /// A size in bytes from 1 to this.
    BytesTo(u64),
}

/// Names, old and new, what they are, and what an error says was expected.
const KNOWN: &[(&[&str], Kind, &str)] = &[
    (
        &["io.sort.mb", "mapreduce.task.io.sort.mb"],
        Kind::Mebibytes,
        "a number of MiB from 1 to 2047, e.g. `100` or `100MiB`",
    ),
    (
        &["io.sort.spill.percent", "mapreduce.map.sort.spill.percent"],
        Kind::Number,
        "a number from 0.1 to 1, e.g. `0.8`",
    ),
    (&["io.sort.factor", "mapreduce.task.io.sort.factor"], Kind::From(0), "a number of files from 2 to 500, e.g. `10`"),
    (
        &["mapred.reduce.parallel.copies", "mapreduce.reduce.shuffle.parallelcopies"],
        Kind::From(0),
        "a number of threads from 1 to 100, e.g. `5`",
    ),
    (
        &["mapred.inmem.merge.threshold", "mapreduce.reduce.merge.inmem.threshold"],
        Kind::Whole,
        "a number of map outputs; 0 or less for any",
    ),
    (
        &["mapreduce.reduce.shuffle.connect.timeout", "mapreduce.reduce.shuffle.read.timeout"],
        Kind::Millis(0),
        "a number of milliseconds from 1, e.g. `30000` or `30s`",
    ),
    (&["howdah.line.max.bytes"], Kind::BytesTo(1 << 30), "a number of bytes from 1 to 1 GiB, e.g. `64MiB`"),
    (&["howdah.shuffle.memory.mb"], Kind::Mebibytes, "a number of MiB from 1, e.g. `140` or `140MiB`"),
    (
        &[
            "mapred.compress.map.output",
            "mapreduce.map.output.compress",
            "mapred.output.compress",
            "mapreduce.output.fileoutputformat.compress",
            crate::job::OUTPUT_SYNC,
            "howdah.input.check",
            "stream.map.input.ignoreKey",
            "stream.non.zero.exit.is.failure",
        ],
        Kind::Switch,
        "true or false",
    ),
    (
        &["stream.num.map.output.key.fields", "stream.num.reduce.output.key.fields"],
        Kind::From(1),
        "a number of fields from 1, e.g. `1`",
    ),
    (&WISHED_MAPS, Kind::From(0), "a number of maps, e.g. `10`"),
    (&["howdah.fault.attempt.fraction"], Kind::Number, "a number from 0 to 1, e.g. `0.1`"),
];

impl Kind {
    /// As attempts read it: blanks around it do not matter.
    fn takes(self, value: &str) -> bool {
        let value = value.trim();
        match self {
            Kind::Switch => value.parse::<bool>().is_ok(),
            Kind::From(least) => value.parse::<u64>().is_ok_and(|n| n >= least),
            Kind::Whole => value.parse::<i64>().is_ok(),
            Kind::Number => value.parse::<f64>().is_ok(),
            Kind::Millis(least) => value.parse::<Millis>().is_ok_and(|ms| ms.0 >= least),
            Kind::BytesTo(most) => value.parse::<Bytes>().is_ok_and(|Bytes(n)| (1..=most).contains(&n)),
            Kind::Mebibytes => value.parse::<Mebibytes>().is_ok(),
        }
    }
}

/// Checks the values of all properties that are known.
///
/// # Errors
/// The first one, by name, that no attempt could use.
pub fn check(properties: &BTreeMap<String, String>) -> Result<(), SpecError> {
    for (key, value) in properties {
        let known = KNOWN.iter().find(|(names, _, _)| names.contains(&key.as_str()));
        if let Some((_, _, expected)) = known.filter(|(_, kind, _)| !kind.takes(value)) {
            return Err(SpecError::Property { key: key.clone(), value: value.clone(), expected });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn try_out(key: &str, value: &str) -> Result<(), String> {
        check(&BTreeMap::from([(key.to_owned(), value.to_owned())])).map_err(|error| error.to_string())
    }

    #[test]
    fn a_value_that_no_attempt_could_use_is_named_with_what_was_expected() {
        let error = try_out("io.sort.mb", "abc").unwrap_err();
        assert!(error.contains("`io.sort.mb`") && error.contains("`abc`") && error.contains("MiB"), "{error}");
        for (key, value) in [
            ("mapred.compress.map.output", "yes"),
            ("stream.num.map.output.key.fields", "0"),
            ("io.sort.spill.percent", "half"),
            ("mapreduce.task.io.sort.factor", "-1"),
            ("mapred.map.tasks", "-1"),
            ("howdah.line.max.bytes", "0"),
            ("howdah.line.max.bytes", "2GiB"),
        ] {
            assert!(try_out(key, value).is_err(), "{key}={value}");
        }
    }

    #[test]
    fn what_attempts_take_passes_and_so_does_what_nobody_knows() {
        for (key, value) in [
            ("io.sort.mb", " 1 "),
            ("mapred.inmem.merge.threshold", "-1"),
            ("howdah.output.sync", "false"),
            ("mapreduce.task.io.sort.mb", "64MiB"),
            ("mapreduce.reduce.shuffle.read.timeout", "2 min"),
            ("my.own", "io.sort.mb=abc"),
        ] {
            assert_eq!(try_out(key, value), Ok(()), "{key}={value}");
        }
    }
}
