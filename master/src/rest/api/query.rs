//! What a resource's query may say. Anything else is refused: a filter that is misspelt must not list everything.

use std::ops::Range;
use std::str::FromStr;

use axum::extract::Query;
use axum::http::Uri;
use howdah_json::{JobFilter, STATES};
use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};

use super::refused::Refused;

/// What comes before a rejection's own words.
const PREFACE: &str = "Failed to deserialize query string: ";
/// Items of one answer, at most.
pub(super) const MOST: u32 = 1_000;
/// Items of one answer where the query does not say.
const USUAL: u32 = 100;
/// The longest look ahead: a week.
const MOST_HORIZON_MS: u64 = 7 * 24 * 3_600_000;

/// Of a resource that takes none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoQuery {}

/// Filters are joined: a job must fit all of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct JobsQuery {
    /// Only jobs in one of these states, separated by commas: PREP, RUNNING, COMMITTING, SUCCEEDED, FAILED, KILLED, in
    /// capitals or not.
    state: Option<String>,
    /// Only jobs that are not over.
    #[serde(deserialize_with = "flag")]
    active: bool,
    /// Only jobs of this user.
    user: Option<String>,
    /// Only jobs of this queue.
    queue: Option<String>,
    /// Only jobs with this in their name, in capitals or not.
    name: Option<String>,
    /// So many jobs at most.
    #[schemars(range(min = 1, max = MOST))]
    #[serde(deserialize_with = "number")]
    limit: u32,
    /// Which page of that many jobs, 1 being the newest. A page with fewer is the last.
    #[schemars(range(min = 1))]
    #[serde(deserialize_with = "number")]
    page: u32,
}

impl Default for JobsQuery {
    fn default() -> JobsQuery {
        JobsQuery { state: None, active: false, user: None, queue: None, name: None, limit: USUAL, page: 1 }
    }
}

/// Of a list without filters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AttemptsQuery {
    /// So many attempts at most.
    #[schemars(range(min = 1, max = MOST))]
    #[serde(deserialize_with = "number")]
    limit: u32,
    /// Which page of that many attempts, 1 being the first. A page with fewer is the last.
    #[schemars(range(min = 1))]
    #[serde(deserialize_with = "number")]
    page: u32,
}

impl Default for AttemptsQuery {
    fn default() -> AttemptsQuery {
        AttemptsQuery { limit: USUAL, page: 1 }
    }
}

/// Which workers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WorkersQuery {
    /// Also workers that are gone for more than ten minutes.
    #[serde(deserialize_with = "flag")]
    pub(super) all: bool,
    /// So many workers at most.
    #[schemars(range(min = 1, max = MOST))]
    #[serde(deserialize_with = "number")]
    limit: u32,
    /// Which page of that many workers, 1 being the first. A page with fewer is the last.
    #[schemars(range(min = 1))]
    #[serde(deserialize_with = "number")]
    page: u32,
}

impl Default for WorkersQuery {
    fn default() -> WorkersQuery {
        WorkersQuery { all: false, limit: MOST, page: 1 }
    }
}

/// How far and how to look ahead.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PredictionsQuery {
    /// How far to look ahead, at most a week.
    #[schemars(range(min = 1, max = MOST_HORIZON_MS))]
    #[serde(deserialize_with = "number")]
    horizon_ms: u64,
    /// How task times are predicted: linear, piecewise, mean, quantile or per-worker. Where it is not said, the master's setting
    /// holds.
    model: Option<String>,
    /// Starts of waiting tasks to tell, the first ones.
    #[schemars(range(max = MOST))]
    #[serde(deserialize_with = "number")]
    starts: u32,
}

impl Default for PredictionsQuery {
    fn default() -> PredictionsQuery {
        PredictionsQuery { horizon_ms: 3_600_000, model: None, starts: 10 }
    }
}

/// What a request's query says.
pub(super) fn read<T: DeserializeOwned>(uri: &Uri) -> Result<T, Refused> {
    let refused = |text: &str| Refused::query(uri, text.strip_prefix(PREFACE).unwrap_or(text));
    let Query(query) = Query::try_from_uri(uri).map_err(|error| refused(&error.body_text()))?;
    Ok(query)
}

/// A value that is repeated where it cannot be read.
fn value<'de, D: Deserializer<'de>, T: FromStr>(from: D, expected: &str) -> Result<T, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(|_| D::Error::custom(format!("`{text}`, expected {expected}")))
}

fn number<'de, D: Deserializer<'de>, T: FromStr>(from: D) -> Result<T, D::Error> {
    value(from, "a whole number")
}

fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    value(from, "true or false")
}

fn within(uri: &Uri, name: &str, value: u64, least: u64, most: u64) -> Result<u64, Refused> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(Refused::query(uri, &format!("{name} {value}: expected {least} to {most}")))
}

