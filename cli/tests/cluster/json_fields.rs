//! The guide's reference of JSON fields, held against what commands print on a real cluster.
//!
//! A field that is printed and not listed fails the test, and so does one that is listed and never printed. The page is
//! written anew with `HOWDAH_WRITE_JSON_FIELDS=1`; what each field means is said where its type is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{Cluster, Setup};

/// Objects whose keys are names from outside, not fields.
const NAMED: [&str; 8] = [
    "attributes",
    "counters",
    "probe_warnings",
    "properties",
    "scheduler_params",
    "sections",
    "attributes_from",
    "params",
];

/// By schema: fields by their paths, each with the kinds of values that it had.
type Fields = BTreeMap<String, BTreeMap<String, BTreeSet<&'static str>>>;

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide/json.md")
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

fn add(value: &Value, path: &str, fields: &mut BTreeMap<String, BTreeSet<&'static str>>) {
    if !path.is_empty() {
        fields.entry(path.to_owned()).or_default().insert(kind(value));
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| match item {
            Value::Object(_) | Value::Array(_) => add_parts(item, &format!("{path}[]"), fields),
            _ => {}
        }),
        Value::Object(_) => add_parts(value, path, fields),
        _ => {}
    }
}

fn add_parts(value: &Value, path: &str, fields: &mut BTreeMap<String, BTreeSet<&'static str>>) {
    let last = path.rsplit('.').next().unwrap_or_default();
    let Some(object) = value.as_object().filter(|_| !NAMED.contains(&last)) else { return };
    for (key, part) in object {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        add(part, &path, fields);
    }
}

/// What the page lists, by schema; the second is whether a field may be missing from what the test sees.
fn listed(page: &str) -> BTreeMap<String, BTreeMap<String, bool>> {
    let mut listed: BTreeMap<String, BTreeMap<String, bool>> = BTreeMap::new();
    let mut schema = String::new();
    for line in page.lines() {
        if let Some(name) = line.strip_prefix("## `") {
            schema = name.trim_end_matches('`').to_owned();
        } else if let Some(row) = line.strip_prefix("| `") {
            let (path, kinds) = row.split_once("` | ").expect("a row of two cells");
            listed.entry(schema.clone()).or_default().insert(path.to_owned(), kinds.contains("not always"));
        }
    }
    listed
}

fn written(before: &str, fields: &Fields) -> String {
    let (head, _) = before.split_once("\n## ").unwrap_or((before, ""));
    let mut text = head.trim_end().to_owned() + "\n";
    for (schema, fields) in fields {
        text += &format!("\n## `{schema}`\n\n| field | value |\n|---|---|\n");
        for (path, kinds) in fields {
            let kinds: Vec<&str> = kinds.iter().copied().filter(|kind| *kind != "null" || kinds.len() == 1).collect();
            let optional = if fields[path].len() > 1 && fields[path].contains("null") { " or null" } else { "" };
            let passing = ["predicted.", "past[].", "vitals."].iter().any(|part| path.contains(part));
            let always = if passing { ", not always" } else { "" };
            text += &format!("| `{path}` | {}{optional}{always} |\n", kinds.join(", "));
        }
    }
    text
}

#[test]
fn the_guides_reference_of_json_fields_is_what_commands_print() {
    let cluster = Cluster::start(Setup { own_hosts: true, ..Setup::default() });
    let mut fields = Fields::new();
    let mut see = |answer: &Value| {
        let schema = answer["schema"].as_str().expect("every answer names its schema").to_owned();
        add(answer, "", fields.entry(schema).or_default());
    };
    let (input, out) = (cluster.text("in.txt", "to be or not to be\n"), cluster.output("out"));
    see(&cluster.json(&["submit", "wordcount", "--input", &input, "--output", &out, "-D", "my.own=1", "--wait"]));
    let fails = cluster.script("fails.sh", "echo no >&2; exit 3");
    let out = cluster.output("failed");
    let failed = ["submit", "streaming", "--mapper", &fails, "--input", &input, "--output", &out];
    cluster.run(&[&failed[..], &["-D", "mapred.map.max.attempts=1", "--wait"]].concat()).expect_code(1);
    let running = cluster.sleep(3, 600_000, 1);
    cluster.wait_running_maps(&running, 3);
    for command in [
        &["job", "list"][..],
        &["job", "status", "1"],
        &["job", "status", "2"],
        &["job", "status", "3"],
        &["job", "attempts", "1"],
        &["job", "attempts", "2"],
        &["job", "attempts", "3"],
        &["job", "counters", "1"],
        &["job", "history", "1"],
        &["job", "why", "2"],
        &["job", "explain", "3"],
        &["worker", "list"],
        &["worker", "vitals", "worker-1"],
        &["queue", "list"],
        &["scheduler", "list"],
        &["scheduler", "show"],
        &["cluster"],
    ] {
        see(&cluster.json(command));
    }
    let refused = cluster.run(&["job", "status", "99", "--output", "json"]);
    see(&serde_json::from_str(&refused.stderr).unwrap_or_else(|error| panic!("{error}: {}", refused.all())));
    cluster.run(&["job", "kill", &running]).expect_code(0);
    cluster.wait_job(&running, 1);
    let trace = cluster.output("run.jsonl");
    let master = cluster.output("master");
    cluster.run(&["trace", "record", "--dir", &master, "-o", &trace]).expect_code(0);
    for command in [
        &["replay", &trace][..],
        &["compare", &trace, "--scheduler", "fifo", "--scheduler", "fair"],
        &["trace", "info", &trace],
        &["trace", "fit", &trace],
        &["optimize", &trace, "--map-slots", "2", "--reduce-slots", "2"],
    ] {
        see(&cluster.json(command));
    }
    see(&cluster.stop_and_validate());

    let page_before = std::fs::read_to_string(page()).expect("read docs/guide/json.md");
    if std::env::var_os("HOWDAH_WRITE_JSON_FIELDS").is_some() {
        std::fs::write(page(), written(&page_before, &fields)).expect("write docs/guide/json.md");
        return;
    }
    let listed = listed(&page_before);
    let mut wrong = Vec::new();
    for (schema, fields) in &fields {
        let listed = listed.get(schema).cloned().unwrap_or_default();
        let unlisted = fields.keys().filter(|path| !listed.contains_key(*path));
        wrong.extend(unlisted.map(|path| format!("{schema}: `{path}` is printed and not listed")));
        let unseen = listed.iter().filter(|(path, optional)| !**optional && !fields.contains_key(*path));
        wrong.extend(unseen.map(|(path, _)| format!("{schema}: `{path}` is listed and not printed")));
    }
    let unknown = listed.keys().filter(|schema| !fields.contains_key(*schema));
    wrong.extend(unknown.map(|schema| format!("{schema}: is listed and was not printed")));
    assert!(wrong.is_empty(), "docs/guide/json.md:\n{}", wrong.join("\n"));
}
