//! `load`: a load that is held, that is, so many tasks that run or wait for a core, after a schedule, perhaps in a
//! control group.

pub(crate) mod args;
pub(crate) mod group;
mod hold;
pub(crate) mod schedule;
pub(crate) mod spin;

pub(crate) use hold::load;
