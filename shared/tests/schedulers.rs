//! Policies by their sources' rules, and properties of each over random workloads.

mod kit;
#[path = "schedulers/size_based.rs"]
mod size_based;
#[path = "schedulers/size_based_properties.rs"]
mod size_based_properties;
