//! Which crate may use which, which module of the core may use which, what the core may not use at all, and that no files
//! of a crate need each other in a circle.
//!
//! ARCHITECTURE.md draws the arrows; this is where they are kept. Cargo alone would allow any acyclic graph.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::circles;
use crate::complain::complain;
use crate::process::{cargo_output, files_below, relative, root};
use crate::source::{code_only, line_of, without_tests};

/// Each crate and the crates of the workspace that it may depend on; anything else is an error.
const CRATES: &[(&str, &[&str])] = &[
    ("howdah-core", &[]),
    ("howdah-fuzz", &[]),
    ("howdah-guards", &[]),
    ("howdah-traces", &["howdah-core", "howdah-guards"]),
    ("howdah-webhdfs", &[]),
    ("howdah-s3", &["howdah-webhdfs"]),
    ("howdah-planning", &["howdah-core"]),
    ("howdah-charts", &["howdah-core"]),
    ("howdah-proto", &["howdah-core", "howdah-guards"]),
    ("howdah-json", &["howdah-proto", "howdah-s3", "howdah-webhdfs"]),
    ("howdah-task", &["howdah-core", "howdah-guards", "howdah-s3", "howdah-webhdfs"]),
    ("howdah-apps", &["howdah-core", "howdah-task"]),
    (
        "howdah-master",
        &[
            "howdah-core",
            "howdah-guards",
            "howdah-json",
            "howdah-planning",
            "howdah-proto",
            "howdah-s3",
            "howdah-traces",
            "howdah-webhdfs",
        ],
    ),
    ("howdah-worker", &["howdah-core", "howdah-guards", "howdah-proto", "howdah-task"]),
    ("howdah-experiments", &["howdah-charts", "howdah-core", "howdah-planning", "howdah-traces"]),
    (
        "howdah",
        &[
            "howdah-apps",
            "howdah-charts",
            "howdah-core",
            "howdah-experiments",
            "howdah-guards",
            "howdah-json",
            "howdah-master",
            "howdah-planning",
            "howdah-proto",
            "howdah-s3",
            "howdah-task",
            "howdah-traces",
            "howdah-webhdfs",
            "howdah-worker",
        ],
    ),
    ("xtask", &[]),
];

/// Each module of the core and the modules that it may use.
const MODULES: &[(&str, &[&str])] = &[
    ("time", &[]),
    ("job", &["time"]),
    ("cluster", &["time", "job"]),
    ("models", &["time", "job", "cluster"]),
    ("schedulers", &["time", "job", "cluster", "models"]),
    ("tracker", &["time", "job", "cluster", "models", "schedulers"]),
    ("replay", &["time", "job", "cluster", "models", "schedulers", "tracker"]),
];

/// Crates that the core may not depend on, however far away.
const FORBIDDEN_CRATES: &[&str] = &["tokio", "tonic", "mio", "hyper", "rand", "getrandom"];

/// Words that no code of the core may contain outside tests: clocks, files, sockets, threads, chance, hash order.
const FORBIDDEN_WORDS: &[&str] = &[
    "tokio",
    "tonic",
    "std::net",
    "std::fs",
    "std::thread",
    "std::env",
    "Instant::now",
    "SystemTime",
    "HashMap",
    "HashSet",
    "thread_rng",
];

pub(crate) fn check() -> Result<String> {
    let json = cargo_output(&["metadata", "--locked", "--format-version", "1"])?;
    let metadata: Value = serde_json::from_slice(&json).context("read cargo's metadata")?;
    let mut complaints = crate_arrows(&metadata)?;
    complaints.extend(far_dependencies(&metadata, "howdah-core")?);
    let mut n_files = 0;
    for folder in ["shared/core/src", "shared/traces/src"].map(|folder| root().join(folder)) {
        let is_core = folder.ends_with("core/src");
        for path in files_below(&folder)?.into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs")) {
            n_files += usize::from(is_core);
            complaints.extend(complaints_about(&folder, &path, is_core)?);
        }
    }
    complaints.extend(circles::complaints()?);
    complain(complaints, format!("{} crates without circles of files, {n_files} files of the core", CRATES.len()))
}

/// One file of a deterministic crate: its words, and in the core what its module uses.
fn complaints_about(folder: &Path, path: &Path, is_core: bool) -> Result<Vec<String>> {
    let inside = path.strip_prefix(folder).expect("listed below it").to_string_lossy().into_owned();
    if inside.split('/').any(|part| part == "tests" || part == "tests.rs") {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("read `{}`", relative(path)))?;
    let code = without_tests(&code_only(&text));
    let mut complaints = forbidden_words(&relative(path), &code);
    if is_core {
        let module = inside.split('/').next().expect("a name has a first part").trim_end_matches(".rs");
        complaints.extend(module_arrows(&relative(path), module, &code));
    }
    Ok(complaints)
}

