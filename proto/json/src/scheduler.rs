//! The scheduler in charge, what people should know of it, and the switches that forecasts justified.

use std::collections::BTreeMap;

use howdah_proto::v1::{GetClusterResponse, SchedulerSwitch};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cluster::{Cluster, Note, SpeculationPolicy};
use crate::listing::Shape;

/// The policy in charge, as programs see it: schema `howdah/scheduler/v1`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Scheduler {
    pub scheduler: String,
    /// In a line; null for one that this version does not know.
    pub what: Option<&'static str>,
    /// The paper or the release of Hadoop that it is from.
    pub source: Option<&'static str>,
    pub params: BTreeMap<String, String>,
    pub second_attempts: SpeculationPolicy,
    /// What it noted last, oldest first.
    pub notes: Vec<Note>,
    /// What it promises and the cluster as it is has not, and settings that make no difference.
    pub warnings: Vec<String>,
    /// Among which it is chosen by forecast.
    pub candidates: Vec<String>,
    pub switches: Vec<Switch>,
}

impl Shape for Scheduler {
    const NAME: &'static str = "scheduler";
}

/// A switch that a forecast justified.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Switch {
    pub at_ms_epoch: u64,
    pub from: String,
    pub to: String,
    /// By what; less is better.
    pub measure: String,
    /// As forecast: without it, and with it.
    pub staying: f64,
    pub switching: f64,
    /// What the jobs had in the end; null until all are over.
    pub came: Option<f64>,
}

impl From<SchedulerSwitch> for Switch {
    fn from(switch: SchedulerSwitch) -> Switch {
        let SchedulerSwitch { at_ms_epoch, from, to, measure, staying, switching, came } = switch;
        Switch { at_ms_epoch, from, to, measure, staying, switching, came }
    }
}

impl Scheduler {
    /// `about` is what the policy is, and its source.
    pub fn new(about: Option<(&'static str, &'static str)>, answer: &GetClusterResponse) -> Scheduler {
        let Cluster { scheduler, scheduler_params: params, second_attempts, notes, warnings, .. } =
            Cluster::new("", answer);
        let (what, source) = about.unzip();
        Scheduler {
            scheduler,
            what,
            source,
            params,
            second_attempts,
            notes,
            warnings,
            candidates: answer.candidates.clone(),
            switches: answer.switches.iter().cloned().map(Switch::from).collect(),
        }
    }
}
