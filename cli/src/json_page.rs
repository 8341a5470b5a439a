//! The guide's page of JSON fields names every command with `--output json`, and every schema that the sources name.
//!
//! What is on the page is held against what commands print by `cli/tests/cluster/json_fields`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::CommandFactory;

use crate::commands::Cli;

fn page() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide/json.md")).expect("the page")
}

/// Commands that take `--output json`, as they are typed.
fn with_json(command: &clap::Command, name: &str, found: &mut BTreeSet<String>) {
    let is_form = |flag: &&clap::Arg| {
        flag.get_long() == Some("output") && flag.get_possible_values().iter().any(|value| value.get_name() == "json")
    };
    if command.get_arguments().any(|flag| is_form(&flag)) {
        found.insert(name.to_owned());
    }
    for below in command.get_subcommands() {
        with_json(below, &format!("{name} {}", below.get_name()), found);
    }
}

#[test]
fn every_command_that_prints_json_is_on_the_page() {
    let mut commands = BTreeSet::new();
    with_json(&Cli::command(), "howdah", &mut commands);
    assert!(commands.len() > 35, "{commands:?}: are they found?");
    let page = page();
    // A command may have several shapes, by its flags.
    let is_there = |command: &&String| ["`", " --"].iter().any(|end| page.contains(&format!("| `{command}{end}")));
    let missing: Vec<&String> = commands.iter().filter(|command| !is_there(command)).collect();
    assert!(missing.is_empty(), "docs/guide/json.md has not {missing:?}");
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for file in std::fs::read_dir(folder).expect("a folder").flatten().map(|file| file.path()) {
        if file.is_dir() {
            sources(&file, found);
        } else if file.extension().is_some_and(|end| end == "rs") {
            found.push(file);
        }
    }
}

#[test]
fn every_schema_of_the_sources_is_on_the_page() {
    let mut files = Vec::new();
    for folder in ["src", "../proto/json/src"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    }
    let page = page();
    let (mut n, mut missing) = (0, Vec::new());
    for file in files.iter().filter(|file| !file.ends_with("json_page.rs")) {
        let text = std::fs::read_to_string(file).expect("a source");
        // What prints a shape of `proto/json`, and what makes one up.
        let named = ["Listing::new(", "const NAME: &'static str ="].into_iter();
        for rest in named.flat_map(|word| text.match_indices(word).map(|(at, word)| &text[at + word.len()..])) {
            let Some(name) = rest.trim_start().strip_prefix('"').and_then(|name| name.split('"').next()) else {
                continue;
            };
            n += 1;
            if !page.contains(&format!("## `howdah/{name}/v1`")) {
                missing.push(format!("{name} ({})", file.display()));
            }
        }
    }
    assert!(n > 35, "{n} schemas: are they found?");
    assert!(missing.is_empty(), "docs/guide/json.md has not {missing:?}");
}
