//! SimMR's testbed mix (§IV-C): six applications, each on three data sets, for 64 workers of one map and one reduce
//! slot (§IV-B).
//!
//! The text states the data sets: 32, 40 and 43 GB of Wikipedia's history for word count, Bayes and TF-IDF; 16, 32
//! and 64 GB for sort; 12, 18 and 25 GB for Twitter; and hourly files of April, May and June 2010 for WikiTrends.
//! With its blocks of 64 MB this gives the maps (one per hourly file, as in balanced-pools §2.2). It leaves open:
//!
//! - task durations: its Figure 5 shows completion times of jobs (figure only). The means here are ours, plausible for
//!   the applications' kinds of work on blocks of 64 MB. A profile is "within 10–15 %" of another run (§II), so that
//!   spreads are small: maps and reduces are lognormal with 0.3 and 0.2 as the deviation of the logarithm;
//! - the number of reduces: 64, one wave, which is also what balanced-pools Figure 2 shows for WikiTrends;
//! - shuffles: the first one's non-overlapping part is half of a typical one. Shuffle and reduce grow with the data.

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::models::Distribution;

use super::Choices;
use super::build::{durations, job, of_job, of_set};

/// Slots of the testbed.
pub(super) const SLOTS: (u16, u16) = (64, 64);
const REDUCES: u32 = 64;
/// Blocks of 64 MB in a GB.
const BLOCKS: u32 = 16;
const MAP_SIGMA: f64 = 0.3;
const REDUCE_SIGMA: f64 = 0.2;

/// An application: maps of its three data sets, and mean seconds of a map, and of a typical shuffle and a reduce on
/// the smallest.
struct Application {
    name: &'static str,
    maps: [u32; 3],
    map_s: f64,
    shuffle_s: f64,
    reduce_s: f64,
}

const WIKIPEDIA: [u32; 3] = [32 * BLOCKS, 40 * BLOCKS, 43 * BLOCKS];

const APPLICATIONS: [Application; 6] = [
    Application { name: "wordcount", maps: WIKIPEDIA, map_s: 30.0, shuffle_s: 20.0, reduce_s: 10.0 },
    Application {
        name: "sort",
        maps: [16 * BLOCKS, 32 * BLOCKS, 64 * BLOCKS],
        map_s: 8.0,
        shuffle_s: 30.0,
        reduce_s: 30.0,
    },
    Application { name: "bayes", maps: WIKIPEDIA, map_s: 45.0, shuffle_s: 20.0, reduce_s: 15.0 },
    Application { name: "tfidf", maps: WIKIPEDIA, map_s: 20.0, shuffle_s: 30.0, reduce_s: 25.0 },
    // Hours of April, May and June.
    Application { name: "wikitrends", maps: [720, 744, 720], map_s: 25.0, shuffle_s: 15.0, reduce_s: 10.0 },
    Application {
        name: "twitter",
        maps: [12 * BLOCKS, 18 * BLOCKS, 25 * BLOCKS],
        map_s: 12.0,
        shuffle_s: 30.0,
        reduce_s: 40.0,
    },
];

/// So many jobs: the 18 in random order, over and over.
pub(super) fn generate(choices: &Choices, jobs: usize) -> Trace {
    let mut order: Vec<usize> = (0..3 * APPLICATIONS.len()).collect();
    of_set(choices.seed).shuffle(&mut order);
    let jobs = (0..jobs).map(|place| {
        let which = order[place % order.len()];
        // A job's durations are its own, wherever it stands.
        template(&APPLICATIONS[which / 3], which % 3, choices.seed, which + order.len() * (place / order.len()))
    });
    Trace { jobs: jobs.collect(), ..Trace::default() }
}

fn template(application: &Application, size: usize, seed: u64, stream: usize) -> JobTemplate {
    let mut random = of_job(seed, stream);
    let Application { maps, map_s, shuffle_s, reduce_s, .. } = *application;
    let growth = f64::from(maps[size]) / f64::from(maps[0]);
    let around = |mean_s: f64, sigma: f64| Distribution::LogNormal {
        mu: libm::log(mean_s * 1_000.0) - sigma * sigma / 2.0,
        sigma,
    };
    let mut template = job(&format!("{}-{}", application.name, size + 1), maps[size], REDUCES);
    template.map_ms = durations(&around(map_s, MAP_SIGMA), 1.0, maps[size], &mut random);
    let mut reduces = |mean_s: f64| durations(&around(mean_s, REDUCE_SIGMA), growth, REDUCES, &mut random);
    template.first_shuffle_ms = reduces(shuffle_s / 2.0);
    template.typical_shuffle_ms = reduces(shuffle_s);
    template.reduce_ms = reduces(reduce_s);
    template
}
