//! Which slot an attempt had.
//!
//! The core counts slots, it does not number them. Here each attempt takes the lowest slot of its worker and kind
//! that is free when it is launched, which gives as many lanes as were ever busy at once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use howdah_core::job::{JobId, TaskKind};
use howdah_core::replay::AttemptRecord;
use howdah_core::time::Time;

/// All attempts, each with its place.
#[derive(Debug, Default)]
pub(crate) struct Placed {
    /// In order of launch.
    pub(crate) attempts: Vec<Place>,
    /// Number of lanes by worker and kind.
    pub(crate) lanes: BTreeMap<(u32, TaskKind), u32>,
}

/// Where an attempt is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Index of the attempt in the list that was given.
    pub(crate) attempt: usize,
    /// Among those of its worker and kind, from 0.
    pub(crate) lane: u32,
    /// The ordinal, from 1, of the attempt among those of its job and kind that this slot runs.
    pub(crate) wave: u32,
}

/// The lanes of one worker and kind.
#[derive(Debug, Default)]
struct Slots {
    busy: BinaryHeap<Reverse<(Time, u32)>>,
    free: BinaryHeap<Reverse<u32>>,
    used: u32,
}

impl Slots {
    fn take(&mut self, start: Time, end: Time) -> u32 {
        while let Some(&Reverse((until, lane))) = self.busy.peek()
            && until <= start
        {
            self.busy.pop();
            self.free.push(Reverse(lane));
        }
        let lane = self.free.pop().map_or_else(
            || {
                self.used += 1;
                self.used - 1
            },
            |Reverse(lane)| lane,
        );
        self.busy.push(Reverse((end, lane)));
        lane
    }
}

/// Gives each attempt its lane.
pub(crate) fn place(attempts: &[AttemptRecord]) -> Placed {
    let mut order: Vec<usize> = (0..attempts.len()).collect();
    // Of those launched at one instant the shorter first: an attempt of no length leaves its slot to the next.
    order.sort_by_key(|&index| (attempts[index].start, attempts[index].end, attempts[index].attempt));
    let mut slots: BTreeMap<(u32, TaskKind), Slots> = BTreeMap::new();
    let mut waves: BTreeMap<(JobId, u32, TaskKind, u32), u32> = BTreeMap::new();
    let placed = order.into_iter().map(|index| {
        let attempt = &attempts[index];
        let (worker, kind) = (attempt.worker.0, attempt.attempt.kind);
        let lane = slots.entry((worker, kind)).or_default().take(attempt.start, attempt.end);
        let wave = waves.entry((attempt.attempt.job, worker, kind, lane)).or_default();
        *wave += 1;
        Place { attempt: index, lane, wave: *wave }
    });
    let attempts = placed.collect();
    Placed { attempts, lanes: slots.into_iter().map(|(key, slots)| (key, slots.used)).collect() }
}
