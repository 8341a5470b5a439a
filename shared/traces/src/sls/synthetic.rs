//! SLS's synthetic workloads: classes of jobs with distributions, from which jobs are drawn with the file's own seed.
//!
//! Hadoop draws with Java's generators, so its jobs are others than ours; the distributions are the same. Per job: a
//! workload and a class by weight, a second of submission (a time bucket by weight, even within it), then counts and
//! times of tasks. A number is constant, or one of a list by weight, or lognormal (the default) or normal with the
//! given mean and deviation; a deviation of 0 counts as a sixth of the mean, as it does there. Old files have
//! `mtasks_avg` and the like, in seconds; newer ones a list of `tasks`, in milliseconds. A job has a deadline with the
//! chance of its `reservation`: `deadline_factor` times its `duration`. Reduces have no shuffle.
//! Source: SynthTraceJobProducer and SynthJob of Hadoop 3.

use howdah_core::job::profile::JobTemplate;
use howdah_core::models::{Distribution, Negative, Random};

use super::super::TraceError;
use super::super::profiler::MAX_INSTANT_MS;
use super::reader::Reader;
use super::workload::{Bucket, Class, Sample, Workload};

/// A class, ready to draw from.
struct Drawable {
    name: String,
    user: String,
    duration_s: Distribution,
    deadline_factor: Distribution,
    deadline_chance: Distribution,
    /// Whether they are reduces, how many, how many milliseconds each.
    tasks: Vec<(bool, Distribution, Distribution)>,
}

/// Draws `n_jobs`, in order of submission.
pub(super) fn draw(
    workloads: &[Workload],
    n_jobs: u64,
    seed: i64,
    reader: &mut Reader<'_>,
) -> Result<Vec<JobTemplate>, TraceError> {
    let mut drawables = Vec::new();
    for (number, workload) in workloads.iter().enumerate() {
        let place = format!("workload {}", number + 1);
        if workload.job_classes.0.is_empty() || workload.time_distribution.0.is_empty() {
            return Err(malformed(&place, "no job_classes or no time_distribution", "both"));
        }
        let classes = workload.job_classes.0.iter().map(|class| drawable(class, &place, reader));
        drawables.push(classes.collect::<Result<Vec<_>, _>>()?);
    }
    if drawables.is_empty() {
        return Err(malformed("workloads", "an empty list", "at least one"));
    }
    reader.spend(n_jobs.saturating_mul(100), "num_jobs")?;
    // What kind of job comes when has a stream, and each job's inside has one.
    let mut kinds = Random::new(seed as u64, 0);
    let mut jobs = Vec::new();
    for number in 1..=n_jobs {
        let chosen = pick(workloads.iter().map(|workload| workload.workload_weight), &mut kinds);
        let (workload, classes) = (&workloads[chosen], &drawables[chosen]);
        let submit_ms = submission_ms(&workload.time_distribution.0, &mut kinds);
        let class = pick(workload.job_classes.0.iter().map(|class| class.class_weight), &mut kinds);
        let mut job = job(&classes[class], &mut Random::new(seed as u64, number), reader)?;
        job.queue = workload.queue_name.as_str().to_owned();
        job.submit_ms = submit_ms;
        jobs.push(job);
    }
    jobs.sort_by_key(|job| job.submit_ms);
    for (job, number) in jobs.iter_mut().zip(1..) {
        job.id = format!("job_synthetic_{number:04}");
    }
    Ok(jobs)
}

