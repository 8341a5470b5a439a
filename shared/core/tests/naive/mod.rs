//! SimMR's semantics once more, slow and obvious: what the engine is compared with.
//!
//! Written from SimMR §III-B and from the project's rules for what the paper leaves open, not from the engine: at
//! each instant everything that is over ends, then jobs come, then free slots are filled, job by job in FIFO's order
//! (priority, submission, place in the trace). A reduce that gets its slot before its job's maps are done is a
//! filler and ends a first shuffle and a reduce time after them; a later one takes a typical shuffle and a reduce
//! time. What takes no time at all and begins in a pass over an instant ends in the next pass over the same instant.
//! Nothing is indexed, nothing is remembered that could be looked up again.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]

pub mod traces;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::replay::ShuffleModel;
use howdah_core::time::{Span, Time};

/// What happened to a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub start: Option<Time>,
    pub maps_done: Option<Time>,
    pub finish: Option<Time>,
}

/// Slots and rules.
#[derive(Clone, Copy, Debug)]
pub struct Naive {
    pub slots: [usize; 2],
    pub shuffle: ShuffleModel,
    /// For jobs of which the trace does not say it.
    pub slowstart_ppm: u32,
}

struct Task {
    job: usize,
    reduce: bool,
    index: usize,
    /// `None` while a filler waits for maps.
    end: Option<Time>,
}

struct Job<'a> {
    template: &'a JobTemplate,
    come: bool,
    launched: [usize; 2],
    ended: [usize; 2],
    outcome: Outcome,
}

fn time(entries: &[u64], i: usize) -> Span {
    Span::from_ms(if entries.is_empty() { 0 } else { entries[i % entries.len()] })
}

impl Naive {
    /// Each job's outcome, in the trace's order.
    pub fn run(&self, trace: &Trace) -> Vec<Outcome> {
        let fresh =
            |template| Job { template, come: false, launched: [0; 2], ended: [0; 2], outcome: Outcome::default() };
        let mut jobs: Vec<Job<'_>> = trace.jobs.iter().map(fresh).collect();
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.sort_by_key(|&j| (jobs[j].template.priority, jobs[j].template.submit_ms, j));
        let mut running: Vec<Task> = Vec::new();
        loop {
            let coming = jobs.iter().filter(|j| !j.come).map(|j| Time::from_ms(j.template.submit_ms));
            let Some(now) = coming.chain(running.iter().filter_map(|task| task.end)).min() else { break };
            self.end_tasks(now, &mut jobs, &mut running);
            for job in jobs.iter_mut().filter(|j| !j.come && Time::from_ms(j.template.submit_ms) == now) {
                job.come = true;
                if job.is_over() {
                    job.outcome.finish = Some(now + Span::from_ms(job.template.commit_ms));
                }
            }
            self.fill_slots(now, &order, &mut jobs, &mut running);
        }
        assert!(running.is_empty(), "a filler waits for maps that never end");
        jobs.into_iter().map(|job| job.outcome).collect()
    }

    /// All that ends now, in order of launch; the fillers whose maps are done by it get their ends.
    fn end_tasks(&self, now: Time, jobs: &mut [Job<'_>], running: &mut Vec<Task>) {
        let (over, still) = running.drain(..).partition::<Vec<Task>, _>(|task| task.end == Some(now));
        *running = still;
        for task in over {
            let job = &mut jobs[task.job];
            job.ended[usize::from(task.reduce)] += 1;
            if !task.reduce && job.maps_done() {
                job.outcome.maps_done = Some(now);
                for filler in running.iter_mut().filter(|t| t.job == task.job && t.reduce) {
                    filler.end = Some(now + self.shuffle(job.template, filler.index, true) + job.reduce(filler.index));
                }
            }
            if job.is_over() {
                job.outcome.finish = Some(now + Span::from_ms(job.template.commit_ms));
            }
        }
    }

    fn fill_slots(&self, now: Time, order: &[usize], jobs: &mut [Job<'_>], running: &mut Vec<Task>) {
        for reduce in [false, true] {
            let kind = usize::from(reduce);
            for &j in order {
                let job = &mut jobs[j];
                while running.iter().filter(|task| task.reduce == reduce).count() < self.slots[kind]
                    && job.come
                    && job.launched[kind] < job.tasks()[kind]
                    && (!reduce || job.ended[0] >= self.slowstart(job.template))
                {
                    let index = job.launched[kind];
                    let end = match (reduce, job.maps_done()) {
                        (false, _) => Some(now + time(&job.template.map_ms, index)),
                        (true, true) => Some(now + self.shuffle(job.template, index, false) + job.reduce(index)),
                        (true, false) => None,
                    };
                    running.push(Task { job: j, reduce, index, end });
                    job.launched[kind] += 1;
                    job.outcome.start.get_or_insert(now);
                }
            }
        }
    }

    /// Finished maps that a job needs before its reduces may start.
    fn slowstart(&self, template: &JobTemplate) -> usize {
        let share = f64::from(template.slowstart_ppm.unwrap_or(self.slowstart_ppm)) / 1e6;
        // A share is a whole number of millionths: the little that floats are off must not make one map more.
        (share * f64::from(template.n_maps) - 1e-7).ceil().max(0.0) as usize
    }

    fn shuffle(&self, template: &JobTemplate, i: usize, filler: bool) -> Span {
        let (first, typical) = (&template.first_shuffle_ms, &template.typical_shuffle_ms);
        if self.shuffle == ShuffleModel::Mumak {
            Span::ZERO
        } else if typical.is_empty() || (filler && !first.is_empty()) {
            time(first, i)
        } else {
            time(typical, if i >= first.len() { i - first.len() } else { i })
        }
    }
}

impl Job<'_> {
    fn tasks(&self) -> [usize; 2] {
        [self.template.n_maps as usize, self.template.n_reduces as usize]
    }

    fn maps_done(&self) -> bool {
        self.ended[0] == self.tasks()[0]
    }

    fn is_over(&self) -> bool {
        self.ended == self.tasks()
    }

    fn reduce(&self, i: usize) -> Span {
        time(&self.template.reduce_ms, i)
    }
}
