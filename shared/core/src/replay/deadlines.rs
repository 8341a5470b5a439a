//! Which deadlines jobs have: the trace's, none, or drawn uniformly from [T, df × T], where T is the job's time
//! alone on the whole cluster (SimMR §V-B).

use super::Deadlines;
use super::streams::Stream;
use crate::job::profile::Trace;
use crate::time::Span;

/// The deadline of each job of the trace, in the trace's order, counted from its submission.
///
/// `alone` are the jobs' completion times alone on the cluster, in the trace's order; only
/// [`Deadlines::Uniform`] reads them. A factor below one counts as one.
///
/// # Panics
/// When a rule that draws gets fewer times than there are jobs.
pub fn deadlines(trace: &Trace, rule: &Deadlines, alone: &[Span], seed: u64) -> Vec<Option<Span>> {
    let jobs = trace.jobs.iter();
    match *rule {
        Deadlines::FromTrace => {
            jobs.map(|job| job.deadline_ms.map(|ms| Span::from_us(ms.saturating_mul(1_000)))).collect()
        }
        Deadlines::Drop => vec![None; trace.jobs.len()],
        Deadlines::Uniform { factor_ppm } => {
            assert_eq!(alone.len(), trace.jobs.len(), "a time alone for each job");
            let mut stream = Stream::new(seed, "deadlines");
            let slack_ppm = factor_ppm.saturating_sub(1_000_000);
            alone.iter().map(|&time| Some(drawn(&mut stream, time, slack_ppm))).collect()
        }
    }
}

fn drawn(stream: &mut Stream, alone: Span, slack_ppm: u32) -> Span {
    let most = u128::from(alone.as_us()) * u128::from(slack_ppm) / 1_000_000;
    alone + Span::from_us(stream.up_to(u64::try_from(most).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::profile::JobTemplate;

    fn trace(deadlines: &[Option<u64>]) -> Trace {
        let job = |&deadline_ms: &Option<u64>| JobTemplate { deadline_ms, ..JobTemplate::default() };
        Trace { jobs: deadlines.iter().map(job).collect(), ..Trace::default() }
    }

    #[test]
    fn the_traces_deadlines_are_taken_or_dropped() {
        let two = trace(&[Some(5), None]);
        assert_eq!(deadlines(&two, &Deadlines::FromTrace, &[], 1), [Some(Span::from_ms(5)), None]);
        assert_eq!(deadlines(&two, &Deadlines::Drop, &[], 1), [None, None]);
    }

    #[test]
    fn drawn_deadlines_fill_the_interval() {
        let many = trace(&[None; 2_000]);
        let alone = vec![Span::from_secs(10); 2_000];
        let drawn = deadlines(&many, &Deadlines::Uniform { factor_ppm: 3_000_000 }, &alone, 1);
        let seconds: Vec<f64> = drawn.iter().map(|d| d.expect("each has one").as_secs_f64()).collect();
        assert!(seconds.iter().all(|s| (10.0..=30.0).contains(s)));
        let share = |below: f64| seconds.iter().filter(|&&s| s < below).count() as f64 / 2_000.0;
        assert!([(15.0, 0.25), (20.0, 0.5), (25.0, 0.75)].iter().all(|&(s, p)| (share(s) - p).abs() < 0.04));
    }

    #[test]
    fn a_factor_of_one_leaves_no_slack() {
        let two = trace(&[None, Some(1)]);
        let alone = [Span::from_secs(4), Span::ZERO];
        let drawn = deadlines(&two, &Deadlines::Uniform { factor_ppm: 1_000_000 }, &alone, 9);
        assert_eq!(drawn, [Some(Span::from_secs(4)), Some(Span::ZERO)]);
    }

    #[test]
    fn the_seed_decides_and_nothing_else() {
        let two = trace(&[None, None]);
        let draw =
            |seed| deadlines(&two, &Deadlines::Uniform { factor_ppm: 2_000_000 }, &[Span::from_secs(100); 2], seed);
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
