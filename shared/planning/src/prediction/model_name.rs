//! Which model tells task times, as a setting, a flag or a request names it.

use super::listed::{List, Name};
use super::models::{MODELS, TaskTimeModel, by_name};

/// The list of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Models {}

impl List for Models {
    const WHAT: &'static str = "model";
    const NAMES: &'static [&'static str] = &MODELS;
}

/// The name of a model that is there; of the paper's unless chosen.
pub type ModelName = Name<Models>;

impl ModelName {
    /// The model itself.
    pub fn model(self) -> Box<dyn TaskTimeModel> {
        by_name(self.text()).expect("a name is made of the list of models alone")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_for_its_model_and_a_slip_finds_the_one_that_was_meant() {
        for name in MODELS {
            assert_eq!(name.parse::<ModelName>().map(|found| found.to_string()), Ok(name.to_owned()));
        }
        assert_eq!(ModelName::default().to_string(), "linear");
        let refused = |name: &str| name.parse::<ModelName>().expect_err("there is none").to_string();
        assert_eq!(refused("peicewise"), "no such model, did you mean `piecewise`?");
        assert_eq!(refused("oracle"), "no such model, expected one of linear, piecewise, mean, quantile, per-worker");
        let read = serde_json::from_str::<ModelName>("\"mean\"").expect("it is there");
        assert_eq!(serde_json::to_string(&read).expect("it is text"), "\"mean\"");
    }
}