fn drawable(class: &Class, place: &str, reader: &mut Reader<'_>) -> Result<Drawable, TraceError> {
    let name = class.class_name.as_str().to_owned();
    let place = format!("{place}, class `{name}`");
    let number = |sample: &Option<Sample>, avg: f64, sd: f64| match sample {
        Some(sample) => sample.distribution(&place),
        None => spread(avg, sd, true, &place),
    };
    let tasks = match &class.tasks {
        Some(tasks) => {
            let mut list = Vec::new();
            for tasks in &tasks.0 {
                let reduce = tasks.kind.as_str() == "reduce";
                if !reduce && tasks.kind.as_str() != "map" {
                    let reason = "container of another type than map and reduce: counts as a map";
                    reader.notes.add(reason, || place.clone());
                }
                list.push((reduce, tasks.count.distribution(&place)?, tasks.time.distribution(&place)?));
            }
            list
        }
        None => {
            let ms = |avg: f64, sd: f64| spread(avg * 1000.0, sd * 1000.0, true, &place);
            let maps = spread(class.mtasks_avg, class.mtasks_stddev, true, &place)?;
            let reduces = spread(class.rtasks_avg, class.rtasks_stddev, true, &place)?;
            vec![
                (false, maps, ms(class.mtime_avg, class.mtime_stddev)?),
                (true, reduces, ms(class.rtime_avg, class.rtime_stddev)?),
            ]
        }
    };
    Ok(Drawable {
        user: class.user_name.as_str().to_owned(),
        duration_s: number(&class.duration, class.dur_avg, class.dur_stddev)?,
        deadline_factor: number(&class.deadline_factor, class.deadline_factor_avg, class.deadline_factor_stddev)?,
        deadline_chance: match &class.reservation {
            Some(sample) => sample.distribution(&place)?,
            None => Distribution::Constant(class.chance_of_reservation),
        },
        tasks,
        name,
    })
}

impl Sample {
    fn distribution(&self, place: &str) -> Result<Distribution, TraceError> {
        let lognormal = match self.dist.as_str() {
            "" | "LOGNORM" => true,
            "NORM" => false,
            other => return Err(malformed(place, &format!("dist `{other}`"), "LOGNORM or NORM")),
        };
        match (self.val, self.std) {
            (Some(mean), Some(sd)) => return spread(mean, sd, lognormal, place),
            (Some(value), None) => return Ok(Distribution::Constant(value)),
            _ => (),
        }
        let ones = || vec![1.0; self.discrete.0.len()];
        let weights = self.weights.as_ref().map_or_else(ones, |weights| weights.0.clone());
        let values = self.discrete.0.iter().map(|text| text.as_str().trim().parse::<f64>());
        let values = values.collect::<Result<Vec<_>, _>>().unwrap_or_default();
        let fits = !values.is_empty() && values.len() == weights.len();
        if !fits || values.iter().any(|value| !value.is_finite()) || !weights.iter().all(|&weight| weight > 0.0) {
            let expected = "val, val and std, or discrete numbers with as many weights above 0";
            return Err(malformed(place, "a number of another form", expected));
        }
        Ok(Distribution::Mixture(weights.into_iter().zip(values.into_iter().map(Distribution::Constant)).collect()))
    }
}

fn spread(mean: f64, sd: f64, lognormal: bool, place: &str) -> Result<Distribution, TraceError> {
    // Squares of anything larger need not be numbers.
    let sane = |value: f64| (0.0..=1e15).contains(&value);
    if !sane(mean) || !sane(sd) {
        return Err(malformed(place, &format!("mean {mean} and deviation {sd}"), "numbers from 0 to 1e15"));
    }
    if mean == 0.0 {
        return Ok(Distribution::Constant(0.0));
    }
    let sd = if sd == 0.0 { mean / 6.0 } else { sd };
    if !lognormal {
        return Ok(Distribution::Normal { mean, sd, negative: Negative::Clamp });
    }
    let share = sd / mean;
    let square = libm::log1p(share * share);
    Ok(Distribution::LogNormal { mu: libm::log(mean) - square / 2.0, sigma: square.sqrt() })
}

