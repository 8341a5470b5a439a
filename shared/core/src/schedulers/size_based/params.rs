//! The parameters of the size-based policies, read from words.

use super::Line;
use super::partitions::WHOLE_PPM;
use super::prediction::{Fit, Prediction, Source};
use super::service::WaitingReduces;
use crate::job::quantity;
use crate::schedulers::numbers::thousandths;
use crate::schedulers::params::{Reader, SchedulerError};
use crate::time::Span;

/// Most queues.
const MAX_QUEUES: usize = 64;

/// Number of queues and their time limits in microseconds, all but the last's, which is infinite.
///
/// The paper's §VI finds two queues sufficient and names the best limit of each policy for its cluster and workload:
/// `default_s` is that. Another number of queues has no default.
pub(super) fn limits(params: &mut Reader<'_>, default_s: u64, ascending: bool) -> Result<Vec<u64>, SchedulerError> {
    let queues = match params.text("queues") {
        None => None,
        Some(text) => Some(queue_number(params, text)?),
    };
    let Some(text) = params.text("limits") else {
        return match queues {
            None | Some(2) => Ok(vec![default_s * 1_000_000]),
            Some(queues) => {
                let times = format!("{} times, one for each queue but the last", queues - 1);
                Err(lacking(params, queues, "limits", &times))
            }
        };
    };
    let expected = "a list of times above 0 such as 10s,100s: one for each queue but the last";
    let limits: Option<Vec<u64>> =
        text.split(',').map(|word| quantity::span(word).map(Span::as_us).filter(|&us| us > 0)).collect();
    let limits = limits.ok_or_else(|| params.wrong("limits", text, expected))?;
    if limits.len() >= MAX_QUEUES {
        return Err(params.wrong("limits", text, &format!("a list of at most {} times", MAX_QUEUES - 1)));
    }
    if let Some(queues) = queues.filter(|&queues| queues != limits.len() + 1) {
        let times = if queues == 2 { "1 time".to_owned() } else { format!("{} times", queues - 1) };
        return Err(params.wrong("limits", text, &format!("{times} for {queues} queues")));
    }
    if ascending && limits.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(params.wrong("limits", text, "a list of times of which each is longer than the one before"));
    }
    Ok(limits)
}

/// More queues than there are defaults for, without the parameter that says more.
fn lacking(params: &Reader<'_>, queues: usize, key: &str, wanted: &str) -> SchedulerError {
    params.wrong("queues", &queues.to_string(), &format!("2, the only number without `{key}`: give {wanted}"))
}

/// Number of queues of a policy without limits.
pub(super) fn queues(params: &mut Reader<'_>) -> Result<usize, SchedulerError> {
    match params.text("queues") {
        None => Ok(2),
        Some(text) => queue_number(params, text),
    }
}

fn queue_number(params: &Reader<'_>, text: &str) -> Result<usize, SchedulerError> {
    let n = text.trim().parse().ok().filter(|n| (2..=MAX_QUEUES).contains(n));
    n.ok_or_else(|| params.wrong("queues", text, &format!("a number of queues from 2 to {MAX_QUEUES}")))
}

/// Shares of the slots in millionths, one per queue; the last one may be left out.
pub(super) fn partitions(
    params: &mut Reader<'_>,
    queues: usize,
    default_percent: u32,
) -> Result<Vec<u32>, SchedulerError> {
    let Some(text) = params.text("partitions") else {
        let first = default_percent * 10_000;
        return match queues {
            2 => Ok(vec![first, WHOLE_PPM - first]),
            _ => Err(lacking(params, queues, "partitions", &format!("{queues} shares such as 30%"))),
        };
    };
    let shares: Option<Vec<u32>> = text.split(',').map(share_ppm).collect();
    let expected = format!("{queues} shares above 0 such as 30% that add up to 100% (the last one may be left out)");
    let mut shares = shares.ok_or_else(|| params.wrong("partitions", text, &expected))?;
    let sum: u64 = shares.iter().map(|&share| u64::from(share)).sum();
    if shares.len() + 1 == queues && sum < u64::from(WHOLE_PPM) {
        shares.push(WHOLE_PPM - sum as u32);
    } else if shares.len() != queues || sum != u64::from(WHOLE_PPM) {
        return Err(params.wrong("partitions", text, &expected));
    }
    Ok(shares)
}

