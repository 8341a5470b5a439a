//! A request's query, as Hadoop's lists are filtered by: `states=RUNNING,FINISHED&limit=10`.

use super::answer::Refusal;

/// Keys and values in order; a key may come several times.
#[derive(Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    pub(super) fn parse(text: &str) -> Query {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        Query(
            pairs
                .map(|pair| {
                    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                    (decoded(key), decoded(value))
                })
                .collect(),
        )
    }

    /// The last value of a key, unless it is empty.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        let values = self.0.iter().rev().filter(|(known, value)| known == key && !value.is_empty());
        values.map(|(_, value)| value.as_str()).next()
    }

    /// Whether `value` is among those that a key asks for, in any case of letters; so is all when it asks for none.
    pub(super) fn allows(&self, keys: &[&str], value: &str) -> bool {
        let mut wanted = self.0.iter().filter(|(key, _)| keys.contains(&key.as_str()));
        let mut any = false;
        let found = wanted.any(|(_, list)| {
            any |= !list.is_empty();
            list.split(',').any(|one| one.trim().eq_ignore_ascii_case(value))
        });
        found || !any
    }

    /// Whether an instant lies where `NAMEBegin` and `NAMEEnd` ask.
    pub(super) fn spans(&self, name: &str, ms: u64) -> Result<bool, Refusal> {
        let begin = self.number(&format!("{name}Begin"))?.unwrap_or(0);
        let end = self.number(&format!("{name}End"))?.unwrap_or(u64::MAX);
        Ok((begin..=end).contains(&ms))
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<u64>, Refusal> {
        let Some(value) = self.get(key) else { return Ok(None) };
        value.parse().map(Some).map_err(|_| Refusal::bad(format!("{key}: `{value}` is not a number")))
    }
}

/// `%41+` as `A `; what is no such code stays as it is.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut done, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let code = bytes.get(at + 1..at + 3).filter(|two| two.iter().all(u8::is_ascii_hexdigit));
        let code = code.and_then(|two| std::str::from_utf8(two).ok());
        let code = code.filter(|_| bytes[at] == b'%').and_then(|two| u8::from_str_radix(two, 16).ok());
        match code {
            Some(byte) => done.push(byte),
            None => done.push(if bytes[at] == b'+' { b' ' } else { bytes[at] }),
        }
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&done).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_lists_allow_what_they_name() {
        let query = Query::parse("states=running%2CFAILED&user=a+b&limit=x&startedTimeBegin=5&%zz=%4&sum=%+4");
        assert!(query.allows(&["states", "state"], "RUNNING") && query.allows(&["states"], "FAILED"));
        assert!(!query.allows(&["states"], "KILLED") && query.allows(&["finalStatus"], "KILLED"));
        assert_eq!(query.get("user"), Some("a b"));
        assert!(query.number("limit").is_err());
        assert!(query.spans("startedTime", 5).is_ok_and(|holds| holds));
        assert!(query.spans("startedTime", 4).is_ok_and(|holds| !holds));
        assert_eq!((query.get("%zz"), query.get("sum")), (Some("%4"), Some("% 4")));
    }
}

#[cfg(test)]
mod fuzz {
    use howdah_fuzz::{Readings, cases, changed, changes, most_held};
    use proptest::prelude::*;

    use super::*;

    static READINGS: Readings = Readings::of("queries");

    proptest! {
        #![proptest_config(cases(1))]

        #[test]
        fn a_changed_query_filters_or_is_refused_with_its_key(changes in changes(), ms in any::<u64>()) {
            let good = "states=RUNNING%2CFAILED&user=a+b&limit=7&startedTimeBegin=5&startedTimeEnd=1795688944855";
            let bytes = changed(good.as_bytes(), &changes);
            let text = String::from_utf8_lossy(&bytes);
            let (query, held) = most_held(|| Query::parse(&text));
            prop_assert!(held < 64 * text.len() + (4 << 10), "{} bytes were held for {}", held, text.len());
            let _ = (query.get("user"), query.allows(&["states"], "RUNNING"));
            for (key, refused) in [("limit", query.number("limit").err()), ("startedTime", query.spans("startedTime", ms).err())] {
                prop_assert!(refused.is_none_or(|refused| refused.2.starts_with(key)), "{}", key);
            }
            READINGS.add(1);
        }
    }
}
