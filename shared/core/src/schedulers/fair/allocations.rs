//! The allocation file: what each pool and user may have.
//!
//! Its text comes from the driver, which reads files; a text that starts with `<` is Hadoop's `fair-scheduler.xml`,
//! anything else the same in TOML. Both give the same list of entries, which is read here, so that the two syntaxes
//! cannot differ in meaning. An unknown element is a warning, as in Hadoop; a value that does not read is an error.
//! Source: `docs/hadoop.md#allocation-files`.

use std::collections::BTreeMap;

use super::entries::{Entry, Place};
use super::{toml, xml};
use crate::job::{PerKind, TaskKind};
use crate::schedulers::SchedulerError;
use crate::schedulers::hadoop_xml::is_xml;
use crate::time::Span;

/// In which order a pool's jobs are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PoolMode {
    /// By their shares.
    #[default]
    Fair,
    /// By priority and time of submission.
    Fifo,
}

/// What the file says of one pool.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolConf {
    /// `minMaps`, `minReduces`: slots that it gets first.
    pub min: PerKind<u32>,
    /// `maxMaps`, `maxReduces`: slots that it never exceeds.
    pub max: PerKind<Option<u32>>,
    /// `maxRunningJobs`.
    pub max_running_jobs: Option<u32>,
    /// `weight`, above 0.
    pub weight: f64,
    /// `schedulingMode`.
    pub mode: Option<PoolMode>,
    /// `minSharePreemptionTimeout`.
    pub min_share_timeout: Option<Span>,
}

impl Default for PoolConf {
    fn default() -> PoolConf {
        PoolConf {
            min: [0; 2],
            max: [None; 2],
            max_running_jobs: None,
            weight: 1.0,
            mode: None,
            min_share_timeout: None,
        }
    }
}

/// All that an allocation file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allocations {
    /// Declared pools by name.
    pub pools: BTreeMap<String, PoolConf>,
    /// `maxRunningJobs` by user.
    pub users: BTreeMap<String, u32>,
    /// `userMaxJobsDefault`.
    pub user_max_jobs: Option<u32>,
    /// `poolMaxJobsDefault`.
    pub pool_max_jobs: Option<u32>,
    /// `defaultMinSharePreemptionTimeout`; never without one.
    pub min_share_timeout: Option<Span>,
    /// `fairSharePreemptionTimeout`; never without one.
    pub fair_share_timeout: Option<Span>,
    /// `defaultPoolSchedulingMode`.
    pub mode: PoolMode,
    /// Elements that were skipped, and limits that contradict each other, a sentence each.
    pub warnings: Vec<String>,
}

/// Elements that 0.20.2 knows (`docs/hadoop.md#allocation-files`).
const KNOWN_TO_0202: [&str; 6] = ["", "minMaps", "minReduces", "maxRunningJobs", "weight", "userMaxJobsDefault"];

impl Allocations {
    /// Reads an allocation file's text; `file` is its name, for errors and warnings. `old` knows only the elements
    /// of Hadoop 0.20.2 and warns of all others.
    ///
    /// # Errors
    /// Names the file, the line, the element and what was expected.
    pub fn parse(text: &str, file: &str, old: bool) -> Result<Allocations, SchedulerError> {
        let bad = |line: u32, problem: String| SchedulerError::BadFile {
            scheduler: "fair".to_owned(),
            file: format!("allocation file `{file}`"),
            problem: format!("line {line}: {problem}"),
        };
        // An empty text is TOML that allows everything: hardly what somebody wants whose XML was cut off.
        let cut_off = text.trim().is_empty() && file.ends_with(".xml");
        let syntax = if is_xml(text) || cut_off { xml::entries(text) } else { toml::entries(text) };
        let (entries, mut warnings) = syntax.map_err(|e| bad(e.line, e.problem))?;
        let mut all = Allocations::default();
        let mut seen = BTreeMap::new();
        for entry in &entries {
            if let Some(first) = seen.insert((&entry.place, &entry.key), entry.line).filter(|_| !entry.key.is_empty()) {
                let Entry { place, key, line, .. } = entry;
                warnings.push(format!(
                    "line {line}: `{key}`{place} is there twice, on line {first} as well; the last one holds"
                ));
            }
            if old && !KNOWN_TO_0202.contains(&entry.key.as_str()) {
                warnings
                    .push(format!("line {}: Hadoop 0.20.2 does not know `{}`; it is ignored", entry.line, entry.key));
                continue;
            }
            match all.take(entry) {
                Ok(true) => {}
                Ok(false) => {
                    let key = &entry.key;
                    warnings
                        .push(format!("line {}: unknown element `{key}`{}; it is ignored", entry.line, entry.place));
                }
                Err(expected) => {
                    let Entry { key, value, place, line } = entry;
                    return Err(bad(*line, format!("`{key}`{place}: `{value}` is not {expected}")));
                }
            }
        }
        for (name, pool) in &all.pools {
            for kind in TaskKind::ALL {
                let (min, max) = (pool.min[kind], pool.max[kind]);
                if max.is_some_and(|max| max < min) {
                    let max = max.unwrap_or_default();
                    warnings.push(format!("pool `{name}`: at most {max} {kind} slots, but a minimum share of {min}"));
                }
            }
        }
        all.warnings = warnings.into_iter().map(|warning| format!("allocation file `{file}`, {warning}")).collect();
        Ok(all)
    }

