//! JSON objects one after another, as Rumen and SLS write them, and values that are read with some patience.
//!
//! Objects may be pretty-printed, stand on one line each or follow each other without any space. One is in memory
//! at a time. Whole numbers never pass through a float: Rumen marks an empty distribution with the extremes of a
//! signed 64-bit integer.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::marker::PhantomData;

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::TraceError;

/// Calls `each` with every object of the source and its number from 1, and returns how many there were.
///
/// # Errors
/// When the source breaks, an object is none of `T` (`expected` names it), or `each` fails.
pub(super) fn for_each<T: DeserializeOwned>(
    source: impl BufRead,
    expected: &str,
    mut each: impl FnMut(u64, T) -> Result<(), TraceError>,
) -> Result<u64, TraceError> {
    // The parser takes single bytes, and those are cheap from this type only.
    let mut source = BufReader::with_capacity(1 << 16, source);
    skip_byte_order_mark(&mut source)?;
    let mut number = 0;
    for object in serde_json::Deserializer::from_reader(source).into_iter::<Object<T>>() {
        number += 1;
        let Object(object) = object.map_err(|error| explain(number, expected, error))?;
        each(number, object)?;
    }
    Ok(number)
}

fn skip_byte_order_mark(source: &mut impl BufRead) -> Result<(), TraceError> {
    let head = source.fill_buf().map_err(|source| TraceError::Io { place: "the beginning".to_owned(), source })?;
    if head.starts_with(b"\xef\xbb\xbf") {
        source.consume(3);
    }
    Ok(())
}

fn explain(number: u64, expected: &str, error: serde_json::Error) -> TraceError {
    let place = format!("record {number} (to line {}, column {})", error.line(), error.column());
    if error.is_io() {
        return TraceError::Io { place, source: error.into() };
    }
    let found = if error.is_eof() { "the end of the file".to_owned() } else { reason(&error) };
    let expected = if error.is_eof() { format!("the rest of {expected}") } else { expected.to_owned() };
    TraceError::Malformed { place, found, expected }
}

/// Reads one object of a line.
pub(super) fn object<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str::<Object<T>>(text).map(|Object(object)| object)
}

/// What serde found, without the place, which is told apart, and short.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    found(text).chars().map(|c| if c.is_control() { ' ' } else { c }).take(120).collect()
}

/// Serde's `expected value` as what comes after "found".
pub(super) fn found(said: &str) -> String {
    if said == "key must be a string" {
        return "a key without quotes".to_owned();
    }
    said.strip_prefix("expected ").map_or_else(|| said.to_owned(), |lacking| format!("no {lacking}"))
}

/// A `T` that is written as an object. Derived readers of structs also take lists of their fields, so a trace inside
/// an array would pass for one odd record.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Object<T>, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(de::value::MapAccessDeserializer::new(map)).map(Object)
            }
        }

        from.deserialize_any(ObjectVisitor(PhantomData))
    }
}

/// A whole number or none: `7`, `"7"`, `7.0`, `null`, and Avro's `{"int": 7}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Whole(pub(super) Option<i64>);

/// A text or none: `"a"`, `null`, Avro's `{"string": "a"}`, and anything that is no text, as none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text(pub(super) Option<String>);

impl Whole {
    /// An instant; zero and less mean not known.
    pub(super) fn instant(self) -> Option<u64> {
        self.0.and_then(super::facts::known_ms)
    }

    /// A number; less than zero means not known.
    pub(super) fn count(self) -> Option<u64> {
        self.0.and_then(|raw| u64::try_from(raw).ok())
    }
}

impl Text {
    pub(super) fn or_empty(self) -> String {
        self.0.unwrap_or_default()
    }

    pub(super) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or("")
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Whole, D::Error> {
        from.deserialize_any(WholeVisitor)
    }
}

struct WholeVisitor;

