//! The cores that attempts of a kind may use.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// This thread.
const HERE: Pid = Pid::from_raw(0);

/// Some of the machine's cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cores {
    /// As it was written.
    text: String,
    set: CpuSet,
}

impl Cores {
    /// From a list as the kernel writes it: numbers and ranges, with commas in between.
    pub(crate) fn parse(text: &str) -> Result<Cores, String> {
        let expected = "expected a list such as 0-3,8";
        let number = |word: &str| {
            let number = word.trim().parse::<usize>().ok().filter(|&core| core < CpuSet::count());
            number.ok_or_else(|| format!("`{word}` in `{text}` is no core's number, {expected}"))
        };
        let mut set = CpuSet::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(format!("`{part}` goes down, {expected}"));
            }
            for core in first..=last {
                set.set(core).map_err(|error| format!("core {core}: {error}"))?;
            }
        }
        Ok(Cores { text: text.to_owned(), set })
    }

    /// Whether attempts may be kept to them. The kernel is asked, by a thread that tries: a worker that is itself kept to
    /// other cores may well give them to its attempts.
    pub(crate) fn check(&self) -> Result<(), String> {
        let set = self.set;
        let kept = std::thread::spawn(move || sched_setaffinity(HERE, &set)).join();
        if matches!(kept, Ok(Ok(()))) {
            return Ok(());
        }
        let allowed = sched_getaffinity(HERE).map_err(|error| format!("look at this process: {error}"))?;
        let has = |core: &usize| allowed.is_set(*core).unwrap_or(false);
        let own: Vec<String> = (0..CpuSet::count()).filter(has).map(|n| n.to_string()).collect();
        Err(format!("`{}` has no core that this process may use, expected some of {}", self.text, own.join(",")))
    }

    /// Keeps a process to them.
    pub(super) fn keep(&self, pid: u32) -> Result<(), String> {
        sched_setaffinity(Pid::from_raw(pid as i32), &self.set)
            .map_err(|error| format!("keep the attempt to the cores {}: {error}", self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<usize> {
        let cores = Cores::parse(text).expect("it is a list");
        (0..CpuSet::count()).filter(|&core| cores.set.is_set(core).unwrap()).collect()
    }

    #[test]
    fn numbers_and_ranges_are_cores() {
        assert_eq!(numbers("3"), [3]);
        assert_eq!(numbers("0-2, 5"), [0, 1, 2, 5]);
        for wrong in ["", "a", "2-1", "1-", "-1", "1,,2", "99999999"] {
            let error = Cores::parse(wrong).expect_err(wrong);
            assert!(error.contains("expected a list such as 0-3,8"), "{wrong}: {error}");
        }
    }

    #[test]
    fn cores_that_are_not_there_are_an_error_that_names_those_that_are() {
        let error = Cores::parse("1023").expect("a list").check().expect_err("no machine of ours has so many");
        assert!(error.starts_with("`1023` has no core that this process may use, expected some of "), "{error}");
    }

    #[test]
    fn a_worker_on_one_core_may_give_its_attempts_another() {
        let allowed = sched_getaffinity(HERE).expect("it says");
        let mut own = (0..CpuSet::count()).filter(|&core| allowed.is_set(core).unwrap());
        let first = own.next().expect("there is one");
        let last = Cores::parse(&own.next_back().unwrap_or(first).to_string()).expect("a list");
        let there = std::thread::spawn(move || {
            Cores::parse(&first.to_string()).expect("a list").keep(0)?;
            last.check()
        });
        assert_eq!(there.join().expect("it ends"), Ok(()));
    }

    #[test]
    fn a_process_stays_on_the_cores_it_is_kept_to() {
        let allowed = sched_getaffinity(HERE).expect("it says");
        let last = (0..CpuSet::count()).rfind(|&core| allowed.is_set(core).unwrap()).expect("there is one");
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("it starts");
        let kept = Cores::parse(&last.to_string()).expect("a list").keep(child.id());
        let found = sched_getaffinity(Pid::from_raw(child.id() as i32)).expect("it says");
        child.kill().and_then(|()| child.wait()).expect("it ends");
        kept.expect("it is ours");
        assert!((0..CpuSet::count()).all(|core| found.is_set(core).unwrap() == (core == last)));
    }
}