    /// Takes one value; false if its name is unknown there.
    fn take(&mut self, entry: &Entry) -> Result<bool, &'static str> {
        let Entry { place, key, value, .. } = entry;
        match place {
            Place::Top => self.take_top(key, value),
            Place::Pool(name) => self.pools.entry(name.clone()).or_default().take(key, value),
            Place::User(name) => match key.as_str() {
                "" => Ok(true),
                "maxRunningJobs" => {
                    self.users.insert(name.clone(), count(value)?);
                    Ok(true)
                }
                _ => Ok(false),
            },
        }
    }

    fn take_top(&mut self, key: &str, value: &str) -> Result<bool, &'static str> {
        match key {
            "userMaxJobsDefault" => self.user_max_jobs = Some(count(value)?),
            "poolMaxJobsDefault" => self.pool_max_jobs = Some(count(value)?),
            "defaultMinSharePreemptionTimeout" => self.min_share_timeout = Some(seconds(value)?),
            "fairSharePreemptionTimeout" => self.fair_share_timeout = Some(seconds(value)?),
            "defaultPoolSchedulingMode" => self.mode = mode(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What holds for a pool, declared or not.
    pub fn pool(&self, name: &str) -> PoolConf {
        let mut pool = self.pools.get(name).cloned().unwrap_or_default();
        pool.max_running_jobs = pool.max_running_jobs.or(self.pool_max_jobs);
        pool.mode = pool.mode.or(Some(self.mode));
        pool.min_share_timeout = pool.min_share_timeout.or(self.min_share_timeout);
        pool
    }

    /// How many jobs of a user may run at a time.
    pub fn user_limit(&self, user: &str) -> Option<u32> {
        self.users.get(user).copied().or(self.user_max_jobs)
    }

    /// Whether any pool may be cut off from its minimum or fair share by a timeout.
    pub(super) fn has_timeouts(&self) -> bool {
        self.fair_share_timeout.is_some()
            || self.min_share_timeout.is_some()
            || self.pools.values().any(|pool| pool.min_share_timeout.is_some())
    }
}

impl PoolConf {
    fn take(&mut self, key: &str, value: &str) -> Result<bool, &'static str> {
        match key {
            "" => {}
            "minMaps" => self.min[0] = count(value)?,
            "minReduces" => self.min[1] = count(value)?,
            "maxMaps" => self.max[0] = Some(count(value)?),
            "maxReduces" => self.max[1] = Some(count(value)?),
            "maxRunningJobs" => self.max_running_jobs = Some(count(value)?),
            "weight" => self.weight = weight(value)?,
            "schedulingMode" => self.mode = Some(mode(value)?),
            "minSharePreemptionTimeout" => self.min_share_timeout = Some(seconds(value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn count(value: &str) -> Result<u32, &'static str> {
    value.parse().map_err(|_| "a whole number from 0")
}

fn seconds(value: &str) -> Result<Span, &'static str> {
    let seconds: u64 = value.parse().map_err(|_| "a whole number of seconds from 0")?;
    Ok(Span::from_us(seconds.saturating_mul(1_000_000)))
}

fn weight(value: &str) -> Result<f64, &'static str> {
    // `Deviation:` Hadoop takes any number; a weight of 0 divides by zero there.
    let weight: f64 = value.parse().map_err(|_| "a number above 0")?;
    if weight > 1e-6 && weight < 1e6 { Ok(weight) } else { Err("a number from 0.000001 to 1000000") }
}

fn mode(value: &str) -> Result<PoolMode, &'static str> {
    match value.to_ascii_lowercase().as_str() {
        "fair" => Ok(PoolMode::Fair),
        "fifo" => Ok(PoolMode::Fifo),
        _ => Err("fair or fifo"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const XML: &str = r#"<?xml version="1.0"?>
<allocations>
  <!-- the pools of the guide -->
  <pool name="research">
    <minMaps>10</minMaps>
    <minReduces>5</minReduces>
    <maxMaps>40</maxMaps>
    <maxReduces>20</maxReduces>
    <maxRunningJobs>8</maxRunningJobs>
    <weight>2.5</weight>
    <schedulingMode>FIFO</schedulingMode>
    <minSharePreemptionTimeout>60</minSharePreemptionTimeout>
  </pool>
  <pool name="empty"/>
  <user name="alice"><maxRunningJobs>3</maxRunningJobs></user>
  <userMaxJobsDefault>2</userMaxJobsDefault>
  <poolMaxJobsDefault>20</poolMaxJobsDefault>
  <fairSharePreemptionTimeout>600</fairSharePreemptionTimeout>
  <defaultMinSharePreemptionTimeout>120</defaultMinSharePreemptionTimeout>
  <defaultPoolSchedulingMode>fair</defaultPoolSchedulingMode>
</allocations>
"#;

    const TOML: &str = r#"
userMaxJobsDefault = 2
poolMaxJobsDefault = 20
fairSharePreemptionTimeout = 600
defaultMinSharePreemptionTimeout = 120
defaultPoolSchedulingMode = "fair"

[pool.research]
minMaps = 10
minReduces = 5
maxMaps = 40
maxReduces = 20
maxRunningJobs = 8
weight = 2.5
schedulingMode = "FIFO"
minSharePreemptionTimeout = 60

[pool.empty]

[user.alice]
maxRunningJobs = 3
"#;

    fn read(text: &str) -> Allocations {
        Allocations::parse(text, "alloc", false).expect("it reads")
    }

    fn fails(text: &str) -> String {
        Allocations::parse(text, "alloc.xml", false).expect_err("it does not read").to_string()
    }

    // MR1 PoolManager.reloadAllocs: a file without a root element does not parse, and the old allocation stays.
    #[test]
    fn an_empty_file_is_no_xml_but_toml_that_says_nothing() {
        let empty = fails("\n");
        assert!(empty.contains("allocation file `alloc.xml`: line 1: not well-formed XML: "), "{empty}");
        assert_eq!(read(""), Allocations::default());
    }

    // docs/hadoop.md#allocation-files: every element of 1.2.1.
    #[test]
    fn both_syntaxes_say_the_same() {
        let xml = read(XML);
        assert_eq!(xml, read(TOML));
        let research = PoolConf {
            min: [10, 5],
            max: [Some(40), Some(20)],
            max_running_jobs: Some(8),
            weight: 2.5,
            mode: Some(PoolMode::Fifo),
            min_share_timeout: Some(Span::from_secs(60)),
        };
        assert_eq!(xml.pool("research"), research);
        let undeclared = PoolConf {
            max_running_jobs: Some(20),
            mode: Some(PoolMode::Fair),
            min_share_timeout: Some(Span::from_secs(120)),
            ..PoolConf::default()
        };
        assert_eq!((xml.pool("empty"), xml.pool("other")), (undeclared.clone(), undeclared));
        assert_eq!((xml.user_limit("alice"), xml.user_limit("bob")), (Some(3), Some(2)));
        assert_eq!(xml.fair_share_timeout, Some(Span::from_secs(600)));
        assert_eq!(xml.warnings, [""; 0]);
    }

    #[test]
    fn a_byte_order_mark_may_go_before_either_syntax() {
        assert_eq!(read(&format!("\u{feff}{XML}")), read(XML));
        assert_eq!(read(&format!("\u{feff}{TOML}")), read(TOML));
    }

    // docs/hadoop.md#allocation-files: an unknown element is a warning, not an error.
    #[test]
    fn unknown_elements_are_skipped_with_a_warning() {
        let text =
            "<allocations>\n<pool name=\"a\"><minMaps>1</minMaps>\n<vcores>9</vcores></pool>\n<queue/></allocations>";
        let read = read(text);
        assert_eq!(read.pool("a").min, [1, 0]);
        assert_eq!(
            read.warnings,
            [
                "allocation file `alloc`, line 4: unknown element `queue`; it is ignored",
                "allocation file `alloc`, line 3: unknown element `vcores` of pool `a`; it is ignored",
            ]
        );
    }

    // docs/hadoop.md#allocation-files: what 0.20.2 knows.
    #[test]
    fn the_old_dialect_ignores_what_came_later() {
        let old = Allocations::parse(XML, "alloc", true).expect("it reads");
        let research = old.pool("research");
        assert_eq!((research.min, research.max, research.weight), ([10, 5], [None; 2], 2.5));
        assert_eq!((research.max_running_jobs, old.user_max_jobs, old.pool_max_jobs), (Some(8), Some(2), None));
        assert_eq!(old.warnings.len(), 8, "{:?}", old.warnings);
    }

    #[test]
    fn what_does_not_read_is_named_with_its_line_and_what_was_expected() {
        let wrong = XML.replace("<minMaps>10<", "<minMaps>ten<");
        assert_eq!(
            fails(&wrong),
            "scheduler `fair`: allocation file `alloc.xml`: line 5: `minMaps` of pool `research`: `ten` is not a whole number from 0"
        );
        assert_eq!(
            fails(&TOML.replace("weight = 2.5", "weight = 0")),
            "scheduler `fair`: allocation file `alloc.xml`: line 14: `weight` of pool `research`: `0` is not a number from 0.000001 to 1000000"
        );
        assert_eq!(
            fails("<allocations><pool><minMaps>1</minMaps></pool></allocations>"),
            "scheduler `fair`: allocation file `alloc.xml`: line 1: `pool`: expected an attribute `name`"
        );
        assert_eq!(
            fails("<configuration/>"),
            "scheduler `fair`: allocation file `alloc.xml`: line 1: the root element is `configuration`, expected `allocations`"
        );
        assert!(
            fails("<allocations>\n<pool name=\"a\">\n</allocations>")
                .starts_with("scheduler `fair`: allocation file `alloc.xml`: line 3: ")
        );
        assert!(fails("a = 1\nb = ").starts_with("scheduler `fair`: allocation file `alloc.xml`: line 2: "));
        assert_eq!(
            fails("[pool]\na = 3"),
            "scheduler `fair`: allocation file `alloc.xml`: line 2: `pool.a`: expected a table, as in `[pool.a]`"
        );
    }

    #[test]
    fn an_element_that_is_there_twice_is_a_warning() {
        let read =
            read("<allocations>\n<pool name=\"a\"><minMaps>1</minMaps>\n<minMaps>2</minMaps></pool></allocations>");
        assert_eq!(read.pool("a").min, [2, 0]);
        assert_eq!(
            read.warnings,
            [
                "allocation file `alloc`, line 3: `minMaps` of pool `a` is there twice, on line 2 as well; the last one holds"
            ]
        );
    }

    #[test]
    fn a_document_type_is_refused_in_a_sentence_of_its_own() {
        assert_eq!(
            fails("<?xml version=\"1.0\"?>\n<!DOCTYPE a [<!ENTITY n \"1\">]>\n<allocations/>"),
            "scheduler `fair`: allocation file `alloc.xml`: line 2: a document type is not allowed, as its entities \
             could refer to each other; write the values out"
        );
    }

    #[test]
    fn a_maximum_below_the_minimum_share_is_a_warning() {
        let read = read("[pool.a]\nminMaps = 5\nmaxMaps = 2\n");
        assert_eq!(read.warnings, ["allocation file `alloc`, pool `a`: at most 2 map slots, but a minimum share of 5"]);
    }
}
