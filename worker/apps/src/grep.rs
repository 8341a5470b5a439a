//! Hadoop's grep: how often does each text that matches occur? Two jobs, as in Hadoop's example.
//!
//! The first finds the matches and sums them up; the second, with one reduce, sorts them by frequency, largest
//! first. Output lines are `count TAB text`; equal counts are in order of the text's bytes (Hadoop leaves their
//! order open). `Deviation:` expressions are those of Rust's `regex`, over bytes: no back references, and no empty
//! match right behind another match.

use howdah_task::{Application, Fold, MapOutput, Properties, ReduceOutput, Result, Values, text};
use regex::bytes::Regex;

use crate::built_in::BuiltIn;
use crate::request::{JobPlan, PlanError, Planner};

/// Hadoop's names.
const PATTERN: &str = "mapred.mapper.regex";
const GROUP: &str = "mapred.mapper.regex.group";

pub(crate) const APP: BuiltIn = BuiltIn {
    name: "grep",
    about: "count the texts that match a regular expression, most frequent first",
    usage: "REGEX [GROUP]",
    plan,
    stages: &[("grep", search), ("grep-sort", sort)],
};

fn plan(planner: &mut Planner<'_>) -> Result<Vec<JobPlan>, PlanError> {
    let pattern = planner.positional().or_else(|| planner.properties.get(PATTERN).cloned());
    let pattern = pattern.ok_or_else(|| planner.missing("a regular expression"))?;
    let group = planner.positional().or_else(|| planner.properties.get(GROUP).cloned()).unwrap_or("0".to_owned());
    parse(&pattern, &group).map_err(|error| planner.refuse("regular expression", error))?;
    planner.properties.insert(PATTERN.to_owned(), pattern);
    planner.properties.insert(GROUP.to_owned(), group);

    let mut search = planner.files_job("grep", 1)?;
    // Beside the result, hence on the same file system, and named so that nobody takes it for the result.
    let output = planner.output()?;
    let between = format!("{}-matches-{}", output.trim_end_matches('/'), std::process::id());
    search.name = "grep-search".to_owned();
    search.output = Some(between.clone());
    let sort = JobPlan {
        name: "grep-sort".to_owned(),
        app: howdah_core::job::App::BuiltIn { name: "grep-sort".to_owned() },
        inputs: vec![between.clone()],
        output: Some(output),
        n_reduces: 1,
        removes: vec![between],
        ..search.clone()
    };
    Ok(vec![search, sort])
}

/// The expression and the group of it that counts.
fn parse(pattern: &str, group: &str) -> Result<(Regex, usize)> {
    let regex = Regex::new(pattern)?;
    let index = group.trim().parse().map_err(|_| format!("group `{group}` is not a number"))?;
    if index >= regex.captures_len() {
        return Err(format!("group {index} of `{pattern}`, which has {} groups", regex.captures_len() - 1).into());
    }
    Ok((regex, index))
}

fn search(properties: &Properties) -> Result<Application> {
    let pattern = properties.get(PATTERN).ok_or_else(|| format!("property `{PATTERN}` is not set"))?;
    let (regex, group) = parse(pattern, properties.get(GROUP).unwrap_or("0"))?;
    let map = move |line: &[u8], out: &mut MapOutput| -> Result {
        if group == 0 {
            // The whole match needs no groups, which cost the expression its fast paths.
            return regex.find_iter(line).try_for_each(|found| out.emit_long(found.as_bytes(), 1));
        }
        let groups = regex.captures_iter(line).filter_map(|captures| captures.get(group));
        groups.into_iter().try_for_each(|found| out.emit_long(found.as_bytes(), 1))
    };
    Ok(Application::lines(map).fold(Fold::Sum))
}

fn sort(_: &Properties) -> Result<Application> {
    Ok(Application::lines(by_count).reduce(unwrap))
}

/// `text TAB count` becomes a key whose byte order is the descending order of counts.
fn by_count(line: &[u8], out: &mut MapOutput) -> Result {
    // A match may hold tabs, its count cannot: the last one separates.
    let tab = memchr::memrchr(b'\t', line).ok_or_else(|| format!("no tab in `{}`", text::printable(line)))?;
    let count = text::parse_long(&line[tab + 1..])?;
    out.emit(&text::sortable(!count), &line[..tab])
}

fn unwrap(key: &[u8], matches: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
    let count = !text::from_sortable(key).ok_or("a key of grep-sort has eight bytes")?;
    let count = text::Decimal::new(count);
    while let Some(found) = matches.next()? {
        out.emit(count.as_bytes(), found)?;
    }
    Ok(())
}
