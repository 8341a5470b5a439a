//! The documents say what the command says: every setting, every application, the example program.

use std::path::Path;
use std::time::Duration;

use crate::harness::{Finished, Mark, howdah};

const BOUND: Duration = Duration::from_secs(60);

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("read `{}`: {error}", path.display()))
}

#[test]
fn the_guide_names_every_setting() {
    let guide = read("docs/guide/configuration.md");
    let mut command = howdah(&Mark::new());
    let shown = Finished::of(command.args(["config", "show", "--output", "json"]), BOUND).expect_code(0).json();
    let sections = shown["sections"].as_object().expect("sections");
    let keys = sections.values().flat_map(|section| section.as_object().expect("settings").keys());
    let mut missing = Vec::new();
    let mut n_keys = 0;
    for key in keys {
        n_keys += 1;
        // The tables inside a section are headings of the guide.
        let short = ["cluster.", "limits.", "memory."].iter().find_map(|table| key.strip_prefix(table)).unwrap_or(key);
        if !guide.contains(&format!("| `{short}` |")) {
            missing.push(key);
        }
    }
    assert!(n_keys > 30 && missing.is_empty(), "docs/guide/configuration.md does not have {missing:?}");
}

#[test]
fn the_guide_names_every_application() {
    let guide = read("docs/guide/jobs.md");
    let mut command = howdah(&Mark::new());
    let refused = Finished::of(command.args(["submit", "no-such-application"]), BOUND).expect_code(2).stderr;
    let (_, names) = refused.split_once("there are ").expect("a list of applications");
    let names: Vec<&str> = names.lines().next().expect("a line").split(", ").collect();
    assert!(names.len() > 5, "{names:?}");
    // A program is submitted by its path.
    for name in names.into_iter().filter(|name| *name != "program") {
        assert!(guide.contains(&format!("| `{name}` |")), "`{name}` is not in docs/guide/jobs.md");
    }
}

#[test]
fn the_readme_shows_the_example_program_as_it_is() {
    let code = |text: &str| -> Vec<String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
        lines.map(str::to_owned).collect()
    };
    let readme = read("README.md");
    let (_, rest) = readme.split_once("```rust\n").expect("an example");
    let (shown, _) = rest.split_once("```").expect("its end");
    let example = read("worker/task/examples/wordcount.rs");
    assert_eq!(code(shown), code(&example));
    assert!(example.lines().count() <= 30, "the example is to be short");
}
