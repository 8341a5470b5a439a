//! What the probes said last, and with it the worker's attributes.

use std::collections::{BTreeMap, HashMap};

use super::run::Trouble;

/// Attributes and warnings, as a registration or a report tells them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProbeSnapshot {
    /// Ascending by name.
    pub(crate) attributes: BTreeMap<String, String>,
    /// Why probes have no value, by probe; what is wrong with their file and with the script of vitals, by the names of the
    /// settings.
    pub(crate) warnings: HashMap<String, String>,
}

/// The setting that names the file.
const FILE_SETTING: &str = "probes_file";
/// The setting that holds the script.
const SCRIPT_SETTING: &str = "vitals_script";

/// The last word of each probe.
#[derive(Debug)]
pub(super) struct Board {
    /// Attributes of the configuration.
    fixed: BTreeMap<String, String>,
    /// What is wrong with the probes' file, if anything is.
    file: Option<String>,
    /// What is wrong with the script of vitals, if anything is.
    script: Option<String>,
    /// By probe; `None` before its first word.
    said: BTreeMap<String, Option<Result<String, Trouble>>>,
}

impl Board {
    pub(super) fn new(fixed: BTreeMap<String, String>) -> Board {
        Board { fixed, file: None, script: None, said: BTreeMap::new() }
    }

    /// There is such a probe from now on. The one of its name before, if any, has had the last word until this one speaks.
    pub(super) fn add(&mut self, probe: &str) {
        self.said.entry(probe.to_owned()).or_default();
    }

    /// There is no such probe any more.
    pub(super) fn remove(&mut self, probe: &str) {
        self.said.remove(probe);
    }

    /// A probe spoke. It is logged when that is another condition than before, not each time.
    pub(super) fn say(&mut self, probe: &str, word: Result<String, Trouble>) {
        let Some(before) = self.said.get_mut(probe) else { return };
        match (&word, &*before) {
            (Err(trouble), Some(Err(known))) if trouble.is_like(known) => return,
            (Err(trouble), _) => {
                tracing::warn!(probe, %trouble, "a probe has no value; jobs that require it do not run here");
            }
            (Ok(value), Some(Err(_))) => tracing::info!(probe, value, "a probe has a value again"),
            (Ok(_), _) => {}
        }
        *before = Some(word);
    }

    /// The probes' file was read, or cannot be.
    pub(super) fn read(&mut self, problem: Option<String>) {
        self.file = problem;
    }

    /// The script of vitals ran well, or did not.
    pub(super) fn script(&mut self, problem: Option<String>) {
        self.script = problem;
    }

    /// Everything. A probe takes the place of the configuration's attribute of its name, also when it has no value.
    pub(super) fn snapshot(&self) -> ProbeSnapshot {
        let mut snapshot = ProbeSnapshot { attributes: self.fixed.clone(), warnings: HashMap::new() };
        for (probe, word) in &self.said {
            snapshot.attributes.remove(probe);
            match word {
                Some(Ok(value)) => drop(snapshot.attributes.insert(probe.clone(), value.clone())),
                Some(Err(trouble)) => drop(snapshot.warnings.insert(probe.clone(), trouble.to_string())),
                None => {}
            }
        }
        for (setting, problem) in [(FILE_SETTING, &self.file), (SCRIPT_SETTING, &self.script)] {
            if let Some(problem) = problem {
                snapshot.warnings.insert(setting.to_owned(), problem.clone());
            }
        }
        snapshot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pairs = Vec<(String, String)>;

    fn snapshot(board: &Board) -> (Pairs, Pairs) {
        let ProbeSnapshot { attributes, warnings } = board.snapshot();
        (attributes.into_iter().collect(), warnings.into_iter().collect())
    }

    fn pair(name: &str, value: &str) -> Pairs {
        vec![(name.to_owned(), value.to_owned())]
    }

    #[test]
    fn a_probe_in_trouble_costs_its_attribute_and_a_warning_that_stays_the_same() {
        let mut board = Board::new([("gpu".to_owned(), "9".to_owned())].into());
        assert_eq!(snapshot(&board), (pair("gpu", "9"), vec![]));
        board.add("gpu");
        assert_eq!(snapshot(&board), (vec![], vec![]), "the probe decides, and it has not spoken");
        board.say("gpu", Ok("2".to_owned()));
        assert_eq!(snapshot(&board), (pair("gpu", "2"), vec![]));
        let exit = |said: &str| Err(Trouble::Exit { code: 1, said: said.to_owned() });
        board.say("gpu", exit(": at 12:01"));
        board.say("gpu", exit(": at 12:02"));
        assert_eq!(snapshot(&board), (vec![], pair("gpu", "exited with code 1: at 12:01")));
        board.say("gpu", Err(Trouble::Garbage("control characters")));
        assert_eq!(snapshot(&board), (vec![], pair("gpu", "printed control characters")));
        board.say("gpu", Ok("2".to_owned()));
        board.add("gpu");
        assert_eq!(
            snapshot(&board),
            (pair("gpu", "2"), vec![]),
            "a probe that is changed keeps its value until it speaks"
        );
        board.remove("gpu");
        board.say("gpu", Ok("3".to_owned()));
        assert_eq!(snapshot(&board), (pair("gpu", "9"), vec![]), "and one that is gone says nothing more");
    }
}
