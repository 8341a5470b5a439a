//! One job of a replay: its template's durations by task, and what has become of it.

use std::collections::BTreeSet;

use smol_str::SmolStr;

use super::report::JobOutcome;
use super::summary::size;
use crate::cluster::{AttemptRef, Rare, SpeculationCosts};
use crate::job::profile::JobTemplate;
use crate::job::{AttemptId, JobConf, JobId, JobProfile, JobSpec, JobState, PerKind, Requirements, WorkerId};
use crate::time::{Span, Time};

/// An attempt where its launch has put it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) attempt: AttemptId,
    pub(super) reference: AttemptRef,
    pub(super) worker: WorkerId,
}

/// A reduce whose end is planned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reducing {
    pub(super) attempt: Placed,
    /// When it has shuffled and sorted, or failed before; [`Time::MAX`] while that is open.
    pub(super) sorted: Time,
}

/// What the loss of a worker may take from a job, kept while workers may be lost.
#[derive(Clone, Debug, Default)]
pub(super) struct AtRisk {
    /// The running reduces that are no fillers, in order of their plans.
    pub(super) reducing: Vec<Reducing>,
    /// Maps whose output lies on a worker that is down, while the master has not noticed.
    pub(super) unreachable: BTreeSet<u32>,
}

/// In the place of a template's number, where a job was over before.
const NO_TEMPLATE: u32 = u32::MAX;

/// A job that was submitted.
#[derive(Clone, Debug)]
pub(super) struct SimJob<'t> {
    pub(super) outcome: JobOutcome,
    /// Maps whose output is not there yet.
    pub(super) maps_left: u32,
    pub(super) commit: Span,
    /// Of one task of each kind.
    pub(super) slots: PerKind<u16>,
    /// In order of launch.
    pub(super) fillers: Vec<Placed>,
    pub(super) at_risk: Rare<AtRisk>,
    map_ms: &'t [u64],
    first_ms: &'t [u64],
    typical_ms: &'t [u64],
    reduce_ms: &'t [u64],
}

impl<'t> SimJob<'t> {
    pub(super) fn new(
        template: &'t JobTemplate,
        index: u32,
        id: JobId,
        submit: Time,
        deadline: Option<Span>,
    ) -> SimJob<'t> {
        SimJob {
            outcome: not_started(id, index, submit, deadline),
            maps_left: template.n_maps,
            commit: span(template.commit_ms),
            slots: [template.slots_per_map.max(1), template.slots_per_reduce.max(1)],
            fillers: Vec::new(),
            at_risk: Rare::default(),
            map_ms: &template.map_ms,
            first_ms: &template.first_shuffle_ms,
            typical_ms: &template.typical_shuffle_ms,
            reduce_ms: &template.reduce_ms,
        }
    }

    /// In the place of a job that was over before the replay began.
    pub(super) fn over_before(id: JobId) -> SimJob<'t> {
        let outcome = JobOutcome { state: JobState::Succeeded, ..not_started(id, NO_TEMPLATE, Time::ZERO, None) };
        SimJob {
            outcome,
            maps_left: 0,
            commit: Span::ZERO,
            slots: [1, 1],
            fillers: Vec::new(),
            at_risk: Rare::default(),
            map_ms: &[],
            first_ms: &[],
            typical_ms: &[],
            reduce_ms: &[],
        }
    }

    /// Whether it is such a one.
    pub(super) fn is_over_before(&self) -> bool {
        self.outcome.template == NO_TEMPLATE
    }

    /// A map's time.
    pub(super) fn map(&self, index: u32) -> Span {
        cycle(self.map_ms, index)
    }

    /// A reduce's time after its sort.
    pub(super) fn reduce(&self, index: u32) -> Span {
        cycle(self.reduce_ms, index)
    }

    /// The shuffle of a reduce that waited for the maps, from the end of the map stage. Where the template knows
    /// none, a later wave's stands in for it.
    pub(super) fn first_shuffle(&self, index: u32) -> Span {
        if self.first_ms.is_empty() { cycle(self.typical_ms, index) } else { cycle(self.first_ms, index) }
    }

    /// The shuffle of a reduce that started when the maps were done. Entry 0 belongs to the first reduce that was
    /// not of the first wave, so that a run's own profile meets the reduces that it was taken from. Where the
    /// template knows none, a first wave's stands in for it.
    pub(super) fn typical_shuffle(&self, index: u32) -> Span {
        if self.typical_ms.is_empty() {
            return cycle(self.first_ms, index);
        }
        let first_wave = u32::try_from(self.first_ms.len()).unwrap_or(u32::MAX);
        cycle(self.typical_ms, index.checked_sub(first_wave).unwrap_or(index))
    }
}

fn not_started(id: JobId, template: u32, submit: Time, deadline: Option<Span>) -> JobOutcome {
    JobOutcome {
        id,
        template,
        submit,
        start: None,
        maps_done: None,
        finish: submit,
        state: JobState::Prep,
        deadline,
        failed_attempts: 0,
        killed_attempts: 0,
        costs: SpeculationCosts::default(),
    }
}

/// The entry of a task; zero without entries.
fn cycle(list: &[u64], index: u32) -> Span {
    let index = index as usize;
    match list.get(index) {
        Some(&ms) => span(ms),
        None if list.is_empty() => Span::ZERO,
        None => span(list[index % list.len()]),
    }
}

fn span(ms: u64) -> Span {
    Span::from_us(ms.saturating_mul(1_000))
}

/// The specification that the core gets of a template's job. The share of maps after which reduces start, in millionths,
/// is the template's or Hadoop's where none is given; what would have to be found from the durations is there if
/// `profiled`.
pub fn spec(template: &JobTemplate, slowstart_ppm: Option<u32>, deadline: Option<Span>, profiled: bool) -> JobSpec {
    let mut spec = bare_spec(template);
    spec.map_input_bytes.clone_from(&template.map_input_bytes);
    spec.split_hosts.clone_from(&template.split_hosts);
    if let Some(slowstart_ppm) = slowstart_ppm.or(template.slowstart_ppm) {
        spec.conf.slowstart_ppm = slowstart_ppm.min(1_000_000);
    }
    spec.conf.deadline = deadline;
    spec.conf.size = profiled.then(|| size(template));
    spec.profile = template.profile.or_else(|| if profiled { JobProfile::of(template) } else { None }).map(Box::new);
    spec
}

/// Without what the job requires of workers, where there are none.
pub(super) fn in_view(mut spec: JobSpec, has_workers: bool) -> JobSpec {
    if !has_workers {
        spec.conf.requires = Requirements::default();
    }
    spec
}

/// The same without tables and settings.
pub(super) fn bare_spec(template: &JobTemplate) -> JobSpec {
    JobSpec {
        name: SmolStr::new(&template.name),
        user: SmolStr::new(&template.user),
        queue: if template.queue.is_empty() { SmolStr::new_static("default") } else { SmolStr::new(&template.queue) },
        priority: template.priority,
        n_maps: template.n_maps,
        n_reduces: template.n_reduces,
        conf: JobConf {
            slots_per_map: template.slots_per_map.max(1),
            slots_per_reduce: template.slots_per_reduce.max(1),
            requires: template.requires.clone(),
            pool: template.pool(),
            ..JobConf::default()
        },
        ..JobSpec::default()
    }
}
