//! An example that the paper leaves open.

use super::causes::Cause;
use super::readings::{Draws, Reading};
use super::rules::Rule;
use super::sweep::Point;

/// What the text leaves open, tried.
pub(crate) struct Open {
    pub(super) readings: Vec<Reading>,
    /// By what goes first of tied jobs.
    pub(super) ties: Vec<(&'static str, Point)>,
    pub(super) draws: Vec<Draws>,
    pub(super) causes: Vec<Cause>,
    pub(super) rules: Vec<Rule>,
}
