//! The probes' file: TOML with a command for each name. It is followed while the worker runs.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use howdah_core::job::requirement::{EXPECTED_NAME, MAX_ATTRIBUTES, is_attribute_name};

/// Commands by the attribute's name.
pub(crate) type Commands = BTreeMap<String, String>;

/// Probes that cannot be worked with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ProbesError {
    #[error("{problem}")]
    Read { problem: String },
    #[error("line {line}: {problem}")]
    Syntax { line: usize, problem: String },
    #[error("probe `{name}`: not an attribute's name, {EXPECTED_NAME}")]
    Name { name: String },
    #[error("probe `{name}`: its command is empty, expected one for /bin/sh that prints a value")]
    Command { name: String },
    #[error("{found} attributes and probes, expected at most {MAX_ATTRIBUTES}")]
    TooMany { found: usize },
}

/// Checks names, commands and their number.
pub(crate) fn check(fixed: &BTreeMap<String, String>, commands: &Commands) -> Result<(), ProbesError> {
    for (name, command) in commands {
        if !is_attribute_name(name) {
            return Err(ProbesError::Name { name: name.clone() });
        }
        if command.trim().is_empty() {
            return Err(ProbesError::Command { name: name.clone() });
        }
    }
    let found = fixed.len() + commands.keys().filter(|name| !fixed.contains_key(*name)).count();
    if found > MAX_ATTRIBUTES { Err(ProbesError::TooMany { found }) } else { Ok(()) }
}

/// Where the probes come from.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) fixed: BTreeMap<String, String>,
    /// Of the configuration.
    pub(super) commands: Commands,
    pub(super) path: PathBuf,
    /// Whether a setting names the file; it must be there then.
    pub(super) named: bool,
}

impl Source {
    /// The configuration's probes and the file's; of two with one name the file's counts.
    pub(super) fn look(&self) -> Result<Commands, ProbesError> {
        let mut commands = self.commands.clone();
        match std::fs::read_to_string(&self.path) {
            Ok(text) => commands.extend(parse(&text)?),
            Err(error) if error.kind() == ErrorKind::NotFound && !self.named => {}
            Err(error) => return Err(ProbesError::Read { problem: error.to_string() }),
        }
        check(&self.fixed, &commands)?;
        Ok(commands)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

fn parse(text: &str) -> Result<Commands, ProbesError> {
    toml::from_str(text).map_err(|error| ProbesError::Syntax {
        line: error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count()),
        problem: error.message().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_probes_stand_beside_the_configurations_and_before_them() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("probes.toml");
        let commands: Commands =
            [("gpu".to_owned(), "echo 1".to_owned()), ("ssd".to_owned(), "echo yes".to_owned())].into();
        let source = |named| Source { fixed: BTreeMap::new(), commands: commands.clone(), path: path.clone(), named };
        assert_eq!(source(false).look(), Ok(commands.clone()), "no file is no trouble");
        assert!(matches!(source(true).look(), Err(ProbesError::Read { .. })), "unless a setting names it");
        std::fs::write(&path, "gpu = \"nvidia-smi -L | wc -l\"\nrack = 'echo r2'\n").expect("written");
        let found = source(true).look().expect("it reads");
        let found: Vec<(&str, &str)> = found.iter().map(|(name, command)| (name.as_str(), command.as_str())).collect();
        assert_eq!(found, [("gpu", "nvidia-smi -L | wc -l"), ("rack", "echo r2"), ("ssd", "echo yes")]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let said = |text: &str| {
            let read = parse(text).and_then(|commands| check(&BTreeMap::new(), &commands));
            read.expect_err(text).to_string()
        };
        assert!(
            said("gpu = \"echo 1\"\nssd = 1\n").starts_with("line 2: invalid type"),
            "{}",
            said("gpu = 'x'\nssd = 1\n")
        );
        assert!(said("gpu = \n").starts_with("line 1: "));
        assert!(said("\"a b\" = 'x'").starts_with("probe `a b`: not an attribute's name, expected letters"));
        assert_eq!(
            said("gpu = ' '"),
            "probe `gpu`: its command is empty, expected one for /bin/sh that prints a value"
        );
        let many: String = (0..=MAX_ATTRIBUTES).map(|n| format!("p{n} = 'echo'\n")).collect();
        assert_eq!(said(&many), "257 attributes and probes, expected at most 256");
    }
}
