//! `-reducer aggregate`: Hadoop's ready-made reducer for keys of the form `FUNCTION:NAME`.
//!
//! A mapper says in the key what is to be done with its values: `LongValueSum:requests TAB 1`. The reduce writes
//! `NAME TAB result`; the combiner of the same name writes keys as they were. Source: MR1 `lib.aggregate`.
//! `Deviation:` strings compare by their bytes, not by UTF-16 units.

use std::collections::{BTreeMap, BTreeSet};

use howdah_task::text::{parse_long, printable};
use howdah_task::{ReduceOutput, Reducer, Result, Values};

/// What stands for a command.
const NAME: &str = "aggregate";

/// Whether a reducer's command means this one.
pub(super) fn is_meant(command: &str) -> bool {
    command.eq_ignore_ascii_case(NAME)
}

/// As reducer, or as combiner.
pub(super) struct Aggregate {
    pub(super) combines: bool,
}

impl Reducer for Aggregate {
    fn reduce(&mut self, key: &[u8], values: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
        let colon = memchr::memchr(b':', key).ok_or_else(|| format!("`{}` is not FUNCTION:NAME", printable(key)))?;
        let mut sum = Aggregation::of(&key[..colon])?;
        while let Some(value) = values.next()? {
            sum.add(value)?;
        }
        if self.combines {
            return sum.partial(|value| out.emit(key, value));
        }
        out.emit(&key[colon + 1..], sum.report().as_bytes())
    }
}

/// A function's state.
enum Aggregation {
    LongSum(i64),
    LongMax(i64),
    LongMin(i64),
    DoubleSum(f64),
    StringMax(Option<Vec<u8>>),
    StringMin(Option<Vec<u8>>),
    Unique(BTreeSet<Vec<u8>>),
    Histogram(BTreeMap<Vec<u8>, i64>),
}

impl Aggregation {
    fn of(name: &[u8]) -> Result<Aggregation> {
        Ok(match name {
            b"LongValueSum" => Aggregation::LongSum(0),
            b"LongValueMax" => Aggregation::LongMax(i64::MIN),
            b"LongValueMin" => Aggregation::LongMin(i64::MAX),
            b"DoubleValueSum" => Aggregation::DoubleSum(0.0),
            b"StringValueMax" => Aggregation::StringMax(None),
            b"StringValueMin" => Aggregation::StringMin(None),
            b"UniqValueCount" => Aggregation::Unique(BTreeSet::new()),
            b"ValueHistogram" => Aggregation::Histogram(BTreeMap::new()),
            _ => {
                return Err(format!(
                    "no aggregation `{}`; expected LongValueSum, LongValueMax, LongValueMin, \
                DoubleValueSum, StringValueMax, StringValueMin, UniqValueCount or ValueHistogram",
                    printable(name)
                )
                .into());
            }
        })
    }

    fn add(&mut self, value: &[u8]) -> Result {
        match self {
            Aggregation::LongSum(sum) => *sum = sum.wrapping_add(parse_long(value)?),
            Aggregation::LongMax(max) => *max = (*max).max(parse_long(value)?),
            Aggregation::LongMin(min) => *min = (*min).min(parse_long(value)?),
            Aggregation::DoubleSum(sum) => {
                let number: Option<f64> = std::str::from_utf8(value).ok().and_then(|text| text.trim().parse().ok());
                *sum += number.ok_or_else(|| format!("`{}` is not a number", printable(value)))?;
            }
            Aggregation::StringMax(max) => {
                if max.as_deref().is_none_or(|max| max < value) {
                    *max = Some(value.to_vec());
                }
            }
            Aggregation::StringMin(min) => {
                if min.as_deref().is_none_or(|min| min > value) {
                    *min = Some(value.to_vec());
                }
            }
            Aggregation::Unique(values) => drop(values.insert(value.to_vec())),
            Aggregation::Histogram(counts) => {
                // `VALUE` or `VALUE TAB COUNT`
                let (value, count) = match memchr::memrchr(b'\t', value) {
                    Some(tab) => (&value[..tab], parse_long(&value[tab + 1..])?),
                    None => (value, 1),
                };
                let counted = counts.entry(value.to_vec()).or_default();
                *counted = counted.wrapping_add(count);
            }
        }
        Ok(())
    }

    /// Values that say the same as all those added.
    fn partial(&self, mut emit: impl FnMut(&[u8]) -> Result) -> Result {
        match self {
            Aggregation::Unique(values) => values.iter().try_for_each(|value| emit(value)),
            Aggregation::Histogram(counts) => counts.iter().try_for_each(|(value, count)| {
                let count = format!("\t{count}");
                emit(&[value, count.as_bytes()].concat())
            }),
            Aggregation::StringMax(best) | Aggregation::StringMin(best) => emit(best.as_deref().unwrap_or_default()),
            _ => emit(self.report().as_bytes()),
        }
    }

