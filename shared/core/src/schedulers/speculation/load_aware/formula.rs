//! The time of a task on one worker, from the time of another one of the same job on the same or another worker.
//!
//! | `load-aware.formula` | load | frequency, for another worker |
//! |---|---|---|
//! | `fitted` (default) | `f(Load') ÷ f(Load)`, `f` the measured [`LoadCurve`] | `g(Freq') ÷ g(Freq)`, `g` the measured [`FrequencyCurve`]; `Freq ÷ Freq'` where none was |
//! | `corrected` | the same, `f` made of the thesis's numbers | `Freq ÷ Freq'` |
//! | `printed` | `17700 × (Load' − Load)` up to the cores, `e^(0.12 (Load' − Load))` beyond | `Freq' ÷ Freq` |
//!
//! Unprimed is the finished task, primed the worker that asks. Source: Load-Aware thesis §3.3.
//!
//! `Deviation:` `corrected` is not what the thesis prints. Its linear term is no factor: it is 0 at equal load, where the
//! time should stay, and negative below. 17700 is read as the slope of Fig. 3.4 (a), in milliseconds for each unit of
//! load, of the task that was measured there; to be used for another task it must be taken against that line's own
//! intercept, which the text does not give. The only time of one machine in the text is 500 s for 9000 games (ch. 4);
//! against it the slope is 3.54 % for each unit, 28 % from none to all of 8 cores, which is what hyper-threads cost.
//! Against a mapper's 60 s it would be 240 %, more than 8 busy hardware threads can; the experiments after chapter 4 read
//! it so all the same, and the guide (`schedulers/speculation.md`) says why. So `f` is `1 + 0.0354 × Load` up to
//! the cores and grows by `e^0.12` for each unit beyond. `Deviation:` the printed frequency ratio is upside down: it
//! makes a task on a slower core shorter; `corrected` and `fitted` turn it around.

use std::fmt;

use crate::job::WorkerId;
use crate::models::load_curve::{Beyond, ONE_PPM};
use crate::models::{FrequencyCurve, LoadCurve};
use crate::schedulers::params::{Reader, SchedulerError};

/// The thesis's factor of the linear term.
const PRINTED_SLOPE: u128 = 17_700;
/// The thesis's exponent for each unit of load, in millionths.
const RATE_PPM: u32 = 120_000;
/// 17.7 s ÷ 500 s for each unit of load, in millionths.
const SLOPE_PPM: u64 = 35_400;
/// Estimates end here: some 30,000 years, so that sums of them do not overflow.
const MOST_US: u128 = 1 << 60;

/// How times are carried over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Formula {
    Fitted(LoadCurve, FrequencyCurve),
    Corrected,
    Printed,
}

/// A worker as a task meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) worker: WorkerId,
    /// Tasks that run or wait for a core, the task itself included, in thousandths.
    pub(super) load_milli: u32,
    /// What they share, in thousandths; 0 when unknown.
    pub(super) cores_milli: u32,
    /// Effective frequency; 0 when unknown.
    pub(super) khz: u32,
}

/// A finished task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) worker: WorkerId,
    pub(super) time_us: u64,
    /// What its time would have been at no load: its time over the mean factor, taken moment by moment.
    pub(super) unloaded_us: u64,
    /// Mean load over its life.
    pub(super) load_milli: u32,
    pub(super) khz: u32,
}

impl Reference {
    /// The same task where times are carried over otherwise: what its time would have been at no load, from its mean load
    /// on its worker, which has so many cores.
    pub(super) fn under(&self, formula: Formula, place: &Place) -> Reference {
        let factor = formula.factor_ppm(&Place { load_milli: self.load_milli, ..*place });
        let unloaded = u128::from(self.time_us) * u128::from(ONE_PPM) / u128::from(factor.max(1));
        Reference { unloaded_us: u64::try_from(unloaded).unwrap_or(u64::MAX), ..*self }
    }
}

impl Place {
    /// A worker that has said nothing.
    pub(super) fn unknown(worker: WorkerId) -> Place {
        Place { worker, load_milli: 0, cores_milli: 0, khz: 0 }
    }
}

