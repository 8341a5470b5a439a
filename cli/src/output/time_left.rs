//! In how long a job ends, roughly and with the interval, for the line beside its bar.

use howdah_proto::v1::{JobStatus, PredictedEnd};

/// In how long a job ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TimeLeft {
    pub(super) about: String,
    /// Where nine of ten ends are expected, in the same unit, in parentheses; may be empty.
    pub(super) interval: String,
}

/// `None` where a job's end is not known, is only guessed, or is overdue.
pub(super) fn time_left(status: &JobStatus, now_ms: u64) -> Option<TimeLeft> {
    let predicted = status.predicted.filter(|predicted| predicted.seen)?;
    let left_s = predicted.finish_ms_epoch.saturating_sub(now_ms).div_ceil(1_000);
    let (about, unit_s, said) = match left_s {
        0 => return None,
        1..10 => ("some seconds left".to_owned(), 1, None),
        10..90 => {
            let s = left_s.div_ceil(5) * 5;
            (format!("about {s} s left"), 1, Some(s))
        }
        90..5_400 => {
            let min = (left_s + 30) / 60;
            (format!("about {min} min left"), 60, Some(min))
        }
        _ => {
            let h = (left_s + 1_800) / 3_600;
            (format!("about {h} h left"), 3_600, Some(h))
        }
    };
    Some(TimeLeft { about, interval: interval(&predicted, now_ms, unit_s, said).unwrap_or_default() })
}

/// The interval of an end in a unit, never beside what is `said` of the end in it; `None` where it adds nothing.
fn interval(predicted: &PredictedEnd, now_ms: u64, unit_s: u64, said: Option<u64>) -> Option<String> {
    let ms = unit_s * 1_000;
    let low = predicted.low_ms_epoch;
    let low = (low > 0).then(|| low.saturating_sub(now_ms) / ms)?;
    let low = said.map_or(low, |said| low.min(said));
    if predicted.high_ms_epoch == 0 {
        return Some(format!(" ({low} or more)"));
    }
    let high = predicted.high_ms_epoch.saturating_sub(now_ms).div_ceil(ms);
    let high = said.map_or(high, |said| high.max(said));
    let adds = if said.is_some() { low < high } else { high >= 10 };
    adds.then(|| format!(" ({low} to {high})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: u64 = 1_000_000;

    /// Predicted to end so many seconds after `NOW_MS`, between two other instants; 0 seconds stand for "beyond".
    fn ending(finish_s: u64, [low_s, high_s]: [u64; 2]) -> JobStatus {
        let at = |s: u64| if s > 0 { NOW_MS + s * 1_000 } else { 0 };
        let predicted = PredictedEnd {
            finish_ms_epoch: at(finish_s),
            low_ms_epoch: at(low_s),
            high_ms_epoch: at(high_s),
            seen: true,
            ..PredictedEnd::default()
        };
        JobStatus { predicted: Some(predicted), ..JobStatus::default() }
    }

    #[test]
    fn the_time_left_is_given_roughly_and_only_where_it_is_known() {
        let left_text = |status: &JobStatus| {
            time_left(status, NOW_MS).map_or_else(String::new, |left| format!("{}{}", left.about, left.interval))
        };
        let left = |finish_s, interval| left_text(&ending(finish_s, interval));
        assert_eq!(left(4, [3, 6]), "some seconds left");
        assert_eq!(left(4, [3, 60]), "some seconds left (3 to 60)");
        assert_eq!(left(38, [35, 52]), "about 40 s left (35 to 52)");
        assert_eq!(left(38, [37, 39]), "about 40 s left (37 to 40)", "what is said lies within");
        assert_eq!(left(40, [40, 40]), "about 40 s left");
        assert_eq!(left(38, [35, 0]), "about 40 s left (35 or more)");
        assert_eq!(left(125, [100, 200]), "about 2 min left (1 to 4)");
        assert_eq!(left(7_300, [3_600, 9_000]), "about 2 h left (1 to 3)");
        let unseen = |status: JobStatus| JobStatus {
            predicted: status.predicted.map(|predicted| PredictedEnd { seen: false, ..predicted }),
            ..status
        };
        let overdue = time_left(&ending(38, [35, 52]), NOW_MS + 60_000);
        assert_eq!((left_text(&unseen(ending(125, [100, 200]))), left(0, [0, 0]), overdue), Default::default());
        assert_eq!(time_left(&JobStatus::default(), 0), None);
    }
}
