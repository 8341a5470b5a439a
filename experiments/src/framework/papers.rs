//! The papers whose figures are repeated, as people cite them.

/// Figures and tables of the online prediction paper.
pub(crate) const ONLINE: &str = "Online prediction (Wang, Khasymski, Krish K. R., Butt: Towards Improving MapReduce Task \
     Scheduling Using Online Simulation Based Predictions, 2013)";
/// Job templates, the engine, the deadline schedulers.
pub(crate) const SIMMR: &str = "SimMR (Verma, Cherkasova, Campbell: Play It Again, SimMR!, 2011)";
/// Figures of the makespan paper.
pub(crate) const BALANCED_POOLS: &str = "Balanced pools (Verma, Cherkasova, Campbell: Orchestrating an Ensemble of \
     MapReduce Jobs for Minimizing Their Makespan, 2013)";
/// Figures and tables of the slowdown paper.
pub(crate) const SLOWDOWN_VARIABILITY: &str =
    "Ghit, Epema: Reducing Job Slowdown Variability for Data-Intensive Workloads (2015)";
/// Figures of the Load-Aware thesis.
pub(crate) const LOAD_AWARE: &str =
    "You: A Load-Aware Scheduler for MapReduce Framework in Heterogeneous Environments (2010)";
