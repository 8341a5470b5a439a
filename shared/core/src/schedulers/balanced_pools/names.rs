//! Pools as text: `NAME:MAPS+REDUCES`, several separated by commas.

use crate::job::PerKind;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Given pools with their map and reduce slots, each name once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PoolNames(pub(super) Vec<(String, [u32; 2])>);

impl PoolNames {
    /// What the text is to be.
    pub(super) const EXPECTED: &str =
        "a list of pools such as small:3+3,large:61+61 (map and reduce slots), each name once";

    /// Map and reduce slots of all together.
    pub(super) fn slots(&self) -> PerKind<u32> {
        let sum = |kind: usize| self.0.iter().fold(0, |sum: u32, (_, slots)| sum.saturating_add(slots[kind]));
        [sum(0), sum(1)]
    }
}

impl fmt::Display for PoolNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pools = self.0.iter().map(|(name, [maps, reduces])| format!("{name}:{maps}+{reduces}"));
        f.write_str(&pools.collect::<Vec<_>>().join(","))
    }
}

/// Jobs, by number, that are in the pool of another queue than their own: `NUMBER=QUEUE`, several separated by `;`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Moved(pub(super) BTreeMap<u32, String>);

impl Moved {
    /// What the text is to be.
    pub(super) const EXPECTED: &str =
        "a list of jobs' numbers and queues such as 12=small;13=pool-1:3+3, each job once";
}

impl FromStr for Moved {
    type Err = ();

    fn from_str(text: &str) -> Result<Moved, ()> {
        let mut moved = BTreeMap::new();
        for part in text.split(';').map(str::trim) {
            let (job, queue) = part.split_once('=').ok_or(())?;
            let job = job.trim().parse().map_err(|_| ())?;
            if queue.trim().is_empty() || moved.insert(job, queue.trim().to_owned()).is_some() {
                return Err(());
            }
        }
        Ok(Moved(moved))
    }
}

/// The slots that a queue's own name gives it.
pub(super) fn slots_in(queue: &str) -> Option<PerKind<u32>> {
    let (name, slots) = queue.rsplit_once(':')?;
    let (maps, reduces) = slots.split_once('+')?;
    // Digits alone: `parse` would take a sign.
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u32>().ok())?;
    (!name.is_empty()).then_some([number(maps)?, number(reduces)?])
}

impl FromStr for PoolNames {
    type Err = ();

    fn from_str(text: &str) -> Result<PoolNames, ()> {
        let mut pools = Vec::new();
        for part in text.split(',').map(str::trim) {
            let slots = slots_in(part).ok_or(())?;
            let name = part.rsplit_once(':').map_or(part, |(name, _)| name).to_owned();
            if pools.iter().any(|(known, _)| *known == name) {
                return Err(());
            }
            pools.push((name, slots));
        }
        Ok(PoolNames(pools))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_read_and_everything_else_does_not() {
        let pools = "small:3+3, large:61+0".parse::<PoolNames>().expect("two pools");
        assert_eq!(pools.0, [("small".to_owned(), [3, 3]), ("large".to_owned(), [61, 0])]);
        for wrong in ["", "a", "a:3", "a:3+", "a:+3", ":3+3", "a:3+3,a:1+1", "a:-1+1", "a:3+3,"] {
            assert_eq!(wrong.parse::<PoolNames>(), Err(()), "{wrong}");
        }
    }

    #[test]
    fn moved_jobs_read_and_everything_else_does_not() {
        let moved = "12=small; 13=pool-1:3+3".parse::<Moved>().expect("two jobs").0;
        assert_eq!(moved, BTreeMap::from([(12, "small".to_owned()), (13, "pool-1:3+3".to_owned())]));
        for wrong in ["", "12", "=a", "12=", "a=b", "1=a;1=b", "1=a;", "-1=a"] {
            assert_eq!(wrong.parse::<Moved>(), Err(()), "{wrong}");
        }
    }

    #[test]
    fn a_queue_may_name_its_own_slots() {
        assert_eq!(slots_in("batch:2:10+20"), Some([10, 20]));
        assert_eq!(slots_in("default"), None);
        assert_eq!(slots_in("at:10"), None);
    }
}
