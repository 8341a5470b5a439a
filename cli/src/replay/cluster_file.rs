//! The cluster of a replay from a file: workers one by one, or so many that are alike.
//!
//! ```toml
//! load_curve = "below=0.05,exponential=0.12"  # left out: a fair share of the cores
//! frequency_curve = "fixed=0.12,khz=2268000"   # left out: time is inverse in frequency
//! reference_load = 1                           # the load under which the trace's times hold; left out: 0
//!
//! [[worker]]
//! name = "fast"                                # left out: worker
//! count = 7                                    # fast-1 to fast-7; left out: one, without a number
//! map_slots = 2                                # left out: 2, as of reduce slots
//! reduce_slots = 2
//! cores = 4                                    # 0.5 is a quota; left out: one for each slot
//! frequency = 1.5                              # of which 1 is a plain worker's; left out: 1
//! attributes = { gpu = "2" }                   # left out: none
//! rack = "/r1"                                 # left out: /default-rack
//!
//! [[worker]]
//! name = "loaded"
//! foreign_load = [["0s", 4], ["180s", 8]]      # tasks of others, from each instant on; left out: none
//! attributes_from = [["60s", { gpu = "1" }]]   # all of them, from each instant on; left out: as they are
//! speed = [["60s", 0.5]]                       # of which 1 is plain, from each instant on; left out: 1
//! ```
//!
//! Instead of a curve there may be the name of a calibration that ends in `.toml`, as seen from the cluster file.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use howdah_core::models::{FrequencyCurve, LoadCurve};
use howdah_core::replay::{SimWorker, WorkersView};
use howdah_core::time::Time;
use howdah_master::policies;
use serde::Deserialize;

use super::defaults::{DEFAULT_RACK, PER_WORKER};
use crate::failure::{Failure, Outcome};
use crate::flag_values::parse_span;

/// Most workers of one entry, as of `--workers`.
const MOST: u32 = 100_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClusterFile {
    load_curve: Option<CurveOrFile<LoadCurve>>,
    frequency_curve: Option<CurveOrFile<FrequencyCurve>>,
    #[serde(default)]
    reference_load: f64,
    #[serde(default)]
    worker: Vec<Entry>,
}

/// A curve, or the calibration that has it.
#[derive(Deserialize)]
#[serde(try_from = "String", bound = "")]
enum CurveOrFile<C: FromStr<Err: Display>> {
    Curve(C),
    File(PathBuf),
}

impl<C: FromStr<Err: Display>> TryFrom<String> for CurveOrFile<C> {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if policies::is_calibration(&text) {
            return Ok(CurveOrFile::File(PathBuf::from(text)));
        }
        let read = text.parse().map(CurveOrFile::Curve);
        read.map_err(|error| format!("{error}, or a calibration's file such as w1.toml"))
    }
}

