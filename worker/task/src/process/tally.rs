//! The framework's own counters of one attempt, in plain cells until somebody asks.

use std::cell::Cell;

use howdah_core::job::counters::{Counters, FILE_INPUT, FILE_OUTPUT, FILE_SYSTEM, FRAMEWORK};

#[derive(Default)]
pub(crate) struct Count(Cell<i64>);

impl Count {
    #[inline]
    pub(crate) fn add(&self, amount: u64) {
        self.0.set(self.0.get().wrapping_add(amount as i64));
    }

    pub(crate) fn get(&self) -> i64 {
        self.0.get()
    }
}

macro_rules! tally {
    ($($field:ident: $group:ident $name:literal,)*) => {
        /// All of them. A counter that is 0 is not reported.
        #[derive(Default)]
        pub(crate) struct Tally { $(pub(crate) $field: Count,)* }

        impl Tally {
            /// Adds those that are not 0 under Hadoop's names.
            pub(crate) fn add_to(&self, counters: &mut Counters) {
                $(if self.$field.get() != 0 { counters.add($group, $name, self.$field.get()); })*
            }
        }

        #[cfg(test)]
        const NAMES: &[(&str, &str)] = &[$(($group, $name),)*];
    };
}

tally! {
    map_input_records: FRAMEWORK "Map input records",
    map_input_bytes: FRAMEWORK "Map input bytes",
    map_output_records: FRAMEWORK "Map output records",
    map_output_bytes: FRAMEWORK "Map output bytes",
    map_output_materialized_bytes: FRAMEWORK "Map output materialized bytes",
    combine_input_records: FRAMEWORK "Combine input records",
    combine_output_records: FRAMEWORK "Combine output records",
    reduce_input_groups: FRAMEWORK "Reduce input groups",
    reduce_input_records: FRAMEWORK "Reduce input records",
    reduce_output_records: FRAMEWORK "Reduce output records",
    reduce_shuffle_bytes: FRAMEWORK "Reduce shuffle bytes",
    spilled_records: FRAMEWORK "Spilled Records",
    cpu_ms: FRAMEWORK "CPU time spent (ms)",
    memory_bytes: FRAMEWORK "Physical memory (bytes) snapshot",
    bytes_read: FILE_INPUT "Bytes Read",
    bytes_written: FILE_OUTPUT "Bytes Written",
    file_bytes_read: FILE_SYSTEM "FILE_BYTES_READ",
    file_bytes_written: FILE_SYSTEM "FILE_BYTES_WRITTEN",
}

#[cfg(test)]
mod tests {
    use howdah_core::job::counters::KNOWN;

    #[test]
    fn every_counter_of_the_framework_has_a_number() {
        for name in super::NAMES {
            assert!(KNOWN.contains(name), "{name:?}");
        }
    }
}
