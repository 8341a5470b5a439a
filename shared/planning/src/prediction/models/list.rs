//! The models by name.
//!
//! A new model is one line here. All that names models takes the names from it: settings, flags, requests and their errors.

use super::super::listed::names;
use super::{Linear, Mean, PerWorker, Piecewise, Quantile, TaskTimeModel};

/// A model's name and what makes it.
type Listed = (&'static str, fn() -> Box<dyn TaskTimeModel>);

/// All models: the paper's first, which counts where none is chosen.
const LIST: &[Listed] = &[
    ("linear", || Box::new(Linear)),
    ("piecewise", || Box::new(Piecewise)),
    ("mean", || Box::new(Mean)),
    ("quantile", || Box::new(Quantile)),
    ("per-worker", || Box::new(PerWorker)),
];

/// The names of all models: the paper's first.
pub const MODELS: [&str; LIST.len()] = names(LIST);

/// The model of that name.
pub fn by_name(name: &str) -> Option<Box<dyn TaskTimeModel>> {
    LIST.iter().find(|(known, _)| *known == name).map(|(_, make)| make())
}
