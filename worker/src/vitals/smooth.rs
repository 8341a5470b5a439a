//! A mean that forgets: after the time constant, 63 % of it is new; after three times that, 95 %.

use std::time::Duration;

/// Exponential smoothing of values that come at uneven times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Smoothed {
    constant: Duration,
    value: Option<f64>,
}

impl Smoothed {
    pub(super) fn new(constant: Duration) -> Smoothed {
        Smoothed { constant, value: None }
    }

    /// Takes what was measured `passed` after the value before. The first one counts in full.
    pub(super) fn add(&mut self, value: f64, passed: Duration) {
        let old = self.value.unwrap_or(value);
        let kept = (-passed.as_secs_f64() / self.constant.as_secs_f64().max(1e-3)).exp();
        self.value = Some(value + (old - value) * kept);
    }

    /// 0 below 0 and before the first value.
    pub(super) fn get(&self) -> f64 {
        self.value.unwrap_or(0.0).max(0.0)
    }

    /// The same in thousandths.
    pub(super) fn milli(&self) -> u32 {
        super::milli::milli(self.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_time_constant_63_percent_is_new() {
        let mut smoothed = Smoothed::new(Duration::from_secs(3));
        smoothed.add(0.0, Duration::ZERO);
        for _ in 0..12 {
            smoothed.add(4.0, Duration::from_millis(250));
        }
        assert!((2_520..=2_540).contains(&smoothed.milli()), "{smoothed:?}");
        for _ in 0..24 {
            smoothed.add(4.0, Duration::from_millis(250));
        }
        assert!((3_790..=3_810).contains(&smoothed.milli()), "{smoothed:?}");
    }

    #[test]
    fn uneven_steps_lead_to_the_same_value() {
        let (mut even, mut uneven) = (Smoothed::new(Duration::from_secs(3)), Smoothed::new(Duration::from_secs(3)));
        even.add(1.0, Duration::ZERO);
        uneven.add(1.0, Duration::ZERO);
        (0..10).for_each(|_| even.add(3.0, Duration::from_millis(300)));
        [200, 700, 100, 2_000].iter().for_each(|&ms| uneven.add(3.0, Duration::from_millis(ms)));
        assert_eq!(even.milli(), uneven.milli());
    }

    #[test]
    fn what_is_below_nothing_is_nothing() {
        let mut smoothed = Smoothed::new(Duration::from_secs(1));
        assert_eq!(smoothed.milli(), 0);
        smoothed.add(-2.0, Duration::ZERO);
        assert_eq!(smoothed.milli(), 0);
    }
}
