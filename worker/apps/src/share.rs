//! How work that maps make themselves is divided among them.

use std::ops::Range;

/// The part of `0 .. n` that the `index`-th of `parts` makes; parts differ by at most one.
pub(crate) fn share(n: u64, index: u32, parts: u32) -> Range<u64> {
    let edge = |index: u32| (u128::from(n) * u128::from(index) / u128::from(parts.max(1))) as u64;
    edge(index)..edge(index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_even_and_complete() {
        for (n, parts) in [(10, 3), (0, 4), (2, 5), (u64::MAX, 7)] {
            let shares: Vec<_> = (0..parts).map(|index| share(n, index, parts)).collect();
            assert_eq!((shares[0].start, shares[parts as usize - 1].end), (0, n));
            assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start));
            let sizes: Vec<u64> = shares.iter().map(|share| share.end - share.start).collect();
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
        }
    }
}
