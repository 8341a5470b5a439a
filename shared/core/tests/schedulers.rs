//! Policies by their sources' rules, and properties of each over random workloads.

#[path = "schedulers/all.rs"]
mod all;
#[path = "schedulers/candidates.rs"]
mod candidates;
#[path = "schedulers/capacity.rs"]
mod capacity;
#[path = "schedulers/capacity_limits.rs"]
mod capacity_limits;
#[path = "schedulers/capacity_properties.rs"]
mod capacity_properties;
#[path = "schedulers/edf.rs"]
mod edf;
#[path = "schedulers/edf_properties.rs"]
mod edf_properties;
#[path = "schedulers/fair.rs"]
mod fair;
#[path = "schedulers/fair_ahead.rs"]
mod fair_ahead;
#[path = "schedulers/fair_deficits.rs"]
mod fair_deficits;
#[path = "schedulers/fair_limits.rs"]
mod fair_limits;
#[path = "schedulers/fair_properties.rs"]
mod fair_properties;
#[path = "schedulers/fewest_running.rs"]
mod fewest_running;
#[path = "schedulers/hadoop_021.rs"]
mod hadoop_021;
#[path = "schedulers/job_queue.rs"]
mod job_queue;
#[path = "schedulers/johnson.rs"]
mod johnson;
mod kit;
#[path = "schedulers/limits_properties.rs"]
mod limits_properties;
#[path = "schedulers/load_aware.rs"]
mod load_aware;
#[path = "schedulers/load_aware_overdue.rs"]
mod load_aware_overdue;
#[path = "schedulers/play.rs"]
mod play;
#[path = "schedulers/queue_moves.rs"]
mod queue_moves;
#[path = "schedulers/reload.rs"]
mod reload;
#[path = "schedulers/requirements.rs"]
mod requirements;
#[path = "schedulers/rules.rs"]
mod rules;
#[path = "schedulers/shortest.rs"]
mod shortest;
#[path = "schedulers/size_based.rs"]
mod size_based;
#[path = "schedulers/size_based_properties.rs"]
mod size_based_properties;
#[path = "schedulers/speculation.rs"]
mod speculation;
