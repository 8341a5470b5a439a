//! Hadoop's own `mapred-site.xml`: which scheduler it puts in charge, and with which parameters.
//!
//! Its keys of the Fair and the capacity scheduler and `mapred.jobtracker.taskScheduler` are mapped to the policies here.
//! An unknown key of theirs is an error, as it is always a slip (`Deviation:` Hadoop ignores it); keys of the rest of
//! Hadoop are counted and left alone. Of properties with equal names Hadoop takes the last, and so do we. Source:
//! `docs/hadoop.md#properties` and `docs/hadoop.md#allocation-files`; MR1 FairScheduler, PoolManager and
//! CapacitySchedulerConf for who reads what.

use std::collections::BTreeMap;

use super::capacity;
use super::hadoop_xml::{Property, properties};
use super::nearest::nearest;
use super::params::Params;

/// Which class is the scheduler: the key of 0.20 and 1.x, and that of 0.21.
const TASK_SCHEDULER: [&str; 2] = ["mapred.jobtracker.taskScheduler", "mapreduce.jobtracker.taskscheduler"];
/// A policy, and the parameters with which it does what a class does.
type Class = (&'static str, &'static [(&'static str, &'static str)]);
/// Classes and the policies that do what they do.
const CLASSES: [(&str, Class); 3] = [
    ("org.apache.hadoop.mapred.JobQueueTaskScheduler", ("fifo", &[("dialect", "1.2.1")])),
    ("org.apache.hadoop.mapred.FairScheduler", ("fair", &[])),
    ("org.apache.hadoop.mapred.CapacityTaskScheduler", ("capacity", &[])),
];
const FAIR: &str = "mapred.fairscheduler.";
const BOOSTER: &str = "mapred.newjobweightbooster.";
const QUEUE_NAMES: &str = "mapred.queue.names";

/// What becomes of a key of the Fair scheduler.
#[derive(Clone, Copy)]
enum Use {
    /// It is a parameter of the same name.
    Parameter,
    /// Only this class is there.
    Only(&'static str),
    /// Nothing here reads it.
    Nothing,
}

/// Keys behind [`FAIR`].
const FAIR_KEYS: [(&str, Use); 22] = [
    ("allocation.file", Use::Parameter),
    ("allow.undeclared.pools", Use::Parameter),
    ("assignmultiple", Use::Parameter),
    ("assignmultiple.maps", Use::Parameter),
    ("assignmultiple.reduces", Use::Parameter),
    ("load.max.diff", Use::Parameter),
    ("locality.delay", Use::Parameter),
    ("locality.delay.node", Use::Parameter),
    ("locality.delay.rack", Use::Parameter),
    ("poolnameproperty", Use::Parameter),
    ("preemption", Use::Parameter),
    ("preemption.interval", Use::Parameter),
    ("preemption.only.log", Use::Parameter),
    ("sizebasedweight", Use::Parameter),
    ("update.interval", Use::Parameter),
    ("weightadjuster", Use::Parameter),
    ("loadmanager", Use::Only("org.apache.hadoop.mapred.CapBasedLoadManager")),
    ("taskselector", Use::Only("org.apache.hadoop.mapred.DefaultTaskSelector")),
    // The journal has every event, `howdah queue list` the pools; the pool is a property of jobs.
    ("dump.interval", Use::Nothing),
    ("eventlog.enabled", Use::Nothing),
    ("eventlog.location", Use::Nothing),
    ("pool", Use::Nothing),
];
/// Keys behind [`BOOSTER`], which are parameters under their whole names.
const BOOSTER_KEYS: [&str; 2] = ["factor", "duration"];

/// What such a file says of schedulers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapredSite {
    /// The policy that does what the named class does; `None` if the file names none.
    pub scheduler: Option<&'static str>,
    /// Parameters of the policy in charge, by their short names. A file's name in `allocation.file` is as it stands there.
    pub params: Params,
    /// Where each parameter stands: key and line, by the parameter's name.
    pub places: BTreeMap<String, (String, u32)>,
    /// `mapred.queue.names`; empty if the file does not say.
    pub queue_names: Vec<String>,
    /// Whether the file has keys of the capacity scheduler, so that it can be read as that one's own.
    pub has_capacities: bool,
    /// Properties, equal names once.
    pub n_properties: usize,
    /// Of these, those that the policy in charge has no use for.
    pub n_ignored: usize,
}

