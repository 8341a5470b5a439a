//! The fixed baseline of `bench replay`: SimMR's loop under FIFO, written out by hand, tight and without tricks: what
//! a simulator costs that has nothing but this to do.
//!
//! One binary heap through which all seven of SimMR's events pass (job arrival and departure, map arrival and
//! departure, reduce arrival and departure, all maps finished; SimMR §III-B), waiting jobs in an index per kind, the
//! same task times as the engine, integer times. It has no job states, no attempts, no policy behind an interface and
//! no record of its decisions. Slots are given away when all that happens at an instant has happened, as the engine
//! does it, so that both do the same work; the benchmark compares when each job ends.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use howdah_core::job::profile::{JobTemplate, Trace};

/// At equal times the smaller kind comes first: ends, then arrivals of jobs, then what was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    MapDeparture,
    ReduceDeparture,
    AllMapsFinished,
    JobDeparture,
    JobArrival,
    MapArrival,
    ReduceArrival,
}

/// SimMR's triplet of time, type and job (§III-B), and the task where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time: u64,
    kind: Kind,
    job: u32,
    task: u32,
}

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Done {
    /// From the first arrival to the last departure.
    pub(super) makespan_ms: u64,
    /// All that passed the heap.
    pub(super) events: u64,
    /// When each job departed.
    pub(super) departures_ms: Vec<u64>,
}

/// A job under way.
struct Job<'t> {
    template: &'t JobTemplate,
    next: [u32; 2],
    maps_left: u32,
    reduces_left: u32,
    /// Finished maps at which its reduces may start, as what must still be left.
    reduces_start_at: u32,
    /// First-wave reduces that wait for the maps.
    fillers: Vec<u32>,
}

struct Loop<'t> {
    heap: BinaryHeap<Reverse<Event>>,
    jobs: Vec<Job<'t>>,
    /// Jobs with maps, and jobs with reduces to start, in order of arrival.
    waiting: [BinaryHeap<Reverse<u32>>; 2],
    free: [u32; 2],
}

/// Replays a trace whose jobs are in order of submission, on so many map and reduce slots, with slow start at 5 %. The
/// jobs' arrivals are in the heap from the start. Durations are by task: a list of a template has an entry for each
/// task, or none, and then counts as zeros.
pub(super) fn run(trace: &Trace, slots: [u32; 2]) -> Done {
    let mut this = Loop {
        heap: BinaryHeap::new(),
        jobs: Vec::with_capacity(trace.jobs.len()),
        waiting: Default::default(),
        free: slots,
    };
    let mut done = Done { departures_ms: vec![0; trace.jobs.len()], ..Done::default() };
    let mut last = 0;
    for (job, template) in trace.jobs.iter().enumerate() {
        this.push(template.submit_ms, Kind::JobArrival, job as u32, 0);
    }
    while let Some(Reverse(Event { time: now, kind, job, task })) = this.heap.pop() {
        done.events += 1;
        match kind {
            Kind::MapDeparture => this.map_departs(now, job),
            Kind::ReduceDeparture => this.reduce_departs(now, job),
            Kind::AllMapsFinished => this.maps_finish(now, job),
            Kind::JobDeparture => {
                done.departures_ms[job as usize] = now;
                last = now;
            }
            Kind::JobArrival => this.job_arrives(now, job, &trace.jobs[job as usize]),
            Kind::MapArrival => {
                let ends = now + time(&this.jobs[job as usize].template.map_ms, task);
                this.push(ends, Kind::MapDeparture, job, task);
            }
            Kind::ReduceArrival => this.reduce_arrives(now, job, task),
        }
        // Nothing more happens at this instant but what is decided now.
        if this.heap.peek().is_none_or(|next| next.0.time != now) {
            this.fill(now);
        }
    }
    done.makespan_ms = last - trace.jobs.first().map_or(0, |job| job.submit_ms);
    done
}

fn time(entries: &[u64], task: u32) -> u64 {
    entries.get(task as usize).copied().unwrap_or(0)
}

impl<'t> Loop<'t> {
    fn push(&mut self, time: u64, kind: Kind, job: u32, task: u32) {
        self.heap.push(Reverse(Event { time, kind, job, task }));
    }

