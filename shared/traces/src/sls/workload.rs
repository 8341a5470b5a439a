//! A workload that a record describes instead of listing its tasks.

use serde::Deserialize;

use super::super::json::{List, Text, Whole};

/// Jobs of one queue.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Workload {
    pub(super) workload_weight: f64,
    pub(super) queue_name: Text,
    pub(super) job_classes: List<Class>,
    pub(super) time_distribution: List<Bucket>,
}

/// Jobs may be submitted from this second to the next bucket's.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Bucket {
    pub(super) time: Whole,
    pub(super) weight: f64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Class {
    pub(super) class_name: Text,
    pub(super) user_name: Text,
    pub(super) class_weight: f64,
    pub(super) duration: Option<Sample>,
    pub(super) deadline_factor: Option<Sample>,
    pub(super) reservation: Option<Sample>,
    pub(super) tasks: Option<List<Tasks>>,
    // Older files.
    pub(super) chance_of_reservation: f64,
    pub(super) deadline_factor_avg: f64,
    pub(super) deadline_factor_stddev: f64,
    pub(super) dur_avg: f64,
    pub(super) dur_stddev: f64,
    pub(super) mtasks_avg: f64,
    pub(super) mtasks_stddev: f64,
    pub(super) mtime_avg: f64,
    pub(super) mtime_stddev: f64,
    pub(super) rtasks_avg: f64,
    pub(super) rtasks_stddev: f64,
    pub(super) rtime_avg: f64,
    pub(super) rtime_stddev: f64,
}

/// Tasks of one kind of a class.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tasks {
    #[serde(rename = "type")]
    pub(super) kind: Text,
    pub(super) count: Sample,
    pub(super) time: Sample,
}

/// A number to draw.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Sample {
    pub(super) val: Option<f64>,
    pub(super) std: Option<f64>,
    pub(super) dist: Text,
    pub(super) discrete: List<Text>,
    pub(super) weights: Option<List<f64>>,
}
