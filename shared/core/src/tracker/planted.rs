//! Faults that the swarm's tests plant in the state machines, to see that it notices each of them, and the switch that
//! takes their fast paths out.
//!
//! One is planted at a time, by the thread that runs the test. Outside of tests there is no switch: the question is
//! answered at compile time and costs nothing.

/// What is to go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(PartialOrd, Ord))]
pub(crate) enum Fault {
    /// A lost worker's map outputs count as there.
    ForgetLostMap,
    /// A speculative attempt of a task may commit beside the first.
    DoubleCommit,
    /// A killed attempt goes on filling its slot.
    LeakSlot,
    /// Reports of an earlier run of a worker count.
    AcceptZombie,
    /// Silent workers are never lost.
    NeverExpire,
    /// Failures of a task are not counted.
    ForgetFailure,
    /// A kill of a job leaves its running attempts alone.
    ForgetKill,
    /// After a restart the workers' clocks go on from before.
    KeepClocks,
    /// A launch that is repeated starts the attempt again.
    StartTwice,
    /// A worker says once only that an attempt ended, received or not.
    ForgetEnd,
    /// A loser of a race counts as a second winner.
    TwoWinners,
    /// A snapshot forgets the last job's number.
    SnapshotWithoutLastJob,
    /// A job succeeds although a part of its output is gone.
    DoWithoutPart,
    /// A snapshot forgets what is held against workers, and who is drained.
    SnapshotForgives,
    /// A worker that registers counts as having all map outputs that it had.
    KeepUnnamed,
    /// Whatever map output a worker names counts as its map's.
    KeepAny,
    /// A snapshot has the priorities of jobs as nobody had changed them.
    SnapshotAsSubmitted,
    /// No fault: all starts and ends take the general path, which the fast ones must equal.
    NoFastPaths,
}

/// Whether this fault is planted.
#[cfg(not(test))]
#[inline(always)]
pub(crate) const fn planted(_: Fault) -> bool {
    false
}

#[cfg(test)]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// Whether this fault is planted.
#[cfg(test)]
pub(crate) fn planted(fault: Fault) -> bool {
    PLANTED.get() == Some(fault)
}

/// Plants a fault, or takes it out again.
#[cfg(test)]
pub(crate) fn plant(fault: Option<Fault>) {
    PLANTED.set(fault);
}
