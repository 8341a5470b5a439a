//! How much input a job's tasks have, where that is known.
//!
//! A map has its split. A reduce is measured by its share of the job's whole input, as its own is not known before the maps are
//! done. A job without a table of sizes, or with nothing in it but zeros, has no known ones: generated input has no size, and
//! one that is only thought of may have been given none. Beside other maps an empty file is known to be empty.

use howdah_core::job::JobSpec;

/// What is known of a job as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InputSizes {
    /// Of each reduce; `None` where the job's sizes are unknown.
    reduce: Option<u64>,
}

impl InputSizes {
    /// Of a job as it was submitted.
    pub(super) fn of(spec: &JobSpec) -> InputSizes {
        let all = spec.map_input_bytes.iter().fold(0, |sum: u64, &bytes| sum.saturating_add(bytes));
        InputSizes { reduce: (all > 0).then(|| all / u64::from(spec.n_reduces.max(1))) }
    }

    /// A map's, in bytes.
    pub(super) fn map(self, spec: &JobSpec, index: u32) -> Option<u64> {
        self.reduce.and_then(|_| spec.map_input_bytes.get(index as usize).copied())
    }

    /// That of the map that has most, in bytes.
    pub(super) fn largest_map(self, spec: &JobSpec) -> Option<u64> {
        self.reduce.and_then(|_| spec.map_input_bytes.iter().max().copied())
    }

    /// A reduce's, in bytes.
    pub(super) fn reduce(self) -> Option<u64> {
        self.reduce
    }
}

#[cfg(test)]
mod tests {
    use howdah_core::job::profile::JobTemplate;
    use howdah_core::replay::job_spec;

    use super::*;

    fn sizes(map_input_bytes: Vec<u64>) -> (Vec<Option<u64>>, Option<u64>, Option<u64>) {
        let template = JobTemplate { n_maps: 3, n_reduces: 2, map_input_bytes, ..JobTemplate::default() };
        let spec = job_spec(&template, None, None, false);
        let sizes = InputSizes::of(&spec);
        ((0..3).map(|index| sizes.map(&spec, index)).collect(), sizes.largest_map(&spec), sizes.reduce())
    }

    #[test]
    fn nothing_but_zeros_is_no_size_and_an_empty_file_among_others_is_one() {
        assert_eq!(sizes(vec![]), (vec![None; 3], None, None));
        assert_eq!(sizes(vec![0; 3]), (vec![None; 3], None, None), "generated input");
        assert_eq!(sizes(vec![7, 0, 3]), (vec![Some(7), Some(0), Some(3)], Some(7), Some(5)));
    }
}
