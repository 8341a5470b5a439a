//! A straight line through points: how the size of a job follows from the size of its input.
//!
//! Slowdown paper §IV-D and §V-C: "a much simpler way of predicting jobs sizes based on their correlation with the job
//! input size is very effective"; the paper does not say which curve it fits. Here: least squares, which need only
//! sums, so that a point more costs the same however many there are.

/// Seconds of size by GiB of input.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Line {
    /// Seconds of a job without input.
    pub offset: f64,
    /// Seconds more for each GiB.
    pub slope: f64,
}

/// Points seen so far, as the sums that a line needs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Points {
    n: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

const GIB: f64 = 1_073_741_824.0;

impl Line {
    /// Size in microseconds; never below 0.
    pub fn at(&self, input_bytes: u64) -> u64 {
        let seconds = self.offset + self.slope * (input_bytes as f64 / GIB);
        // A cast of a float saturates.
        (seconds * 1e6) as u64
    }
}

impl Points {
    /// One more job.
    pub fn add(&mut self, input_bytes: u64, size_us: u64) {
        let (x, y) = (input_bytes as f64 / GIB, size_us as f64 / 1e6);
        self.n += 1.0;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
        self.yy += y * y;
    }

    /// The line with the least squares; through the origin while all inputs are alike; `None` without points.
    pub fn line(&self) -> Option<Line> {
        if self.n == 0.0 {
            return None;
        }
        let spread = self.n * self.xx - self.x * self.x;
        if self.n >= 2.0 && spread > 1e-9 * self.n * self.xx {
            let slope = (self.n * self.xy - self.x * self.y) / spread;
            return Some(Line { offset: (self.y - slope * self.x) / self.n, slope });
        }
        if self.x > 0.0 {
            return Some(Line { offset: 0.0, slope: self.y / self.x });
        }
        Some(Line { offset: self.y / self.n, slope: 0.0 })
    }

    /// Share of the sizes' variance that the line explains, R²; `None` where nothing varies.
    pub fn explained(&self) -> Option<f64> {
        let (x, y) = (self.n * self.xx - self.x * self.x, self.n * self.yy - self.y * self.y);
        let both = self.n * self.xy - self.x * self.y;
        (x > 0.0 && y > 0.0).then(|| both * both / (x * y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: u64 = 1 << 30;

    fn points(list: &[(u64, u64)]) -> Points {
        let mut points = Points::default();
        list.iter().for_each(|&(gib, seconds)| points.add(gib * ONE, seconds * 1_000_000));
        points
    }

    #[test]
    fn points_on_a_line_give_the_line() {
        let points = points(&[(1, 30), (2, 50), (10, 210)]);
        let line = points.line().expect("three points");
        assert!((line.offset - 10.0).abs() < 1e-9 && (line.slope - 20.0).abs() < 1e-9, "{line:?}");
        assert_eq!(line.at(4 * ONE), 90_000_000);
        assert!((points.explained().expect("they vary") - 1.0).abs() < 1e-12);
    }

    #[test]
    fn few_points_give_what_they_can() {
        assert_eq!(points(&[]).line(), None);
        assert_eq!(points(&[(4, 20)]).line(), Some(Line { offset: 0.0, slope: 5.0 }));
        assert_eq!(points(&[(4, 20), (4, 30)]).line(), Some(Line { offset: 0.0, slope: 6.25 }));
        assert_eq!(points(&[(0, 20), (0, 30)]).line(), Some(Line { offset: 25.0, slope: 0.0 }));
    }

    #[test]
    fn no_size_is_below_zero() {
        assert_eq!(Line { offset: -10.0, slope: 1.0 }.at(ONE), 0);
    }
}