impl Formula {
    /// Reads `load-aware.formula`, `load-aware.curve` and `load-aware.frequency`. The thesis's formulas have curves of
    /// their own.
    pub(super) fn from_params(params: &mut Reader<'_>) -> Result<Formula, SchedulerError> {
        let formula = params.word("load-aware.formula", &["fitted", "printed", "corrected"])?;
        for key in ["load-aware.curve", "load-aware.frequency"] {
            if params.text(key).is_some() && formula != "fitted" {
                let expected = format!("fitted, which alone reads `{key}`");
                return Err(params.wrong("load-aware.formula", formula, &expected));
            }
        }
        let curve = match params.text("load-aware.curve") {
            None => LoadCurve::default(),
            Some(text) => text.parse().map_err(|_| {
                params.wrong(
                    "load-aware.curve",
                    text,
                    "a load curve such as below=0.05,linear=1 or below=0.05,exponential=0.12, or the name of a \
                     calibration's file that ends in .toml",
                )
            })?,
        };
        let frequency = match params.text("load-aware.frequency") {
            None => FrequencyCurve::default(),
            Some(text) => text.parse().map_err(|_| {
                params.wrong(
                    "load-aware.frequency",
                    text,
                    "a frequency curve such as fixed=0.12,khz=2268000, or the name of a calibration's file that ends in \
                     .toml",
                )
            })?,
        };
        Ok(match formula {
            "printed" => Formula::Printed,
            "corrected" => Formula::Corrected,
            _ => Formula::Fitted(curve, frequency),
        })
    }

    /// The measured ones; `None` under the thesis's formulas.
    pub(super) fn curves(self) -> Option<(LoadCurve, FrequencyCurve)> {
        match self {
            Formula::Fitted(load, frequency) => Some((load, frequency)),
            Formula::Corrected | Formula::Printed => None,
        }
    }

    /// What a task's time is multiplied by at a place, in millionths, from 1,000,000. That is 1 where nothing is known
    /// of the worker's cores, and everywhere under the printed formulas, which know no such factor.
    pub(super) fn factor_ppm(self, place: &Place) -> u64 {
        let curve = match self {
            _ if place.cores_milli == 0 => return ONE_PPM,
            Formula::Printed => return ONE_PPM,
            Formula::Fitted(curve, _) => curve,
            Formula::Corrected => {
                let below = SLOPE_PPM * u64::from(place.cores_milli) / 1_000;
                let below_ppm = u32::try_from(below).unwrap_or(u32::MAX);
                LoadCurve { below_ppm, beyond: Beyond::Exponential { rate_ppm: RATE_PPM } }
            }
        };
        curve.factor_ppm(place.load_milli, place.cores_milli)
    }

    /// A task's time at a place, in microseconds.
    pub(super) fn time_us(self, reference: &Reference, place: &Place) -> u64 {
        let time = match self {
            Formula::Printed => printed_us(reference, place),
            _ => u128::from(reference.unloaded_us) * u128::from(self.factor_ppm(place)) / u128::from(ONE_PPM),
        };
        let (from, to) = (reference.khz, place.khz);
        let time = time.min(MOST_US);
        let time = match self {
            _ if reference.worker == place.worker || from == 0 || to == 0 => time,
            Formula::Printed => time * u128::from(to) / u128::from(from),
            Formula::Fitted(_, frequency) => frequency.time_us(time, from, to),
            Formula::Corrected => FrequencyCurve::default().time_us(time, from, to),
        };
        time.min(MOST_US) as u64
    }
}