    fn job_arrives(&mut self, now: u64, id: u32, template: &'t JobTemplate) {
        let (maps, reduces) = (template.n_maps, template.n_reduces);
        self.jobs.push(Job {
            template,
            next: [0; 2],
            maps_left: maps,
            reduces_left: reduces,
            reduces_start_at: maps - maps.div_ceil(20),
            fillers: Vec::new(),
        });
        if maps > 0 {
            self.waiting[0].push(Reverse(id));
        } else if reduces > 0 {
            self.waiting[1].push(Reverse(id));
        } else {
            self.push(now, Kind::JobDeparture, id, 0);
        }
    }

    fn map_departs(&mut self, now: u64, id: u32) {
        self.free[0] += 1;
        let job = &mut self.jobs[id as usize];
        job.maps_left -= 1;
        let (left, reduces) = (job.maps_left, job.reduces_left);
        if left == job.reduces_start_at && reduces > 0 {
            self.waiting[1].push(Reverse(id));
        }
        if left == 0 {
            self.push(now, Kind::AllMapsFinished, id, 0);
        }
    }

    fn maps_finish(&mut self, now: u64, id: u32) {
        let job = &mut self.jobs[id as usize];
        let template = job.template;
        if job.reduces_left == 0 {
            self.push(now, Kind::JobDeparture, id, 0);
            return;
        }
        for task in std::mem::take(&mut job.fillers) {
            let ends = now + time(&template.first_shuffle_ms, task) + time(&template.reduce_ms, task);
            self.push(ends, Kind::ReduceDeparture, id, task);
        }
    }

    fn reduce_arrives(&mut self, now: u64, id: u32, task: u32) {
        let job = &mut self.jobs[id as usize];
        if job.maps_left > 0 {
            job.fillers.push(task);
            return;
        }
        let ends = now + time(&job.template.typical_shuffle_ms, task) + time(&job.template.reduce_ms, task);
        self.push(ends, Kind::ReduceDeparture, id, task);
    }

    fn reduce_departs(&mut self, now: u64, id: u32) {
        self.free[1] += 1;
        let job = &mut self.jobs[id as usize];
        job.reduces_left -= 1;
        if job.reduces_left == 0 {
            self.push(now, Kind::JobDeparture, id, 0);
        }
    }

    /// Gives free slots to the jobs that came first.
    fn fill(&mut self, now: u64) {
        for (kind, event) in [Kind::MapArrival, Kind::ReduceArrival].into_iter().enumerate() {
            while self.free[kind] > 0
                && let Some(&Reverse(id)) = self.waiting[kind].peek()
            {
                let job = &mut self.jobs[id as usize];
                let task = job.next[kind];
                job.next[kind] += 1;
                if job.next[kind] == [job.template.n_maps, job.template.n_reduces][kind] {
                    self.waiting[kind].pop();
                }
                self.free[kind] -= 1;
                self.push(now, event, id, task);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(submit_ms: u64, maps: &[u64], reduces: &[u64]) -> JobTemplate {
        JobTemplate {
            submit_ms,
            n_maps: maps.len() as u32,
            n_reduces: reduces.len() as u32,
            map_ms: maps.to_vec(),
            first_shuffle_ms: vec![1; reduces.len()],
            typical_shuffle_ms: vec![5; reduces.len()],
            reduce_ms: reduces.to_vec(),
            ..JobTemplate::default()
        }
    }

    #[test]
    fn events_are_two_per_task_and_three_per_job_with_both_stages() {
        let jobs = vec![job(10, &[10, 20], &[7]), job(10, &[30], &[1, 1])];
        let done = run(&Trace { jobs, ..Trace::default() }, [2, 1]);
        assert_eq!(done.events, 2 * 6 + 3 * 2);
        // One map of the first ends at 20, its reduce waits until 30 and ends at 38. The second's map runs from 20 to
        // 50; its two reduces follow one another when it is over and take six each.
        assert_eq!(done.departures_ms, [38, 62]);
        assert_eq!(done.makespan_ms, 62 - 10);
    }
}