fn job(class: &Drawable, random: &mut Random, reader: &mut Reader<'_>) -> Result<JobTemplate, TraceError> {
    let mut job = JobTemplate { name: class.name.clone(), user: class.user.clone(), ..JobTemplate::default() };
    let duration_s = class.duration_s.sample_whole(random);
    let has_deadline = random.unit() <= class.deadline_chance.sample(random);
    let deadline_ms = (class.deadline_factor.sample(random) * duration_s as f64 * 1000.0).ceil() as u64;
    job.deadline_ms = has_deadline.then_some(deadline_ms.min(MAX_INSTANT_MS));
    for (reduce, count, ms) in &class.tasks {
        let count = count.sample_whole(random);
        reader.spend(count, &class.name)?;
        let times = if *reduce { &mut job.reduce_ms } else { &mut job.map_ms };
        times.extend((0..count).map(|_| ms.sample_whole(random).min(MAX_INSTANT_MS)));
    }
    // The reader's budget is far below 32 bits.
    job.n_maps = u32::try_from(job.map_ms.len()).unwrap_or(u32::MAX);
    job.n_reduces = u32::try_from(job.reduce_ms.len()).unwrap_or(u32::MAX);
    if job.n_reduces > 0 {
        job.typical_shuffle_ms = vec![0];
    }
    Ok(job)
}

fn submission_ms(buckets: &[Bucket], random: &mut Random) -> u64 {
    let chosen = pick(buckets.iter().map(|bucket| bucket.weight), random);
    let second = |place: usize| buckets.get(place).and_then(|bucket| bucket.time.count());
    let from = second(chosen).unwrap_or(0);
    let seconds = second(chosen + 1).unwrap_or(from).saturating_sub(from);
    let within = if seconds > 0 { random.below(usize::try_from(seconds).unwrap_or(usize::MAX)) } else { 0 };
    from.saturating_add(within as u64).saturating_mul(1000).min(MAX_INSTANT_MS)
}

/// A place by weight; weights below 0 count 0. The last one if none weighs anything.
fn pick(weights: impl Iterator<Item = f64> + Clone, random: &mut Random) -> usize {
    let sum: f64 = weights.clone().map(|weight| weight.max(0.0)).sum();
    let mut left = random.unit() * sum;
    let mut last = 0;
    for (place, weight) in weights.enumerate() {
        last = place;
        left -= weight.max(0.0);
        if left < 0.0 {
            break;
        }
    }
    last
}

