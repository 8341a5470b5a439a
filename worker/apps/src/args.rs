//! What follows `howdah submit APP`: options of the application, then its positional arguments.

use std::str::FromStr;

/// Arguments that are still to be read, in order.
#[derive(Clone, Debug)]
pub(crate) struct Args(Vec<String>);

impl Args {
    pub(crate) fn new(args: &[String]) -> Args {
        Args(args.iter().filter(|arg| *arg != "--").cloned().collect())
    }

    /// Takes the value of an option written `--name VALUE` or `--name=VALUE`; the last one counts, as with `-D`.
    ///
    /// # Errors
    /// The name, when nothing follows it.
    pub(crate) fn option(&mut self, names: &[&str]) -> Result<Option<String>, String> {
        Ok(self.options(names)?.pop())
    }

    /// Takes the values of an option that may come several times.
    ///
    /// # Errors
    /// The name, when nothing follows it.
    pub(crate) fn options(&mut self, names: &[&str]) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        let mut index = 0;
        while index < self.0.len() {
            let (name, inline) = match self.0[index].split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (self.0[index].as_str(), None),
            };
            if !names.contains(&name) {
                index += 1;
                continue;
            }
            let name = name.to_owned();
            self.0.remove(index);
            match inline {
                Some(value) => found.push(value),
                None if index < self.0.len() => found.push(self.0.remove(index)),
                None => return Err(name),
            }
        }
        Ok(found)
    }

    /// Takes an option without value.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|arg| arg != name);
        self.0.len() < before
    }

    /// Takes the first argument that is left; call it after all options have been taken.
    pub(crate) fn positional(&mut self) -> Option<String> {
        if self.0.is_empty() { None } else { Some(self.0.remove(0)) }
    }
}

/// Rows, with decimal suffixes as teragen has them: `10m` is ten million, `1b` a thousand million.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows(pub(crate) u64);

impl FromStr for Rows {
    type Err = ();

    fn from_str(text: &str) -> Result<Rows, ()> {
        let text = text.trim();
        let power = ['k', 'm', 'b', 't'].iter().position(|suffix| text.ends_with(*suffix));
        let power = power.map_or(0, |index| index as u32 + 1);
        let digits = if power > 0 { &text[..text.len() - 1] } else { text };
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(());
        }
        let n: u64 = digits.parse().map_err(|_| ())?;
        n.checked_mul(1000_u64.pow(power)).map(Rows).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(text: &str) -> Args {
        Args::new(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_taken_wherever_they_stand() {
        let mut args = args("-- a --maps 3 b --seed=7 --quiet -m 4");
        assert_eq!(args.option(&["-m", "--maps"]), Ok(Some("4".to_owned())));
        assert_eq!(args.option(&["--seed"]), Ok(Some("7".to_owned())));
        assert_eq!(args.option(&["--absent"]), Ok(None));
        assert!(args.flag("--quiet") && !args.flag("--quiet"));
        assert_eq!(args.positional().as_deref(), Some("a"));
        assert_eq!(args.positional().as_deref(), Some("b"));
        assert_eq!(args.positional(), None);
    }

    #[test]
    fn an_option_at_the_end_without_value_is_named() {
        assert_eq!(args("x --seed").option(&["--seed"]), Err("--seed".to_owned()));
    }

    #[test]
    fn suffixes_scale() {
        assert_eq!("1b".parse(), Ok(Rows(1_000_000_000)));
        assert_eq!("5".parse(), Ok(Rows(5)));
        for text in ["", "m", "1x", "-1", "1.5g", "+1", "99999999999t"] {
            assert!(text.parse::<Rows>().is_err(), "{text}");
        }
    }
}
