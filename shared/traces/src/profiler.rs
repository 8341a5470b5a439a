//! MRProfiler: from what a history tells of a job to its template (SimMR §III-A).
//!
//! *Whose clock.* Attempts are timed by their workers, and worker clocks differ by minutes in real histories; tasks
//! are timed by the master. So durations are differences on one worker's clock, and where two attempts must be
//! compared (did this reduce start before the last map ended, how long after it did it shuffle) an attempt is moved
//! so that its end is the master's end of its task. Without the master's times the workers' stand.
//!
//! *Who counts.* The winner of a task is its last attempt that succeeded, by number. `map_ms` and the reduces' three lists
//! hold winners with known times only, in order of index, so a job of which no task ended well has empty lists and
//! replays with tasks of 0 ms; every other attempt that is over is a lost attempt. `n_maps` and `n_reduces` are the
//! declared or the listed number, whichever is larger; a declared number above [`MAX_DECLARED_TASKS`] is not believed.
//! The map stage ends with the last winning map, also in a job that failed before all of its maps were done.
//! Whether a lost attempt was speculative is decided by the workers' clocks where the history does not say it.
//! Set-up and clean-up tasks are not replayed: clean-up lies in `commit_ms`, which only jobs that succeeded have.

use super::ImportNotes;
use super::facts::{AttemptFacts, Ending, JobFacts, Place, TaskFacts};
use howdah_core::job::profile::{JobTemplate, LostAttempt, Measured};
use howdah_core::job::{Locality, SplitHosts, TaskKind};

/// Tasks of one kind that a job may declare without listing them. Beyond, its number is an error of the file.
pub const MAX_DECLARED_TASKS: u64 = 1_000_000;

/// Instants and durations beyond the year 9999 are errors of the file. Microseconds of some of them still add up.
pub(super) const MAX_INSTANT_MS: u64 = 253_402_300_799_999;

/// A template whose instants still count from the history's own start; the assembler moves them.
#[derive(Debug)]
pub(super) struct Profiled {
    /// When the job was submitted, as far as anything tells.
    pub(super) submit_ms: Option<u64>,
    /// With `submit_ms` 0 and the measured instants on the history's clock.
    pub(super) template: JobTemplate,
}

/// Makes the template, counting every repair.
pub(super) fn profile(facts: &JobFacts, notes: &mut ImportNotes) -> Profiled {
    let mut template = JobTemplate {
        id: facts.id.clone(),
        name: facts.name.clone(),
        user: facts.user.clone(),
        queue: facts.queue.clone(),
        pool: facts.pool.clone(),
        priority: facts.priority,
        deadline_ms: facts.deadline_ms,
        slowstart_ppm: facts.slowstart_ppm,
        outcome: facts.outcome.map_or("", Ending::name).to_owned(),
        ..JobTemplate::default()
    };
    notes.add_many("set-up or clean-up task: left out, its time is not a slot's in a replay", facts.aside, || {
        facts.id.clone()
    });
    let mut job = Profiler { facts, notes, template: &mut template, maps_done_ms: None, last_end_ms: None };
    job.count_tasks();
    job.add_maps();
    job.add_reduces();
    job.add_splits();
    job.add_bytes();
    let submit_ms = job.add_instants();
    Profiled { submit_ms, template }
}

struct Profiler<'a> {
    facts: &'a JobFacts,
    notes: &'a mut ImportNotes,
    template: &'a mut JobTemplate,
    /// Master's clock.
    maps_done_ms: Option<u64>,
    /// Of any winner, master's clock.
    last_end_ms: Option<u64>,
}

/// A winner with known times, its instants on the master's clock.
struct Winner {
    start_ms: u64,
    sorted_ms: Option<u64>,
    finish_ms: u64,
}

