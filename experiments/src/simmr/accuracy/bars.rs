//! A finding against its bars.

use super::bar::Bars;
use crate::framework::Check;

/// A bar for the mean, and perhaps one for the largest error.
pub(super) fn bars(what: &str, found: howdah_planning::accuracy::Summary, bars: Bars, judged: bool) -> Vec<Check> {
    let mean = Check { what: format!("{what}: mean error"), found: found.mean_error, bar: bars.mean, judged };
    let max = bars.max.map(|bar| Check { what: format!("{what}: largest error"), found: found.max_error, bar, judged });
    std::iter::once(mean).chain(max).collect()
}
