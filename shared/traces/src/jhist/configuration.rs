//! A job's `_conf.xml`, which lies beside its history: what it says that the history does not.
//!
//! A history tells what happened; how much of the maps a reduce waited for, the pool and the deadline are only in the
//! configuration. Where both tell something, the history is right: a queue or a priority may have been changed since.
//! The XML is untrusted: no document type, no entities and no includes are followed, and who opens the file bounds it.

use std::collections::BTreeMap;

use howdah_core::job::Priority;
use howdah_core::schedulers::hadoop_xml::properties;

use super::super::facts::JobFacts;
use super::super::lines::shortened;
use super::super::numbers::share_ppm;
use super::super::{ImportNotes, TraceError};

/// What it is of a job that has one.
const UNREADABLE: &str = "property of a job's configuration with an impossible value: left out";

/// The properties of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration(BTreeMap<String, String>);

impl Configuration {
    /// Reads the file's text. Of properties with equal names the last counts, as in Hadoop.
    ///
    /// # Errors
    /// When it is no configuration, is not well-formed, or has a document type.
    pub fn read(text: &str) -> Result<Configuration, TraceError> {
        let found = properties(text).map_err(|problem| TraceError::Format {
            found: one_line(&problem),
            expected: "a job's configuration".to_owned(),
        })?;
        Ok(Configuration(found.into_iter().map(|property| (property.name, property.value)).collect()))
    }

    /// The value under the first of the names that has one.
    fn get(&self, names: &[&str]) -> Option<&str> {
        names.iter().filter_map(|name| self.0.get(*name)).map(|value| value.trim()).find(|value| !value.is_empty())
    }

    /// Puts in what the history left open. `priority_known` is whether it told the job's priority.
    pub(super) fn complete(&self, job: &mut JobFacts, priority_known: bool, notes: &mut ImportNotes) {
        for (known, names) in [
            (&mut job.name, ["mapreduce.job.name", "mapred.job.name"]),
            (&mut job.user, ["mapreduce.job.user.name", "user.name"]),
            (&mut job.queue, ["mapreduce.job.queuename", "mapred.job.queue.name"]),
            (&mut job.pool, ["mapred.fairscheduler.pool", "mapred.fairscheduler.pool"]),
        ] {
            if known.is_empty() {
                *known = self.get(&names).unwrap_or_default().to_owned();
            }
        }
        let id = job.id.clone();
        let mut typed = TypedProperties { id: &id, conf: self, notes };
        let slowstart = ["mapreduce.job.reduce.slowstart.completedmaps", "mapred.reduce.slowstart.completed.maps"];
        job.slowstart_ppm = job.slowstart_ppm.or_else(|| typed.number(&slowstart, share_ppm));
        job.deadline_ms =
            job.deadline_ms.or_else(|| typed.number(&["howdah.job.deadline.ms"], |text| text.parse().ok()));
        let (maps, reduces) =
            (["mapreduce.job.maps", "mapred.map.tasks"], ["mapreduce.job.reduces", "mapred.reduce.tasks"]);
        job.declared_maps = job.declared_maps.or_else(|| typed.number(&maps, |text| text.parse().ok()));
        job.declared_reduces = job.declared_reduces.or_else(|| typed.number(&reduces, |text| text.parse().ok()));
        let priority = ["mapreduce.job.priority", "mapred.job.priority"];
        if !priority_known && let Some(priority) = typed.number(&priority, |text| text.parse::<Priority>().ok()) {
            job.priority = priority;
        }
    }
}

/// A problem names what it found, which may be long and of several lines.
fn one_line(problem: &str) -> String {
    problem.chars().map(|c| if c.is_control() { ' ' } else { c }).take(160).collect()
}

/// Values that are no texts.
struct TypedProperties<'a> {
    id: &'a str,
    conf: &'a Configuration,
    notes: &'a mut ImportNotes,
}

impl TypedProperties<'_> {
    fn number<T>(&mut self, names: &[&str], read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let text = self.conf.get(names)?;
        let value = read(text);
        if value.is_none() {
            self.notes.add(UNREADABLE, || format!("{}, `{}` = {}", self.id, names[0], shortened(text)));
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conf(pairs: &[(&str, &str)]) -> Configuration {
        let property = |(name, value): &(&str, &str)| {
            format!("<property><name>{name}</name><value>{value}</value><source>job.xml</source></property>")
        };
        let all: String = pairs.iter().map(property).collect();
        Configuration::read(&format!("<?xml version=\"1.0\"?><configuration>{all}</configuration>")).expect("it reads")
    }

    #[test]
    fn what_the_history_left_open_is_put_in_and_what_it_told_stays() {
        let both = conf(&[
            ("mapreduce.job.name", "nightly"),
            ("mapreduce.job.user.name", "bob"),
            ("mapreduce.job.queuename", "default"),
            ("mapred.fairscheduler.pool", "etl"),
            ("mapreduce.job.reduce.slowstart.completedmaps", "0.80"),
            ("howdah.job.deadline.ms", "90000"),
            ("mapreduce.job.reduces", "7"),
            ("mapreduce.job.priority", "HIGH"),
        ]);
        let mut notes = ImportNotes::default();
        let mut job = JobFacts::new("job_1_0001");
        job.queue = "root.etl".to_owned();
        both.complete(&mut job, false, &mut notes);
        let texts = [&job.name[..], &job.user, &job.queue, &job.pool];
        assert_eq!(texts, ["nightly", "bob", "root.etl", "etl"]);
        assert_eq!((job.slowstart_ppm, job.deadline_ms), (Some(800_000), Some(90_000)));
        assert_eq!((job.declared_maps, job.declared_reduces), (None, Some(7)));
        assert_eq!(job.priority, Priority::High);
        let mut told = JobFacts::new("job_1_0002");
        both.complete(&mut told, true, &mut notes);
        assert_eq!(told.priority, Priority::Normal);
        assert!(notes.is_empty(), "{notes:?}");
    }

    #[test]
    fn old_names_count_and_impossible_values_are_noted() {
        let old = conf(&[("mapred.reduce.slowstart.completed.maps", "0.5"), ("mapred.reduce.tasks", "3")]);
        let mut notes = ImportNotes::default();
        let mut job = JobFacts::new("job_1_0001");
        old.complete(&mut job, true, &mut notes);
        assert_eq!((job.slowstart_ppm, job.declared_reduces), (Some(500_000), Some(3)));
        let odd = conf(&[("mapreduce.job.reduce.slowstart.completedmaps", "1.5"), ("howdah.job.deadline.ms", "soon")]);
        let mut job = JobFacts::new("job_1_0002");
        odd.complete(&mut job, true, &mut notes);
        assert_eq!((job.slowstart_ppm, job.deadline_ms), (None, None));
        assert_eq!(notes.lines(), [format!("2 {UNREADABLE}")]);
    }

    #[test]
    fn entities_and_other_documents_are_refused() {
        let bomb = "<?xml version=\"1.0\"?><!DOCTYPE c [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;\">]>\
                    <configuration><property><name>x</name><value>&b;</value></property></configuration>";
        let said = |text: &str| Configuration::read(text).map_err(|error| error.to_string()).expect_err("refused");
        assert!(said(bomb).contains("a document type is not allowed"), "{}", said(bomb));
        assert!(said("<configuration><property>").contains("expected a job's configuration"));
        assert!(said("<allocations/>").contains("<allocations>"));
    }
}
