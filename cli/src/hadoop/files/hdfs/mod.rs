//! `hadoop fs` in an HDFS that is not the installation's directory: `-ls -cat -test -mkdir -rm -put -get`, by WebHDFS.
//!
//! Words, options and exit codes are those of the same verbs in the directory. There is no trash here either.

mod change;
mod place;
mod show;

use super::shell::{Done, Shell};

type Verb = fn(&mut Shell<'_>) -> Done;

const VERBS: &[(&str, Verb)] = &[
    ("ls", show::list),
    ("lsr", show::list),
    ("cat", show::cat),
    ("test", show::test),
    ("mkdir", change::make_directories),
    ("rm", change::remove),
    ("rmr", change::remove),
    ("put", change::put),
    ("copyFromLocal", change::put),
    ("get", change::get),
    ("copyToLocal", change::get),
];

/// What does this verb there, if anything does.
pub(super) fn verb(name: &str) -> Option<Verb> {
    VERBS.iter().find(|(verb, _)| *verb == name).map(|(_, does)| *does)
}

/// The verbs, for advice.
pub(super) fn known() -> String {
    format!("in an HDFS there are -{}", VERBS.iter().map(|(verb, _)| *verb).collect::<Vec<_>>().join(", -"))
}
