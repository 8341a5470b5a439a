//! What a policy's queues or pools have and want, for listings.

/// One queue or pool of a policy. Pairs are maps and reduces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueView {
    /// Its name.
    pub name: String,
    /// Live jobs.
    pub jobs: u32,
    /// Jobs that may not run yet because of a limit.
    pub held_jobs: u32,
    /// Running attempts.
    pub running: [u32; 2],
    /// Slots that its jobs would use.
    pub demand: [u32; 2],
    /// Slots that it is to have before others get more.
    pub min: [u32; 2],
    /// Slots that it may have; `None` without such a limit.
    pub max: [Option<u32>; 2],
    /// Slots that it is due.
    pub share: [f64; 2],
    /// Its weight against the others.
    pub weight: f64,
}
