//! The known name that a misspelt one most likely means, for errors.

/// The closest of the known names, if it is close: at most a third of the name is wrong. Two neighbours that changed
/// places are one slip.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let closest =
        known.into_iter().map(|other| (strsim::osa_distance(name, other), other)).min_by_key(|&(distance, _)| distance);
    closest.filter(|&(distance, _)| distance * 3 <= name.chars().count()).map(|(_, other)| other)
}

/// What to write instead of a name that is not known: the one that was most likely meant, or else any of them.
pub fn instead<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(name, known.clone()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("expected one of {}", known.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_another_word_none() {
        let known = ["preemption", "preemption.interval", "sizebasedweight"];
        assert_eq!(nearest("premption", known), Some("preemption"));
        assert_eq!(nearest("sizeBasedWeight", known), Some("sizebasedweight"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("fiar", ["fifo", "fair"]), Some("fair"));
    }
}