/// Whether a reduce that waits for maps receives service.
pub(super) fn waiting_reduces(params: &mut Reader<'_>) -> Result<WaitingReduces, SchedulerError> {
    Ok(match params.word("waiting.reduces", &["free", "count"])? {
        "free" => WaitingReduces::Free,
        _ => WaitingReduces::Counts,
    })
}

/// Where the size of a job that arrives is known from.
pub(super) fn prediction(params: &mut Reader<'_>) -> Result<Prediction, SchedulerError> {
    let source = match params.word("prediction", &["input", "trace"])? {
        "input" => Source::Input,
        _ => Source::Stated,
    };
    let fit = match params.text("fit") {
        None => Fit::learned(),
        Some("learn") => Fit::learned(),
        Some(text) => Fit::Given(line(text).ok_or_else(|| {
            params.wrong("fit", text, "learn, or slot time per GiB of input and for each job, such as 150s,20s")
        })?),
    };
    Ok(Prediction::new(source, fit))
}

fn line(text: &str) -> Option<Line> {
    let mut words = text.split(',');
    let slope = quantity::span(words.next()?)?.as_us() as f64 / 1e6;
    let offset = words.next().map_or(Some(Span::ZERO), quantity::span)?.as_us() as f64 / 1e6;
    words.next().is_none().then_some(Line { offset, slope })
}

/// `30%`, or a share such as `0.3`.
fn share_ppm(word: &str) -> Option<u32> {
    let word = word.trim();
    let ppm = match word.strip_suffix('%') {
        Some(percent) => thousandths(percent.trim())?.checked_mul(10)?,
        None => thousandths(word)?.checked_mul(1_000)?,
    };
    u32::try_from(ppm).ok().filter(|ppm| (1..WHOLE_PPM).contains(ppm))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedulers::by_name;

    #[test]
    fn shares_are_read_exactly() {
        assert_eq!(["30%", "0.3", "12.5%", ".25"].map(share_ppm), [300_000, 300_000, 125_000, 250_000].map(Some));
        assert_eq!(["0%", "100%", "1", "x", "-1%"].map(share_ppm), [None; 5]);
    }

    fn error(name: &str, params: &[(&str, &str)]) -> String {
        let params = params.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        by_name(name, &params).err().map_or_else(|| "none".to_owned(), |error| error.to_string())
    }

    #[test]
    fn a_wrong_parameter_is_named_with_what_was_expected() {
        assert_eq!(
            error("fbq", &[("limits", "10s,5s,x")]),
            "scheduler `fbq`: parameter `limits`: `10s,5s,x` is not a \
            list of times above 0 such as 10s,100s: one for each queue but the last"
        );
        assert_eq!(
            error("fbq", &[("queues", "3")]),
            "scheduler `fbq`: parameter `queues`: `3` is not 2, the only number without `limits`: give 2 times, one for each \
             queue but the last"
        );
        assert_eq!(
            error("fbq", &[("queues", "4"), ("limits", "10s")]),
            "scheduler `fbq`: parameter `limits`: `10s` is not 3 times for 4 queues"
        );
        assert_eq!(
            error("comp", &[("queues", "1")]),
            "scheduler `comp`: parameter `queues`: `1` is not a number of queues from 2 to 64"
        );
        assert_eq!(
            error("tags", &[("partitions", "30%,60%")]),
            "scheduler `tags`: parameter `partitions`: `30%,60%` is \
            not 2 shares above 0 such as 30% that add up to 100% (the last one may be left out)"
        );
        assert!(
            error("sita", &[("limits", "20s,10s"), ("partitions", "10%,10%")]).contains("longer than the one before")
        );
        assert!(error("comp", &[("limits", "20s")]).contains("unknown parameter `limits`"));
        assert!(error("sita", &[("fit", "soon")]).contains("parameter `fit`: `soon` is not learn"));
    }

    #[test]
    fn right_parameters_make_a_policy() {
        assert_eq!(error("fbq", &[("limits", "10s,5s"), ("service", "queue")]), "none");
        assert_eq!(error("tags", &[("queues", "3"), ("limits", "10s,20s"), ("partitions", "20%,30%")]), "none");
        assert_eq!(error("sita", &[("prediction", "trace")]), "none");
        assert_eq!(error("comp", &[("queues", "4"), ("fit", "150s,20s")]), "none");
        for name in ["fbq", "tags", "sita", "comp"] {
            assert_eq!(error(name, &[]), "none");
        }
    }
}
