//! Which model tells task times, as a setting, a flag or a request names it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::listed::find;
use super::models::{MODELS, TaskTimeModel, by_name};

/// The name of a model that is there; of the paper's unless chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelName(&'static str);

/// There is none of that name. Whoever says so names it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such model, {0}")]
pub struct NoSuchModel(String);

impl ModelName {
    /// The model itself.
    pub fn model(self) -> Box<dyn TaskTimeModel> {
        by_name(self.0).expect("a name is made of the list of models alone")
    }
}

impl Default for ModelName {
    fn default() -> ModelName {
        ModelName(MODELS[0])
    }
}

impl FromStr for ModelName {
    type Err = NoSuchModel;

    fn from_str(name: &str) -> Result<ModelName, NoSuchModel> {
        find(name, &MODELS).map(ModelName).map_err(NoSuchModel)
    }
}

impl<'de> Deserialize<'de> for ModelName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ModelName, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for ModelName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
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
