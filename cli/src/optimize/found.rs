//! What an optimization came to, for all forms of the answer.

use howdah_core::job::profile::Trace;
use howdah_core::time::Span;
use howdah_planning::optimize::{Method, Objective, Plan, Replanned, Theory};

use super::choices;
use crate::optimize::args::OptimizeArgs;

/// What came out.
pub(super) struct Found<'a> {
    pub(super) trace: &'a Trace,
    pub(super) args: &'a OptimizeArgs,
    pub(super) method: Method,
    pub(super) theory: Theory,
    /// No schedule of a batch is shorter.
    pub(super) floor: Span,
    /// Johnson's order, its reverse, and the method if it is another one.
    pub(super) simulated: Vec<(Method, Plan)>,
    /// Of the method; the last one where jobs come over time.
    pub(super) plan: Plan,
    /// One per instant at which jobs come; empty for a batch.
    pub(super) replans: Vec<Replanned>,
    pub(super) wall_s: f64,
}

impl Found<'_> {
    /// The row that serves the objective better than the plan does, if one does; of plans for a batch alone.
    ///
    /// Algorithm 2 starts from Johnson's order (balanced-pools §3.3), so that its reverse can be shorter than what it
    /// finds.
    pub(super) fn better(&self) -> Option<&(Method, Plan)> {
        if !self.replans.is_empty() {
            return None;
        }
        let cost = |plan: &Plan| match choices::objective(&self.args.pools) {
            Objective::Makespan => plan.makespan(),
            Objective::MeanDelay => plan.mean_delay(),
        };
        let best = self.simulated.iter().min_by_key(|(_, plan)| cost(plan))?;
        (cost(&best.1) < cost(&self.plan)).then_some(best)
    }
}

/// As the paper's strategies are named.
pub(super) fn strategy(method: Method) -> &'static str {
    match method {
        Method::Johnson => "MinSim",
        Method::ReverseJohnson => "MaxSim",
        Method::ShortestFirst => "ShortestFirst",
        Method::LongestFirst => "LongestFirst",
        Method::BalancedPools { .. } => "BalancedPools",
    }
}
