//! All that was found.

use anyhow::Result;

use super::compared::Compared;
use super::live::Measured;
use super::scenario::Section;
use super::sweep::Sweep;
use crate::framework::Check;

/// Everything that an experiment found.
pub(super) struct Found {
    pub(super) section: Section,
    pub(super) simulated: Vec<Compared>,
    pub(super) sweeps: Vec<Sweep>,
    pub(super) readings: Vec<(&'static str, Vec<Compared>)>,
    /// Or why there is no live half, in a line.
    pub(super) measured: Result<Vec<Measured>, String>,
    pub(super) checks: Vec<Check>,
}