    fn report(&self) -> String {
        match self {
            Aggregation::LongSum(n) | Aggregation::LongMax(n) | Aggregation::LongMin(n) => n.to_string(),
            Aggregation::DoubleSum(sum) => java_double(*sum),
            Aggregation::StringMax(best) | Aggregation::StringMin(best) => {
                String::from_utf8_lossy(best.as_deref().unwrap_or_default()).into_owned()
            }
            Aggregation::Unique(values) => values.len().to_string(),
            Aggregation::Histogram(counts) => histogram(counts.values().copied().collect()),
        }
    }
}

/// Number of distinct values, then minimum, median, maximum, mean and standard deviation of their counts.
fn histogram(mut counts: Vec<i64>) -> String {
    counts.sort_unstable();
    let n = counts.len();
    let (Some(min), Some(max)) = (counts.first(), counts.last()) else { return "0".to_owned() };
    let mean = counts.iter().map(|&count| i128::from(count)).sum::<i128>() as f64 / n as f64;
    let squares: f64 = counts.iter().map(|&count| (count as f64 - mean).powi(2)).sum();
    let deviation = (squares / n as f64).sqrt();
    format!("{n}\t{min}\t{}\t{max}\t{}\t{}", counts[n / 2], java_double(mean), java_double(deviation))
}

/// Java's `Double.toString`: plain from a thousandth to ten million, else with `E`, always with a fraction.
fn java_double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if value == 0.0 || (1e-3..1e7).contains(&value.abs()) {
        return format!("{value:?}");
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let fraction = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{fraction}E{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(function: &str, values: &[&str]) -> String {
        let mut whole = Aggregation::of(function.as_bytes()).expect("a known function");
        let mut combined = Aggregation::of(function.as_bytes()).expect("a known function");
        // Combining halves first must not change the result.
        for half in values.chunks(values.len().div_ceil(2)) {
            let mut part = Aggregation::of(function.as_bytes()).expect("a known function");
            half.iter().for_each(|value| part.add(value.as_bytes()).expect("a good value"));
            part.partial(|value| combined.add(value)).expect("good values");
        }
        values.iter().for_each(|value| whole.add(value.as_bytes()).expect("a good value"));
        assert_eq!(whole.report(), combined.report(), "{function}");
        whole.report()
    }

    #[test]
    fn functions_give_what_hadoops_give() {
        assert_eq!(report("LongValueSum", &["1", "-3", "7"]), "5");
        assert_eq!(report("LongValueMax", &["1", "-3", "7"]), "7");
        assert_eq!(report("LongValueMin", &["1", "-3", "7"]), "-3");
        assert_eq!(report("DoubleValueSum", &["0.5", "1", "1e7"]), "1.00000015E7");
        assert_eq!(report("StringValueMax", &["b", "abc", "c"]), "c");
        assert_eq!(report("StringValueMin", &["b", "abc", "c"]), "abc");
        assert_eq!(report("UniqValueCount", &["x", "y", "x"]), "2");
        assert_eq!(report("ValueHistogram", &["h", "h"]), "1\t2\t2\t2\t2.0\t0.0");
        assert_eq!(report("ValueHistogram", &["a\t1", "b\t3", "a"]), "2\t2\t3\t3\t2.5\t0.5");
        let most = i64::MAX.to_string();
        let [a, b] = ["a", "b"].map(|value| format!("{value}\t{most}"));
        let expected = format!("2\t{most}\t{most}\t{most}\t9.223372036854776E18\t0.0");
        assert_eq!(report("ValueHistogram", &[&a, &b]), expected);
    }

    #[test]
    fn doubles_print_as_javas() {
        let pairs =
            [(0.0, "0.0"), (2.0, "2.0"), (0.001, "0.001"), (1e-4, "1.0E-4"), (1e7, "1.0E7"), (-1.5e300, "-1.5E300")];
        pairs.iter().for_each(|(value, text)| assert_eq!(java_double(*value), *text));
        assert_eq!(java_double(f64::NEG_INFINITY), "-Infinity");
    }

    #[test]
    fn unknown_functions_and_bad_values_are_named() {
        assert!(Aggregation::of(b"Mean").err().expect("unknown").to_string().contains("`Mean`"));
        assert!(Aggregation::LongSum(0).add(b"x").is_err() && Aggregation::DoubleSum(0.0).add(b"x").is_err());
    }
}
