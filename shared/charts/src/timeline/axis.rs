//! The time axis: where an instant is drawn, and which instants are named.

use std::io;

use howdah_core::time::Time;

use super::svg::{Svg, num};

/// Maps instants to the picture's width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    from: Time,
    to: Time,
    left: f64,
    width: f64,
}

/// The unit of an axis' numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Unit {
    name: &'static str,
    us: f64,
}

const MILLISECONDS: Unit = Unit { name: "milliseconds", us: 1e3 };
const SECONDS: Unit = Unit { name: "seconds", us: 1e6 };
const MINUTES: Unit = Unit { name: "minutes", us: 60e6 };
const HOURS: Unit = Unit { name: "hours", us: 3_600e6 };
const DAYS: Unit = Unit { name: "days", us: 86_400e6 };

impl Axis {
    /// From `from` at `left` to `to` at `left + width`.
    pub(crate) fn new(from: Time, to: Time, left: f64, width: f64) -> Axis {
        // A picture of nothing still has an axis.
        let to = if to > from { to } else { Time::from_us(from.as_us().saturating_add(1_000)) };
        Axis { from, to, left, width }
    }

    /// Where an instant is.
    pub(crate) fn x(&self, at: Time) -> f64 {
        let share = at.since(self.from).as_us() as f64 / self.to.since(self.from).as_us() as f64;
        self.left + self.width * share.min(1.0)
    }

    /// Left end.
    pub(crate) fn left(&self) -> f64 {
        self.left
    }

    /// Right end.
    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Grid lines from `top` to `bottom`, numbers below, and what they mean.
    pub(crate) fn draw(&self, svg: &mut Svg<'_>, top: f64, bottom: f64) -> io::Result<()> {
        let (unit, step) = self.scale();
        let (from, to) = (self.from.as_us() as f64 / unit.us, self.to.as_us() as f64 / unit.us);
        let mut tick = (from / step).ceil();
        while tick * step <= to + step * 1e-9 {
            let x = self.left + self.width * (tick * step - from) / (to - from);
            svg.line("g", x, top, x, bottom + 4.0)?;
            svg.text("t", "middle", x, bottom + 17.0, &num(tick * step))?;
            tick += 1.0;
        }
        svg.line("a", self.left, bottom, self.right(), bottom)?;
        let middle = self.left + self.width / 2.0;
        svg.text("t", "middle", middle, bottom + 34.0, &format!("time since the trace's start, in {}", unit.name))
    }

    /// A unit in which the end is a number of few digits, and a round step of it.
    fn scale(&self) -> (Unit, f64) {
        let span = self.to.since(self.from).as_us() as f64;
        let unit = match self.to.as_us() as f64 {
            us if us < 2e6 => MILLISECONDS,
            us if us < 300e6 => SECONDS,
            us if us < 3.0 * 3_600e6 => MINUTES,
            us if us < 4.0 * 86_400e6 => HOURS,
            _ => DAYS,
        };
        let steps: &[f64] = match unit {
            SECONDS | MINUTES => &[1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0],
            HOURS => &[0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 12.0, 24.0],
            _ => &[],
        };
        let least = span / unit.us / 12.0;
        let fits = |&&step: &&f64| step >= least;
        // Steps of a clock where they fit; else 1, 2 or 5 times a power of ten.
        let clock = steps.iter().find(fits).copied().filter(|step| *step <= least * 4.0);
        (unit, clock.unwrap_or_else(|| decimal_step(least)))
    }
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `least`; also steps numbers of slots and jobs.
pub(crate) fn decimal_step(least: f64) -> f64 {
    let power = 10f64.powf(least.max(1e-9).log10().floor());
    let fits = [1.0, 2.0, 5.0].into_iter().map(|factor| factor * power).find(|&step| step >= least * (1.0 - 1e-9));
    fits.unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(from_s: f64, to_s: f64) -> (&'static str, f64) {
        let at = |s: f64| Time::from_us((s * 1e6) as u64);
        let (unit, step) = Axis::new(at(from_s), at(to_s), 0.0, 1000.0).scale();
        (unit.name, step)
    }

    #[test]
    fn an_axis_has_round_steps_in_a_sensible_unit() {
        assert_eq!(scale(0.0, 0.9), ("milliseconds", 100.0));
        assert_eq!(scale(0.0, 47.0), ("seconds", 5.0));
        assert_eq!(scale(0.0, 130.0), ("seconds", 15.0));
        assert_eq!(scale(0.0, 3_000.0), ("minutes", 5.0));
        assert_eq!(scale(0.0, 86_400.0), ("hours", 2.0));
        assert_eq!(scale(0.0, 30.0 * 86_400.0), ("days", 5.0));
        assert_eq!(scale(100.0, 101.0), ("seconds", 0.1));
    }

    #[test]
    fn a_step_is_never_smaller_than_asked() {
        for (least, step) in [(0.7, 1.0), (1.0, 1.0), (1.01, 2.0), (30.0, 50.0), (0.03, 0.05), (501.0, 1000.0)] {
            assert!((decimal_step(least) - step).abs() < step * 1e-9, "{least}: {}", decimal_step(least));
        }
    }

    #[test]
    fn an_empty_span_is_drawn_without_dividing_by_zero() {
        let axis = Axis::new(Time::from_ms(5), Time::from_ms(5), 10.0, 100.0);
        assert_eq!(axis.x(Time::from_ms(5)), 10.0);
    }
}
