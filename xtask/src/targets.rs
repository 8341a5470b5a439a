//! Which integration tests there are, and whose.
//!
//! Every step on the debug build selects the whole workspace and names the targets that it wants. A selection of packages would
//! have other features of third-party crates, and so another build of them.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process::cargo_output;

/// The workspace's packages as cargo's metadata has them.
pub(crate) fn packages() -> Result<Vec<Value>> {
    let json = cargo_output(&["metadata", "--locked", "--no-deps", "--format-version", "1"])?;
    let mut metadata: Value = serde_json::from_slice(&json).context("read cargo's metadata")?;
    match metadata["packages"].take() {
        Value::Array(packages) => Ok(packages),
        _ => anyhow::bail!("cargo's metadata has no packages"),
    }
}

/// `--test NAME` for the integration tests of the packages whose names `wanted` wants, ascending, each once.
pub(crate) fn tests(packages: &[Value], wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut names: Vec<&str> = packages
        .iter()
        .filter(|package| package["name"].as_str().is_some_and(&wanted))
        .flat_map(|package| package["targets"].as_array().into_iter().flatten())
        .filter(|target| has_kind(target, "test"))
        .filter_map(|target| target["name"].as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().flat_map(|name| ["--test".to_owned(), name.to_owned()]).collect()
}

/// Whether a target is of the kind: `lib`, `bin`, `test`.
pub(crate) fn has_kind(target: &Value, kind: &str) -> bool {
    target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|own| own == kind))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn integration_tests_are_named_by_package() {
        let target = |name: &str, kind: &str| json!({"name": name, "kind": [kind]});
        let packages = [
            json!({"name": "a", "targets": [target("a", "lib"), target("two", "test"), target("one", "test")]}),
            json!({"name": "b", "targets": [target("b", "bin"), target("one", "test")]}),
        ];
        assert_eq!(tests(&packages, |name| name == "a"), ["--test", "one", "--test", "two"]);
        assert_eq!(tests(&packages, |_| true), ["--test", "one", "--test", "two"]);
        assert_eq!(tests(&packages, |name| name == "b"), ["--test", "one"]);
    }
}
