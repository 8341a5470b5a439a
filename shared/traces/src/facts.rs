//! What a job history tells of one job, attempt by attempt: the common ground of all history-like formats.
//!
//! A reader makes one [`JobFacts`] per job, in any order of its records ([`JobFacts::task`] and
//! [`JobFacts::attempt`] find or make, so that records that repeat an id merge), and hands it to
//! [`TraceBuilder`](super::TraceBuilder), which repairs and judges. Nothing is judged here, so readers stay simple:
//! unknown is `None`, and what no id names does not exist. Memory follows what is listed, never a number in a file.
//! Instants are milliseconds, of the epoch or of any other start that the whole trace shares.

use std::collections::BTreeMap;

use howdah_core::job::{Locality, Priority, TaskKind};

/// One job as its history tells it.
#[derive(Clone, Debug, Default)]
pub struct JobFacts {
    /// As printed.
    pub id: String,
    /// For people.
    pub name: String,
    /// Who submitted it.
    pub user: String,
    /// Queue or pool.
    pub queue: String,
    /// The Fair scheduler's pool that the job named; empty where it named none.
    pub pool: String,
    /// At submission.
    pub priority: Priority,
    /// When it was submitted.
    pub submit_ms: Option<u64>,
    /// When the master had made its tasks.
    pub launch_ms: Option<u64>,
    /// When it was over.
    pub finish_ms: Option<u64>,
    /// How it ended; `None` when the history does not say.
    pub outcome: Option<Ending>,
    /// From submission.
    pub deadline_ms: Option<u64>,
    /// Share of maps before reduces start, in millionths.
    pub slowstart_ppm: Option<u32>,
    /// Maps that the job says it has.
    pub declared_maps: Option<u64>,
    /// Reduces that the job says it has.
    pub declared_reduces: Option<u64>,
    /// Set-up and clean-up tasks, which are not replayed.
    pub aside: u64,
    tasks: BTreeMap<(TaskKind, u32), TaskFacts>,
    attempts: BTreeMap<(TaskKind, u32, u32), AttemptFacts>,
}

#[derive(Clone, Debug, Default)]
pub struct TaskFacts {
    /// When the master gave its first attempt away, on the master's clock.
    pub start_ms: Option<u64>,
    /// When the master had it finished, on the master's clock; of a task that did not succeed it means nothing.
    pub finish_ms: Option<u64>,
    /// Of a map's split.
    pub input_bytes: Option<u64>,
    /// Where its split lies.
    pub preferred: Vec<Place>,
}

/// One attempt, on its worker's clock.
#[derive(Clone, Debug, Default)]
pub struct AttemptFacts {
    /// How it ended; `None` while it runs.
    pub result: Option<Ending>,
    /// When it got its slot.
    pub start_ms: Option<u64>,
    /// When a reduce had fetched all map output.
    pub shuffled_ms: Option<u64>,
    /// When a reduce had merged it.
    pub sorted_ms: Option<u64>,
    /// When it gave its slot back.
    pub finish_ms: Option<u64>,
    /// Where it ran.
    pub place: Option<Place>,
    /// How close to its data a map ran, where the history says so; otherwise places tell.
    pub locality: Option<Locality>,
    /// Whether it was a second try beside a running one, where the history says so; otherwise times tell.
    pub speculative: Option<bool>,
    /// A map's bytes from the file system, a reduce's from the maps.
    pub bytes_in: Option<u64>,
    /// Bytes to the file system.
    pub bytes_out: Option<u64>,
}

/// How an attempt or a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Well.
    Succeeded,
    /// By its own fault.
    Failed,
    /// By request, or lost with its worker.
    Killed,
}

/// A host and, where known, its rack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Rack path with a leading `/`; empty when unknown.
    pub rack: String,
    /// Host name.
    pub host: String,
}

impl JobFacts {
    /// A job of which only the id is known.
    pub fn new(id: impl Into<String>) -> JobFacts {
        JobFacts { id: id.into(), ..JobFacts::default() }
    }

    /// The task with this index, made if it is new.
    pub fn task(&mut self, kind: TaskKind, index: u32) -> &mut TaskFacts {
        self.tasks.entry((kind, index)).or_default()
    }

    /// The attempt with this number, made with its task if it is new.
    pub fn attempt(&mut self, kind: TaskKind, index: u32, number: u32) -> &mut AttemptFacts {
        self.tasks.entry((kind, index)).or_default();
        self.attempts.entry((kind, index, number)).or_default()
    }

    /// The tasks of one kind, by index.
    pub fn tasks(&self, kind: TaskKind) -> impl Iterator<Item = (u32, &TaskFacts)> {
        self.tasks.range((kind, 0)..=(kind, u32::MAX)).map(|(&(_, index), task)| (index, task))
    }

    /// Whether the task is listed already.
    pub fn lists(&self, kind: TaskKind, index: u32) -> bool {
        self.tasks.contains_key(&(kind, index))
    }

    /// The attempts of one task, by number.
    pub fn attempts(&self, kind: TaskKind, index: u32) -> impl Iterator<Item = (u32, &AttemptFacts)> {
        self.attempts
            .range((kind, index, 0)..=(kind, index, u32::MAX))
            .map(|(&(_, _, number), attempt)| (number, attempt))
    }
}

