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
        if let Some(first) = self.share {
            words.push(("partitions", shares(first, queues)));
        }
        words
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

/// The first partition's share, and the rest in equal parts but for the last, which has what is left.
fn shares(first: u32, queues: usize) -> String {
    let others = (queues - 1) as u32;
    let each = (100 - first) * 10 / others;
    let tenths = |n: u32| format!("{}.{}%", n / 10, n % 10);
    let mut all = vec![tenths(first * 10)];
    all.extend((1..others).map(|_| tenths(each)));
    all.join(",")
}
