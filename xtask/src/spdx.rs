//! SPDX licence expressions: whether a set of accepted licences satisfies one.
//!
//! `expr = term { OR term }`, `term = atom { AND atom }`, `atom = ID [WITH ID] | ( expr )`. Cargo's old `A/B`
//! means `A OR B`. `ID WITH EXCEPTION` is one licence of that whole name: an exception only adds permissions,
//! but a person decides that by listing it.

use anyhow::{Result, bail, ensure};

/// Whether choosing among the `OR`s leaves only licences that `accepts`.
pub(crate) fn satisfied(expression: &str, accepts: &dyn Fn(&str) -> bool) -> Result<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { words: &words, accepts };
    let holds = parser.any_of()?;
    ensure!(parser.words.is_empty(), "licence `{expression}`: unexpected `{}`", parser.words[0]);
    Ok(holds)
}

struct Parser<'a> {
    words: &'a [&'a str],
    accepts: &'a dyn Fn(&str) -> bool,
}

impl<'a> Parser<'a> {
    fn take(&mut self, word: &str) -> bool {
        match self.words.split_first() {
            Some((first, rest)) if first.eq_ignore_ascii_case(word) => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }

    fn any_of(&mut self) -> Result<bool> {
        let mut holds = self.all_of()?;
        while self.take("OR") {
            holds |= self.all_of()?;
        }
        Ok(holds)
    }

    fn all_of(&mut self) -> Result<bool> {
        let mut holds = self.atom()?;
        while self.take("AND") {
            holds &= self.atom()?;
        }
        Ok(holds)
    }

    fn atom(&mut self) -> Result<bool> {
        if self.take("(") {
            let holds = self.any_of()?;
            ensure!(self.take(")"), "licence expression: expected `)`");
            return Ok(holds);
        }
        let name = self.name()?;
        if self.take("WITH") {
            let exception = self.name()?;
            return Ok((self.accepts)(&format!("{name} WITH {exception}")));
        }
        Ok((self.accepts)(name))
    }

    fn name(&mut self) -> Result<&'a str> {
        match self.words.split_first() {
            Some((first, rest)) if !["(", ")", "OR", "AND", "WITH"].contains(first) => {
                self.words = rest;
                Ok(first)
            }
            Some((first, _)) => bail!("licence expression: expected a licence, found `{first}`"),
            None => bail!("licence expression: expected a licence, found its end"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_and_requirements_are_told_apart() {
        let accepts = |id: &str| ["MIT", "Apache-2.0", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"].contains(&id);
        for (expression, holds) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("MIT OR GPL-3.0", true),
            ("MIT/Apache-2.0", true),
            ("MIT AND GPL-3.0", false),
            ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
            ("GPL-3.0 OR MIT AND Unicode-3.0", true),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("MIT WITH Strange-exception", false),
        ] {
            assert_eq!(satisfied(expression, &accepts).expect("well formed"), holds, "{expression}");
        }
    }

    #[test]
    fn broken_expressions_are_errors() {
        for expression in ["", "MIT OR", "(MIT", "MIT)", "AND MIT", "MIT Apache-2.0"] {
            assert!(satisfied(expression, &|_| true).is_err(), "{expression}");
        }
    }
}
