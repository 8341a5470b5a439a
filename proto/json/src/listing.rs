//! What listings look like as JSON, and how raw answers of the master become them.
//!
//! Field names carry units; absent values are null; every top level names its schema. Programs rely on these
//! shapes: fields are only added.

use std::collections::BTreeMap;

use howdah_proto::v1::Counters;
use schemars::JsonSchema;
use serde::Serialize;

/// A listing under its schema's name.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}Listing")]
pub struct Listing<T> {
    /// `howdah/NAME/v1`, which says what the other fields are.
    schema: String,
    #[serde(flatten)]
    body: T,
}

impl<T: Serialize> Listing<T> {
    /// `name` is the middle of `howdah/NAME/v1`.
    pub fn new(name: &str, body: T) -> Listing<T> {
        Listing { schema: format!("howdah/{name}/v1"), body }
    }
}

/// A listing's body whose schema has one name.
pub trait Shape: Serialize + Sized {
    /// The middle of `howdah/NAME/v1`.
    const NAME: &'static str;

    /// Under its schema's name.
    fn listing(self) -> Listing<Self> {
        Listing::new(Self::NAME, self)
    }
}

/// 0 stands for "not reached" on the wire.
pub fn reached(ms_epoch: u64) -> Option<u64> {
    (ms_epoch > 0).then_some(ms_epoch)
}

/// Empty stands for "none" on the wire.
pub fn given(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// Seconds between two instants; `None` unless both were reached.
pub fn span_s(from_ms: u64, to_ms: u64) -> Option<f64> {
    (from_ms > 0 && to_ms > 0).then(|| (to_ms as f64 - from_ms as f64) / 1e3)
}

/// Values by group and name.
pub type CounterMap = BTreeMap<String, BTreeMap<String, i64>>;

/// From the wire.
pub fn counter_map(counters: Option<&Counters>) -> CounterMap {
    let mut map = CounterMap::new();
    for group in counters.map_or(&[][..], |counters| &counters.groups) {
        let values = map.entry(group.name.clone()).or_default();
        values.extend(group.counters.iter().map(|counter| (counter.name.clone(), counter.value)));
    }
    map
}
