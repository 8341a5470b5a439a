//! The known name that a misspelt one most likely means, for errors.

/// The closest of the known names, if it is close: at most a third of the name is wrong.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let closest = known.into_iter().map(|other| (distance(name, other), other)).min_by_key(|&(distance, _)| distance);
    closest.filter(|&(distance, _)| distance * 3 <= name.chars().count()).map(|(_, other)| other)
}

/// Letters to add, to leave out and to exchange (Levenshtein's distance).
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = before + usize::from(x != *y);
            before = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(before + 1);
        }
    }
    row[b.len()]
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
        assert_eq!((distance("", "abc"), distance("abc", "abc"), distance("kitten", "sitting")), (3, 0, 3));
    }
}
