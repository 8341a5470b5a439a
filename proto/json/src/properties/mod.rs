//! Properties that are most likely misspelt: `-D io.sort.mbb=200` changes nothing, and nobody would say so.
//!
//! A job may have properties of its own, which its code reads. So a name that nobody knows is no error; one that is a
//! slip or two away from a known one is worth a word.

mod known;

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use known::KNOWN;

/// So many slips make another name.
const SLIPS: usize = 2;

/// A warning for each property that is nearly one of the known ones.
pub fn doubts(define: &[(String, String)]) -> Vec<String> {
    define
        .iter()
        .filter_map(|(key, _)| Some((key, meant(key)?)))
        .map(|(key, near)| format!("warning: property `{key}` is none that howdah reads; did you mean `{near}`?"))
        .collect()
}

/// A property that nothing of howdah's reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unread {
    /// Its name.
    pub property: String,
    /// The known one that was probably meant.
    pub meant: Option<&'static str>,
}

/// Parameters of a scheduler that name the property which holds a job's pool.
const POOL_PARAMETERS: [&str; 2] = ["poolnameproperty", "mapred.fairscheduler.poolnameproperty"];

/// The property that a scheduler with these parameters names pools by, if it was told one.
pub fn pool_property(scheduler_params: &HashMap<String, String>) -> Option<&str> {
    POOL_PARAMETERS.iter().find_map(|key| scheduler_params.get(*key)).map(String::as_str)
}

/// Those of a job's properties that neither the cluster, the task library nor its applications read, by name. The job's
/// own commands may; `idle` are read of other jobs, and `pool_property` is what the scheduler reads besides.
pub fn unread<'a>(
    names: impl IntoIterator<Item = &'a String>,
    idle: &[String],
    pool_property: Option<&str>,
) -> Vec<Unread> {
    let by_master = [howdah_webhdfs::PROPERTIES, howdah_s3::PROPERTIES];
    let of_master = |name: &str| by_master.iter().any(|start| name.starts_with(start));
    let is_idle = |name: &str| idle.iter().any(|idle| idle == name);
    let read = |name: &str| (KNOWN.contains(&name) && !is_idle(name)) || of_master(name);
    let unread = names.into_iter().filter(|name| !read(name) && pool_property != Some(name.as_str()));
    unread.map(|name| Unread { property: name.clone(), meant: meant(name) }).collect()
}

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.meant {
            Some(meant) => write!(f, "{} (did you mean {meant}?)", self.property),
            None => f.write_str(&self.property),
        }
    }
}

fn meant(key: &str) -> Option<&'static str> {
    if KNOWN.contains(&key) {
        return None;
    }
    let (slips, near) = KNOWN.iter().map(|near| (strsim::osa_distance(&key.to_lowercase(), near), *near)).min()?;
    (slips <= SLIPS).then_some(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_doubted_and_a_property_of_the_jobs_own_is_not() {
        let doubts = |key: &str| doubts(&[(key.to_owned(), "1".to_owned())]);
        assert_eq!(
            doubts("io.sort.mbb"),
            ["warning: property `io.sort.mbb` is none that howdah reads; did you mean `io.sort.mb`?"]
        );
        assert_eq!(doubts("mapred.reduce.task").len(), 1);
        assert_eq!(doubts("Mapreduce.Task.Timeout").len(), 1);
        for fine in
            ["io.sort.mb", "mapred.reduce.tasks", "my.own.threshold", "mapred.child.java.opts", "wordcount.case"]
        {
            assert_eq!(doubts(fine), Vec::<String>::new(), "{fine}");
        }
    }

    #[test]
    fn what_nothing_reads_is_listed_and_what_the_scheduler_reads_is_not() {
        let names = ["io.sort.mb", "io.sort.mbb", "my.own", "team", "howdah.hdfs.user"].map(str::to_owned);
        let texts =
            |idle: &[String], pool| unread(&names, idle, pool).iter().map(Unread::to_string).collect::<Vec<_>>();
        assert_eq!(texts(&[], Some("team")), ["io.sort.mbb (did you mean io.sort.mb?)", "my.own"]);
        assert_eq!(texts(&[], None)[2], "team");
        assert_eq!(texts(&names[..1], None)[0], "io.sort.mb", "it means nothing to this job");
    }

    /// What is read somewhere must not be listed as unread: names are looked for in the sources that read properties.
    #[test]
    fn every_property_that_the_sources_name_is_known() {
        let sources = [
            include_str!("../../../../shared/core/src/job/known.rs"),
            include_str!("../../../../shared/core/src/job/spec.rs"),
            include_str!("../../../../worker/apps/src/streaming/task.rs"),
            include_str!("../../../../worker/apps/src/streaming/fields.rs"),
            include_str!("../../../../worker/apps/src/random_text.rs"),
            include_str!("../../../../worker/apps/src/sleep.rs"),
            include_str!("../../../../worker/apps/src/sudoku/job.rs"),
            include_str!("../../../../worker/task/src/shuffle/fetcher.rs"),
        ];
        let starts =
            ["mapred.", "mapreduce.", "howdah.", "io.sort.", "stream.", "sleep.job.", "sudoku.", "randomtextwriter."];
        let code = sources.iter().filter_map(|source| source.split("#[cfg(test)]").next());
        let named: Vec<&str> = code
            .flat_map(|code| code.split('"').skip(1).step_by(2))
            .filter(|word| starts.iter().any(|start| word.starts_with(start)) && !word.ends_with('.'))
            .filter(|word| word.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c)))
            .collect();
        assert!(named.len() > 30, "{named:?}");
        for name in named {
            assert!(KNOWN.contains(&name), "{name}");
        }
    }

    /// What the pages promise must not be doubted.
    #[test]
    fn every_property_of_the_guides_page_is_known() {
        let page = include_str!("../../../../docs/guide/properties.md");
        let cells =
            page.lines().filter(|line| line.starts_with("| `")).flat_map(|line| line.split('`').skip(1).step_by(2));
        let is_name =
            |word: &&str| ["mapred.", "mapreduce.", "io.sort.", "stream."].iter().any(|start| word.starts_with(start));
        let named: Vec<&str> = cells
            .filter(is_name)
            .filter(|word| word.chars().all(|c| c.is_ascii_lowercase() || ".-".contains(c)))
            .collect();
        assert!(named.len() > 10, "{named:?}");
        for name in named {
            assert_eq!(meant(name), None, "{name}");
        }
    }
}
