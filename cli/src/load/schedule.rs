//! Which load when.

use std::time::Duration;

use crate::units::parse_duration;

/// More tasks than this are a slip of the finger.
pub(crate) const MOST: f64 = 1_024.0;

/// Loads and when they begin.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Schedule {
    /// Ascending; the first begins at 0.
    steps: Vec<(Duration, f64)>,
    /// When it is over.
    end: Duration,
}

/// One load and its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) from: Duration,
    pub(crate) to: Duration,
    pub(crate) load: f64,
}

impl Schedule {
    /// One load all the time.
    ///
    /// # Errors
    /// When it is no load.
    pub(crate) fn steady(load: f64, end: Duration) -> Result<Schedule, String> {
        Ok(Schedule { steps: vec![(Duration::ZERO, checked(load)?)], end })
    }

    /// `0s:4,180s:8,600s:0`, or the same with line ends. It ends at `end` if given, or with its last load of 0.
    ///
    /// # Errors
    /// Names the entry and what was expected; also when nothing says when it ends.
    pub(crate) fn parse(text: &str, end: Option<Duration>) -> Result<Schedule, String> {
        let mut steps: Vec<(Duration, f64)> = Vec::new();
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or(""));
        for entry in lines.flat_map(|line| line.split(',')).map(str::trim).filter(|entry| !entry.is_empty()) {
            let wrong = |expected: &str| format!("schedule entry `{entry}`: expected {expected}");
            let (time, load) = entry.split_once(':').ok_or_else(|| wrong("TIME:LOAD, such as 180s:8"))?;
            let time = parse_duration(time).map_err(|error| format!("schedule entry `{entry}`: {error}"))?;
            let load = load.trim().parse().map_err(|_| wrong("a load such as 1.5 after the colon"))?;
            let load = checked(load).map_err(|error| format!("schedule entry `{entry}`: {error}"))?;
            if steps.last().is_some_and(|last| last.0 >= time) {
                return Err(wrong("a later time than the one before"));
            }
            if steps.is_empty() && !time.is_zero() {
                steps.push((Duration::ZERO, 0.0));
            }
            steps.push((time, load));
        }
        let Some(&(last, load)) = steps.last() else { return Err("the schedule is empty".to_owned()) };
        let own_end = (load == 0.0 && !last.is_zero()).then_some(last);
        match (own_end, end) {
            (Some(own), Some(end)) => Ok(Schedule { steps, end: own.min(end) }),
            (Some(end), None) | (None, Some(end)) => Ok(Schedule { steps, end }),
            (None, None) => Err("the schedule does not end: its last load is not 0 and --for is not given".to_owned()),
        }
    }

    /// When it is over.
    pub(crate) fn end(&self) -> Duration {
        self.end
    }

    /// The largest load before the end.
    pub(crate) fn largest(&self) -> f64 {
        self.steps().map(|step| step.load).fold(0.0, f64::max)
    }

    /// In order of their times, up to the end.
    pub(crate) fn steps(&self) -> impl Iterator<Item = Step> + '_ {
        let ends = self.steps.iter().skip(1).map(|step| step.0).chain([self.end]);
        let steps = self.steps.iter().zip(ends).map(|(&(from, load), to)| Step { from, to: to.min(self.end), load });
        steps.filter(|step| step.from < step.to)
    }
}

fn checked(load: f64) -> Result<f64, String> {
    if (0.0..=MOST).contains(&load) { Ok(load) } else { Err(format!("a load of {load}: expected 0 to {MOST}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn steps(schedule: &Schedule) -> Vec<(u64, u64, f64)> {
        schedule.steps().map(|step| (step.from.as_secs(), step.to.as_secs(), step.load)).collect()
    }

    #[test]
    fn a_schedule_ends_with_its_last_load_of_zero() {
        let schedule = Schedule::parse("0s:4,180s:8,10m:0", None).unwrap();
        assert_eq!(steps(&schedule), [(0, 180, 4.0), (180, 600, 8.0)]);
        assert_eq!((schedule.end(), schedule.largest()), (s(600), 8.0));
    }

    #[test]
    fn a_file_has_lines_and_comments() {
        let schedule = Schedule::parse("# quiet first\n10s: 1.5\n20s:3 # then more\n", Some(s(30))).unwrap();
        assert_eq!(steps(&schedule), [(0, 10, 0.0), (10, 20, 1.5), (20, 30, 3.0)]);
    }

    #[test]
    fn what_comes_after_the_end_does_not_count() {
        let schedule = Schedule::parse("0s:1,10s:9,20s:0", Some(s(5))).unwrap();
        assert_eq!((steps(&schedule), schedule.largest()), (vec![(0, 5, 1.0)], 1.0));
    }

    #[test]
    fn faults_are_named() {
        let fault = |text: &str| Schedule::parse(text, None).unwrap_err();
        assert_eq!(fault("4"), "schedule entry `4`: expected TIME:LOAD, such as 180s:8");
        assert_eq!(fault("0s:x"), "schedule entry `0s:x`: expected a load such as 1.5 after the colon");
        assert_eq!(fault("9s:1,9s:2"), "schedule entry `9s:2`: expected a later time than the one before");
        assert_eq!(fault("0s:-1"), "schedule entry `0s:-1`: a load of -1: expected 0 to 1024");
        assert_eq!(fault(" , "), "the schedule is empty");
        assert!(fault("0s:1").starts_with("the schedule does not end"));
        assert!(Schedule::steady(f64::NAN, s(1)).is_err());
    }
}
