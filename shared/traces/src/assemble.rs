//! From the jobs of a history to a trace: in order of submission, on a clock that starts with the first.

use super::ImportNotes;
use super::facts::JobFacts;
use super::profiler::{Profiled, profile};
use howdah_core::job::profile::{JobTemplate, Trace};

/// Collects the jobs of one trace.
#[derive(Debug, Default)]
pub struct TraceBuilder {
    jobs: Vec<Profiled>,
}

impl TraceBuilder {
    /// Makes a template of one job. Repairs are counted in `notes`.
    pub fn add(&mut self, facts: &JobFacts, notes: &mut ImportNotes) {
        self.jobs.push(profile(facts, notes));
    }

    /// Takes over another's jobs, after its own.
    pub fn append(&mut self, other: TraceBuilder) {
        self.jobs.extend(other.jobs);
    }

    /// As [`finish`](Self::finish), of jobs in no order that anybody gave them.
    pub fn finish_sorted(mut self, source: &str) -> Trace {
        self.jobs.sort_by_key(|job| job.submit_ms);
        self.finish(source, &mut ImportNotes::default())
    }

    /// Jobs so far.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether no job was added.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The trace, its instants counted from the first submission, which becomes its `start_ms_epoch`.
    pub fn finish(self, source: &str, notes: &mut ImportNotes) -> Trace {
        let start = self.jobs.iter().filter_map(|job| job.submit_ms).min();
        let start_ms = start.unwrap_or(0);
        let mut jobs: Vec<JobTemplate> = self.jobs.into_iter().map(|job| moved(job, start_ms)).collect();
        let behind = jobs.windows(2).filter(|pair| pair[1].submit_ms < pair[0].submit_ms).count() as u64;
        notes.add_many("job submitted before the job above it: sorted by submission", behind, || source.to_owned());
        jobs.sort_by_key(|job| job.submit_ms);
        Trace { source: source.to_owned(), start_ms_epoch: start, jobs, ..Trace::default() }
    }
}

fn moved(job: Profiled, start_ms: u64) -> JobTemplate {
    let mut template = job.template;
    template.submit_ms = job.submit_ms.unwrap_or(start_ms).saturating_sub(start_ms);
    if let Some(measured) = &mut template.measured {
        measured.launch_ms = measured.launch_ms.saturating_sub(start_ms);
        measured.maps_done_ms = measured.maps_done_ms.saturating_sub(start_ms);
        measured.finish_ms = measured.finish_ms.saturating_sub(start_ms);
    }
    template
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_starts_with_its_first_submission_and_is_sorted() {
        let mut notes = ImportNotes::default();
        let mut builder = TraceBuilder::default();
        for (id, submit) in [("b", Some(1_500)), ("a", Some(1_000)), ("unknown", None)] {
            let mut job = JobFacts::new(id);
            (job.submit_ms, job.finish_ms) = (submit, Some(2_000));
            builder.add(&job, &mut notes);
        }
        let trace = builder.finish("made up", &mut notes);
        assert_eq!(trace.start_ms_epoch, Some(1_000));
        let jobs: Vec<_> = trace.jobs.iter().map(|job| (job.id.as_str(), job.submit_ms)).collect();
        assert_eq!(jobs, [("a", 0), ("unknown", 0), ("b", 500)]);
        assert_eq!(trace.jobs[0].completion_ms(), Some(1_000));
        let notes: Vec<_> = notes.iter().map(|(reason, note)| (reason, note.count)).collect();
        assert_eq!(
            notes,
            [
                ("job submitted before the job above it: sorted by submission", 1),
                ("job without a time of submission: its launch or the trace's start counts", 1),
            ]
        );
    }
}
