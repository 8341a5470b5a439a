//! A job as its two stages on so many slots: the abstraction under which Johnson's rule is optimal.
//!
//! Source: balanced-pools §2.2, as `models::bounds` has it; the policies `johnson` and `balanced-pools` take the same
//! estimates, so that they order jobs as the optimiser does. A job whose durations a trace lacks counts as taking no
//! time, which is what it takes in a replay.

use howdah_core::job::JobProfile;
use howdah_core::job::profile::JobTemplate;
use howdah_core::models::Stages;
use howdah_core::models::bounds::{Bound, DividedBy, JobModel};

use super::batch::{Slots, SmallBy};

/// What orders and bounds need of a job.
pub(super) fn model(job: &JobTemplate) -> JobModel {
    let profile = JobProfile::of(job).unwrap_or_default();
    JobModel { n_maps: job.n_maps, n_reduces: job.n_reduces, profile }
}

/// Its stages on so many map and reduce slots.
pub(super) fn stages(model: &JobModel, slots: Slots, bound: Bound, divided: DividedBy) -> Stages {
    Stages {
        map_us: model.map_stage(slots.maps.into(), bound, divided).as_us(),
        reduce_us: model.reduce_stage(slots.reduces.into(), bound, divided).as_us(),
    }
}

/// Maps and reduces.
pub(super) fn tasks(model: &JobModel) -> [u32; 2] {
    [model.n_maps, model.n_reduces]
}

/// Slot time of its maps and of its reduces in milliseconds, without shuffles, which may overlap with maps.
pub(super) fn work_ms(model: &JobModel) -> [f64; 2] {
    let ms = |n: u32, avg_us: u64| f64::from(n) * avg_us as f64 / 1e3;
    [ms(model.n_maps, model.profile.map.avg.as_us()), ms(model.n_reduces, model.profile.reduce.avg.as_us())]
}

/// What jobs are sorted by into small ones and big ones, in units that compare within one batch.
pub(super) fn size(model: &JobModel, slots: Slots, by: SmallBy) -> u64 {
    match by {
        SmallBy::Maps => model.n_maps.into(),
        SmallBy::Work => work_ms(model).iter().sum::<f64>() as u64,
        SmallBy::Length => {
            let stages = stages(model, slots, Bound::Low, DividedBy::Usable);
            let longest = |n: u32, max: u64| if n > 0 { max } else { 0 };
            let map_us = stages.map_us.max(longest(model.n_maps, model.profile.map.max.as_us()));
            let reduce_us = stages.reduce_us.max(longest(model.n_reduces, model.profile.reduce.max.as_us()));
            map_us.saturating_add(reduce_us)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jobs_stages_and_work_are_those_of_its_tasks() {
        let job = JobTemplate {
            n_maps: 10,
            n_reduces: 3,
            map_ms: vec![100, 300],
            reduce_ms: vec![50],
            ..JobTemplate::default()
        };
        let model = model(&job);
        // balanced-pools §2.2: n·avg/k and (n-1)·avg/k + max; reduces are fewer than slots.
        let on = |slots, bound, divided| stages(&model, Slots { maps: slots, reduces: slots }, bound, divided);
        let on_four = |bound| on(4, bound, DividedBy::Usable);
        assert_eq!(on_four(Bound::Low), Stages { map_us: 500_000, reduce_us: 50_000 });
        assert_eq!(on_four(Bound::Upper).map_us, 450_000 + 300_000);
        assert_eq!(on_four(Bound::Average).map_us, 625_000);
        // As printed, three reduces on four slots count as if they filled them.
        assert_eq!(on(4, Bound::Low, DividedBy::All).reduce_us, 37_500);
        assert_eq!((work_ms(&model), tasks(&model)), ([2_000.0, 150.0], [10, 3]));
        let four = Slots { maps: 4, reduces: 4 };
        let sizes = [SmallBy::Maps, SmallBy::Work, SmallBy::Length].map(|by| size(&model, four, by));
        assert_eq!(sizes, [10, 2_150, 550_000], "ten maps, 2.15 s of slots, 0.5 s and one reduce of 0.05 s");
        let many = Slots { maps: 100, reduces: 100 };
        assert_eq!(size(&model, many, SmallBy::Length), 350_000, "no shorter than its longest map and reduce");
    }
}
