//! When the jobs of a generated trace come.

use howdah_core::job::profile::Trace;
use howdah_core::models::{Distribution, Random};

use super::build::GAPS;

/// Puts draws of `gaps`, in milliseconds, between the submissions: the first job comes at 0. Jobs keep their order,
/// which is what ascending submission times mean for a trace.
pub(super) fn apart(trace: &mut Trace, gaps: &Distribution, seed: u64) {
    let mut random = Random::new(seed, GAPS);
    // Rounded once, at the end, so that gaps below a millisecond add up.
    let mut now = 0.0;
    for (index, job) in trace.jobs.iter_mut().enumerate() {
        if index > 0 {
            now += gaps.sample(&mut random).max(0.0);
        }
        job.submit_ms = now.round() as u64;
    }
}

#[cfg(test)]
mod tests {
    use howdah_core::job::profile::JobTemplate;

    use super::*;

    #[test]
    fn gaps_have_their_mean_and_the_first_job_comes_at_once() {
        let mut trace = Trace { jobs: vec![JobTemplate::default(); 20_001], ..Trace::default() };
        apart(&mut trace, &Distribution::Exponential { mean: 0.4 }, 3);
        assert_eq!(trace.jobs[0].submit_ms, 0);
        assert!(trace.jobs.windows(2).all(|pair| pair[0].submit_ms <= pair[1].submit_ms));
        let mean = trace.jobs[20_000].submit_ms as f64 / 20_000.0;
        assert!((mean / 0.4 - 1.0).abs() < 0.05, "{mean}");
    }
}
