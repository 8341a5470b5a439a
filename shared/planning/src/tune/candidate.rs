//! One choice of limits and shares.

use howdah_core::replay::ReplayOptions;
use howdah_core::time::Span;

/// Parameters to try.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// Percent of the slots in the first partition; the other queues share the rest alike. `None` without partitions.
    pub share: Option<u32>,
    /// One for each queue but the last.
    pub limits: Vec<Span>,
}

impl Candidate {
    /// The words of its parameters.
    pub fn words(&self) -> Vec<(&'static str, String)> {
        let limits: Vec<String> = self.limits.iter().map(|&limit| time(limit)).collect();
        let queues = self.limits.len() + 1;
        let mut words = vec![("queues", queues.to_string()), ("limits", limits.join(","))];
        if self.share.is_some() {
            // The last partition has what is left.
            let given: Vec<String> = self.shares_ppm()[..queues - 1].iter().map(|&ppm| percent(ppm)).collect();
            words.push(("partitions", given.join(",")));
        }
        words
    }

    /// The queues' shares in millionths, in whole tenths of a percent: the first partition's, and the rest in equal parts
    /// but for the last, which has what is left. The first has all of a candidate without partitions.
    pub fn shares_ppm(&self) -> Vec<u32> {
        let others = self.limits.len() as u32;
        let first = self.share.unwrap_or(100).min(100);
        let each = (100 - first) * 10 / others.max(1) * 1_000;
        let mut shares = vec![first * 10_000];
        shares.extend((1..others).map(|_| each));
        let given: u32 = shares.iter().sum();
        shares.extend((others > 0).then(|| 1_000_000 - given));
        shares
    }

    /// The options with its parameters.
    pub fn options(&self, options: &ReplayOptions) -> ReplayOptions {
        let mut options = options.clone();
        options.scheduler_params.extend(self.words().into_iter().map(|(key, value)| (key.to_owned(), value)));
        options
    }
}

/// As a parameter says it.
pub fn time(limit: Span) -> String {
    let ms = limit.as_ms();
    if ms.is_multiple_of(1_000) { format!("{}s", ms / 1_000) } else { format!("{ms}ms") }
}

/// `26.6%`: tenths of a percent.
fn percent(ppm: u32) -> String {
    let tenths = ppm / 1_000;
    format!("{}.{}%", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_in_millionths_are_those_of_its_words() {
        let of = |share, n: u64| Candidate { share: Some(share), limits: (1..=n).map(Span::from_secs).collect() };
        assert_eq!(of(30, 1).shares_ppm(), [300_000, 700_000]);
        assert_eq!(of(20, 3).words()[2].1, "20.0%,26.6%,26.6%");
        assert_eq!(of(20, 3).shares_ppm(), [200_000, 266_000, 266_000, 268_000]);
    }
}