impl Profiler<'_> {
    fn count_tasks(&mut self) {
        for kind in TaskKind::ALL {
            let declared = match kind {
                TaskKind::Map => self.facts.declared_maps,
                TaskKind::Reduce => self.facts.declared_reduces,
            };
            let listed = self.facts.tasks(kind).count() as u64;
            let place = || format!("{}, {} {kind}s listed", self.facts.id, listed, kind = kind.name());
            let n = match declared {
                Some(declared) if declared > MAX_DECLARED_TASKS && declared > listed => {
                    self.notes.add("declared number of tasks is beyond belief: the listed ones count", place);
                    listed
                }
                Some(declared) if declared > listed => {
                    let missing = declared - listed;
                    self.notes.add_many("task declared but not listed: kept, without times", missing, place);
                    declared
                }
                Some(declared) if declared < listed => {
                    self.notes.add_many("task listed beyond the declared number: kept", listed - declared, place);
                    listed
                }
                _ => listed,
            };
            let n = u32::try_from(n).unwrap_or(u32::MAX);
            match kind {
                TaskKind::Map => self.template.n_maps = n,
                TaskKind::Reduce => self.template.n_reduces = n,
            }
        }
    }

    fn add_maps(&mut self) {
        let kind = TaskKind::Map;
        for (rank, (index, task)) in self.facts.tasks(kind).enumerate() {
            for (_, attempt) in self.facts.attempts(kind, index) {
                let closeness = attempt.locality.unwrap_or_else(|| closeness(attempt.place.as_ref(), task));
                let count = &mut self.template.maps_by_locality[closeness as usize];
                *count = count.saturating_add(1);
            }
            let Some(winner) = self.add_attempts(kind, rank as u32, index, task) else { continue };
            self.template.map_ms.push(winner.finish_ms - winner.start_ms);
            self.maps_done_ms = self.maps_done_ms.max(Some(winner.finish_ms));
        }
        if self.template.n_maps > 0 && self.template.map_ms.is_empty() {
            self.notes.add("no map of the job ended well: its maps take 0 ms", || self.facts.id.clone());
        }
    }

    fn add_reduces(&mut self) {
        let kind = TaskKind::Reduce;
        for (rank, (index, task)) in self.facts.tasks(kind).enumerate() {
            let Some(winner) = self.add_attempts(kind, rank as u32, index, task) else { continue };
            let done_ms = self.maps_done_ms.filter(|&done| winner.start_ms < done);
            let sorted_ms = winner.sorted_ms.unwrap_or_else(|| {
                self.notes.add("reduce without the end of its sort: all after the maps counts as reduce time", || {
                    place(self.facts, kind, index, None)
                });
                done_ms.unwrap_or(winner.start_ms).min(winner.finish_ms)
            });
            self.template.reduce_ms.push(winner.finish_ms - sorted_ms);
            match done_ms {
                None => self.template.typical_shuffle_ms.push(sorted_ms - winner.start_ms),
                Some(done) => {
                    if sorted_ms < done && winner.sorted_ms.is_some() {
                        self.notes.add("reduce sorted before the last map ended: its first shuffle counts 0", || {
                            place(self.facts, kind, index, None)
                        });
                    }
                    self.template.first_shuffle_ms.push(sorted_ms.saturating_sub(done));
                }
            }
        }
        if self.template.n_reduces > 0 && self.template.reduce_ms.is_empty() {
            self.notes.add("no reduce of the job ended well: its reduces take 0 ms", || self.facts.id.clone());
        }
    }

    /// Records the attempts of one task and returns the winner.
    fn add_attempts(&mut self, kind: TaskKind, rank: u32, index: u32, task: &TaskFacts) -> Option<Winner> {
        let winner = winner_of(self.facts, kind, index).map(|(number, _)| number);
        let mut times = None;
        let mut latest_end = None;
        self.note_oddities(kind, rank, index, winner.is_some());
        for (number, attempt) in self.facts.attempts(kind, index) {
            // A task that is done is tried no more, so whatever has a higher number than the winner ran beside it,
            // also where clocks that differ say otherwise.
            let overlaps = attempt.start_ms < latest_end && attempt.start_ms.is_some();
            let beside = overlaps || winner.is_some_and(|winner| number > winner);
            latest_end = latest_end.max(attempt.finish_ms);
            if winner == Some(number) {
                times = self.winner(kind, index, number, task, attempt);
            } else if let Some(result) = attempt.result {
                let lost = LostAttempt {
                    reduce: kind == TaskKind::Reduce,
                    index: rank,
                    number: u16::try_from(number).unwrap_or(u16::MAX),
                    failed: result == Ending::Failed,
                    speculative: attempt.speculative.unwrap_or(beside),
                    ms: self.duration(kind, index, number, attempt).unwrap_or(0),
                };
                self.template.lost_attempts.push(lost);
            } else {
                self.notes.add("attempt has no end: left out", || place(self.facts, kind, index, Some(number)));
            }
        }
        times
    }

    fn note_oddities(&mut self, kind: TaskKind, rank: u32, index: u32, won: bool) {
        let facts = self.facts;
        let place = || place(facts, kind, index, None);
        if rank != index {
            self.notes.add("index of task follows a gap: tasks are numbered in their order", place);
        }
        if facts.attempts(kind, index).next().is_none() {
            self.notes.add("task without an attempt: kept, without times", place);
        } else if !won {
            self.notes.add("task of which no attempt succeeded: kept, without times", place);
        }
        let early = facts.attempts(kind, index).filter(|(_, attempt)| attempt.start_ms < facts.submit_ms);
        let early = early.filter(|(_, attempt)| attempt.start_ms.is_some()).count() as u64;
        let reason = "attempt starts before its job on its worker's clock: only differences of its times count";
        self.notes.add_many(reason, early, place);
    }

    /// The winner's times, moved to the master's clock.
    fn winner(
        &mut self,
        kind: TaskKind,
        index: u32,
        number: u32,
        task: &TaskFacts,
        attempt: &AttemptFacts,
    ) -> Option<Winner> {
        let whole = self.duration(kind, index, number, attempt)?;
        let own_end = believable(attempt.finish_ms)?;
        let sorted = attempt.sorted_ms.or(attempt.shuffled_ms).filter(|_| kind == TaskKind::Reduce);
        let sorted = believable(sorted);
        let after_sort = sorted.map(|sorted| {
            if sorted > own_end || own_end - sorted > whole {
                self.notes.add("sort of reduce ends outside of its attempt: moved to its nearer end", || {
                    place(self.facts, kind, index, Some(number))
                });
            }
            own_end.saturating_sub(sorted).min(whole)
        });
        // At least `whole`, so that no instant is before the start of all time.
        let finish_ms = believable(task.finish_ms).unwrap_or(own_end).max(whole);
        self.last_end_ms = self.last_end_ms.max(Some(finish_ms));
        Some(Winner { start_ms: finish_ms - whole, sorted_ms: after_sort.map(|after| finish_ms - after), finish_ms })
    }

    /// How long an attempt that is over held its slot; `None` when its times are not known.
    fn duration(&mut self, kind: TaskKind, index: u32, number: u32, attempt: &AttemptFacts) -> Option<u64> {
        let reason = match (believable(attempt.start_ms), believable(attempt.finish_ms)) {
            (Some(start), Some(finish)) if start <= finish => return Some(finish - start),
            (Some(_), Some(_)) => "attempt ends before it starts: its time counts 0",
            _ if attempt.result == Some(Ending::Succeeded) => {
                "attempt succeeded at unknown times: left out of the times"
            }
            _ => "attempt did not win and has no start or end: its time counts 0",
        };
        self.notes.add(reason, || place(self.facts, kind, index, Some(number)));
        (believable(attempt.start_ms).is_some() && believable(attempt.finish_ms).is_some()).then_some(0)
    }

    fn add_splits(&mut self) {
        let facts = self.facts;
        let tasks = || facts.tasks(TaskKind::Map).map(|(_, task)| task);
        let known = tasks().any(|task| !task.preferred.is_empty());
        // A table has a row for each map. Rows for maps that are only declared would cost what no byte pays for.
        if known && tasks().count() < self.template.n_maps as usize {
            self.notes.add("places of splits are known of listed maps only: left out", || facts.id.clone());
        } else if known {
            let rows = tasks().map(|task| task.preferred.iter().map(|place| place.host.as_str()));
            self.template.split_hosts = SplitHosts::new(rows);
        }
    }

    fn add_bytes(&mut self) {
        let facts = self.facts;
        let maps: Vec<Option<u64>> = self
            .facts
            .tasks(TaskKind::Map)
            .map(|(index, task)| task.input_bytes.or_else(|| winner_of(facts, TaskKind::Map, index)?.1.bytes_in))
            .collect();
        if maps.len() == self.template.n_maps as usize && maps.iter().all(Option::is_some) {
            self.template.map_input_bytes = maps.into_iter().flatten().collect();
        } else if maps.iter().any(Option::is_some) {
            self.notes.add("input bytes are known of some maps only: left out", || self.facts.id.clone());
        }
        let total = |kind, of: fn(&AttemptFacts) -> Option<u64>| -> Option<u64> {
            let mut sum = None;
            for (index, _) in self.facts.tasks(kind) {
                sum = Some(u64::saturating_add(sum.unwrap_or(0), of(winner_of(facts, kind, index)?.1)?));
            }
            sum
        };
        let input = &self.template.map_input_bytes;
        self.template.input_bytes =
            (!input.is_empty()).then(|| input.iter().fold(0u64, |sum, &bytes| sum.saturating_add(bytes)));
        self.template.shuffle_bytes = total(TaskKind::Reduce, |attempt| attempt.bytes_in);
        let last = if self.template.n_reduces > 0 { TaskKind::Reduce } else { TaskKind::Map };
        self.template.output_bytes = total(last, |attempt| attempt.bytes_out);
    }

    /// Sets the measured instants and the commit, and returns the submission.
    fn add_instants(&mut self) -> Option<u64> {
        let facts = self.facts;
        let place = || facts.id.clone();
        let given = [facts.submit_ms, facts.launch_ms, facts.finish_ms];
        if given.iter().flatten().any(|&ms| ms > MAX_INSTANT_MS) {
            self.notes.add("instant of the job is beyond the year 9999: counts as unknown", place);
        }
        let [submit, launch, finish] = given.map(believable);
        let starts = TaskKind::ALL.into_iter().flat_map(|kind| facts.tasks(kind));
        let first_start = starts.filter_map(|(_, task)| believable(task.start_ms)).min();
        let start = submit.or(launch).or(first_start);
        if submit.is_none() {
            self.notes.add("job without a time of submission: its launch or the trace's start counts", place);
        }
        if finish.is_none() {
            self.notes.add("job without an end: the end of its last task counts", place);
        }
        let succeeded = facts.outcome == Some(Ending::Succeeded);
        if let (true, Some(finish), Some(last)) = (succeeded, finish, self.last_end_ms) {
            if last > finish {
                self.notes.add("last task ends after its job: the job's commit counts 0", place);
            }
            self.template.commit_ms = finish.saturating_sub(last);
        }
        let end = finish.or(self.last_end_ms);
        if let (Some(start), Some(end)) = (start, end) {
            if end < start {
                self.notes.add("job ends before it is submitted: its end counts as its submission", place);
            }
            let launch = first_start.or(launch).unwrap_or(start).max(start);
            self.template.measured = Some(Measured {
                launch_ms: launch,
                maps_done_ms: self.maps_done_ms.unwrap_or(0),
                finish_ms: end.max(start),
            });
        }
        start
    }
}

