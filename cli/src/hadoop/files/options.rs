//! Options of `hadoop fs`: words with one dash before the first operand.

/// What was given after the verb.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Given<'a> {
    /// Without their dashes.
    pub(super) flags: Vec<&'a str>,
    pub(super) operands: Vec<&'a str>,
}

/// Splits what follows a verb with these options. A lone `-` is an operand, and so is everything after `--`.
///
/// # Errors
/// The option that the verb has not.
pub(super) fn split<'a>(words: &[&'a str], flags: &[&str]) -> Result<Given<'a>, &'a str> {
    let mut given = Given::default();
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        match word.strip_prefix('-').filter(|name| !name.is_empty() && given.operands.is_empty()) {
            Some("-") => given.operands.extend(words.by_ref()),
            Some(name) if flags.contains(&name) => given.flags.push(name),
            Some(_) => return Err(word),
            None => given.operands.push(word),
        }
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_stand_before_operands_and_unknown_ones_are_named() {
        let given = split(&["-R", "a", "-b"], &["R"]).expect("known");
        assert_eq!(given, Given { flags: vec!["R"], operands: vec!["a", "-b"] });
        assert_eq!(split(&["-f", "-", "x"], &["f"]).expect("known").operands, ["-", "x"]);
        assert_eq!(split(&["--", "-x"], &[]).expect("known").operands, ["-x"]);
        assert_eq!(split(&["-q"], &["R"]), Err("-q"));
    }
}
