//! Instants and shares made up for a template, such that whoever profiles them finds the template again: for formats
//! that hold attempts.
//!
//! The template says how long the parts take, not when they ran. So: all first attempts start with the job's
//! launch, the longest map ends the map stage (at its measured end where that is known and late enough), reduces
//! of the first wave start with the maps, the others with the end of the map stage.

use std::collections::BTreeMap;

use howdah_core::job::profile::{JobTemplate, LostAttempt, Trace};

/// Start of traces that have none, in 2010: instants of histories are of the epoch, and zero means not known.
const MADE_UP_START_MS: u64 = 1_262_304_000_000;

/// The instant of the epoch at which `trace` starts.
pub(super) fn base_ms(trace: &Trace) -> u64 {
    trace.start_ms_epoch.filter(|&ms| ms > 0).unwrap_or(MADE_UP_START_MS)
}

/// The share of task `index` of a total over `n` tasks; shares differ by one at most and add up.
pub(super) fn part(total: Option<u64>, n: u32, index: u32) -> Option<u64> {
    let (total, n) = (total?, u64::from(n.max(1)));
    Some(total / n + u64::from(u64::from(index) < total % n))
}

/// Input of map `index`: its own, or its share.
pub(super) fn map_input_bytes(job: &JobTemplate, index: u32) -> Option<u64> {
    let known = job.map_input_bytes.get(index as usize).copied();
    known.or_else(|| part(job.input_bytes, job.n_maps, index))
}

/// One job, instants on the clock that `base_ms` belongs to.
pub(super) struct Timeline<'a> {
    pub(super) submit_ms: u64,
    pub(super) launch_ms: u64,
    pub(super) finish_ms: u64,
    pub(super) maps: Vec<TaskTimes<'a>>,
    pub(super) reduces: Vec<TaskTimes<'a>>,
}

/// One task's attempts.
pub(super) struct TaskTimes<'a> {
    /// Those that did not win, with their starts.
    pub(super) lost: Vec<(&'a LostAttempt, u64)>,
    /// `None` when the template knows no time of any task of this kind.
    pub(super) winner: Option<WinnerTimes>,
}

/// The attempt that won.
#[derive(Clone, Copy)]
pub(super) struct WinnerTimes {
    /// The smallest number that no other attempt has.
    pub(super) number: u16,
    pub(super) start_ms: u64,
    /// When a reduce had sorted; a map's end.
    pub(super) sorted_ms: u64,
    pub(super) finish_ms: u64,
}

impl<'a> Timeline<'a> {
    /// Lays out `job`. Sums stop at the end of 64 bits instead of wrapping.
    pub(super) fn new(job: &'a JobTemplate, base_ms: u64) -> Timeline<'a> {
        let at = |ms: u64| base_ms.saturating_add(ms);
        let submit_ms = at(job.submit_ms);
        let measured = job.measured.as_ref();
        let launch_ms = measured.map_or(submit_ms, |measured| at(measured.launch_ms)).max(submit_ms);
        let lost = lost_by_task(&job.lost_attempts);
        let task = |reduce: bool, index: u32| {
            let lost = lost.get(&(reduce, index)).cloned().unwrap_or_default();
            let number = free_number(&lost);
            let before = lost.iter().filter(|attempt| attempt.number < number);
            let free_ms = before.fold(launch_ms, |free_ms, attempt| free_ms.saturating_add(attempt.ms));
            (lost.into_iter().map(|attempt| (attempt, launch_ms)).collect(), number, free_ms)
        };

        let mut maps: Vec<TaskTimes<'a>> = (0..job.n_maps)
            .map(|index| {
                let (lost, number, free_ms) = task(false, index);
                let winner = round(&job.map_ms, index).map(|ms| winner(number, free_ms, 0, ms));
                TaskTimes { lost, winner }
            })
            .collect();
        let maps_done_ms = end_map_stage(&mut maps, job, measured.map_or(0, |measured| at(measured.maps_done_ms)));

        let first_wave = if maps_done_ms.is_none() { 0 } else { first_wave(job) };
        let done_ms = maps_done_ms.unwrap_or(launch_ms);
        let reduces = (0..job.n_reduces)
            .map(|index| {
                let (lost, number, free_ms) = task(true, index);
                let known = !(job.reduce_ms.is_empty() && shuffle(job, index, first_wave).is_none());
                let winner = known.then(|| {
                    let shuffle_ms = shuffle(job, index, first_wave).unwrap_or(0);
                    let reduce_ms = round(&job.reduce_ms, index).unwrap_or(0);
                    if index < first_wave {
                        // Its start is before the end of the maps; what overlaps with them is made up.
                        let start_ms = free_ms.min(done_ms.saturating_sub(1));
                        let times = winner(number, done_ms, shuffle_ms, reduce_ms);
                        WinnerTimes { start_ms, ..times }
                    } else {
                        winner(number, done_ms, shuffle_ms, reduce_ms)
                    }
                });
                TaskTimes { lost, winner }
            })
            .collect();

        let mut timeline = Timeline { submit_ms, launch_ms, finish_ms: 0, maps, reduces };
        timeline.end_job(job, first_wave as usize, measured.map(|measured| at(measured.finish_ms)));
        for task in timeline.maps.iter_mut().chain(&mut timeline.reduces) {
            task.lay_lost(launch_ms);
        }
        timeline
    }

    /// Moves the last reduce of a later wave so that the job ends as measured, if it ends earlier.
    fn end_job(&mut self, job: &JobTemplate, first_wave: usize, measured_ms: Option<u64>) {
        let last_end_ms = self.last_end_ms();
        let finish_ms = last_end_ms.saturating_add(job.commit_ms);
        let slack_ms = measured_ms.unwrap_or(0).saturating_sub(finish_ms);
        self.finish_ms = finish_ms;
        if slack_ms == 0 {
            return;
        }
        let later = self.reduces.iter_mut().skip(first_wave).filter_map(|task| task.winner.as_mut());
        if let Some(last) = later.max_by_key(|winner| winner.finish_ms) {
            let moved_ms = last_end_ms.saturating_add(slack_ms) - last.finish_ms;
            for instant in [&mut last.start_ms, &mut last.sorted_ms, &mut last.finish_ms] {
                *instant = instant.saturating_add(moved_ms);
            }
            self.finish_ms = self.last_end_ms().saturating_add(job.commit_ms);
        } else if job.outcome == "FAILED" || job.outcome == "KILLED" {
            self.finish_ms = finish_ms.saturating_add(slack_ms);
        }
    }

    fn last_end_ms(&self) -> u64 {
        let winners = self.maps.iter().chain(&self.reduces).filter_map(|task| task.winner);
        winners.map(|winner| winner.finish_ms).max().unwrap_or(self.launch_ms)
    }
}

type Lost<'a> = BTreeMap<(bool, u32), Vec<&'a LostAttempt>>;

fn lost_by_task(lost: &[LostAttempt]) -> Lost<'_> {
    let mut by_task = Lost::new();
    for attempt in lost {
        by_task.entry((attempt.reduce, attempt.index)).or_default().push(attempt);
    }
    for attempts in by_task.values_mut() {
        attempts.sort_by_key(|attempt| attempt.number);
    }
    by_task
}