fn crate_arrows(metadata: &Value) -> Result<Vec<String>> {
    let packages = metadata["packages"].as_array().context("find packages in cargo's metadata")?;
    let ours: Vec<&Value> = packages.iter().filter(|package| package["source"].is_null()).collect();
    let mut complaints = Vec::new();
    for package in &ours {
        let name = package["name"].as_str().context("find a package's name")?;
        let Some((_, allowed)) = CRATES.iter().find(|(known, _)| *known == name) else {
            complaints.push(format!("{name}: a crate that xtask's list of arrows does not know"));
            continue;
        };
        // Tests may use what they like: a dev-dependency is in nobody's executable.
        let used = package["dependencies"].as_array().into_iter().flatten().filter(|d| d["kind"] != "dev");
        for dependency in used.filter_map(|d| d["name"].as_str()) {
            let is_ours = ours.iter().any(|other| other["name"] == dependency);
            if is_ours && !allowed.contains(&dependency) {
                complaints.push(format!("{name} may not depend on {dependency}"));
            }
        }
    }
    Ok(complaints)
}

/// What `from` reaches through normal dependencies must hold none of the forbidden crates.
fn far_dependencies(metadata: &Value, from: &str) -> Result<Vec<String>> {
    let names: BTreeMap<&str, &str> = metadata["packages"]
        .as_array()
        .context("find packages in cargo's metadata")?
        .iter()
        .filter_map(|package| Some((package["id"].as_str()?, package["name"].as_str()?)))
        .collect();
    let nodes = metadata["resolve"]["nodes"].as_array().context("find the graph in cargo's metadata")?;
    let node_of: BTreeMap<&str, &Value> = nodes.iter().filter_map(|node| Some((node["id"].as_str()?, node))).collect();
    let start = names.iter().find(|(_, name)| **name == from).map(|(id, _)| *id).context("find the core's crate")?;
    let (mut open, mut seen) = (vec![start], Vec::new());
    while let Some(id) = open.pop() {
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        for dependency in node_of[id]["deps"].as_array().into_iter().flatten() {
            let normal = dependency["dep_kinds"].as_array().into_iter().flatten().any(|kind| kind["kind"].is_null());
            if let (true, Some(id)) = (normal, dependency["pkg"].as_str()) {
                open.push(id);
            }
        }
    }
    let reached = seen.iter().filter_map(|id| names.get(id)).filter(|name| FORBIDDEN_CRATES.contains(*name));
    Ok(reached.map(|name| format!("{from} reaches {name}, which reads clocks, sockets or chance")).collect())
}

fn module_arrows(file: &str, module: &str, code: &str) -> Vec<String> {
    // The root file only declares modules.
    let Some((_, allowed)) = MODULES.iter().find(|(known, _)| *known == module) else {
        let root = module == "lib";
        return if root { vec![] } else { vec![format!("{file}: a module that xtask's list of arrows does not know")] };
    };
    let mut complaints = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        for used in first_names(&code[at + "crate::".len()..]) {
            let known = MODULES.iter().any(|(name, _)| *name == used);
            if known && used != module && !allowed.contains(&used) {
                complaints.push(format!("{file}:{}: `{module}` may not use `{used}`", line_of(code, at)));
            }
        }
    }
    complaints
}

/// The first parts of the paths after `crate::`: one name, or each first name of a braced list.
fn first_names(rest: &str) -> Vec<&str> {
    let name = |text: &'_ str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let Some(list) = rest.strip_prefix('{') else {
        return vec![&rest[..name(rest)]];
    };
    let (mut names, mut depth, mut start) = (Vec::new(), 1_u32, 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' | ',' if depth == 1 => {
                let item = list[start..at].trim_start();
                names.push(&item[..name(item)]);
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn forbidden_words(file: &str, code: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for word in FORBIDDEN_WORDS {
        for (at, _) in code.match_indices(word) {
            let before = code[..at].chars().next_back();
            let after = code[at + word.len()..].chars().next();
            let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            if !inside(before) && !inside(after) {
                complaints.push(format!("{file}:{}: `{word}` in the deterministic core", line_of(code, at)));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arrows_against_the_drawing_are_named_with_their_line() {
        let code = "use crate::job::JobId;\nuse crate::{time::Time, tracker::{Effect, Input}};\n";
        assert_eq!(module_arrows("f.rs", "tracker", code), Vec::<String>::new());
        assert_eq!(module_arrows("f.rs", "cluster", code), ["f.rs:2: `cluster` may not use `tracker`"]);
        assert!(module_arrows("f.rs", "novelty", code)[0].contains("does not know"));
    }

    #[test]
    fn a_hash_map_in_the_core_is_named_and_a_longer_word_is_not() {
        assert_eq!(forbidden_words("f.rs", "\nHashMap::new()"), ["f.rs:2: `HashMap` in the deterministic core"]);
        assert_eq!(forbidden_words("f.rs", "MyHashMap IndexHashMapLike"), Vec::<String>::new());
    }

    #[test]
    fn a_crate_that_points_the_wrong_way_is_named() {
        let package = |name: &str, uses: &[&str], kind: Value| {
            let dependencies: Vec<Value> = uses.iter().map(|name| json!({"name": name, "kind": kind})).collect();
            json!({"name": name, "source": null, "dependencies": dependencies})
        };
        let master = |kind| json!({"packages": [package("howdah-master", &["howdah-worker"], kind), package("howdah-worker", &[], Value::Null)]});
        let wrong = crate_arrows(&master(Value::Null)).expect("well formed");
        assert_eq!(wrong, ["howdah-master may not depend on howdah-worker"]);
        assert!(crate_arrows(&master(json!("dev"))).expect("well formed").is_empty());
    }
}
