//! Faults on purpose, for tests of everything that must survive them.
//!
//! With `howdah.fault.attempt.fraction` (0 to 1) set, that share of attempts dies: which ones, where and how follows
//! from a hash of `howdah.fault.seed` and the attempt's id, so a run can be repeated. Attempts numbered 3 and up
//! (after a restart of the master: 1003 and up, …) are spared, so that no task fails more than three times by this.
//! They die in the middle of their work (after half of a map's input or of a reduce's), or when all of it is done and
//! the output is being completed; an attempt that is over too early for the first dies at the second.
//! They exit with code 41, kill themselves with SIGKILL, panic, or return an error.

use std::cell::Cell;

use crate::api::context::Context;
use crate::api::error::TaskError;

/// Where an attempt may die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultPoint {
    /// Half of the input was read.
    Middle,
    /// The output is about to be completed.
    Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Exit,
    Kill,
    Panic,
    Error,
}

/// Exit code of an attempt that was told to exit.
const EXIT_CODE: i32 = 41;

/// What is planned for one attempt.
pub(crate) struct FaultPlan {
    planned: Option<(FaultPoint, Manner)>,
    passed_middle: Cell<bool>,
}

impl FaultPlan {
    pub(crate) fn new(context: &Context) -> Result<FaultPlan, TaskError> {
        let properties = context.properties();
        let fraction = properties.parse_or::<f64>(&["howdah.fault.attempt.fraction"], 0.0, "a number from 0 to 1")?;
        let planned = if fraction > 0.0 && context.attempt_number() % 1000 < 3 {
            let seed = properties.get("howdah.fault.seed").unwrap_or("0");
            plan(seed, context.attempt(), fraction)
        } else {
            None
        };
        Ok(FaultPlan { planned, passed_middle: Cell::new(false) })
    }

    /// Dies here if that is planned. `fraction` is how much of the input was read.
    #[inline]
    pub(crate) fn progress(&self, fraction: f64) -> Result<(), TaskError> {
        if self.planned.is_none() || fraction < 0.5 || self.passed_middle.replace(true) {
            return Ok(());
        }
        self.check(FaultPoint::Middle)
    }

    /// Dies here at the latest, if any death is planned.
    pub(crate) fn output(&self) -> Result<(), TaskError> {
        self.check(FaultPoint::Output)
    }

    fn check(&self, here: FaultPoint) -> Result<(), TaskError> {
        match self.planned {
            Some((point, manner)) if point == here || here == FaultPoint::Output => die(manner, here),
            _ => Ok(()),
        }
    }
}

fn plan(seed: &str, attempt: &str, fraction: f64) -> Option<(FaultPoint, Manner)> {
    let hash = scramble(format!("{seed}/{attempt}").as_bytes());
    // 53 bits make the fraction, three others the rest.
    if (hash >> 11) as f64 / (1_u64 << 53) as f64 >= fraction {
        return None;
    }
    let manner = [Manner::Exit, Manner::Kill, Manner::Panic, Manner::Error][(hash & 3) as usize];
    let point = if hash & 4 == 0 { FaultPoint::Middle } else { FaultPoint::Output };
    Some((point, manner))
}

/// FNV-1a, then the finalizer of SplitMix64 so that all bits depend on all bytes.
fn scramble(bytes: &[u8]) -> u64 {
    let fnv = |h: u64, &b: &u8| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
    let mut hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, fnv);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[expect(clippy::panic, reason = "a panic is one of the faults")]
fn die(manner: Manner, here: FaultPoint) -> Result<(), TaskError> {
    match manner {
        Manner::Exit => std::process::exit(EXIT_CODE),
        Manner::Kill => {
            let _ = nix::sys::signal::kill(nix::unistd::Pid::this(), nix::sys::signal::Signal::SIGKILL);
            Ok(())
        }
        Manner::Panic => panic!("a fault on purpose ({here:?}), as `howdah.fault.attempt.fraction` asks"),
        Manner::Error => {
            Err(TaskError::Rule(format!("a fault on purpose ({here:?}), as `howdah.fault.attempt.fraction` asks")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_planned_share_of_attempts_dies_in_every_manner_and_place() {
        let attempt = |i: u32| format!("attempt_202611201200_0001_m_{i:06}_0");
        let planned: Vec<_> = (0..10_000).filter_map(|i| plan("7", &attempt(i), 0.1)).collect();
        assert!((800..1200).contains(&planned.len()), "{}", planned.len());
        for manner in [Manner::Exit, Manner::Kill, Manner::Panic, Manner::Error] {
            for point in [FaultPoint::Middle, FaultPoint::Output] {
                let n = planned.iter().filter(|&&p| p == (point, manner)).count();
                assert!(n > planned.len() / 16, "{manner:?} at {point:?}: {n}");
            }
        }
    }

    #[test]
    fn the_same_seed_plans_the_same_and_another_seed_does_not() {
        let all = |seed: &str| -> Vec<_> {
            (0..1000).map(|i| plan(seed, &format!("attempt_1_0001_r_{i:06}_0"), 0.5)).collect()
        };
        assert_eq!(all("1"), all("1"));
        assert_ne!(all("1"), all("2"));
        assert!(plan("1", "x", 1.0).is_some() && plan("1", "x", 0.0).is_none());
    }
}