impl<C: FromStr<Err: Display>> CurveOrFile<C> {
    /// The curve; names of files are seen from `folder`.
    fn curve(self, folder: &Path, of: fn(&str) -> Result<C, String>) -> Result<C, String> {
        match self {
            CurveOrFile::Curve(curve) => Ok(curve),
            CurveOrFile::File(path) => of(&folder.join(path).display().to_string()),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Option<String>,
    count: Option<u32>,
    map_slots: Option<u16>,
    reduce_slots: Option<u16>,
    cores: Option<f64>,
    frequency: Option<f64>,
    rack: Option<String>,
    #[serde(default)]
    attributes: BTreeMap<String, String>,
    #[serde(default)]
    attributes_from: Vec<(String, BTreeMap<String, String>)>,
    #[serde(default)]
    foreign_load: Vec<(String, f64)>,
    #[serde(default)]
    speed: Vec<(String, f64)>,
}

/// The workers of a file and what slows them down; heartbeats are not in it.
///
/// # Errors
/// Names the file, the place in it and what was expected.
pub(crate) fn read(path: &Path) -> Outcome<WorkersView> {
    let named = |problem: String| Failure::usage(format!("cluster `{}`: {problem}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| named(format!("cannot read it: {error}")))?;
    parse(&text, path.parent().unwrap_or(Path::new(""))).map_err(named)
}

fn parse(text: &str, folder: &Path) -> Result<WorkersView, String> {
    let file: ClusterFile = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(0, |span| 1 + text[..span.start].matches('\n').count());
        format!("line {line}: {}", error.message().trim_end())
    })?;
    if file.worker.is_empty() {
        return Err("found no [[worker]], expected at least one".to_owned());
    }
    let mut view = WorkersView {
        curve: match file.load_curve {
            Some(curve) => curve.curve(folder, policies::load_curve).map_err(|error| format!("load_curve: {error}"))?,
            None => LoadCurve::default(),
        },
        reference_milli: scaled("reference_load", file.reference_load, 1e3, 0.0..=1e6)?,
        ..WorkersView::default()
    };
    if let Some(curve) = file.frequency_curve {
        let read = curve.curve(folder, policies::frequency_curve);
        let curve = read.map_err(|error| format!("frequency_curve: {error}"))?;
        // A plain worker has the frequency at which the curve was measured.
        (view.frequency, view.plain_khz) = (curve, curve.khz);
    }
    for (entry, number) in file.worker.iter().zip(1..) {
        let worker = entry.worker(view.plain_khz).map_err(|problem| format!("worker {number}: {problem}"))?;
        let alike = |name: String| SimWorker { host: name.clone(), name, ..worker.clone() };
        let name = entry.name.as_deref().unwrap_or("worker");
        match entry.count {
            None => view.workers.push(alike(name.to_owned())),
            Some(n @ 1..=MOST) => view.workers.extend((1..=n).map(|index| alike(format!("{name}-{index}")))),
            Some(n) => return Err(format!("worker {number}: count: found {n}, expected 1 to {MOST}")),
        }
    }
    Ok(view)
}

impl Entry {
    /// Without its name.
    fn worker(&self, plain_khz: u32) -> Result<SimWorker, String> {
        Ok(SimWorker {
            rack: self.rack.clone().unwrap_or_else(|| DEFAULT_RACK.to_owned()),
            map_slots: self.map_slots.unwrap_or(PER_WORKER),
            reduce_slots: self.reduce_slots.unwrap_or(PER_WORKER),
            speed: steps("speed", &self.speed, 1e6, 0.0..=1e3)?,
            cores_milli: self.cores.map_or(Ok(0), |cores| scaled("cores", cores, 1e3, 0.001..=1e6))?,
            khz: self.frequency.map_or(Ok(0), |f| scaled("frequency", f, f64::from(plain_khz), 0.001..=1e3))?,
            attributes: self.attributes()?,
            foreign: steps("foreign_load", &self.foreign_load, 1e3, 0.0..=1e6)?,
            ..SimWorker::default()
        })
    }
}

/// All of a worker's, from each instant on.
type Attributes = Vec<(Time, Vec<(String, String)>)>;

impl Entry {
    /// From the start, and from instants on.
    fn attributes(&self) -> Result<Attributes, String> {
        let pairs = |set: &BTreeMap<String, String>| set.clone().into_iter().collect::<Vec<_>>();
        let mut steps = vec![(Time::ZERO, pairs(&self.attributes))];
        for (at, set) in &self.attributes_from {
            let span = parse_span(at).map_err(|expected| format!("attributes_from: instant `{at}`: {expected}"))?;
            steps.push((Time::ZERO + span, pairs(set)));
        }
        if steps[0].1.is_empty() {
            steps.remove(0);
        }
        Ok(steps)
    }
}

type Range = std::ops::RangeInclusive<f64>;

fn scaled(what: &str, value: f64, by: f64, range: Range) -> Result<u32, String> {
    if range.contains(&value) {
        return Ok((value * by).round() as u32);
    }
    Err(format!("{what}: found {value}, expected {} to {}", range.start(), range.end()))
}

/// Values from instants on, which ascend.
fn steps(what: &str, list: &[(String, f64)], by: f64, range: Range) -> Result<Vec<(Time, u32)>, String> {
    let step = |(at, value): &(String, f64)| {
        let span = parse_span(at).map_err(|expected| format!("{what}: instant `{at}`: {expected}"))?;
        Ok((Time::ZERO + span, scaled(what, *value, by, range.clone())?))
    };
    list.iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_listed_one_by_one_or_by_number() {
        let text = "
            load_curve = 'below=0.05,exponential=0.12'
            reference_load = 1
            [[worker]]
            name = 'fast'
            count = 2
            map_slots = 3
            cores = 2.5
            frequency = 1.5
            rack = '/r1'
            [[worker]]
            foreign_load = [['0s', 4], ['180s', 8.5]]
            speed = [['1m', 0.5]]
            attributes = { gpu = '2' }
            attributes_from = [['60s', {}], ['90s', { gpu = '1', ssd = 'yes' }]]
        ";
        let view = parse(text, Path::new("")).expect("it reads");
        let names: Vec<&str> = view.workers.iter().map(|worker| worker.name.as_str()).collect();
        assert_eq!(names, ["fast-1", "fast-2", "worker"]);
        assert_eq!((view.curve.to_string().as_str(), view.reference_milli), ("below=0.05,exponential=0.12", 1_000));
        let [fast, _, loaded] = &view.workers[..] else { panic!("three workers") };
        assert_eq!((fast.map_slots, fast.reduce_slots, fast.cores_milli, fast.khz), (3, 2, 2_500, 1_500_000));
        assert_eq!((fast.host.as_str(), fast.rack.as_str()), ("fast-1", "/r1"));
        let at = |s: u64| Time::from_ms(s * 1_000);
        assert_eq!(loaded.foreign, [(at(0), 4_000), (at(180), 8_500)]);
        assert_eq!((&loaded.speed[..], loaded.rack.as_str()), (&[(at(60), 500_000)][..], "/default-rack"));
        assert_eq!((loaded.cores_milli, loaded.khz), (0, 0));
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let both = vec![pair("gpu", "1"), pair("ssd", "yes")];
        assert_eq!(loaded.attributes, [(at(0), vec![pair("gpu", "2")]), (at(60), vec![]), (at(90), both)]);
        assert!(fast.attributes.is_empty());
    }

    #[test]
    fn a_plain_worker_has_the_frequency_of_the_curve() {
        let text = "frequency_curve = 'fixed=0.1,khz=2268000'\n[[worker]]\nfrequency = 0.5\n[[worker]]\nname = 'b'";
        let view = parse(text, Path::new("")).expect("it reads");
        assert_eq!((view.plain_khz, view.frequency.to_string().as_str()), (2_268_000, "fixed=0.1,khz=2268000"));
        assert_eq!(view.workers.iter().map(|worker| worker.khz).collect::<Vec<_>>(), [1_134_000, 0]);
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_place() {
        for (text, said) in [
            ("", "found no [[worker]], expected at least one"),
            ("[[worker]]\ncount = 0", "worker 1: count: found 0, expected 1 to 100000"),
            ("[[worker]]\n[[worker]]\ncores = 0", "worker 2: cores: found 0, expected 0.001 to 1000000"),
            ("[[worker]]\nfrequency = -1", "worker 1: frequency: found -1, expected 0.001 to 1000"),
            (
                "[[worker]]\nforeign_load = [['soon', 1]]",
                "worker 1: foreign_load: instant `soon`: expected a number with ms, s, m, h or d, such as 90s",
            ),
            (
                "[[worker]]\nattributes_from = [['soon', {}]]",
                "worker 1: attributes_from: instant `soon`: expected a number with ms, s, m, h or d, such as 90s",
            ),
            ("[[worker]]\nspeed = [['0s', -1]]", "worker 1: speed: found -1, expected 0 to 1000"),
            ("reference_load = -1\n[[worker]]", "reference_load: found -1, expected 0 to 1000000"),
        ] {
            assert_eq!(parse(text, Path::new("")).expect_err(text), said);
        }
        let line = |text| parse(text, Path::new("")).expect_err(text);
        assert!(line("[[worker]]\n\nslots = 3").starts_with("line 3: unknown field `slots`"));
        assert!(line("load_curve = 'steep'").contains("`steep` is no load curve, expected one such as"));
    }

    #[test]
    fn a_calibration_beside_the_file_gives_its_curves() {
        let dir = tempfile::tempdir().expect("make a folder");
        let written = "schema = 'howdah/calibration/v1'\ncurve = 'below=0.02,linear=1.01'\ncores = 2.0\nkhz = 2000000\n\
            base_s = 1.0\nr_squared = 1.0\nmean_error = 0.0\nmax_error = 0.0\npoints = []\n";
        fs::write(dir.path().join("w1.toml"), written).expect("written");
        let path = dir.path().join("c.toml");
        fs::write(&path, "load_curve = 'w1.toml'\n[[worker]]").expect("written");
        assert_eq!(read(&path).expect("it reads").curve.to_string(), "below=0.02,linear=1.01");
        fs::write(&path, "frequency_curve = 'w1.toml'\n[[worker]]").expect("written");
        let said = read(&path).expect_err("no frequencies").to_string();
        assert!(said.contains("c.toml`: frequency_curve: calibration `"), "{said}");
        assert!(said.contains("w1.toml`: frequency: found none, expected one as"), "{said}");
        fs::write(&path, "load_curve = 'c.toml'\n[[worker]]").expect("written");
        let said = read(&path).expect_err("no calibration").to_string();
        assert!(
            said.contains("load_curve: calibration `") && said.contains("line 1: unknown field `load_curve`"),
            "{said}"
        );
    }
}
