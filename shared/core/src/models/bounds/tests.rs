//! The bounds against their printed formulas, and the fewest slots against trying them all.

use proptest::prelude::*;

use super::*;
use crate::job::PhaseTimes;

fn times(avg_ms: u64, max_ms: u64) -> PhaseTimes {
    PhaseTimes { avg: Span::from_ms(avg_ms), max: Span::from_ms(max_ms) }
}

/// 71 maps and 64 reduces, as WikiTrends has (balanced-pools Figures 1 and 2), with made-up times.
fn wiki_trends() -> JobModel {
    let profile = JobProfile {
        map: times(100, 160),
        first_shuffle: times(20, 30),
        typical_shuffle: times(50, 70),
        reduce: times(40, 60),
    };
    JobModel { n_maps: 71, n_reduces: 64, profile }
}

const BOUNDS: [Bound; 3] = [Bound::Low, Bound::Average, Bound::Upper];

// balanced-pools §2.2, the formulas with numbers put in by hand: S_M = S_R = 16.
#[test]
fn several_waves_take_what_the_printed_formulas_say() {
    let job = wiki_trends();
    let (low_m, up_m) = (71.0 * 100.0 / 16.0, 70.0 * 100.0 / 16.0 + 160.0);
    let low_r = 20.0 + (64.0 / 16.0 - 1.0) * 50.0 + 64.0 * 40.0 / 16.0;
    let up_r = 30.0 + ((63.0 / 16.0 - 1.0) * 50.0 + 70.0) + (63.0 * 40.0 / 16.0 + 60.0);
    for (bound, m, r) in [
        (Bound::Low, low_m, low_r),
        (Bound::Upper, up_m, up_r),
        (Bound::Average, (low_m + up_m) / 2.0, (low_r + up_r) / 2.0),
    ] {
        let ms = |span: Span| span.as_us() as f64 / 1e3;
        assert!((ms(job.map_stage(16, bound, DividedBy::Usable)) - m).abs() < 0.001, "{bound:?}");
        assert!((ms(job.reduce_stage(16, bound, DividedBy::Usable)) - r).abs() < 0.001, "{bound:?}");
        let whole = job.completion(Slots { maps: 16, reduces: 16 }, bound);
        assert!((ms(whole) - m - r).abs() < 0.001, "{bound:?}");
    }
}

// balanced-pools §2.2 with a number of slots above the number of tasks, where (N_R/S_R − 1) would be negative.
#[test]
fn slots_beyond_the_tasks_change_nothing_and_a_single_wave_pays_no_typical_shuffle() {
    let job = wiki_trends();
    for bound in BOUNDS {
        let enough = job.completion(Slots { maps: 71, reduces: 64 }, bound);
        assert_eq!(job.completion(Slots { maps: 5_000, reduces: 5_000 }, bound), enough);
    }
    assert_eq!(job.reduce_stage(64, Bound::Low, DividedBy::Usable), Span::from_ms(20 + 40));
    assert_eq!(
        job.reduce_stage(64, Bound::Upper, DividedBy::Usable),
        Span::from_us(30_000 + 63 * 40_000 / 64 + 60_000)
    );
    // As printed, by slots that the job cannot fill.
    let few = JobModel {
        n_maps: 3,
        profile: JobProfile { map: PhaseTimes::even(Span::from_secs(12)), ..JobProfile::default() },
        ..JobModel::default()
    };
    let on_thirty = |divided| few.map_stage(30, Bound::Low, divided);
    assert_eq!([DividedBy::Usable, DividedBy::All].map(on_thirty), [Span::from_secs(12), Span::from_ms(1_200)]);
}

#[test]
fn a_job_without_tasks_of_a_kind_spends_no_time_and_wants_no_slots_there() {
    let profile = JobProfile { map: times(100, 100), reduce: times(10, 10), ..JobProfile::default() };
    let most = Slots { maps: 8, reduces: 8 };
    let maps = JobModel { n_maps: 10, n_reduces: 0, profile };
    assert_eq!(maps.completion(most, Bound::Low), Span::from_ms(125));
    let fewest = |maps, reduces| Demand::Fewest(Slots { maps, reduces });
    assert_eq!(maps.demand(Span::from_ms(200), most, Bound::Low), fewest(5, 0));
    let reduces = JobModel { n_maps: 0, n_reduces: 10, profile };
    assert_eq!(reduces.demand(Span::from_ms(34), most, Bound::Low), fewest(0, 3));
    let none = JobModel { n_maps: 0, n_reduces: 0, profile };
    assert_eq!(none.demand(Span::ZERO, most, Bound::Upper), fewest(0, 0));
}

// SimMR §V-A: the point of the hyperbola where the sum is smallest. 900 s of maps and 100 s of reduces in 40 s:
// S_M = (900 + 300) / 40 = 30, S_R = (100 + 300) / 40 = 10.
#[test]
fn the_closed_form_is_met_where_it_is_whole() {
    let profile = JobProfile {
        map: PhaseTimes::even(Span::from_secs(1)),
        reduce: PhaseTimes::even(Span::from_secs(1)),
        ..JobProfile::default()
    };
    let job = JobModel { n_maps: 900, n_reduces: 100, profile };
    let demand = job.demand(Span::from_secs(40), Slots { maps: 1_000, reduces: 1_000 }, Bound::Low);
    assert_eq!(demand, Demand::Fewest(Slots { maps: 30, reduces: 10 }));
}

