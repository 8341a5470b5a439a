//! Numbers as foreign files write them: whole or with a fraction, sometimes empty, never trusted.

/// Reads a number that is not negative and has no unit, such as `17` or `17.5`, multiplied by `factor` and rounded
/// to the nearest; `None` when it is something else or does not fit.
pub(super) fn scaled(text: &str, factor: u32) -> Option<u64> {
    let text = text.trim();
    if let Ok(whole) = text.parse::<u64>() {
        return whole.checked_mul(u64::from(factor));
    }
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    let value = text.parse::<f64>().ok().filter(|value| plain && *value >= 0.0)? * f64::from(factor);
    // Above 2^53 a fraction could not be written anyway.
    (value < 9_007_199_254_740_992.0).then_some((value + 0.5) as u64)
}

/// A share such as `0.05` in millionths; `None` for what is no number from 0 to 1.
pub(super) fn share_ppm(text: &str) -> Option<u32> {
    let share = text.trim().parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share))?;
    Some(libm::round(share * 1e6) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_keep_all_digits_and_fractions_are_rounded() {
        assert_eq!(scaled(" 18446744073709551615 ", 1), Some(u64::MAX));
        assert_eq!(scaled("1334329752.1234", 1000), Some(1_334_329_752_123));
        assert_eq!(scaled("0.0005", 1000), Some(1));
        assert_eq!(scaled("1e3", 1), Some(1000));
        for wrong in ["", "-1", "-0.5", "nan", "inf", "1e99", "12 13", "0x10", "18446744073709551616", "1,5"] {
            assert_eq!(scaled(wrong, 1), None, "{wrong}");
        }
        assert_eq!(scaled("18446744073709551615", 2), None);
    }
}
