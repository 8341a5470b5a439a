//! What steps build, and which integration tests there are, and whose.
//!
//! Every step on the debug build selects all code and names the targets that it wants. A selection of packages would
//! have other features of third-party crates, and so another build of them.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process::cargo_output;

/// The whole workspace with the client of stores, which no usual build has.
const ALL_CODE: [&str; 3] = ["--workspace", "--features", "howdah/s3"];

/// Cargo's arguments for all code, and then these.
pub(crate) fn of_all_code<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&ALL_CODE[..], args].concat()
}

/// The workspace's packages as cargo's metadata has them.
pub(crate) fn packages() -> Result<Vec<Value>> {
    let json = cargo_output(&["metadata", "--locked", "--no-deps", "--format-version", "1"])?;
    let mut metadata: Value = serde_json::from_slice(&json).context("read cargo's metadata")?;
    match metadata["packages"].take() {
        Value::Array(packages) => Ok(packages),
        _ => anyhow::bail!("cargo's metadata has no packages"),
    }
}

/// `--test NAME` for the integration tests that `wanted` wants by the names of their package and their own, ascending, each
/// once.
pub(crate) fn tests(packages: &[Value], wanted: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let named = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
    let mut names: Vec<String> = packages
        .iter()
        .flat_map(|package| package["targets"].as_array().into_iter().flatten().map(move |target| (package, target)))
        .filter(|(package, target)| has_kind(target, "test") && wanted(&named(package), &named(target)))
        .map(|(_, target)| named(target))
        .collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().flat_map(|name| ["--test".to_owned(), name]).collect()
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
        assert_eq!(tests(&packages, |package, _| package == "a"), ["--test", "one", "--test", "two"]);
        assert_eq!(tests(&packages, |_, _| true), ["--test", "one", "--test", "two"]);
        assert_eq!(tests(&packages, |_, test| test != "two"), ["--test", "one"]);
    }
}
