//! The decision log of a replay: kept while it runs, written when it is whole.

use std::cell::RefCell;
use std::io;
use std::io::Write;
use std::rc::Rc;

use howdah_core::cluster::EndCause;
use howdah_core::job::{AttemptId, Locality, WorkerId};
use howdah_core::replay::{Observer, View};
use howdah_core::time::Time;
use howdah_master::decisions::{Decision, What};

use super::replayed::{Replayed, job_id};

/// One decision as the simulation tells it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decided {
    at: Time,
    attempt: AttemptId,
    worker: WorkerId,
    what: What,
}

/// The observer. Clones share what they have seen.
#[derive(Clone, Debug, Default)]
pub(super) struct DecisionRecorder {
    seen: Rc<RefCell<Vec<Decided>>>,
}

impl DecisionRecorder {
    /// All so far, in order; none are kept.
    pub(super) fn take(&self) -> Vec<Decided> {
        self.seen.take()
    }
}

impl Observer for DecisionRecorder {
    fn launched(&mut self, at: Time, attempt: AttemptId, worker: WorkerId, locality: Locality, speculative: bool) {
        let what = What::Launch { locality, speculative };
        self.seen.borrow_mut().push(Decided { at, attempt, worker, what });
    }

    fn stopped(&mut self, at: Time, attempt: AttemptId, worker: WorkerId, cause: EndCause) {
        self.seen.borrow_mut().push(Decided { at, attempt, worker, what: What::Stop(cause) });
    }
}

/// One JSON object a line.
pub(super) fn write(replayed: &Replayed<'_>, decisions: &[Decided], out: &mut dyn Write) -> io::Result<()> {
    let worker = |id: WorkerId| match &replayed.options.view {
        View::Slots { .. } => "slots".to_owned(),
        View::Workers(view) => view.workers.get(id.0 as usize).map(|worker| worker.name.clone()).unwrap_or_default(),
    };
    for &Decided { at, attempt, worker: id, what } in decisions {
        let template = replayed.report.jobs[attempt.job.0 as usize - 1].template;
        let job = job_id(&replayed.trace.jobs[template as usize], template);
        serde_json::to_writer(&mut *out, &Decision::new(at, job, attempt, worker(id), what))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