#[test]
fn a_deadline_below_what_all_slots_reach_is_infeasible_and_one_at_it_is_not() {
    let (job, most) = (wiki_trends(), Slots { maps: 20, reduces: 20 });
    for bound in BOUNDS {
        let at_best = job.completion(most, bound);
        let sooner = Span::from_us(at_best.as_us() - 1);
        assert_eq!(job.demand(sooner, most, bound), Demand::Infeasible { at_best });
        assert!(matches!(job.demand(at_best, most, bound), Demand::Fewest(_)), "{bound:?}");
    }
}

#[test]
fn the_largest_numbers_neither_overflow_nor_take_long() {
    let times = PhaseTimes::even(Span::MAX);
    let profile = JobProfile { map: times, first_shuffle: times, typical_shuffle: times, reduce: times };
    let job = JobModel { n_maps: u32::MAX, n_reduces: u32::MAX, profile };
    let most = Slots { maps: u32::MAX, reduces: u32::MAX };
    for bound in BOUNDS {
        let Demand::Fewest(slots) = job.demand(Span::MAX, most, bound) else { panic!("a thousand times the longest") };
        assert!(slots.maps < u32::MAX && slots.reduces < u32::MAX, "{bound:?}: {slots:?}");
        assert_eq!(job.completion(Slots { maps: 1, reduces: 1 }, bound), Span::MAX);
    }
}

fn part() -> impl Strategy<Value = PhaseTimes> {
    (0_u64..300, 0_u64..300)
        .prop_map(|(avg, more)| PhaseTimes { avg: Span::from_us(avg), max: Span::from_us(avg + more) })
}

fn model() -> impl Strategy<Value = JobModel> {
    (0_u32..40, 0_u32..40, part(), part(), part(), part()).prop_map(
        |(n_maps, n_reduces, map, first_shuffle, typical_shuffle, reduce)| JobModel {
            n_maps,
            n_reduces,
            profile: JobProfile { map, first_shuffle, typical_shuffle, reduce },
        },
    )
}

fn bound() -> impl Strategy<Value = Bound> {
    prop::sample::select(BOUNDS.to_vec())
}

/// The best by trying every pair of slots.
fn by_force(job: &JobModel, within: Span, most: Slots, bound: Bound) -> Option<Slots> {
    let most = job.usable(most);
    let pairs = (most.maps.min(1)..=most.maps)
        .flat_map(|maps| (most.reduces.min(1)..=most.reduces).map(move |reduces| Slots { maps, reduces }));
    pairs
        .filter(|&slots| job.completion(slots, bound) <= within)
        .min_by_key(|&slots| (slots.sum(), job.completion(slots, bound), slots.maps))
}

proptest! {
    #[test]
    fn no_pair_of_slots_is_better_than_the_demand(
        job in model(),
        bound in bound(),
        maps in 1_u32..50,
        reduces in 1_u32..50,
        within in 0_u64..6_000,
    ) {
        let (within, most) = (Span::from_us(within), Slots { maps, reduces });
        let expected = by_force(&job, within, most, bound);
        match job.demand(within, most, bound) {
            Demand::Fewest(found) => prop_assert_eq!(Some(found), expected),
            Demand::Infeasible { at_best } => {
                prop_assert_eq!(expected, None);
                prop_assert!(at_best > within);
            }
        }
    }

    // Tight deadlines want nearly all slots, where the caps cut the hyperbola.
    #[test]
    fn nor_when_the_deadline_is_just_met(job in model(), bound in bound(), maps in 1_u32..50, reduces in 1_u32..50,
        slack in 0_u64..100) {
        let most = Slots { maps, reduces };
        let within = job.completion(most, bound) + Span::from_us(slack);
        let expected = by_force(&job, within, most, bound).expect("all slots are enough");
        prop_assert_eq!(job.demand(within, most, bound), Demand::Fewest(expected));
    }

    #[test]
    fn more_slots_never_take_longer_and_the_bounds_are_in_order(job in model(), maps in 1_u32..50, reduces in 1_u32..50) {
        let slots = Slots { maps, reduces };
        let [low, average, upper] = BOUNDS.map(|bound| job.completion(slots, bound));
        prop_assert!(average <= upper.max(low));
        prop_assert!(low.min(upper) <= average);
        for bound in BOUNDS {
            let time = job.completion(slots, bound);
            for more in [Slots { maps: maps + 1, reduces }, Slots { maps, reduces: reduces + 1 }] {
                prop_assert!(job.completion(more, bound) <= time, "{more:?} under {bound:?}");
            }
        }
    }

    // balanced-pools §2.2: a greedy assignment lies between the bounds of its stage.
    #[test]
    fn greedy_assignments_lie_between_the_bounds(tasks in prop::collection::vec(1_u64..500, 1..60), slots in 1_usize..20) {
        let mut free = vec![0_u64; slots];
        for &task in &tasks {
            let first = (0..slots).min_by_key(|&slot| free[slot]).expect("at least one");
            free[first] += task;
        }
        let makespan = Span::from_us(*free.iter().max().expect("at least one"));
        let n = tasks.len() as u64;
        let avg = Span::from_us(tasks.iter().sum::<u64>().div_ceil(n));
        let max = Span::from_us(*tasks.iter().max().expect("at least one"));
        let profile = JobProfile { map: PhaseTimes { avg, max }, ..JobProfile::default() };
        let job = JobModel { n_maps: n as u32, n_reduces: 0, profile };
        // The average is rounded up to a whole microsecond, so that the lower bound may be one above.
        let low = job.map_stage(slots as u32, Bound::Low, DividedBy::Usable);
        prop_assert!(low.as_us() <= makespan.as_us() + n, "{low} above {makespan}");
        prop_assert!(makespan <= job.map_stage(slots as u32, Bound::Upper, DividedBy::Usable));
    }
}
