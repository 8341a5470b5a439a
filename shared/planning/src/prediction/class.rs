//! Classes of tasks: those whose times tell of each other.
//!
//! The same application under the same kind of name does the same work, so that the size of its input tells the time. A
//! reduce that waited for its job's maps has overlapped its shuffle with them; its time counts from their end, and it is a
//! class of its own beside reduces that began later. Of a reduce that has shuffled or sorted already, only what follows is
//! asked: that is a class of its own as well, as the shuffle's time says nothing about it.

use serde::{Deserialize, Serialize};

/// Which part of a job a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A map, from its launch to its end.
    Map,
    /// A reduce that was launched before the last map had ended, from that end to its own.
    FirstReduce,
    /// A later reduce, from its launch to its end.
    LaterReduce,
    /// What is left of a reduce when its shuffle is done.
    AfterShuffle,
    /// What is left of it when its sort is done, too.
    AfterSort,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 5] = [Part::Map, Part::FirstReduce, Part::LaterReduce, Part::AfterShuffle, Part::AfterSort];
    /// Those that are tasks.
    pub const TASKS: [Part; 3] = [Part::Map, Part::FirstReduce, Part::LaterReduce];

    /// For people.
    pub const fn name(self) -> &'static str {
        match self {
            Part::Map => "map",
            Part::FirstReduce => "first reduce",
            Part::LaterReduce => "later reduce",
            Part::AfterShuffle => "reduce after its shuffle",
            Part::AfterSort => "reduce after its sort",
        }
    }
}

/// A class of tasks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Class {
    /// The application's name; empty where it is not known.
    pub application: String,
    /// The [family](family) of the job's name.
    pub family: String,
    pub part: Part,
}

/// The family of a job's name: the name without the numbers that tell one run from the next, so that `wordcount-17` and
/// `wordcount-18` are one family. Letters are compared in lower case.
pub fn family(name: &str) -> String {
    let is_number = |word: &&str| !word.bytes().all(|byte| byte.is_ascii_digit());
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).filter(is_number);
    let words: Vec<String> =
        words.map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()).to_lowercase()).collect();
    words.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_a_name_make_no_family_of_its_own() {
        for name in ["wordcount", "wordcount-17", "WordCount 18", "wordcount_3_2026-11-24", "wordcount7"] {
            assert_eq!(family(name), "wordcount", "{name}");
        }
        assert_eq!(family("grep-search 4"), "grep-search");
        assert_ne!(family("grep-search"), family("grep-sort"));
        assert_eq!(family("2026"), "");
    }
}