impl MapredSite {
    /// Reads a file's text. `asked` is the policy in charge if somebody chose one; else the file decides.
    ///
    /// # Errors
    /// A sentence with the line, the key, its value and what was expected.
    pub fn read(text: &str, asked: Option<&str>) -> Result<MapredSite, String> {
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let list = properties(text)?;
        let last: BTreeMap<&str, &Property> = list.iter().map(|property| (property.name.as_str(), property)).collect();
        let mut site = MapredSite { n_properties: last.len(), ..MapredSite::default() };
        let named = TASK_SCHEDULER.iter().find_map(|key| last.get(key).copied());
        let named = named.filter(|property| !property.value.is_empty());
        let class = named.map(policy_of).transpose()?;
        site.scheduler = class.map(|(name, _)| name);
        let in_charge = asked.or(site.scheduler).unwrap_or_default();
        if let Some((property, (name, params))) = named.zip(class)
            && name == in_charge
        {
            for &(key, value) in params {
                site.put(key, value, (name, property.line));
            }
        }
        for property in last.values() {
            if !site.take(property, in_charge)? {
                site.n_ignored += 1;
            }
        }
        if site.has_capacities {
            capacity::check(text)?;
        }
        Ok(site)
    }

    fn put(&mut self, param: &str, value: &str, (key, line): (&str, u32)) {
        self.params.insert(param.to_owned(), value.to_owned());
        self.places.insert(param.to_owned(), (key.to_owned(), line));
    }

    /// Takes one property; false if it is of no use to the policy in charge.
    fn take(&mut self, property: &Property, in_charge: &str) -> Result<bool, String> {
        let Property { name, value, line } = property;
        let fair = ["fair", "load-aware"].contains(&in_charge);
        if TASK_SCHEDULER.contains(&name.as_str()) {
            return Ok(true);
        }
        if name == QUEUE_NAMES {
            let names = value.split(',').map(str::trim).filter(|name| !name.is_empty());
            self.queue_names = names.map(str::to_owned).collect();
            return Ok(true);
        }
        if let Some(key) = name.strip_prefix(FAIR) {
            let Some(&(short, what)) = FAIR_KEYS.iter().find(|&&(known, _)| known == key) else {
                return Err(unknown(property, FAIR, FAIR_KEYS.iter().map(|&(known, _)| known)));
            };
            match what {
                Use::Only(class) if !value.is_empty() && !is_class(value, class) => {
                    return Err(format!(
                        "line {line}: `{name}`: `{value}` is not {class}, the only one that there is here"
                    ));
                }
                Use::Parameter if fair && !value.is_empty() => self.put(short, value, (name.as_str(), *line)),
                Use::Parameter | Use::Only(_) | Use::Nothing => return Ok(false),
            }
            return Ok(true);
        }
        if let Some(key) = name.strip_prefix(BOOSTER) {
            if !BOOSTER_KEYS.contains(&key) {
                return Err(unknown(property, BOOSTER, BOOSTER_KEYS));
            }
            if fair {
                self.put(name, value, (name.as_str(), *line));
            }
            return Ok(fair);
        }
        if name.starts_with(capacity::PREFIX) {
            self.has_capacities = true;
            return Ok(in_charge == "capacity");
        }
        for key in TASK_SCHEDULER {
            let of_class = name.get(..key.len()).is_some_and(|start| start.eq_ignore_ascii_case(key));
            // `mapred-default.xml` has the limit of LimitTasksPerJobTaskScheduler without a value.
            if of_class && !value.is_empty() {
                return Err(unknown(property, "", [key]));
            }
        }
        Ok(false)
    }
}

