//! What a worker has got in its turn, and what it may still get.

use crate::job::PerKind;
use crate::schedulers::Round;
use crate::time::Span;

#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) round: Round,
    pub(super) assigned: PerKind<u32>,
    pub(super) rejected: PerKind<bool>,
    pub(super) waits: [Span; 2],
}
