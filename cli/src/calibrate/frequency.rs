//! The part of a calibration that is about frequency: whether it can be set, the measurement, what it says.

use std::ffi::OsString;
use std::path::Path;

use howdah_core::models::calibration::AgainstFrequency;
use howdah_core::models::frequency_curve::FrequencyFit;
use howdah_core::models::moments::{median, sorted};
use howdah_experiments::calibration::{
    AtFrequency, Bench, Frequency, Throttle, against_frequency, fit_at, frequency_figure, measure_frequencies,
};

use crate::calibrate::args::{CalibrateArgs, How};
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::table::Grid;
use crate::units;

/// What came of it.
pub(super) enum Paced {
    /// Nobody asked.
    Not,
    /// Frequencies cannot be set here; why, in a line.
    Cannot(String),
    /// They were.
    Measured(Box<Pace>),
}

/// Measurements and their curve.
pub(super) struct Pace {
    method: &'static str,
    measured: Vec<AtFrequency>,
    fit: FrequencyFit,
}

/// Who can set frequencies here, before anything is measured.
pub(super) enum Setter {
    /// Nobody asked.
    Not,
    /// Why nobody can.
    Cannot(String),
    /// By which method.
    Ready(Throttle, &'static str),
}

/// Finds one.
///
/// # Errors
/// When a method was asked for by name that this machine does not have.
pub(super) fn setter(
    args: &CalibrateArgs,
    program: &Path,
    place: &howdah_experiments::calibration::Place,
) -> Outcome<Setter> {
    let how = match args.frequency {
        How::None => return Ok(Setter::Not),
        How::Auto => How::Governor,
        how => how,
    };
    let mut words: Vec<OsString> = ["--guard", "--frequency", how.name(), "--cores-in"].map(OsString::from).to_vec();
    words.push(args.cores_in.clone().into());
    if let Some(shares) = &args.frequencies {
        let shares: Vec<String> = shares.0.iter().map(f64::to_string).collect();
        words.extend(["--frequencies".into(), shares.join(",").into()]);
    }
    match Throttle::start(program, &words, place) {
        Ok(throttle) => Ok(Setter::Ready(throttle, how.name())),
        Err(error) if args.frequency == How::Auto => Ok(Setter::Cannot(format!("{error:#}"))),
        Err(error) => {
            let failure = Failure::broke(format!("--frequency {}: {error:#}", how.name()));
            Err(if how == How::Governor {
                failure.help("--frequency quota plays slower cores on any machine")
            } else {
                failure
            })
        }
    }
}

impl Setter {
    /// Measures a turn, if anybody can set frequencies.
    ///
    /// # Errors
    /// When one cannot be set or put back, or the work fails.
    pub(super) fn measure(&mut self, bench: &Bench, on_run: impl FnMut(Frequency)) -> Outcome<Vec<AtFrequency>> {
        match self {
            Setter::Ready(throttle, _) => Ok(measure_frequencies(bench, throttle, on_run)?),
            Setter::Not | Setter::Cannot(_) => Ok(Vec::new()),
        }
    }

    /// Has everything put back and fits what was measured.
    ///
    /// # Errors
    /// When something cannot be put back.
    pub(super) fn end(self, measured: Vec<AtFrequency>) -> Outcome<Paced> {
        match self {
            Setter::Not => Ok(Paced::Not),
            Setter::Cannot(why) => Ok(Paced::Cannot(why)),
            Setter::Ready(mut throttle, method) => {
                throttle.end()?;
                let fit = fit_at(&measured)?;
                Ok(Paced::Measured(Box::new(Pace { method, measured, fit })))
            }
        }
    }
}

impl Paced {
    /// For the file and the answer.
    pub(super) fn record(&self) -> Option<AgainstFrequency> {
        match self {
            Paced::Measured(pace) => Some(against_frequency(pace.method, &pace.fit, &pace.measured)),
            _ => None,
        }
    }

    /// Why there is none.
    pub(super) fn why_not(&self) -> Option<&str> {
        match self {
            Paced::Cannot(why) => Some(why),
            _ => None,
        }
    }

    /// The figure, if there is anything to draw.
    pub(super) fn figure(&self) -> anyhow::Result<Option<String>> {
        let Paced::Measured(pace) = self else { return Ok(None) };
        frequency_figure(pace.method, &pace.measured, &pace.fit).map(Some)
    }

    /// The page's part.
    pub(super) fn show(&self, screen: &Screen) -> std::io::Result<()> {
        match self {
            Paced::Not => Ok(()),
            Paced::Cannot(why) => screen.line(format!(
                "\nFrequency was not varied: {why}. `--frequency quota` plays slower cores on any machine."
            )),
            Paced::Measured(pace) => pace.show(screen),
        }
    }
}

impl Pace {
    fn show(&self, screen: &Screen) -> std::io::Result<()> {
        let mut frequencies: Vec<Frequency> = self.measured.iter().map(|at| at.frequency).collect();
        frequencies
            .sort_unstable_by_key(|frequency| std::cmp::Reverse((frequency.effective_khz, frequency.nominal_khz)));
        frequencies.dedup();
        let mut grid =
            Grid::new(&[">nominal", ">effective", ">median", ">least", ">most", ">stolen", ">by the curve", ">error"]);
        for frequency in frequencies {
            let here = || self.measured.iter().filter(move |at| at.frequency == frequency).map(|at| at.run);
            let times = sorted(here().map(|run| run.time_s));
            let middle = median(&times).unwrap_or(0.0);
            let fitted = self.fit.time(frequency.effective_khz as f64);
            let mhz = |khz: u64| format!("{:.0} MHz", khz as f64 / 1e3);
            grid.row([
                mhz(frequency.nominal_khz),
                mhz(frequency.effective_khz),
                units::seconds(middle),
                units::seconds(times.first().copied().unwrap_or(0.0)),
                units::seconds(times.last().copied().unwrap_or(0.0)),
                units::seconds(here().map(|run| run.stolen_s).sum()),
                units::seconds(fitted),
                units::share((fitted - middle).abs() / middle),
            ]);
        }
        screen.line(format!("\n{}", grid.render(screen)))?;
        screen.line(format!(
            "by {:<8} {}   mean error {}, largest {}, R² {:.4}",
            self.method,
            self.fit.curve,
            units::share(self.fit.mean_error),
            units::share(self.fit.max_error),
            self.fit.r_squared
        ))
    }
}