/// A task is tried again after a success only when its output is lost, so the last success counts.
fn winner_of(facts: &JobFacts, kind: TaskKind, index: u32) -> Option<(u32, &AttemptFacts)> {
    facts.attempts(kind, index).filter(|(_, attempt)| attempt.result == Some(Ending::Succeeded)).last()
}

/// Where an oddity is, for people.
fn place(facts: &JobFacts, kind: TaskKind, index: u32, number: Option<u32>) -> String {
    let number = number.map_or(String::new(), |number| format!(", attempt {number}"));
    format!("{}, {} {index}{number}", facts.id, kind.name())
}

fn believable(ms: Option<u64>) -> Option<u64> {
    ms.filter(|&ms| ms <= MAX_INSTANT_MS)
}

/// How close to its split an attempt at `place` ran. Attempts that did not end well often have no rack; then only
/// its host can tell.
fn closeness(place: Option<&Place>, task: &TaskFacts) -> Locality {
    let Some(place) = place else { return Locality::Unknown };
    if task.preferred.is_empty() {
        return Locality::Unknown;
    }
    if task.preferred.iter().any(|split| split.host == place.host) {
        return Locality::Node;
    }
    if place.rack.is_empty() || task.preferred.iter().all(|split| split.rack.is_empty()) {
        return Locality::Unknown;
    }
    let same = task.preferred.iter().any(|split| split.rack == place.rack);
    if same { Locality::Rack } else { Locality::OffRack }
}

#[cfg(test)]
mod tests;