impl Ending {
    /// The name in a history, which has spelled success in three ways. `None` for running and unknown ones.
    pub fn from_name(name: &str) -> Option<Ending> {
        match name {
            "SUCCESS" | "SUCCEEDED" | "FINISHED" => Some(Ending::Succeeded),
            "FAILED" | "ERROR" => Some(Ending::Failed),
            "KILLED" => Some(Ending::Killed),
            _ => None,
        }
    }

    /// As a template's outcome.
    pub const fn name(self) -> &'static str {
        match self {
            Ending::Succeeded => "SUCCEEDED",
            Ending::Failed => "FAILED",
            Ending::Killed => "KILLED",
        }
    }
}

impl Place {
    /// From `/rack/host`, `/data-centre/rack/host` or a bare host; `None` for an empty name. Backslashes before
    /// other signs, as histories and Rumen write before dots, go.
    pub fn parse(text: &str) -> Option<Place> {
        let text = unescape(text.trim());
        let (rack, host) = match text.rsplit_once('/') {
            Some((rack, host)) => (rack, host),
            None => ("", text.as_str()),
        };
        Place::of(rack, host)
    }

    /// From the two names; `None` without a host.
    pub fn of(rack: &str, host: &str) -> Option<Place> {
        let (rack, host) = (unescape(rack.trim()), unescape(host.trim()));
        if host.is_empty() {
            return None;
        }
        let rack = if rack.is_empty() || rack.starts_with('/') { rack } else { format!("/{rack}") };
        Some(Place { rack, host })
    }
}

/// Without the backslashes that quote the sign after them.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        plain.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    plain
}

/// An instant as histories write it: zero and less mean not known.
pub fn known_ms(raw: i64) -> Option<u64> {
    u64::try_from(raw).ok().filter(|&ms| ms > 0)
}

/// A number of bytes as histories write it: less than zero means not known.
pub fn known_bytes(raw: i64) -> Option<u64> {
    u64::try_from(raw).ok()
}

/// Kind and index of `task_200904211745_0002_m_000010`, also of 0.18's `tip_…`.
pub fn parse_task_id(id: &str) -> Option<(TaskKind, u32)> {
    let mut parts = id.rsplit('_');
    let index = parts.next()?.parse().ok()?;
    Some((kind_of(parts.next()?)?, index))
}

/// Kind, index and number of `attempt_200904211745_0002_m_000010_0`, also of 0.18's `task_…`.
pub fn parse_attempt_id(id: &str) -> Option<(TaskKind, u32, u32)> {
    let (task, number) = id.rsplit_once('_')?;
    let (kind, index) = parse_task_id(task)?;
    Some((kind, index, number.parse().ok()?))
}

fn kind_of(letter: &str) -> Option<TaskKind> {
    TaskKind::ALL.into_iter().find(|kind| letter.len() == 1 && letter.starts_with(kind.letter()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_all_versions_are_understood() {
        assert_eq!(parse_task_id("task_200904211745_0002_m_000010"), Some((TaskKind::Map, 10)));
        assert_eq!(parse_task_id("tip_0002_r_000003"), Some((TaskKind::Reduce, 3)));
        assert_eq!(parse_attempt_id("attempt_200904211745_0002_r_000010_1003"), Some((TaskKind::Reduce, 10, 1003)));
        for odd in ["", "_", "m_1x", "task_1_2_x_3", "attempt_1_0001_m_000000", "task_1_2_m_99999999999"] {
            assert_eq!(parse_attempt_id(odd).and(parse_task_id(odd)), None, "{odd}");
        }
    }

    #[test]
    fn places_lose_their_backslashes_and_keep_their_racks() {
        let whole = Place::parse(r"/192\.30\.126\.128/node1396\.megatron\.com").unwrap();
        assert_eq!((whole.rack.as_str(), whole.host.as_str()), ("/192.30.126.128", "node1396.megatron.com"));
        assert_eq!(Place::of("default-rack", "a"), Place::parse("/default-rack/a"));
        assert_eq!(Place::parse("a"), Some(Place { rack: String::new(), host: "a".to_owned() }));
        assert_eq!(Place::parse("/rack/"), None);
        assert_eq!(Place::parse(r"a\"), Place::parse("a"));
    }

    #[test]
    fn records_that_repeat_an_id_merge() {
        let mut job = JobFacts::new("job_1_0001");
        job.attempt(TaskKind::Map, 7, 1).start_ms = Some(5);
        job.attempt(TaskKind::Map, 7, 0).start_ms = Some(3);
        job.attempt(TaskKind::Map, 7, 1).finish_ms = Some(9);
        assert_eq!(job.tasks(TaskKind::Map).map(|(index, _)| index).collect::<Vec<_>>(), [7]);
        let attempts: Vec<_> = job.attempts(TaskKind::Map, 7).map(|(n, a)| (n, a.start_ms, a.finish_ms)).collect();
        assert_eq!(attempts, [(0, Some(3), None), (1, Some(5), Some(9))]);
        assert_eq!(job.tasks(TaskKind::Reduce).count(), 0);
    }
}
