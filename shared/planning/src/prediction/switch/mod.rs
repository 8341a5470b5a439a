//! Choosing the scheduler by forecast (§IV-B): each candidate is simulated from the present state, a measure makes one figure
//! of each forecast, and a switching rule says when the one in charge gives way.
//!
//! A rule is a file here, under [`SwitchingRule`], and a line in `list.rs`; `docs/guide/own-models.md` adds one step by step.
//! Whatever the rule, nobody takes over for a while after a switch, and each switch keeps the two figures that justified it.

mod best;
mod lasting;
mod list;
mod measure;
mod rule;
mod rule_name;
mod switcher;
#[cfg(test)]
mod tests;

use best::Best;
use lasting::Lasting;
pub use list::RULES;
use list::by_name;
pub use measure::Measure;
pub use rule::{Standing, SwitchingRule, Thresholds};
pub use rule_name::RuleName;
pub use switcher::{Switch, SwitchOptions, Switcher};
