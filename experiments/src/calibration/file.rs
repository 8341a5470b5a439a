//! What a calibration leaves, from fits and their measurements.

use howdah_core::models::calibration::{AgainstFrequency, Calibration, FrequencyPoint, Point, SCHEMA};
use howdah_core::models::frequency_curve::FrequencyFit;
use howdah_core::models::load_curve::LoadFit;

use super::measured::Measured;
use super::{AtFrequency, Machine};

/// The record of a fit against frequency and its measurements.
pub fn against_frequency(method: &str, fit: &FrequencyFit, measured: &[AtFrequency]) -> AgainstFrequency {
    let point = |at: &AtFrequency| FrequencyPoint {
        nominal_khz: at.frequency.nominal_khz,
        effective_khz: at.frequency.effective_khz,
        time_s: at.run.time_s,
    };
    AgainstFrequency {
        curve: fit.curve,
        method: method.to_owned(),
        base_s: fit.base,
        r_squared: fit.r_squared,
        mean_error: fit.mean_error,
        max_error: fit.max_error,
        points: measured.iter().map(point).collect(),
    }
}

/// The record of a fit and its measurements, without frequencies.
pub fn calibration(machine: &Machine, fit: &LoadFit, measured: &[Measured]) -> Calibration {
    Calibration {
        schema: SCHEMA.to_owned(),
        curve: fit.curve,
        cores: machine.cores,
        khz: machine.khz,
        base_s: fit.base,
        r_squared: fit.r_squared,
        mean_error: fit.mean_error,
        max_error: fit.max_error,
        points: measured.iter().map(|m| Point { foreign: m.foreign, time_s: m.time_s }).collect(),
        frequency: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Frequency, fit_at};
    use super::*;

    #[test]
    fn a_calibration_reads_as_it_was_written() {
        let measured = [0.0, 2.0, 4.0].map(|foreign| Measured {
            foreign,
            time_s: 1.0 + foreign,
            stolen_s: 0.1,
            others: 0.0,
            speed: 1.0,
        });
        let machine = Machine { n_cpus: 2, cores: 2.0, khz: 2_000_000 };
        let [fit, _] = super::super::fit(&measured, &machine).expect("points enough");
        let alone = calibration(&machine, &fit, &measured);
        let text = alone.text().expect("written");
        assert!(text.contains("curve = \"below="), "{text}");
        assert_eq!(Calibration::parse(&text).expect("it reads"), alone, "without frequencies, as it was before");
        let at = |khz: u64| AtFrequency {
            frequency: Frequency { nominal_khz: 2_000_000, effective_khz: khz },
            run: Measured { time_s: 2e6 / khz as f64, ..measured[0] },
        };
        let runs = [at(2_000_000), at(1_000_000), at(500_000)];
        let fit = fit_at(&runs).expect("points enough");
        let frequency = Some(against_frequency("quota", &fit, &runs));
        let both = Calibration { frequency, ..alone };
        let text = both.text().expect("written");
        assert!(text.contains("curve = \"fixed=0,khz=2000000\"") && text.contains("method = \"quota\""), "{text}");
        assert_eq!(Calibration::parse(&text).expect("it reads"), both);
    }
}