/// The policy of a class, and its parameters.
fn policy_of(property: &Property) -> Result<Class, String> {
    let Property { name, value, line } = property;
    let found = CLASSES.iter().find(|(class, _)| is_class(value, class));
    found.map(|&(_, policy)| policy).ok_or_else(|| {
        let known: Vec<&str> = CLASSES.iter().map(|&(class, _)| class).collect();
        format!(
            "line {line}: `{name}`: `{value}` is not a scheduler that there is here, expected one of {}",
            known.join(", ")
        )
    })
}

/// Whether a value names a class, with or without its package.
fn is_class(value: &str, class: &str) -> bool {
    value == class || class.rsplit_once('.').is_some_and(|(_, bare)| value == bare)
}

fn unknown<'a>(property: &Property, prefix: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    let key = &property.name[prefix.len()..];
    let expected = match nearest(key, known.clone()) {
        Some(name) => format!("did you mean `{prefix}{name}`?"),
        None => format!(
            "expected one of {}",
            known.into_iter().map(|name| format!("{prefix}{name}")).collect::<Vec<_>>().join(", ")
        ),
    };
    format!("line {}: unknown key `{}`, {expected}", property.line, property.name)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::schedulers::by_name;

    fn xml(pairs: &[(&str, &str)]) -> String {
        let property = |(name, value): &(&str, &str)| {
            format!("<property>\n<name>{name}</name><value>{value}</value></property>\n")
        };
        format!(
            "<?xml version=\"1.0\"?>\n<configuration>\n{}</configuration>",
            pairs.iter().map(property).collect::<String>()
        )
    }

    fn read(pairs: &[(&str, &str)], asked: Option<&str>) -> MapredSite {
        MapredSite::read(&xml(pairs), asked).expect("it reads")
    }

    const FAIR_CLASS: (&str, &str) = ("mapred.jobtracker.taskScheduler", "org.apache.hadoop.mapred.FairScheduler");

    // docs/hadoop.md#properties and docs/hadoop.md#allocation-files: the keys of a site that runs the Fair scheduler.
    #[test]
    fn a_site_puts_its_scheduler_in_charge_with_its_parameters() {
        let site = read(
            &[
                ("mapred.job.tracker", "host:9001"),
                FAIR_CLASS,
                ("mapred.fairscheduler.preemption", "false"),
                ("mapred.fairscheduler.preemption", "true"),
                ("mapred.fairscheduler.poolnameproperty", "group.name"),
                ("mapred.fairscheduler.allocation.file", "/etc/hadoop/pools.xml"),
                ("mapred.fairscheduler.weightadjuster", "org.apache.hadoop.mapred.NewJobWeightBooster"),
                ("mapred.newjobweightbooster.duration", "60000"),
                ("mapred.fairscheduler.eventlog.enabled", "true"),
                ("mapred.fairscheduler.taskselector", "DefaultTaskSelector"),
                ("mapred.queue.names", "default, etl"),
            ],
            None,
        );
        assert_eq!(site.scheduler, Some("fair"));
        let params = [
            ("allocation.file", "/etc/hadoop/pools.xml"),
            ("mapred.newjobweightbooster.duration", "60000"),
            ("poolnameproperty", "group.name"),
            ("preemption", "true"),
            ("weightadjuster", "org.apache.hadoop.mapred.NewJobWeightBooster"),
        ];
        assert_eq!(site.params, params.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
        assert_eq!(site.places["preemption"], ("mapred.fairscheduler.preemption".to_owned(), 9));
        assert_eq!((site.queue_names, site.has_capacities), (vec!["default".to_owned(), "etl".to_owned()], false));
        // The tracker's address, the event log and the task selector that is there anyway.
        assert_eq!((site.n_properties, site.n_ignored), (10, 3));
    }

    #[test]
    fn every_parameter_is_one_of_the_fair_scheduler() {
        for (key, what) in FAIR_KEYS {
            if !matches!(what, Use::Parameter) {
                continue;
            }
            let wrong = Params::from([(key.to_owned(), "\u{1}".to_owned())]);
            let said = by_name("fair", &wrong).err().map(|error| error.to_string()).unwrap_or_default();
            // Those that take any text have nothing to say.
            assert!(!said.contains("unknown parameter"), "{key}: {said}");
        }
    }

    #[test]
    fn another_scheduler_has_no_use_for_what_is_the_fair_ones() {
        let pairs =
            [FAIR_CLASS, ("mapred.fairscheduler.preemption", "true"), ("mapred.newjobweightbooster.factor", "2")];
        let site = read(&pairs, Some("fbq"));
        assert_eq!((site.scheduler, site.params.len(), site.n_ignored), (Some("fair"), 0, 2));
        assert_eq!(read(&pairs, Some("load-aware")).params.len(), 2);
    }

    #[test]
    fn the_other_two_classes_are_fifo_and_capacity() {
        let fifo = read(&[("mapreduce.jobtracker.taskscheduler", "JobQueueTaskScheduler")], None);
        assert_eq!((fifo.scheduler, fifo.params["dialect"].as_str()), (Some("fifo"), "1.2.1"));
        assert!(
            read(&[("mapred.jobtracker.taskScheduler", "JobQueueTaskScheduler")], Some("johnson")).params.is_empty()
        );
        let capacities = [
            ("mapred.jobtracker.taskScheduler", "org.apache.hadoop.mapred.CapacityTaskScheduler"),
            ("mapred.capacity-scheduler.queue.default.capacity", "100"),
        ];
        let capacity = read(&capacities, None);
        assert_eq!((capacity.scheduler, capacity.has_capacities, capacity.n_ignored), (Some("capacity"), true, 0));
        let none = read(&[("mapred.jobtracker.taskScheduler.maxRunningTasksPerJob", "")], None);
        assert_eq!((none.scheduler, none.n_ignored), (None, 1));
    }

    #[rstest]
    #[case::misspelt(
        "mapred.fairscheduler.premption",
        "true",
        "line 3: unknown key `mapred.fairscheduler.premption`, did you mean `mapred.fairscheduler.preemption`?"
    )]
    #[case::unknown(
        "mapred.fairscheduler.colour",
        "red",
        "expected one of mapred.fairscheduler.allocation.file, mapred."
    )]
    #[case::booster("mapred.newjobweightbooster.time", "1", "expected one of mapred.newjobweightbooster.factor, ")]
    #[case::capacity(
        "mapred.capacity-scheduler.queue.a.capacty",
        "1",
        "line 3: unknown key `mapred.capacity-scheduler.queue.a.capacty`, did you mean `capacity`?"
    )]
    #[case::class(
        "mapred.jobtracker.taskScheduler",
        "org.example.Lottery",
        "line 3: `mapred.jobtracker.taskScheduler`: `org.example.Lottery` is not a scheduler that there is here, expected one of org"
    )]
    #[case::case("mapred.jobtracker.taskscheduler", "FairScheduler", "did you mean `mapred.jobtracker.taskScheduler`?")]
    #[case::limit("mapred.jobtracker.taskScheduler.maxRunningTasksPerJob", "5", "unknown key")]
    #[case::selector(
        "mapred.fairscheduler.taskselector",
        "org.example.Mine",
        "`org.example.Mine` is not org.apache.hadoop.mapred.DefaultTaskSelector, the only one"
    )]
    fn what_no_scheduler_knows_is_named_with_what_was_meant(
        #[case] key: &str,
        #[case] value: &str,
        #[case] said: &str,
    ) {
        let error = MapredSite::read(&xml(&[(key, value)]), None).expect_err("it is wrong");
        assert!(error.contains(said), "{error}");
    }
}