/// The time by the thesis's load formulas as they stand. Where its linear one is negative, no time at all.
fn printed_us(reference: &Reference, place: &Place) -> u128 {
    let more = i64::from(place.load_milli) - i64::from(reference.load_milli);
    let time = u128::from(reference.time_us);
    if place.cores_milli == 0 || place.load_milli <= place.cores_milli {
        return PRINTED_SLOPE * more.max(0) as u128 * time / 1_000;
    }
    let exponent = f64::from(RATE_PPM) * more as f64 / 1e9;
    let factor_ppm = libm::round(libm::exp(exponent.clamp(-14.0, 14.0)) * 1e6) as u128;
    time * factor_ppm / u128::from(ONE_PPM)
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Formula::Fitted(curve, frequency) => write!(f, "fitted ({curve}; {frequency})"),
            Formula::Corrected => f.write_str("corrected"),
            Formula::Printed => f.write_str("printed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedulers::by_name;

    const R: Reference =
        Reference { worker: WorkerId(1), time_us: 60_000_000, unloaded_us: 40_000_000, load_milli: 2_000, khz: 2_000 };

    fn place(worker: u32, load: u32, cores: u32, khz: u32) -> Place {
        Place { worker: WorkerId(worker), load_milli: load * 1_000, cores_milli: cores * 1_000, khz }
    }

    fn fitted(frequency: &str) -> Formula {
        Formula::Fitted("below=0.5,linear=1".parse().expect("a curve"), frequency.parse().expect("a curve"))
    }

    #[test]
    fn a_curve_that_would_change_nothing_is_refused() {
        for formula in ["printed", "corrected"] {
            for (key, curve) in [("load-aware.curve", "below=0,linear=1"), ("load-aware.frequency", "fixed=0,khz=1")] {
                let pairs = [("load-aware.formula", formula), (key, curve)];
                let params = pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
                let error = by_name("load-aware", &params).err().expect("it is refused").to_string();
                let expected = format!(
                    "scheduler `load-aware`: parameter `load-aware.formula`: `{formula}` is not fitted, which alone reads \
                     `{key}`"
                );
                assert_eq!(error, expected);
            }
        }
    }

    /// Half of 50 s at 2000 kHz does not change with it.
    #[test]
    fn fitted_takes_the_frequencies_by_their_curve() {
        let half = fitted("fixed=0.5,khz=2000");
        assert_eq!(half.time_us(&R, &place(0, 4, 8, 1_000)), 75_000_000);
        assert_eq!(half.time_us(&R, &place(0, 4, 8, 4_000)), 37_500_000);
        assert_eq!(half.time_us(&R, &place(1, 4, 8, 1_000)), 50_000_000, "the same worker: for load only");
    }

    #[test]
    fn fitted_takes_the_curve_and_for_another_worker_the_frequencies() {
        let fitted = fitted("fixed=0,khz=1");
        // f(4 of 8 cores) = 1.25, f(16 of 8) = 1.5 × 2.
        assert_eq!(fitted.time_us(&R, &place(1, 4, 8, 1_000)), 50_000_000, "the same worker: for load only");
        assert_eq!(fitted.time_us(&R, &place(0, 4, 8, 1_000)), 100_000_000, "half the frequency, twice the time");
        assert_eq!(fitted.time_us(&R, &place(0, 16, 8, 4_000)), 60_000_000);
        assert_eq!(fitted.time_us(&R, &place(0, 16, 8, 0)), 120_000_000, "an unknown frequency is left out");
        assert_eq!(fitted.time_us(&R, &place(0, 16, 0, 2_000)), 40_000_000, "so is a load on unknown cores");
    }

    #[test]
    fn a_task_is_seen_anew_under_another_formula_by_its_mean_load() {
        let fitted = fitted("fixed=0,khz=1");
        // f(2 of 8 cores) = 1.125, whatever the load is by now.
        let anew = R.under(fitted, &place(1, 7, 8, 2_000));
        assert_eq!((anew.unloaded_us, anew.time_us, anew.load_milli), (53_333_333, R.time_us, R.load_milli));
        assert_eq!(fitted.time_us(&anew, &place(1, 2, 8, 2_000)), 59_999_999, "equal load, equal time");
    }

    /// Thesis §3.3 as printed: at equal load nothing is left, and a faster worker takes longer.
    #[test]
    fn printed_is_what_the_thesis_prints() {
        let printed = Formula::Printed;
        assert_eq!(printed.time_us(&R, &place(1, 2, 8, 2_000)), 0, "17700 × (2 − 2) × 60 s");
        assert_eq!(printed.time_us(&R, &place(1, 1, 8, 2_000)), 0, "17700 × (1 − 2) × 60 s is no time");
        assert_eq!(printed.time_us(&R, &place(1, 3, 8, 2_000)), 17_700 * 60_000_000, "17700 × (3 − 2) × 60 s");
        // 60 s × e^(0.12 × (12 − 2)) = 60 s × 3.320117.
        assert_eq!(printed.time_us(&R, &place(1, 12, 8, 2_000)), 199_207_020);
        assert_eq!(printed.time_us(&R, &place(0, 12, 8, 4_000)), 398_414_040, "times 4000 ÷ 2000");
    }

    /// The same with 17.7 s of 500 s for each unit of load, and the ratio of frequencies turned around.
    #[test]
    fn corrected_is_what_the_thesis_can_only_have_meant() {
        let corrected = Formula::Corrected;
        assert_eq!(corrected.factor_ppm(&place(0, 2, 8, 0)), 1_070_800, "1 + 0.0354 × 2");
        assert_eq!(corrected.factor_ppm(&place(0, 8, 8, 0)), 1_283_200, "1 + 0.0354 × 8");
        // 1.2832 × e^(0.12 × 4) = 1.2832 × 1.616074.
        assert_eq!(corrected.factor_ppm(&place(0, 12, 8, 0)), 2_073_746);
        let loaded = Reference { unloaded_us: 56_032_872, ..R };
        assert_eq!(corrected.time_us(&loaded, &place(1, 2, 8, 9)), 59_999_999, "equal load, equal time");
        assert_eq!(corrected.time_us(&R, &place(0, 8, 8, 4_000)), 25_664_000, "40 s × 1.2832 ÷ 2");
    }

    #[test]
    fn absurd_loads_end_somewhere() {
        let absurd = Place { worker: WorkerId(0), load_milli: u32::MAX, cores_milli: 1, khz: 1 };
        let long = Reference { time_us: u64::MAX, unloaded_us: u64::MAX, khz: u32::MAX, ..R };
        let curves = ["fixed=0,khz=1", "fixed=0.5,khz=4294967295"].map(fitted);
        for formula in curves.into_iter().chain([Formula::Corrected, Formula::Printed]) {
            assert!(u128::from(formula.time_us(&long, &absurd)) <= MOST_US, "{formula}");
        }
    }
}
