//! A few attempts of a history on disk: the others are read over, so that a page of a million takes no more memory than
//! one of a hundred.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::Range;
use std::path::Path;

use flate2::read::GzDecoder;
use howdah_core::job::JobState;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{AttemptHistory, HistoryError, SCHEMA};

/// What a history says beside its attempts of a job that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// Printed id.
    pub(crate) id: String,
    pub(crate) state: JobState,
}

/// Hands those attempts to `see` that have these places in the list.
///
/// # Errors
/// When it is missing or not a history of this version.
pub(crate) fn read_excerpt(
    path: &Path,
    places: Range<usize>,
    mut see: impl FnMut(AttemptHistory),
) -> Result<Head, HistoryError> {
    let file = File::open(path).map_err(|source| HistoryError::Io { action: "read", path: path.into(), source })?;
    let file = BufReader::new(file);
    let text: Box<dyn Read> = match path.extension().is_some_and(|extension| extension == "gz") {
        true => Box::new(GzDecoder::new(file)),
        false => Box::new(file),
    };
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(text));
    let wanted = Wanted { places, see: &mut see };
    let head = json.deserialize_map(wanted).and_then(|head| json.end().map(|()| head));
    head.map_err(|e| HistoryError::Format { path: path.into(), problem: e.to_string() })
}

/// Some of the attempts, and who gets them: of the list, and of the whole history.
struct Wanted<'a> {
    places: Range<usize>,
    see: &'a mut dyn FnMut(AttemptHistory),
}

impl<'de> Visitor<'de> for Wanted<'_> {
    type Value = Head;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a job's history")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Head, M::Error> {
        let (mut id, mut state, mut attempts) = (None, None, Some(List(self)));
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "schema" => {
                    let schema: String = map.next_value()?;
                    if schema != SCHEMA {
                        return Err(M::Error::custom(format!("schema `{schema}`, expected `{SCHEMA}`")));
                    }
                }
                "id" => id = Some(map.next_value()?),
                "state" => state = Some(map.next_value()?),
                "attempts" => {
                    let list = attempts.take().ok_or_else(|| M::Error::duplicate_field("attempts"))?;
                    map.next_value_seed(list)?;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let id = id.ok_or_else(|| M::Error::missing_field("id"))?;
        let state = state.ok_or_else(|| M::Error::missing_field("state"))?;
        Ok(Head { id, state })
    }
}

struct List<'a>(Wanted<'a>);

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of attempts")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<(), S::Error> {
        let Wanted { places, see } = self.0;
        for place in 0.. {
            if places.contains(&place) {
                match list.next_element()? {
                    Some(attempt) => see(attempt),
                    None => break,
                }
            } else if list.next_element::<IgnoredAny>()?.is_none() {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(index: u32) -> String {
        format!(
            r#"{{"attempt":"a","task":"t","kind":"map","index":{index},"number":0,"state":"SUCCEEDED","phase":"MAP",
            "progress":1.0,"worker":"w","host":"h","locality":"unknown","speculative":false,"assigned_ms_epoch":1,
            "ended_ms_epoch":2,"cause":"","exit_code":0,"signal":null,"diagnostics":"","stderr_tail":"","cpu_us":0,
            "peak_memory_kib":0,"started_ms_epoch":0,"shuffle_done_ms_epoch":0,"sort_done_ms_epoch":0,
            "finished_ms_epoch":0,"message":"","counters":{{}}}}"#
        )
    }

    fn excerpt(text: &str, places: Range<usize>) -> Result<(Head, Vec<u32>), HistoryError> {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("job.json");
        std::fs::write(&path, text).expect("written");
        let mut seen = Vec::new();
        read_excerpt(&path, places, |attempt| seen.push(attempt.index)).map(|head| (head, seen))
    }

    fn history(schema: &str) -> String {
        let attempts: Vec<String> = (0..5).map(attempt).collect();
        let attempts = attempts.join(",");
        format!(
            r#"{{"schema":"{schema}","id":"job_1_0001","state":"FAILED","spec":{{"a":[1]}},"attempts":[{attempts}]}}"#
        )
    }

    #[test]
    fn the_attempts_of_these_places_are_made_and_no_others() {
        let text = history(SCHEMA);
        let head = Head { id: "job_1_0001".to_owned(), state: JobState::Failed };
        for (places, wanted) in
            [(1..3, vec![1, 2]), (3..9, vec![3, 4]), (7..9, vec![]), (0..usize::MAX, vec![0, 1, 2, 3, 4])]
        {
            assert_eq!(excerpt(&text, places).expect("a history"), (head.clone(), wanted));
        }
        // Of those that are not wanted nothing is looked at.
        let others = text.replacen(r#""number":0"#, r#""number":"none""#, 1);
        assert_eq!(excerpt(&others, 1..2).expect("a history").1, [1]);
        assert!(excerpt(&others, 0..1).is_err());
    }

    #[test]
    fn what_is_no_history_is_said_to_be_none() {
        let problem = |text: &str| excerpt(text, 0..1).expect_err(text).to_string();
        assert!(problem(&history("other")).contains("schema `other`, expected `howdah/history/v1`"));
        assert!(problem("{}").contains("missing field `id`"));
        assert!(problem(&history(SCHEMA).replace("]}", "]")).contains("EOF"));
    }
}
