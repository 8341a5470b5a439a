//! A load that is held: so many tasks that run or wait for a core, after a schedule, perhaps in a control group.

pub(crate) mod group;
pub(crate) mod schedule;
pub(crate) mod spin;