/// The size of a page and its number, from 1.
fn sized(uri: &Uri, limit: u32, page: u32) -> Result<(usize, usize), Refused> {
    let limit = within(uri, "limit", limit.into(), 1, MOST.into())?;
    let page = within(uri, "page", page.into(), 1, u32::MAX.into())?;
    Ok((limit as usize, page as usize))
}

impl JobsQuery {
    pub(super) fn page(&self, uri: &Uri) -> Result<(usize, usize), Refused> {
        sized(uri, self.limit, self.page)
    }

    pub(super) fn filter(self, uri: &Uri) -> Result<JobFilter, Refused> {
        let words = self.state.as_deref().unwrap_or_default().split(',').filter(|word| !word.is_empty());
        let state = |word: &str| {
            let known = STATES.into_iter().find(|state| state.eq_ignore_ascii_case(word));
            known.ok_or_else(|| Refused::query(uri, &format!("state `{word}`: expected {}", STATES.join(", "))))
        };
        let states = words.map(state).collect::<Result<_, _>>()?;
        Ok(JobFilter { active: self.active, states, user: self.user, queue: self.queue, name: self.name })
    }
}

/// Which places of a list a page has, counted from its start.
fn from_the_start((size, page): (usize, usize)) -> Range<usize> {
    let first = size.saturating_mul(page - 1);
    first..first.saturating_add(size)
}

impl AttemptsQuery {
    pub(super) fn places(&self, uri: &Uri) -> Result<Range<usize>, Refused> {
        Ok(from_the_start(sized(uri, self.limit, self.page)?))
    }
}

impl WorkersQuery {
    pub(super) fn page<T>(&self, uri: &Uri, workers: Vec<T>) -> Result<Vec<T>, Refused> {
        let places = from_the_start(sized(uri, self.limit, self.page)?);
        Ok(workers.into_iter().skip(places.start).take(places.len()).collect())
    }
}

impl PredictionsQuery {
    pub(super) fn request(self, uri: &Uri) -> Result<howdah_proto::v1::PredictRequest, Refused> {
        let horizon_ms = within(uri, "horizon_ms", self.horizon_ms, 1, MOST_HORIZON_MS)?;
        let starts = within(uri, "starts", self.starts.into(), 0, MOST.into())? as u32;
        Ok(howdah_proto::v1::PredictRequest {
            horizon_ms,
            starts,
            model: self.model.unwrap_or_default(),
            changes: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(query: &str) -> Uri {
        format!("/api/v1/x?{query}").parse().expect("a path")
    }

    #[test]
    fn filters_and_pages_are_read() {
        let uri = uri("state=failed,Killed&user=a+b&name=%6eight&limit=7&page=2&active=true");
        let query: JobsQuery = read(&uri).expect("a query");
        assert_eq!(query.page(&uri).expect("a page"), (7, 2));
        let filter = query.filter(&uri).expect("a filter");
        let wanted = JobFilter {
            active: true,
            states: vec!["FAILED", "KILLED"],
            user: Some("a b".to_owned()),
            queue: None,
            name: Some("night".to_owned()),
        };
        assert_eq!(filter, wanted);
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_name() {
        let refusal = |query: &str| {
            let uri = uri(query);
            let read = read::<JobsQuery>(&uri).and_then(|jobs| jobs.page(&uri).and_then(|_| jobs.filter(&uri)));
            let refused = read.expect_err(query);
            (refused.status.as_u16(), serde_json::to_string(&refused.body).expect("JSON"))
        };
        for (query, word) in [
            ("usr=ann", "usr"),
            ("limit=0", "limit 0: expected 1 to 1000"),
            ("limit=1001", "limit 1001"),
            ("limit=-1", "limit: `-1`, expected a whole number"),
            ("limit=99999999999999999999", "limit: `99999999999999999999`, expected a whole number"),
            ("page=two", "query of /api/v1/x: page: `two`, expected a whole number"),
            ("page=0", "page 0"),
            ("state=done", "state `done`"),
            ("user=a&user=b", "user"),
            ("active=perhaps", "active: `perhaps`, expected true or false"),
        ] {
            let (status, body) = refusal(query);
            assert!(status == 400 && body.contains(word), "{query}: {status} {body}");
        }
    }

    #[test]
    fn pages_of_attempts_count_from_the_first() {
        let uri = uri("limit=2&page=2");
        let query: AttemptsQuery = read(&uri).expect("a query");
        assert_eq!(query.places(&uri).expect("a page"), 2..4);
        let last = AttemptsQuery { limit: MOST, page: u32::MAX };
        assert!(last.places(&uri).expect("a page").start > 1_000_000_000_000);
    }
}