impl<'de> Visitor<'de> for WholeVisitor {
    type Value = Whole;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number or null")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Whole, E> {
        Ok(Whole(Some(value)))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Whole, E> {
        i64::try_from(value).map(|value| Whole(Some(value))).map_err(|_| E::invalid_value(unsigned(value), &self))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Whole, E> {
        // Below 2^53 every whole float is the number that was written.
        let exact = value.abs() < 9_007_199_254_740_992.0 && value == value.trunc();
        if exact { Ok(Whole(Some(value as i64))) } else { Err(E::invalid_value(de::Unexpected::Float(value), &self)) }
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Whole, E> {
        let number = value.trim().parse().map_err(|_| E::invalid_value(de::Unexpected::Str(value), &self))?;
        Ok(Whole(Some(number)))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Whole, E> {
        Ok(Whole(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Whole, A::Error> {
        only_value(map)
    }
}

fn unsigned(value: u64) -> de::Unexpected<'static> {
    de::Unexpected::Unsigned(value)
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
        from.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or null")
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Text, E> {
        Ok(Text(Some(value.to_owned())))
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Text, E> {
        Ok(Text(Some(value)))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Text, E> {
        Ok(Text(None))
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Text, E> {
        Ok(Text(None))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Text, E> {
        Ok(Text(Some(value.to_string())))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Text, E> {
        Ok(Text(Some(value.to_string())))
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Text, E> {
        Ok(Text(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Text, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Text, A::Error> {
        only_value(map)
    }
}

/// The first value of Avro's wrapping of nullable fields.
fn only_value<'de, T: Deserialize<'de> + Default, A: MapAccess<'de>>(mut map: A) -> Result<T, A::Error> {
    let first = map.next_entry::<IgnoredAny, T>()?.map(|(_, value)| value);
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(first.unwrap_or_default())
}

/// A list, or null for an empty one.
#[derive(Clone, Debug)]
pub(super) struct List<T>(pub(super) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> List<T> {
        List(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<List<T>, D::Error> {
        struct ListVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
            type Value = List<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list or null")
            }

            fn visit_unit<E: de::Error>(self) -> Result<List<T>, E> {
                Ok(List::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
                let mut list = Vec::new();
                while let Some(element) = seq.next_element()? {
                    list.push(element);
                }
                Ok(List(list))
            }
        }

        from.deserialize_any(ListVisitor(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Record {
        n: Whole,
        #[serde(default)]
        t: Text,
    }

    type Fields = (Option<i64>, Option<String>);

    fn all(text: &str) -> Result<Vec<Fields>, String> {
        let mut found = Vec::new();
        let each = |_, record: Record| {
            found.push((record.n.0, record.t.0));
            Ok(())
        };
        for_each(text.as_bytes(), "a record", each).map_err(|error| error.to_string())?;
        Ok(found)
    }

    #[rstest]
    #[case::extremes(r#"{"n":9223372036854775807}{"n":-9223372036854775808}"#, &[Some(i64::MAX), Some(i64::MIN)])]
    #[case::quoted("\u{feff} {\"n\":\" -7 \"}\r\n {\"n\":1e3}\n", &[Some(-7), Some(1_000)])]
    #[case::wrapped(r#"{"n":{"int":7}} {"n":null} {"n":{}}"#, &[Some(7), None, None])]
    fn whole_numbers_are_taken_in_every_dress(#[case] text: &str, #[case] expected: &[Option<i64>]) {
        let numbers: Vec<_> = all(text).unwrap().into_iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, expected);
    }

    #[test]
    fn texts_are_taken_bare_and_wrapped_and_nothing_else_is_one() {
        let text = r#"{"n":0,"t":"a"}{"n":0,"t":{"string":"b"}}{"n":0,"t":null}{"n":0,"t":[1,{}]}{"n":0,"t":7}"#;
        let texts: Vec<_> = all(text).unwrap().into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, [Some("a".to_owned()), Some("b".to_owned()), None, None, Some("7".to_owned())]);
    }

    #[rstest]
    #[case(
        r#"{"n":1}{"n":"#,
        "record 2 (to line 1, column 12): found the end of the file, expected the rest of a record"
    )]
    #[case(
        r#"{"n":0.5}"#,
        "found invalid value: floating point `0.5`, expected a whole number or null, expected a record"
    )]
    #[case(r#"{"n":18446744073709551615}"#, "integer `18446744073709551615`")]
    #[case(r#"{"n":NaN}"#, "found no value, expected a record")]
    #[case("[{\"n\":1}]", "found invalid type: sequence, expected an object, expected a record")]
    fn malformed_records_are_named(#[case] text: &str, #[case] part: &str) {
        let error = all(text).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}
