//! Durations and sizes where a setting's name says a unit: `expiry_ms = "1m"`, `journal_segment_bytes = "16MiB"`.

use howdah_core::job::quantity::{Bytes, Mebibytes, Millis};
use serde_json::Value;

/// The value as a number of the unit in which the key's name ends, where it is a text that says so. Anything else stays,
/// and is blamed for not being a number.
pub(super) fn in_unit(key: &str, value: Value) -> Value {
    match value {
        Value::Object(map) => map.into_iter().map(|(key, value)| (key.clone(), in_unit(&key, value))).collect(),
        Value::String(text) => number(key, &text).map_or(Value::String(text), Value::from),
        other => other,
    }
}

fn number(key: &str, text: &str) -> Option<u64> {
    let (_, unit) = key.rsplit_once('_')?;
    match unit {
        "ms" => text.parse().ok().map(|Millis(n)| n),
        "mb" => text.parse().ok().map(|Mebibytes(n)| n),
        "bytes" => text.parse().ok().map(|Bytes(n)| n),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_becomes_a_number_of_the_units_that_the_name_ends_in() {
        assert_eq!(in_unit("cluster.expiry_ms", json!("1m")), json!(60_000));
        assert_eq!(in_unit("journal_segment_bytes", json!("16MiB")), json!(16 << 20));
        assert_eq!(in_unit("memory.map_slot_mb", json!("2g")), json!(2048));
        let heartbeat = json!({"rule": "fixed", "interval_ms": "2s"});
        assert_eq!(in_unit("heartbeat", heartbeat), json!({"rule": "fixed", "interval_ms": 2000}));
    }

    #[test]
    fn what_is_no_quantity_stays_as_it_is() {
        for (key, value) in [("expiry_ms", json!("soon")), ("name", json!("5s")), ("drain_grace_ms", json!(7))] {
            assert_eq!(in_unit(key, value.clone()), value);
        }
    }
}
