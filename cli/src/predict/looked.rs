//! What a look ahead found, live or from a recorded moment, and which jobs its changes name.

use std::collections::BTreeMap;

use howdah_json::{Ended, ForecastView, Made};
use howdah_proto::v1::{PredictChanges, PredictResponse};

use crate::failure::{Failure, Outcome};

/// The master's answer, or one like it, and of a recorded run what then happened.
pub(crate) struct Looked {
    pub(crate) answer: PredictResponse,
    /// Of jobs that are over in the recording, by printed ids; live nobody knows.
    pub(crate) ends: BTreeMap<String, Ended>,
}

impl Looked {
    /// The course as it is, beside what came of it.
    pub(crate) fn present(&self) -> Outcome<ForecastView> {
        let mut present = ForecastView::from(self.answer.present.as_ref().ok_or_else(no_forecast)?);
        present.note_ends(&self.ends);
        Ok(present)
    }

    /// The course with the changes, which nothing came of.
    pub(crate) fn changed(&self) -> Outcome<ForecastView> {
        Ok(ForecastView::from(self.answer.changed.as_ref().ok_or_else(no_forecast)?))
    }

    /// What both cost and rest on.
    pub(crate) fn made(&self) -> Made {
        Made::from(&self.answer)
    }
}

/// The jobs that changes are about, as somebody named them.
pub(super) fn named_jobs(changes: &mut PredictChanges) -> impl Iterator<Item = &mut String> {
    changes.kill.iter_mut().chain(changes.deadlines.iter_mut().map(|one| &mut one.job))
}

/// A master answered without what was asked for.
pub(crate) fn no_forecast() -> Failure {
    Failure::broke("the answer holds no forecast")
}
