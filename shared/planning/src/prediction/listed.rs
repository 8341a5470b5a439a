//! Names out of a list, as a setting, a flag or a request gives them.
//!
//! A list is a table of names, each with what makes the thing; whatever else needs the names takes them from it.

use howdah_core::schedulers::nearest::nearest;

/// The names of a table, in its order.
pub(super) const fn names<Make, const N: usize>(table: &[(&'static str, Make)]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = table[at].0;
        at += 1;
    }
    names
}

/// The name as it is listed, or what to write instead.
pub(super) fn find(name: &str, names: &[&'static str]) -> Result<&'static str, String> {
    names.iter().copied().find(|known| *known == name).ok_or_else(|| match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("expected one of {}", names.join(", ")),
    })
}