fn malformed(place: &str, found: &str, expected: &str) -> TraceError {
    TraceError::Malformed { place: place.to_owned(), found: found.to_owned(), expected: expected.to_owned() }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::super::ImportNotes;
    use super::super::read;
    use howdah_core::job::profile::Trace;

    const OLD: &str = r#"{"num_nodes":6,"nodes_per_rack":4,"num_jobs":400,"rand_seed":7,"workloads":[
        {"workload_weight":1,"queue_name":"a","time_distribution":[{"time":10,"weight":1},{"time":20,"weight":0}],
         "job_classes":[{"class_name":"sort","user_name":"ada","class_weight":1,"mtasks_avg":50,"mtasks_stddev":10,
          "mtime_avg":10,"mtime_stddev":2,"rtasks_avg":5,"rtime_avg":20,"dur_avg":60,"dur_stddev":5,
          "chance_of_reservation":0.5,"deadline_factor_avg":10,"deadline_factor_stddev":0.001}]}]}"#;
    const NEW: &str = r#"{"num_jobs":200,"workloads":[
        {"workload_weight":3,"queue_name":"a","time_distribution":[{"time":5,"weight":1}],
         "job_classes":[{"class_weight":1,"tasks":[{"type":"map","count":{"val":2},"time":{"val":60000}},
          {"type":"reduce","count":{"discrete":["1","3"],"weights":[1,1]},"time":{"val":100,"std":10,"dist":"NORM"}}]}]},
        {"workload_weight":1,"queue_name":"b","time_distribution":[{"time":0,"weight":1}],
         "job_classes":[{"class_weight":1,"tasks":[{"type":"stream","count":{"val":1},"time":{"val":7}}]}]}]}"#;

    fn drawn(text: &str) -> Result<(Trace, usize), String> {
        let mut notes = ImportNotes::default();
        let trace = read(text.as_bytes(), &mut notes).map_err(|error| error.to_string())?;
        Ok((trace, notes.iter().count()))
    }

    fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
        values.clone().sum::<f64>() / values.count() as f64
    }

    #[test]
    fn classes_of_old_files_give_jobs_with_their_means() {
        let (trace, notes) = drawn(OLD).unwrap();
        assert_eq!((trace.jobs.len(), notes), (400, 0));
        let near = |value: f64, wanted: f64| assert!((value / wanted - 1.0).abs() < 0.03, "{value} for {wanted}");
        near(mean(trace.jobs.iter().map(|job| f64::from(job.n_maps))), 50.0);
        near(mean(trace.jobs.iter().map(|job| f64::from(job.n_reduces))), 5.0);
        near(mean(trace.jobs.iter().flat_map(|job| &job.map_ms).map(|&ms| ms as f64)), 10_000.0);
        near(mean(trace.jobs.iter().flat_map(|job| &job.reduce_ms).map(|&ms| ms as f64)), 20_000.0);
        let deadlines: Vec<f64> = trace.jobs.iter().filter_map(|job| job.deadline_ms).map(|ms| ms as f64).collect();
        assert!((150..250).contains(&deadlines.len()), "{}", deadlines.len());
        near(mean(deadlines.iter().copied()), 600_000.0);
        assert!(trace.jobs.iter().all(|job| (10_000..20_000).contains(&job.submit_ms)));
        let racks: Vec<_> = trace.cluster.as_ref().unwrap().workers.iter().map(|worker| worker.rack.as_str()).collect();
        assert_eq!((racks.len(), racks.iter().filter(|rack| **rack == "/rack2").count()), (6, 3));
    }

    #[test]
    fn lists_of_tasks_give_jobs_by_the_weights_of_their_workloads() {
        let (trace, notes) = drawn(NEW).unwrap();
        assert_eq!(notes, 1, "the containers of another type");
        let (a, b): (Vec<_>, Vec<_>) = trace.jobs.iter().partition(|job| job.queue == "a");
        assert!((130..170).contains(&a.len()), "{}", a.len());
        assert!(
            a.iter().all(|job| job.map_ms == [60_000; 2] && matches!(job.n_reduces, 1 | 3) && job.submit_ms == 5_000)
        );
        assert!(b.iter().all(|job| job.map_ms == [7] && job.n_reduces == 0 && job.deadline_ms.is_none()));
    }

    #[test]
    fn same_file_gives_the_same_jobs_and_another_seed_others() {
        assert_eq!(drawn(OLD).unwrap(), drawn(OLD).unwrap());
        let other = drawn(&OLD.replace("\"rand_seed\":7", "\"rand_seed\":8")).unwrap().0;
        assert_ne!(drawn(OLD).unwrap().0.jobs, other.jobs);
    }

    #[rstest]
    #[case(OLD.replace("400", "99999999999"), "expected at most 1000000 in the file")]
    #[case(OLD.replace("\"mtasks_avg\":50", "\"mtasks_avg\":1e14"), "expected at most 1000000 in the file")]
    #[case(OLD.replace("\"mtime_avg\":10", "\"mtime_avg\":-1"), "workload 1, class `sort`: found mean -1000")]
    #[case(NEW.replace("NORM", "CAUCHY"), "found dist `CAUCHY`, expected LOGNORM or NORM")]
    #[case(NEW.replace("[1,1]", "[1]"), "found a number of another form")]
    #[case("{\"workloads\":[]}".to_owned(), "workloads: found an empty list, expected at least one")]
    #[case("{\"workloads\":[{}]}".to_owned(), "workload 1: found no job_classes or no time_distribution")]
    fn what_cannot_be_drawn_is_refused(#[case] text: String, #[case] part: &str) {
        let error = drawn(&text).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}
