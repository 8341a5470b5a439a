//! The guards against hostile jobs, peers and clients that tests of real daemons can switch off, one at a time.
//!
//! A test that attacks a guarded cluster and sees nothing happen may not attack at all. So the same attack is made once
//! more with its guard off, and must succeed then. Unlike the core's planted faults, these are asked for in other
//! processes than the test's: hence the variable `HOWDAH_TEST_GUARDS_OFF` with guards' names and commas between them.
//!
//! The variable is read only with the feature `switch`, which nothing but the command's dev-dependencies asks for: cargo
//! leaves those out of `cargo build`, and `cargo xtask dist` looks for the variable's name in what it built. Without the
//! feature the question is answered at compile time. Not `debug_assertions`: some of the suites run on the release build.

pub mod clock;

/// One guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Counters of an attempt are few and their names short.
    Counters,
    /// A line on the umbilical has a largest length.
    Lines,
    /// A line of an input or of a streaming command has a largest length.
    LineLength,
    /// Log files are opened without waiting and without following, and are made anew in the place of what is there.
    PlainFiles,
    /// An attempt is done only if it asked to commit its output.
    Commit,
    /// A fetch of a map's output has deadlines.
    FetchDeadlines,
    /// A map refuses an input that changed after it was listed.
    UnchangedInput,
    /// Attempts run what the worker itself was started from.
    OwnExecutable,
    /// What tasks planted in an output is neither followed nor replaced.
    OutputLinks,
    /// Output lies outside of the daemons' own directories.
    OutputPlace,
    /// Connections are bounded, and idle ones make room.
    Connections,
    /// A worker's name is its own while it is alive.
    WorkerNames,
    /// The name of a worker that is lost is free, whatever incarnation it said.
    LostNames,
    /// What would steer a terminal is shown in place of being sent.
    Escapes,
    /// Clients' questions reach the core's thread a few at a time.
    Questions,
    /// Few logs are read at a time, and not for those who take nothing.
    LogReaders,
    /// A walk over inputs ends: in a circle, at a bound, and when nobody waits for it.
    InputWalk,
    /// Each frame of a journal continues the one before it.
    WholeJournal,
    /// A failure that no other attempt could mend uses up its task.
    Hopeless,
    /// Few words of an attempt are on their way inside its worker.
    Gate,
    /// The logs of a running attempt are bounded.
    LogSize,
    /// An attempt that fills its worker's disk fails.
    DiskSpace,
    /// Work directories are handed on within their job alone, and only empty.
    WorkDirectories,
    /// A job succeeds only if each winner's part is in its output.
    PromotedParts,
    /// Several jobs' work on file systems goes on beside each other.
    FileThreads,
    /// Where others fetch from a worker is where its connection comes from, unless it said otherwise on purpose.
    AnnouncedAddress,
    /// A journal that cannot be written stops acknowledgements, not the master.
    JournalTrouble,
    /// A trace's counts are held against what a trace may have before anything is made for each.
    ClaimedCounts,
}

impl Guard {
    /// All of them.
    pub const ALL: [Guard; 28] = [
        Guard::Counters,
        Guard::Lines,
        Guard::LineLength,
        Guard::PlainFiles,
        Guard::Commit,
        Guard::FetchDeadlines,
        Guard::UnchangedInput,
        Guard::OwnExecutable,
        Guard::OutputLinks,
        Guard::OutputPlace,
        Guard::Connections,
        Guard::WorkerNames,
        Guard::LostNames,
        Guard::Escapes,
        Guard::Questions,
        Guard::LogReaders,
        Guard::InputWalk,
        Guard::WholeJournal,
        Guard::Hopeless,
        Guard::Gate,
        Guard::LogSize,
        Guard::DiskSpace,
        Guard::WorkDirectories,
        Guard::PromotedParts,
        Guard::FileThreads,
        Guard::AnnouncedAddress,
        Guard::JournalTrouble,
        Guard::ClaimedCounts,
    ];

    /// As it stands in the variable.
    pub const fn name(self) -> &'static str {
        match self {
            Guard::Counters => "counters",
            Guard::Lines => "lines",
            Guard::LineLength => "line-length",
            Guard::PlainFiles => "plain-files",
            Guard::Commit => "commit",
            Guard::FetchDeadlines => "fetch-deadlines",
            Guard::UnchangedInput => "unchanged-input",
            Guard::OwnExecutable => "own-executable",
            Guard::OutputLinks => "output-links",
            Guard::OutputPlace => "output-place",
            Guard::Connections => "connections",
            Guard::WorkerNames => "worker-names",
            Guard::LostNames => "lost-names",
            Guard::Escapes => "escapes",
            Guard::Questions => "questions",
            Guard::LogReaders => "log-readers",
            Guard::InputWalk => "input-walk",
            Guard::WholeJournal => "whole-journal",
            Guard::Hopeless => "hopeless",
            Guard::Gate => "gate",
            Guard::LogSize => "log-size",
            Guard::DiskSpace => "disk-space",
            Guard::WorkDirectories => "work-directories",
            Guard::PromotedParts => "promoted-parts",
            Guard::FileThreads => "file-threads",
            Guard::AnnouncedAddress => "announced-address",
            Guard::JournalTrouble => "journal-trouble",
            Guard::ClaimedCounts => "claimed-counts",
        }
    }

    /// Whether the guard stands. It always does without the feature `switch`.
    #[cfg(not(feature = "switch"))]
    #[inline(always)]
    pub const fn stands(self) -> bool {
        true
    }

    /// Whether the guard stands, and nobody switched it off in this process's environment.
    #[cfg(feature = "switch")]
    pub fn stands(self) -> bool {
        !switch::off().contains(&self)
    }
}

#[cfg(feature = "switch")]
pub use switch::VARIABLE;

#[cfg(feature = "switch")]
mod switch {
    use std::sync::OnceLock;

    use super::Guard;

    /// Names the guards that are off in a process and in what it starts.
    pub const VARIABLE: &str = "HOWDAH_TEST_GUARDS_OFF";

    /// What the environment says, read once.
    pub(super) fn off() -> &'static [Guard] {
        static OFF: OnceLock<Vec<Guard>> = OnceLock::new();
        OFF.get_or_init(|| read(&std::env::var(VARIABLE).unwrap_or_default()))
    }

    /// A misspelt name ends the process: a test would believe that the guard is off.
    fn read(text: &str) -> Vec<Guard> {
        let names = text.split(',').filter(|name| !name.is_empty());
        let find = |name| Guard::ALL.into_iter().find(|guard| guard.name() == name);
        names.map(|name| find(name).unwrap_or_else(|| panic!("{VARIABLE}: no guard is named `{name}`"))).collect()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn guards_are_switched_off_by_their_names() {
            assert_eq!(read("commit,lines"), [Guard::Commit, Guard::Lines]);
            assert!(read("").is_empty());
            assert!(std::panic::catch_unwind(|| read("comit")).is_err());
        }
    }
}
