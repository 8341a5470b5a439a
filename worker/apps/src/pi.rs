//! π as Hadoop's example estimates it: points of a Halton sequence in the unit square, counted inside and outside of the
//! circle in it. Each map has its own stretch of the sequence, so the result depends on nothing but the two numbers.
//!
//! Source: `org.apache.hadoop.examples.QuasiMonteCarlo`, whose sums of floating-point numbers are done in its order.

use howdah_task::{Application, Fold, MapOutput, Mapper, Properties, ReduceOutput, Result, Values};

use crate::built_in::BuiltIn;
use crate::request::{JobPlan, PlanError, Planner};

const SAMPLES: &str = "pi.samples";
const EXPECTED: &str = "a number of points from 1";
/// Points between two words about progress.
const BEAT: u64 = 1 << 16;

/// Bases of the two coordinates, and as many digits of each as a double holds.
const BASES: [u64; 2] = [2, 3];
const DIGITS: [usize; 2] = [63, 40];

pub(crate) const APP: BuiltIn = BuiltIn {
    name: "pi",
    about: "estimate pi by counting points of a circle",
    usage: "[-m MAPS] [--samples POINTS_OF_EACH_MAP]",
    plan,
    stages: &[("pi", application)],
};

fn plan(planner: &mut Planner<'_>) -> Result<Vec<JobPlan>, PlanError> {
    if let Some(0) = planner.set::<u64>(&["--samples"], SAMPLES, EXPECTED)? {
        return Err(planner.not("--samples", "0", EXPECTED));
    }
    Ok(vec![JobPlan { n_reduces: 1, ..planner.generated_job("pi", 1)? }])
}

fn application(properties: &Properties) -> Result<Application> {
    let samples = properties.parse_or(&[SAMPLES], 1_000, EXPECTED)?;
    Ok(Application::new(move || Counter { samples }).fold(Fold::Sum).reduce(sum))
}

fn sum(side: &[u8], counts: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
    let sum = counts.sum()?;
    out.emit_long(side, sum)
}

struct Counter {
    samples: u64,
}

impl Mapper for Counter {
    fn map(&mut self, _: &[u8], _: &[u8], out: &mut MapOutput) -> Result {
        let mut points = Halton::from(u64::from(out.context().task_index()).saturating_mul(self.samples));
        let mut inside = 0_u64;
        for n in 0..self.samples {
            inside += u64::from(points.next_is_inside());
            if n % BEAT == 0 {
                out.context().set_progress(n as f64 / self.samples as f64)?;
            }
        }
        out.emit_long(b"inside", inside as i64)?;
        out.emit_long(b"outside", (self.samples - inside) as i64)
    }
}

/// Points of the sequence, one after the other.
struct Halton {
    at: [f64; 2],
    /// What a digit of each place is worth.
    worth: [Vec<f64>; 2],
    digits: [Vec<u64>; 2],
}

impl Halton {
    /// After so many points.
    fn from(start: u64) -> Halton {
        let mut halton = Halton { at: [0.0; 2], worth: Default::default(), digits: Default::default() };
        for (axis, (&base, &places)) in BASES.iter().zip(&DIGITS).enumerate() {
            let (mut rest, mut worth) = (start, 1.0);
            for _ in 0..places {
                worth /= base as f64;
                let digit = rest % base;
                rest /= base;
                halton.at[axis] += digit as f64 * worth;
                halton.worth[axis].push(worth);
                halton.digits[axis].push(digit);
            }
        }
        halton
    }

    /// Whether the next point lies in the circle.
    fn next_is_inside(&mut self) -> bool {
        for (axis, &base) in BASES.iter().enumerate() {
            let at = &mut self.at[axis];
            let mut carried = 1.0;
            for (digit, &worth) in self.digits[axis].iter_mut().zip(&self.worth[axis]) {
                *digit += 1;
                *at += worth;
                if *digit < base {
                    break;
                }
                *digit = 0;
                *at -= carried;
                carried = worth;
            }
        }
        let [x, y] = self.at.map(|at| at - 0.5);
        x * x + y * y <= 0.25
    }
}

/// Four times the share inside, with twenty places, rounded as Hadoop does; `None` for numbers beyond all measure.
pub fn estimate(inside: u64, maps: u32, samples: u64) -> Option<String> {
    let places = 10_u128.pow(20);
    let half_up = |n: u128, by: u128| n.checked_add(by / 2)?.checked_div(by);
    let scaled = u128::from(inside).checked_mul(4)?.checked_mul(places)?;
    let pi = half_up(half_up(scaled, maps.into())?, samples.into())?;
    Some(format!("{}.{:020}", pi / places, pi % places))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pi(maps: u32, samples: u64) -> String {
        let count = |map: u32| {
            let mut points = Halton::from(u64::from(map) * samples);
            (0..samples).filter(|_| points.next_is_inside()).count() as u64
        };
        estimate((0..maps).map(count).sum(), maps, samples).expect("small numbers")
    }

    /// As Hadoop prints them for these arguments.
    #[test]
    fn estimates_are_hadoops_to_the_last_digit() {
        for (maps, samples, expected) in [
            (2, 5, "3.60000000000000000000"),
            (2, 10, "3.80000000000000000000"),
            (10, 10, "3.20000000000000000000"),
            (10, 100, "3.14800000000000000000"),
            (10, 1_000, "3.14080000000000000000"),
            (16, 1_000, "3.14250000000000000000"),
            (16, 100_000, "3.14157500000000000000"),
        ] {
            assert_eq!(pi(maps, samples), expected, "{maps} {samples}");
        }
    }

    #[test]
    fn numbers_beyond_all_measure_have_no_estimate_and_nothing_panics() {
        assert_eq!(estimate(1, 0, 1), None);
        assert_eq!(estimate(u64::MAX, 1, 1), None);
        assert_eq!(estimate(1, 3, 1).as_deref(), Some("1.33333333333333333333"));
    }
}
