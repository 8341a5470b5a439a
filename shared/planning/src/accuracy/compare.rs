//! Measured against simulated, job by job and for the whole run.

use serde::Serialize;

/// One time, measured and simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measure {
    /// Seconds of the live run.
    pub measured_s: f64,
    /// Seconds of the simulated one.
    pub simulated_s: f64,
}

impl Measure {
    /// Below this, in seconds, a measured time counts as this much: recorded instants are whole milliseconds, so a
    /// share of anything shorter means nothing.
    pub const RESOLUTION_S: f64 = 0.001;

    /// The difference as a share of the measured time: 0.02 is 2 %, too long or too short alike.
    pub fn error(&self) -> f64 {
        (self.simulated_s - self.measured_s).abs() / self.measured_s.max(Measure::RESOLUTION_S)
    }

    /// As [`Measure::error`], negative when the simulation was too fast.
    pub fn signed_error(&self) -> f64 {
        (self.simulated_s - self.measured_s) / self.measured_s.max(Measure::RESOLUTION_S)
    }
}

/// One job's completion time.
#[derive(Clone, Debug, PartialEq)]
pub struct JobMeasure {
    /// Printed id in the measured run.
    pub id: String,
    /// For people.
    pub name: String,
    /// From submission to the end.
    pub completion: Measure,
}

/// One run compared with its simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// From the first submission to the last job's end.
    pub makespan: Measure,
    /// In order of submission; jobs that did not succeed are left out.
    pub jobs: Vec<JobMeasure>,
    /// Jobs of the run that did not succeed and so were neither simulated nor compared.
    pub left_out: usize,
}

/// Mean and maximum of jobs' errors as shares of their measured times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// 0 without jobs.
    pub mean_error: f64,
    /// 0 without jobs.
    pub max_error: f64,
}

impl Summary {
    /// Of these errors.
    pub fn of(errors: impl IntoIterator<Item = f64>) -> Summary {
        let (mut sum, mut n, mut max_error) = (0.0, 0_u32, 0.0_f64);
        for error in errors {
            sum += error;
            n += 1;
            max_error = max_error.max(error);
        }
        Summary { mean_error: if n > 0 { sum / f64::from(n) } else { 0.0 }, max_error }
    }
}

impl Comparison {
    /// Over the jobs' completion times.
    pub fn summary(&self) -> Summary {
        Summary::of(self.jobs.iter().map(|job| job.completion.error()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_a_share_of_the_measured_time_in_either_direction() {
        let fast = Measure { measured_s: 10.0, simulated_s: 9.0 };
        let slow = Measure { measured_s: 10.0, simulated_s: 11.0 };
        assert_eq!((fast.error(), slow.error()), (0.1, 0.1));
        assert_eq!((fast.signed_error(), slow.signed_error()), (-0.1, 0.1));
    }

    #[test]
    fn a_job_of_no_measurable_time_is_off_by_milliseconds_not_by_infinity() {
        assert_eq!(Measure { measured_s: 0.0, simulated_s: 0.0 }.error(), 0.0);
        assert_eq!(Measure { measured_s: 0.0, simulated_s: 0.002 }.error(), 2.0);
    }

    #[test]
    fn a_summary_is_the_mean_and_the_largest() {
        let summary = Summary::of([0.01, 0.03, 0.02]);
        assert!((summary.mean_error - 0.02).abs() < 1e-12);
        assert_eq!(summary.max_error, 0.03);
        assert_eq!(Summary::of([]), Summary::default());
    }
}
