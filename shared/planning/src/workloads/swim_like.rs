//! A stand-in for the slowdown paper's 1,121 jobs (slowdown-variability §V-C), made without the SWIM file.
//!
//! The paper ran SWIM jobs of Facebook's 2009 trace on 20 nodes and kept the task run times; neither those nor the
//! scaled job list are public. The text states properties of the set, and this recipe is tuned to them: squared
//! coefficient of variation of reference run times on an empty cluster of 100 × (6 + 2) slots 16.35, of job sizes
//! (sums of task run times) 3.32; fewer than 8 % of the jobs hold almost half of the load; all reference run times
//! together about 60 h; fewer than ten to more than 10,000 tasks; size strongly correlated with input size.
//!
//! Deviation: every distribution and parameter below is ours, chosen for those properties; the paper has histograms
//! (figure only). As all the paper's sets hold the same jobs in different order, ours hold the same sizes whatever
//! the seed: the middles of equally likely slices of a distribution, not draws. The seed decides order, which
//! reduce durations meet which size, and the spread of tasks inside a job.

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::models::{Distribution, Random};

use super::Choices;
use super::build::{job, of_job, of_set};

/// Share of large jobs. They hold almost half of the load.
const LARGE: f64 = 0.0725;
/// Sizes in slot seconds: median 2,900 with a wide spread, and median 58,000 with a narrow one.
const SMALL_SIZE: Distribution = Distribution::LogNormal { mu: 7.9725, sigma: 1.2 };
const LARGE_SIZE: Distribution = Distribution::LogNormal { mu: 10.9682, sigma: 0.3 };
/// Share of jobs, all of them large, that do their reduce work in a few long reduces. They make reference run times
/// as variable as they are.
const FEW_REDUCES: f64 = 0.0143;
/// Seconds per reduce: median 20 in most jobs, 4,600 in those.
const REDUCE_S: Distribution = Distribution::LogNormal { mu: 2.9957, sigma: 1.2 };
const LONG_REDUCE_S: Distribution = Distribution::LogNormal { mu: 8.4338, sigma: 0.2 };
/// No job is cut into reduces shorter than this.
const SHORTEST_REDUCE_S: f64 = 4.0;
/// Mean seconds per map of a job: median 8.
const MAP_S: Distribution = Distribution::LogNormal { mu: 2.0794, sigma: 0.3 };
/// Share of a job's size that its reduces make, shuffle included.
const REDUCE_SHARE: Distribution = Distribution::Uniform { low: 0.2, high: 0.6 };
/// Tasks of one job differ by this factor.
const SPREAD: Distribution = Distribution::LogNormal { mu: 0.0, sigma: 0.3 };
/// Input of a map: the block size that §II gives as an example.
const BLOCK: u64 = 128 << 20;

/// The jobs in random order, all submitted at 0.
pub(super) fn generate(choices: &Choices, jobs: usize) -> Trace {
    let mut random = of_set(choices.seed);
    let part = |share: f64| (share * jobs as f64).round() as usize;
    let (n_large, n_few) = (part(LARGE), part(FEW_REDUCES).min(part(LARGE)));

    // Large jobs first, those with few reduces the first of them.
    let mut sizes = slices(&LARGE_SIZE, n_large, &mut random);
    sizes.extend(slices(&SMALL_SIZE, jobs - n_large, &mut random));
    let mut reduces = slices(&LONG_REDUCE_S, n_few, &mut random);
    reduces.extend(slices(&REDUCE_S, jobs - n_few, &mut random));

    let mut pairs: Vec<(f64, f64)> = sizes.into_iter().zip(reduces).collect();
    random.shuffle(&mut pairs);
    let jobs = pairs.iter().enumerate().map(|(index, (size_s, reduce_s))| {
        let mut random = of_job(choices.seed, index);
        template(*size_s, *reduce_s, &mut random)
    });
    Trace { jobs: jobs.collect(), ..Trace::default() }
}

/// The middle of each of `count` equally likely slices, in random order.
fn slices(distribution: &Distribution, count: usize, random: &mut Random) -> Vec<f64> {
    let middle = |index: usize| distribution.quantile((index as f64 + 0.5) / count as f64);
    let mut values: Vec<f64> = (0..count).map(middle).collect();
    random.shuffle(&mut values);
    values
}

fn template(size_s: f64, reduce_s: f64, random: &mut Random) -> JobTemplate {
    let in_reduces = size_s * REDUCE_SHARE.sample(random);
    let in_maps = size_s - in_reduces;
    let reduce_s = reduce_s.max(SHORTEST_REDUCE_S).min(in_reduces);
    let parts = |work: f64, each: f64| ((work / each).round() as u32).max(1);
    let n_maps = parts(in_maps, MAP_S.sample(random));
    let n_reduces = parts(in_reduces, reduce_s);
    let mut template = job("swim-like", n_maps, n_reduces);
    template.map_ms = tasks(in_maps, n_maps, random);
    template.reduce_ms = tasks(in_reduces, n_reduces, random);
    template.input_bytes = Some(u64::from(n_maps) * BLOCK);
    template
}

/// `count` durations that add up to `seconds`, but for rounding to milliseconds.
fn tasks(seconds: f64, count: u32, random: &mut Random) -> Vec<u64> {
    let weights: Vec<f64> = (0..count).map(|_| SPREAD.sample(random)).collect();
    let unit = seconds * 1000.0 / weights.iter().sum::<f64>();
    weights.iter().map(|weight| (weight * unit).round() as u64).collect()
}
