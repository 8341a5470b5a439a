//! What a slot does at an instant, and in which colour that is drawn.
//!
//! The colours are Okabe and Ito's, which people with any kind of colour blindness tell apart; attempts that did
//! not count are hatched besides, so that they stand out in print too, and reduces that wait are dotted: they do nothing,
//! as the shuffles beside them, of a like colour, do not.

use howdah_core::job::{AttemptState, TaskKind};
use howdah_core::replay::AttemptRecord;
use howdah_core::time::Time;

/// What a slot does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Runs a map.
    Map,
    /// Holds a reduce that waits for maps.
    Wait,
    /// Shuffles and sorts.
    Shuffle,
    /// Runs a reduce.
    Reduce,
    /// Ran an attempt that failed.
    Failed,
    /// Ran an attempt that was killed or lost.
    Killed,
}

impl Stage {
    /// In the order of a task's life; lost ones last.
    pub(crate) const ALL: [Stage; 6] =
        [Stage::Map, Stage::Wait, Stage::Shuffle, Stage::Reduce, Stage::Failed, Stage::Killed];

    /// Whether map slots, and whether reduce slots, can be in it.
    pub(crate) fn of_kind(self, kind: TaskKind) -> bool {
        match self {
            Stage::Map => kind == TaskKind::Map,
            Stage::Wait | Stage::Shuffle | Stage::Reduce => kind == TaskKind::Reduce,
            Stage::Failed | Stage::Killed => true,
        }
    }

    /// Class in the style sheet.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Stage::Map => "m",
            Stage::Wait => "w",
            Stage::Shuffle => "s",
            Stage::Reduce => "r",
            Stage::Failed => "f",
            Stage::Killed => "k",
        }
    }

    /// In the legend.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Stage::Map => "map",
            Stage::Wait => "reduce waits for maps",
            Stage::Shuffle => "shuffle and sort",
            Stage::Reduce => "reduce",
            Stage::Failed => "failed attempt",
            Stage::Killed => "killed or lost attempt",
        }
    }

    /// Fill of the class.
    pub(crate) fn fill(self) -> &'static str {
        match self {
            Stage::Map => "#0072B2",
            Stage::Wait => "url(#waits)",
            Stage::Shuffle => "#E69F00",
            Stage::Reduce => "#009E73",
            Stage::Failed => "url(#failed)",
            Stage::Killed => "url(#killed)",
        }
    }

    /// Fill for every other job, a shade of [`Stage::fill`], so that neighbours are told apart.
    pub(crate) fn other_fill(self) -> &'static str {
        match self {
            Stage::Map => "#4FA3D1",
            Stage::Wait => "url(#waits2)",
            Stage::Shuffle => "#F3C45C",
            Stage::Reduce => "#56BF9F",
            Stage::Failed | Stage::Killed => self.fill(),
        }
    }
}

/// A stretch of one stage; may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) stage: Stage,
    /// Its first instant.
    pub(crate) from: Time,
    /// The first instant after it.
    pub(crate) to: Time,
}

/// The stretches of an attempt, in order of time, without empty ones.
pub(crate) fn stretches(record: &AttemptRecord) -> impl Iterator<Item = Stretch> {
    let (start, end) = (record.start, record.end);
    let within = |at: Time| at.clamp(start, end);
    let lost = match record.state {
        AttemptState::Failed => Some(Stage::Failed),
        AttemptState::Succeeded => None,
        _ => Some(Stage::Killed),
    };
    let parts = match (lost, record.attempt.kind) {
        (Some(stage), _) => [(stage, start, end), (stage, end, end), (stage, end, end)],
        (None, TaskKind::Map) => [(Stage::Map, start, end), (Stage::Map, end, end), (Stage::Map, end, end)],
        (None, TaskKind::Reduce) => {
            let sorted = record.sorted.map_or(end, within);
            let waited = record.maps_done.map_or(start, within).min(sorted);
            [(Stage::Wait, start, waited), (Stage::Shuffle, waited, sorted), (Stage::Reduce, sorted, end)]
        }
    };
    let parts = parts.into_iter().map(|(stage, from, to)| Stretch { stage, from, to });
    parts.filter(|stretch| stretch.from < stretch.to)
}
