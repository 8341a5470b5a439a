//! How many slots were busy with what, averaged over the width of a pixel.

use std::fmt::Write;

use howdah_core::time::Time;

use super::svg::num;

/// The mean of a step function over equal bins of time.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    from: u64,
    width_us: f64,
    /// Change of the number of whole-bin covers, by bin.
    steps: Vec<f64>,
    /// Parts of bins that are covered besides.
    parts: Vec<f64>,
}

impl Bins {
    /// `n` bins between two instants.
    pub(crate) fn new(from: Time, to: Time, n: usize) -> Bins {
        let us = to.since(from).as_us().max(1);
        Bins { from: from.as_us(), width_us: us as f64 / n as f64, steps: vec![0.0; n + 1], parts: vec![0.0; n] }
    }

    /// One more from `from` to `to`. Costs the same however long that is.
    pub(crate) fn add(&mut self, from: Time, to: Time) {
        let n = self.parts.len();
        let place = |at: Time| (at.as_us().saturating_sub(self.from) as f64 / self.width_us).clamp(0.0, n as f64);
        let (from, to) = (place(from), place(to));
        let (first, last) = ((from as usize).min(n - 1), (to as usize).min(n - 1));
        if first == last {
            self.parts[first] += to - from;
            return;
        }
        self.parts[first] += (first + 1) as f64 - from;
        self.parts[last] += to - last as f64;
        self.steps[first + 1] += 1.0;
        self.steps[last] -= 1.0;
    }

    /// By bin.
    pub(crate) fn means(&self) -> Vec<f64> {
        let mut whole = 0.0;
        let covered = self.steps.iter().zip(&self.parts);
        let means = covered.map(|(step, part)| {
            whole += step;
            whole + part
        });
        means.collect()
    }
}

/// Adds `upper` to `lower`, bin by bin.
pub(crate) fn stack(lower: &mut [f64], upper: &[f64]) {
    for (sum, more) in lower.iter_mut().zip(upper) {
        *sum += more;
    }
}

/// The area between the values and `base`, as a path of steps; empty if all values are zero.
pub(crate) fn area(values: &[f64], left: f64, width: f64, base: f64, per_unit: f64) -> String {
    let mut path = String::new();
    let step = width / values.len().max(1) as f64;
    let mut level = 0.0;
    let mut open = false;
    for (bin, &value) in values.iter().enumerate() {
        // Differences that nobody sees make the file long.
        let value = if value * per_unit < 0.05 { 0.0 } else { value };
        if (value - level).abs() * per_unit < 0.05 && (value > 0.0) == (level > 0.0) {
            continue;
        }
        let (x, y) = (num(left + step * bin as f64), num(base - value * per_unit));
        // Writing to a string cannot fail.
        let _ = match (open, value > 0.0) {
            (false, _) => write!(path, "M{x} {}V{y}", num(base)),
            (true, true) => write!(path, "H{x}V{y}"),
            (true, false) => write!(path, "H{x}V{y}Z"),
        };
        open = value > 0.0;
        level = value;
    }
    if open {
        let _ = write!(path, "H{}V{}Z", num(left + width), num(base));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ms(ms)
    }

    #[test]
    fn bins_hold_exact_means() {
        let mut bins = Bins::new(at(100), at(500), 4);
        bins.add(at(150), at(450));
        bins.add(at(100), at(200));
        bins.add(at(310), at(320));
        bins.add(at(500), at(500));
        let expected = [1.5, 1.0, 1.1, 0.5];
        for (mean, expected) in bins.means().iter().zip(expected) {
            assert!((mean - expected).abs() < 1e-9, "{:?}", bins.means());
        }
    }

    #[test]
    fn an_area_is_closed_at_every_gap() {
        assert_eq!(area(&[0.0, 2.0, 2.0, 0.0, 1.0], 0.0, 50.0, 100.0, 10.0), "M10 100V80H30V100ZM40 100V90H50V100Z");
        assert_eq!(area(&[0.0, 0.0], 0.0, 50.0, 100.0, 10.0), "");
    }
}