fn free_number(lost: &[&LostAttempt]) -> u16 {
    lost.iter().fold(0, |free, attempt| if attempt.number == free { free.saturating_add(1) } else { free })
}

impl TaskTimes<'_> {
    /// Starts the lost attempts one after another in order of number, the winner among them; speculative ones just
    /// before the end of what ran until then.
    fn lay_lost(&mut self, launch_ms: u64) {
        let mut free_ms = launch_ms;
        for (attempt, start_ms) in &mut self.lost {
            if let Some(winner) = self.winner.filter(|winner| winner.number < attempt.number) {
                free_ms = free_ms.max(winner.finish_ms);
            }
            let beside = attempt.speculative && free_ms > launch_ms;
            *start_ms = free_ms - u64::from(beside);
            free_ms = free_ms.max(start_ms.saturating_add(attempt.ms));
        }
    }
}

/// Moves the map that ends last to the measured end of the map stage, if that is later, and returns the end.
fn end_map_stage(maps: &mut [TaskTimes<'_>], job: &JobTemplate, measured_ms: u64) -> Option<u64> {
    let last = maps.iter_mut().filter_map(|task| task.winner.as_mut()).max_by_key(|winner| winner.finish_ms)?;
    let mut done_ms = last.finish_ms.max(measured_ms);
    if first_wave(job) > 0 {
        // A first wave needs an instant before the end of the maps.
        done_ms = done_ms.max(last.start_ms.saturating_add(1));
    }
    let moved_ms = done_ms - last.finish_ms;
    last.start_ms = last.start_ms.saturating_add(moved_ms);
    (last.sorted_ms, last.finish_ms) = (done_ms, done_ms);
    Some(done_ms)
}

/// Reduces that wait for maps. Without a typical shuffle the first one stands for all (see `JobTemplate`).
fn first_wave(job: &JobTemplate) -> u32 {
    if job.typical_shuffle_ms.is_empty() && !job.first_shuffle_ms.is_empty() {
        return job.n_reduces;
    }
    u32::try_from(job.first_shuffle_ms.len()).unwrap_or(u32::MAX).min(job.n_reduces)
}

fn shuffle(job: &JobTemplate, index: u32, first_wave: u32) -> Option<u64> {
    if index < first_wave {
        return round(&job.first_shuffle_ms, index);
    }
    round(&job.typical_shuffle_ms, index - first_wave).or_else(|| round(&job.first_shuffle_ms, index))
}

fn round(list: &[u64], index: u32) -> Option<u64> {
    list.get(index as usize % list.len().max(1)).copied()
}

fn winner(number: u16, start_ms: u64, shuffle_ms: u64, run_ms: u64) -> WinnerTimes {
    let sorted_ms = start_ms.saturating_add(shuffle_ms);
    WinnerTimes { number, start_ms, sorted_ms, finish_ms: sorted_ms.saturating_add(run_ms) }
}
