//! The licence of every package that any target or feature of the workspace could pull in.
//!
//! Permissive licences only: `howdah` is one statically linked executable, so whatever is in it is handed on
//! with it. A new licence is added here, with its reason, by a person.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::complain::complain;
use crate::process::cargo_output;
use crate::spdx::satisfied;

/// Accepted licences and what each asks of us.
const ACCEPTED: &[(&str, &str)] = &[
    ("Apache-2.0", "our own; keep notices"),
    ("Apache-2.0 WITH LLVM-exception", "as Apache-2.0, with fewer duties for binaries"),
    ("MIT", "keep the notice"),
    ("MIT-0", "nothing"),
    ("0BSD", "nothing"),
    ("BSD-2-Clause", "keep the notice"),
    ("BSD-3-Clause", "keep the notice, no use of names"),
    ("BSL-1.0", "keep the notice in sources"),
    ("CC0-1.0", "nothing"),
    ("ISC", "keep the notice"),
    ("Unicode-3.0", "keep the notice with Unicode's tables"),
    ("Unlicense", "nothing"),
    ("Zlib", "keep the notice in sources"),
    ("bzip2-1.0.6", "keep the notice in sources"),
];

/// Checks all packages of the lock file.
pub(crate) fn check() -> Result<String> {
    let json = cargo_output(&["metadata", "--locked", "--format-version", "1"])?;
    let metadata: Value = serde_json::from_slice(&json).context("read cargo's metadata")?;
    let packages = metadata["packages"].as_array().context("find packages in cargo's metadata")?;
    let complaints: Vec<String> = packages.iter().filter_map(complaint).collect();
    complain(complaints, format!("{} packages, all permissive", packages.len()))
}

fn complaint(package: &Value) -> Option<String> {
    let who = format!("{} {}", package["name"].as_str()?, package["version"].as_str()?);
    let Some(licence) = package["license"].as_str() else {
        return Some(format!("{who}: names no licence"));
    };
    let accepts = |id: &str| ACCEPTED.iter().any(|(accepted, _)| *accepted == id);
    match satisfied(licence, &accepts) {
        Ok(true) => None,
        Ok(false) => Some(format!("{who}: licence `{licence}` is not in the list of accepted ones")),
        Err(error) => Some(format!("{who}: {error:#}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn copyleft_and_missing_licences_are_named() {
        let package = |licence: Value| json!({"name": "thing", "version": "1.0.0", "license": licence});
        assert_eq!(complaint(&package(json!("MIT OR GPL-3.0-only"))), None);
        assert!(complaint(&package(json!("AGPL-3.0"))).is_some_and(|text| text.starts_with("thing 1.0.0: licence")));
        assert_eq!(complaint(&package(Value::Null)), Some("thing 1.0.0: names no licence".to_owned()));
    }
}
