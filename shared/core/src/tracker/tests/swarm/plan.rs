//! What a seed draws: the cluster, the workload, the policy, and how much goes wrong.

use std::collections::BTreeMap;

use super::odd::Odd;
use crate::job::{AttemptId, JobConf, JobId, JobSpec, WorkerId};
use crate::schedulers::{Scheduler, by_name};
use crate::time::Span;
use crate::tracker::{ClusterConfig, HeartbeatRule, Registration, SchedulerChoice};

/// Random numbers; the same seed gives the same world.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % n.max(1)
    }

    /// True once in so many times; never for 0.
    pub(super) fn one_in(&mut self, n: u64) -> bool {
        n > 0 && self.below(n) == 0
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Everything that does not change while the world runs.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) config: ClusterConfig,
    policy: u64,
    /// Map and reduce slots of each worker.
    pub(super) slots: Vec<[u16; 2]>,
    /// How many times slower each worker is than the fastest.
    pub(super) slowness: Vec<u64>,
    pub(super) jobs: Vec<JobSpec>,
    /// One in so many messages is lost, is delivered twice, comes late; 0 for none.
    pub(super) loss: u64,
    pub(super) twice: u64,
    pub(super) late: u64,
    /// One in so many attempts fails, hangs; 0 for none.
    pub(super) failures: u64,
    pub(super) hangs: u64,
    /// How often workers crash and networks break, on average.
    pub(super) worker_faults_every: Option<Span>,
    /// One in so many batches of the master is its last before a crash; 0 for none.
    pub(super) master_crashes: u64,
    /// How long faults go on.
    pub(super) faults_for: Span,
    /// What came to be drawn later: worlds of before are as they were.
    odd_seed: u64,
}

impl Plan {
    pub(super) fn draw(dice: &mut Dice) -> Plan {
        let odd_seed = dice.0;
        let n = 2 + dice.below(5);
        let slots = (0..n).map(|_| [1 + dice.below(3) as u16, dice.below(3) as u16]);
        // One that can do anything, so that every job can end.
        let slots = slots.chain([[2, 2]]).collect::<Vec<_>>();
        let slowness = slots.iter().map(|_| dice.pick(&[1, 1, 1, 2, 10])).collect();
        let n_jobs = 1 + dice.below(6);
        let jobs = (0..n_jobs).map(|number| job(number, dice)).collect();
        let config = ClusterConfig {
            expiry_ms: dice.pick(&[10_000, 30_000, 60_000]),
            launch_expiry_ms: dice.pick(&[0, 20_000, 60_000]),
            heartbeat: match dice.below(3) {
                0 => HeartbeatRule::Fixed { interval_ms: 1_000 },
                1 => HeartbeatRule::default(),
                _ => HeartbeatRule::Adaptive { min_ms: 100, max_ms: 5_000, heartbeats_in_second: 100 },
            },
            max_parking_ms: dice.pick(&[0, 3_000, 60_000]),
            ..ClusterConfig::default()
        };
        let faults_for = Span::from_secs(20 + dice.below(100));
        Plan {
            config,
            policy: dice.below(4),
            slots,
            slowness,
            jobs,
            loss: dice.pick(&[0, 50, 12, 5]),
            twice: dice.pick(&[0, 20, 5]),
            late: dice.pick(&[0, 20, 5]),
            failures: dice.pick(&[0, 30, 8]),
            hangs: dice.pick(&[0, 0, 25]),
            worker_faults_every: dice.pick(&[None, Some(Span::from_secs(40)), Some(Span::from_secs(8))]),
            master_crashes: dice.pick(&[0, 100, 30, 10]),
            faults_for,
            odd_seed,
        }
    }

    /// What a node says when it registers.
    pub(super) fn registration(
        &self,
        node: usize,
        worker: WorkerId,
        incarnation: u64,
        kept: Vec<AttemptId>,
    ) -> Registration {
        let [map_slots, reduce_slots] = self.slots[node];
        Registration {
            worker,
            incarnation,
            starts: false,
            name: format!("w{node}"),
            host: format!("h{node}"),
            rack: "/r".to_owned(),
            map_slots,
            reduce_slots,
            attributes: Vec::new(),
            kept,
        }
    }

    /// Whether attempts of the job say things that are out of bounds. That is no fault that would ever end: its program
    /// is like that.
    pub(super) fn is_odd(&self, job: JobId) -> bool {
        Dice::new(self.odd_seed ^ u64::from(job.0)).one_in(4)
    }

    /// Whether the keeper of the attempt's process hangs when it is killed.
    pub(super) fn keeper_hangs(&self, attempt: AttemptId) -> bool {
        let which = (u64::from(attempt.job.0) << 40) | (u64::from(attempt.index) << 20) | u64::from(attempt.number);
        Dice::new(self.odd_seed.rotate_left(32) ^ which).one_in(8)
    }

    /// The policy, as every start of the master makes it.
    pub(super) fn scheduler(&self) -> Box<dyn Scheduler> {
        Plan::numbered(self.policy)
    }

    /// One that decides otherwise.
    pub(super) fn another_scheduler(&self) -> Box<dyn Scheduler> {
        Plan::numbered((self.policy + 1) % 4 % 3)
    }

    /// The same by name, for a snapshot; `None` for one that the registry does not know.
    pub(super) fn choice(&self) -> Option<SchedulerChoice> {
        let name = ["fifo", "fair"].get(self.policy as usize)?;
        Some(SchedulerChoice { name: (*name).to_owned(), params: BTreeMap::new() })
    }

    fn numbered(policy: u64) -> Box<dyn Scheduler> {
        let name = match policy {
            0 => "fifo",
            1 => "fair",
            _ => return Box::new(Odd::eager()),
        };
        by_name(name, &BTreeMap::new()).expect("the policy exists")
    }
}

fn job(number: u64, dice: &mut Dice) -> JobSpec {
    let (n_maps, n_reduces) = (1 + dice.below(7) as u32, dice.below(4) as u32);
    JobSpec {
        name: format!("job {number}").into(),
        user: format!("user{}", number % 3).into(),
        queue: "default".into(),
        n_maps,
        n_reduces,
        conf: JobConf {
            // The swarm's attempts fail by lot; the job is to end well in spite of it, or not.
            max_map_attempts: dice.pick(&[2, 4, 8]),
            max_reduce_attempts: dice.pick(&[2, 4, 8]),
            slowstart_ppm: dice.pick(&[0, 50_000, 1_000_000]),
            task_timeout_ms: 15_000,
            ..JobConf::default()
        },
        ..JobSpec::default()
    }
}
