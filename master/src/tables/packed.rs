//! Counters of one attempt in a few dozen bytes.
//!
//! As maps of names they take two to five KiB, mostly the same names each time; a job of a million tasks would fill the
//! master's memory with them. They are read when somebody looks at the attempt, and when its job's history is written.

use howdah_core::job::counters::Counters;
use howdah_proto::{convert, v1};
use prost::Message;

/// Counters as a worker's report has them on the wire: those that every job has by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PackedCounters(Box<[u8]>);

impl PackedCounters {
    /// Of counters that [`convert::numbered`] made.
    pub(crate) fn new(numbered: &v1::Counters) -> PackedCounters {
        PackedCounters(numbered.encode_to_vec().into_boxed_slice())
    }

    /// As they are encoded.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Of what [`PackedCounters::bytes`] gave.
    pub(super) fn from_bytes(bytes: Vec<u8>) -> PackedCounters {
        PackedCounters(bytes.into_boxed_slice())
    }

    /// As [`PackedCounters::from_bytes`], of bytes that anybody may have written: none, if they are no counters.
    pub(super) fn checked(bytes: Vec<u8>) -> PackedCounters {
        if v1::Counters::decode(&*bytes).is_ok() {
            PackedCounters::from_bytes(bytes)
        } else {
            PackedCounters::default()
        }
    }

    pub(crate) fn unpack(&self) -> Counters {
        let wire = v1::Counters::decode(&*self.0).expect("encoded by `new`");
        // They were within the bounds of an attempt when they came.
        convert::counters_within(&wire, usize::MAX).0
    }
}

#[cfg(test)]
mod tests {
    use howdah_core::job::counters::{FRAMEWORK, KNOWN};

    use super::*;

    fn packed(counters: &Counters) -> PackedCounters {
        PackedCounters::new(&convert::numbered(counters))
    }

    #[test]
    fn what_is_packed_is_what_is_read_in_a_few_dozen_bytes() {
        let mut counters = Counters::default();
        for (place, (group, name)) in KNOWN.iter().enumerate() {
            counters.add(group, name, 1_000 * place as i64);
        }
        let of_all = packed(&counters);
        assert_eq!(of_all.unpack(), counters);
        assert!(of_all.0.len() <= 4 * KNOWN.len(), "{} bytes", of_all.0.len());
        counters.add("mine", "odd ones", -1);
        counters.add(FRAMEWORK, "of another version", i64::MAX);
        counters.0.entry("empty".to_owned()).or_default();
        assert_eq!(packed(&counters).unpack(), counters);
        assert_eq!(PackedCounters::default().unpack(), Counters::default());
    }
}
