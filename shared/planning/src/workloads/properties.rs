//! What a trace is like as a whole: the numbers by which papers describe their workloads.
//!
//! The *size* of a job is the sum of its task run times (slowdown-variability §III), typical shuffles
//! included. Its *reference run time* is how long it takes alone on an empty cluster, which needs slots.

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::models::moments::{Moments, correlation, share_holding};
use howdah_core::replay::{ReplayError, ReplayOptions, View, reference_times};

/// A number about a set of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    Jobs,
    /// Maps of all jobs.
    Maps,
    /// Reduces of all jobs.
    Reduces,
    /// Tasks of the smallest job.
    FewestTasks,
    /// Tasks of the largest job.
    MostTasks,
    /// Work of all jobs in slot hours.
    LoadHours,
    /// Mean size of a job in slot seconds.
    MeanSize,
    /// Squared coefficient of variation of sizes.
    SizeScv,
    /// Smallest share of jobs that together hold half of the load.
    HalfLoadShare,
    /// Correlation of size and input bytes; absent where bytes are unknown.
    InputCorrelation,
    /// Sum of all reference run times in hours.
    ReferenceHours,
    /// Shortest reference run time in seconds.
    ShortestReference,
    /// Longest reference run time in seconds.
    LongestReference,
    /// Squared coefficient of variation of reference run times.
    ReferenceScv,
}

impl Property {
    /// As printed for programs.
    pub fn name(self) -> &'static str {
        match self {
            Property::Jobs => "jobs",
            Property::Maps => "maps",
            Property::Reduces => "reduces",
            Property::FewestTasks => "fewest_tasks",
            Property::MostTasks => "most_tasks",
            Property::LoadHours => "load_slot_hours",
            Property::MeanSize => "mean_size_slot_s",
            Property::SizeScv => "size_scv",
            Property::HalfLoadShare => "half_load_share_of_jobs",
            Property::InputCorrelation => "size_input_correlation",
            Property::ReferenceHours => "reference_hours",
            Property::ShortestReference => "shortest_reference_s",
            Property::LongestReference => "longest_reference_s",
            Property::ReferenceScv => "reference_scv",
        }
    }

    /// As printed for people.
    pub fn title(self) -> &'static str {
        match self {
            Property::Jobs => "jobs",
            Property::Maps => "maps",
            Property::Reduces => "reduces",
            Property::FewestTasks => "tasks of the smallest job",
            Property::MostTasks => "tasks of the largest job",
            Property::LoadHours => "load, slot hours",
            Property::MeanSize => "mean job size, slot seconds",
            Property::SizeScv => "squared coefficient of variation of sizes",
            Property::HalfLoadShare => "share of jobs that hold half of the load",
            Property::InputCorrelation => "correlation of size and input",
            Property::ReferenceHours => "reference run times together, hours",
            Property::ShortestReference => "shortest reference run time, s",
            Property::LongestReference => "longest reference run time, s",
            Property::ReferenceScv => "squared coefficient of variation of reference run times",
        }
    }
}

/// The sum of a job's task run times in milliseconds: maps, typical shuffles (first ones where no other is known) and
/// reduces, as the replay counts load.
pub fn size_ms(job: &JobTemplate) -> u64 {
    let cycle = |values: &[u64], count: u32| -> u64 {
        // Whole rounds and a rest, so that one entry can stand for millions.
        let sum = |part: &[u64]| part.iter().sum::<u64>();
        match (values.len(), count as usize) {
            (0, _) => 0,
            (length, count) => sum(values) * (count / length) as u64 + sum(&values[..count % length]),
        }
    };
    let typical = if job.typical_shuffle_ms.is_empty() { &job.first_shuffle_ms } else { &job.typical_shuffle_ms };
    cycle(&job.map_ms, job.n_maps) + cycle(typical, job.n_reduces) + cycle(&job.reduce_ms, job.n_reduces)
}

/// All properties that a trace has, in the order of [`Property`], with reference run times on this many slots.
///
/// # Errors
/// If the trace cannot be replayed.
pub fn of(trace: &Trace, slots: (u16, u16)) -> Result<Vec<(Property, f64)>, ReplayError> {
    let tasks = |job: &JobTemplate| f64::from(job.n_maps) + f64::from(job.n_reduces);
    let each = |number: &dyn Fn(&JobTemplate) -> f64| trace.jobs.iter().map(number).collect::<Vec<f64>>();
    let counts = Moments::of(&each(&tasks));
    let sizes = each(&|job| size_ms(job) as f64 / 1000.0);
    let size = Moments::of(&sizes);
    let references = reference_s(trace, slots)?;
    let reference = Moments::of(&references);
    let mut found = vec![
        (Property::Jobs, trace.jobs.len() as f64),
        (Property::Maps, each(&|job| f64::from(job.n_maps)).iter().sum()),
        (Property::Reduces, each(&|job| f64::from(job.n_reduces)).iter().sum()),
        (Property::FewestTasks, counts.min),
        (Property::MostTasks, counts.max),
        (Property::LoadHours, size.sum / 3600.0),
        (Property::MeanSize, size.mean),
        (Property::SizeScv, size.scv()),
        (Property::HalfLoadShare, share_holding(&sizes, 0.5)),
    ];
    let inputs: Option<Vec<f64>> = trace.jobs.iter().map(|job| job.input_bytes.map(|bytes| bytes as f64)).collect();
    if let Some(correlation) = inputs.and_then(|inputs| correlation(&sizes, &inputs)) {
        found.push((Property::InputCorrelation, correlation));
    }
    found.extend([
        (Property::ReferenceHours, reference.sum / 3600.0),
        (Property::ShortestReference, reference.min),
        (Property::LongestReference, reference.max),
        (Property::ReferenceScv, reference.scv()),
    ]);
    Ok(found)
}

/// Each job's time alone on an empty cluster, in seconds, by its place in the trace.
fn reference_s(trace: &Trace, (maps, reduces): (u16, u16)) -> Result<Vec<f64>, ReplayError> {
    let options = ReplayOptions { view: View::Slots { maps, reduces }, ..ReplayOptions::default() };
    Ok(reference_times(trace, &options)?.into_iter().map(|time| time.as_us() as f64 / 1e6).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_count_every_task_once_however_short_the_lists() {
        let job = JobTemplate {
            n_maps: 5,
            n_reduces: 4,
            map_ms: vec![10, 20],
            first_shuffle_ms: vec![1, 2],
            typical_shuffle_ms: vec![100],
            reduce_ms: vec![1000],
            ..JobTemplate::default()
        };
        assert_eq!(size_ms(&job), (10 + 20 + 10 + 20 + 10) + 400 + 4000);
        assert_eq!(size_ms(&JobTemplate { n_maps: 3, n_reduces: 1, ..JobTemplate::default() }), 0);
    }
}
