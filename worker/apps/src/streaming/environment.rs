//! What a command finds in its environment: the worker's, every property of the job, and the attempt's own facts.
//!
//! In a name every character outside `0-9A-Za-z` becomes `_`. Facts come under Hadoop's old and new names. What the kernel
//! would refuse to hand over, and with it the command's start, is left out: a value that is too long, and then the longest
//! of all.

use std::collections::BTreeMap;

use howdah_core::job::{Split, TaskKind, limits};
use howdah_task::Context;

/// `NAME=VALUE` words separated by spaces, hence values without spaces: Hadoop's rule.
pub(super) const ADDED: &str = "stream.addenvironment";
/// The directory that stands for `hdfs:///`, where the job came from an installation.
const FS_ROOT: &str = "howdah.fs.root";
/// Bytes of a value that are passed on; all when negative.
const LIMIT: &str = "stream.jobconf.truncate.limit";

/// The variables to add to those of this process.
pub(super) fn variables(context: &Context) -> BTreeMap<String, String> {
    let properties = context.properties();
    let limit = properties.parse_or(&[LIMIT], -1_i64, "a number of bytes").unwrap_or(-1);
    let mut variables = BTreeMap::new();
    for (name, value) in properties.iter().filter(|(name, _)| *name != ADDED) {
        // A null byte cannot be in an environment; it would fail the start of the command.
        variables.insert(variable_name(name), truncate(value, limit).replace('\0', ""));
    }
    for (name, value) in facts(context) {
        variables.insert(variable_name(name), value);
    }
    for word in properties.get(ADDED).unwrap_or_default().split(' ') {
        if let Some((name, value)) = word.split_once('=').filter(|(name, _)| !name.is_empty()) {
            variables.insert(name.to_owned(), value.to_owned());
        }
    }
    for name in leave_out(&mut variables) {
        context.log(&format!("`{name}` is too long for the command's environment and left out"));
    }
    variables
}

/// Takes out what is beyond the bounds, and names it.
fn leave_out(variables: &mut BTreeMap<String, String>) -> Vec<String> {
    let bytes = |(name, value): (&String, &String)| name.len() + value.len() + 2;
    let mut by_size: Vec<(usize, String)> = variables.iter().map(|pair| (bytes(pair), pair.0.clone())).collect();
    by_size.sort_unstable();
    let mut total: usize = by_size.iter().map(|(bytes, _)| bytes).sum();
    let mut out = Vec::new();
    while let Some((bytes, name)) = by_size.pop() {
        if bytes <= limits::VARIABLE_BYTES && total <= limits::ENVIRONMENT_BYTES {
            break;
        }
        total -= bytes;
        variables.remove(&name);
        out.push(name);
    }
    out
}

fn variable_name(property: &str) -> String {
    property.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

fn truncate(value: &str, limit: i64) -> &str {
    let Ok(limit) = usize::try_from(limit) else { return value };
    let end = (0..=limit.min(value.len())).rev().find(|&end| value.is_char_boundary(end));
    &value[..end.unwrap_or(0)]
}

fn facts(context: &Context) -> Vec<(&'static str, String)> {
    let is_map = (context.kind() == TaskKind::Map).to_string();
    let (attempt, index) = (context.attempt().to_owned(), context.task_index().to_string());
    let task = task_of(&attempt);
    let local_dir = context.local_dir().display().to_string();
    let root = context.properties().get(FS_ROOT);
    let mut facts = vec![
        ("mapreduce.job.id", context.job().to_owned()),
        ("mapred.job.id", context.job().to_owned()),
        ("mapreduce.task.attempt.id", attempt.clone()),
        ("mapred.task.id", attempt),
        ("mapreduce.task.id", task.clone()),
        ("mapred.tip.id", task),
        ("mapreduce.task.partition", index.clone()),
        ("mapred.task.partition", index),
        ("mapreduce.task.ismap", is_map.clone()),
        ("mapred.task.is.map", is_map),
        ("mapreduce.job.maps", context.n_maps().to_string()),
        ("mapred.map.tasks", context.n_maps().to_string()),
        ("mapreduce.job.reduces", context.n_reduces().to_string()),
        ("mapred.reduce.tasks", context.n_reduces().to_string()),
        ("mapreduce.job.local.dir", local_dir.clone()),
        ("job.local.dir", local_dir),
    ];
    if let Some(Split::File { path, offset, length, .. }) = context.split() {
        facts.extend([
            ("mapreduce.map.input.file", uri(path, root)),
            ("map.input.file", uri(path, root)),
            ("mapreduce.map.input.start", offset.to_string()),
            ("map.input.start", offset.to_string()),
            ("mapreduce.map.input.length", length.to_string()),
            ("map.input.length", length.to_string()),
        ]);
    }
    if let Some(directory) = context.output_dir() {
        let directory = directory.display().to_string();
        facts.extend([("mapreduce.task.output.dir", directory.clone()), ("mapred.work.output.dir", directory)]);
    }
    facts
}

/// Files below the directory that stands for HDFS are named as HDFS's, so that `hadoop fs` in a task finds them.
fn uri(path: &str, root: Option<&str>) -> String {
    let inside = root.and_then(|root| path.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/'));
    inside.map_or_else(|| path.to_owned(), |inside| format!("hdfs:///{inside}"))
}

/// `task_…_m_000005` of `attempt_…_m_000005_0`.
fn task_of(attempt: &str) -> String {
    let body = attempt.strip_prefix("attempt").unwrap_or(attempt);
    format!("task{}", body.rsplit_once('_').map_or(body, |(task, _)| task))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_no_kernel_hands_over_are_left_out_the_longest_first() {
        let long = |n: usize| "x".repeat(n);
        let mut variables = BTreeMap::from([("a".to_owned(), "b".to_owned()), ("huge".to_owned(), long(130 << 10))]);
        (0..20).for_each(|i| drop(variables.insert(format!("large{i:02}"), long((100 << 10) + i))));
        let out = leave_out(&mut variables);
        assert_eq!((out[0].as_str(), out[1].as_str(), out.len()), ("huge", "large19", 11));
        let left: usize = variables.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
        assert!(variables.contains_key("a") && left <= limits::ENVIRONMENT_BYTES, "{left}");
        assert!(leave_out(&mut variables).is_empty());
    }

    #[test]
    fn names_and_values_become_what_an_environment_takes() {
        assert_eq!(variable_name("mapred.output.key-class"), "mapred_output_key_class");
        assert_eq!(truncate("späte", 3), "sp");
        assert_eq!(truncate("späte", 4), "spä");
        assert_eq!((truncate("x", -1), truncate("x", 9), truncate("x", 0)), ("x", "x", ""));
        assert_eq!(uri("/r/fs/a/b", Some("/r/fs")), "hdfs:///a/b");
        assert_eq!((uri("/r/fsx/a", Some("/r/fs")), uri("/a", None)), ("/r/fsx/a".to_owned(), "/a".to_owned()));
        assert_eq!(task_of("attempt_202611201200_0001_m_000005_0"), "task_202611201200_0001_m_000005");
    }
}
