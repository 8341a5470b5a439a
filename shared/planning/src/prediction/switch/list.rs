//! The switching rules by name.
//!
//! A new rule is one line here. All that names rules takes the names from it: the setting, its errors and `online-switch`.

use super::super::listed::names;
use super::{Best, Lasting, SwitchingRule, Thresholds};

/// A rule's name and what makes it.
type Listed = (&'static str, fn(Thresholds) -> Box<dyn SwitchingRule>);

/// All rules: first the one that counts where none is chosen.
const LIST: &[Listed] = &[
    ("lasting", |thresholds| Box::new(Lasting::new(thresholds))),
    ("best", |thresholds| Box::new(Best::new(thresholds))),
];

/// The names of all rules: first the one that counts where none is chosen.
pub const RULES: [&str; LIST.len()] = names(LIST);

/// A rule of that name that has seen nothing yet.
pub(super) fn by_name(name: &str, thresholds: Thresholds) -> Option<Box<dyn SwitchingRule>> {
    LIST.iter().find(|(known, _)| *known == name).map(|(_, make)| make(thresholds))
}
