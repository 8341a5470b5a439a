//! What a policy says of itself, so that drivers leave out work of which it would make no use.

/// What a policy does and reads. The defaults are safe for every policy; one that says more exactly what it does runs
/// faster, or is offered more.
///
/// Drivers ask once, when the policy is put in charge or gets other parameters, so that an answer may depend on its
/// parameters and on nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether `observe` has a use for [`Change::Launched`] and [`Change::Ended`], which are nearly all changes. A policy
    /// that has none is notified of neither, nor asked by `wakes_parked` about ends.
    ///
    /// [`Change::Launched`]: super::Change::Launched
    /// [`Change::Ended`]: super::Change::Ended
    pub follows_attempts: bool,
    /// Whether it may assign speculative attempts. A policy that never does is not asked when no task waits for a free
    /// slot of its kind.
    pub may_speculate: bool,
    /// Whether `next_deadline` ever names an instant; it is not asked otherwise.
    pub has_deadlines: bool,
    /// Whether it gives a worker less in one round than there is for it, as rules per heartbeat do. Then a worker whose
    /// heartbeats take no time (a replay's slots) has further rounds at the same instant, until one gives nothing.
    pub limits_rounds: bool,
    /// Whether it reads what jobs say of their durations ([`JobSpec::profile`], [`JobConf::size`]). If not, a replay
    /// leaves out what it would have to find from each job's durations.
    ///
    /// [`JobSpec::profile`]: crate::job::JobSpec::profile
    /// [`JobConf::size`]: crate::job::JobConf::size
    pub reads_profiles: bool,
    /// Whether [`Queues::accepts`](super::Queues::accepts) ever refuses a job; it need not be asked otherwise.
    pub refuses_jobs: bool,
    /// Whether the queue that a job names means anything to it.
    pub reads_queues: bool,
    /// Whether it divides the slots into partitions, each for the jobs that are in it.
    pub divides_slots: bool,
    /// Whether an arriving job's place depends on which jobs have departed before it.
    pub counts_departures: bool,
}

impl Default for Capabilities {
    fn default() -> Capabilities {
        Capabilities {
            follows_attempts: true,
            may_speculate: true,
            has_deadlines: true,
            limits_rounds: false,
            reads_profiles: true,
            refuses_jobs: true,
            reads_queues: false,
            divides_slots: false,
            counts_departures: false,
        }
    }
}
