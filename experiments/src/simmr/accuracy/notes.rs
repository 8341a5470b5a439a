//! Words that the page and the checks share.

/// Of predictions with the machine's speed in them.
pub(super) const AT_ITS_SPEED: &str = "at the machine's own speed";
