//! The small languages of `replay`'s flags. Each error says what was expected.

use howdah_core::job::requirement::{is_attribute_name, is_attribute_value};
use howdah_core::replay::{Arrivals, Deadlines, LocalityCost, ShuffleModel};
use howdah_core::time::{Span, Time};

pub(crate) use crate::units::parse_span;

/// A worker, by name, that goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    pub(crate) worker: String,
    pub(crate) at: Time,
    pub(crate) back_after: Option<Span>,
}

/// A worker, by name, and what holds there from an instant on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) worker: String,
    pub(crate) value: u32,
    pub(crate) from: Time,
}

/// A worker, by name, and what it says of itself from an instant on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub(crate) worker: String,
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) from: Time,
}

/// A job, by its id or number, and an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) job: String,
    pub(crate) at: Time,
}

/// A list of percentiles.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Percentiles(pub(crate) Vec<f64>);

/// `3s`, or `instant` for zero.
pub(crate) fn parse_heartbeat(text: &str) -> Result<Span, String> {
    if text == "instant" {
        return Ok(Span::ZERO);
    }
    let expected = || "expected a duration such as 3s, or instant".to_owned();
    parse_span(text).ok().filter(|span| *span > Span::ZERO).ok_or_else(expected)
}

/// A share from 0 to 1, in millionths.
pub(crate) fn parse_ppm(text: &str) -> Result<u32, String> {
    factor_ppm(text).filter(|ppm| *ppm <= 1_000_000).ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

/// A number from 0 to 1,000, in millionths.
fn factor_ppm(text: &str) -> Option<u32> {
    let value: f64 = text.trim().parse().ok()?;
    (0.0..=1000.0).contains(&value).then(|| (value * 1e6).round() as u32)
}

pub(crate) fn parse_arrivals(text: &str) -> Result<Arrivals, String> {
    let expected = || "expected asis, batch, poisson:MEAN such as poisson:30s, or load:RHO such as load:0.7".to_owned();
    match text.split_once(':') {
        None if text == "asis" => Ok(Arrivals::AsRecorded),
        None if text == "batch" => Ok(Arrivals::Batch),
        Some(("poisson", mean)) => Ok(Arrivals::Poisson { mean: parse_span(mean).map_err(|_| expected())? }),
        Some(("load", rho)) => {
            let rho_ppm = factor_ppm(rho).filter(|ppm| *ppm > 0).ok_or_else(expected)?;
            Ok(Arrivals::Load { rho_ppm })
        }
        _ => Err(expected()),
    }
}

pub(crate) fn parse_deadlines(text: &str) -> Result<Deadlines, String> {
    let expected = || "expected trace, none, or uniform:DF with DF at least 1, such as uniform:1.5".to_owned();
    match text.split_once(':') {
        None if text == "trace" => Ok(Deadlines::FromTrace),
        None if text == "none" => Ok(Deadlines::Drop),
        Some(("uniform", factor)) => {
            let factor_ppm = factor_ppm(factor).filter(|ppm| *ppm >= 1_000_000).ok_or_else(expected)?;
            Ok(Deadlines::Uniform { factor_ppm })
        }
        _ => Err(expected()),
    }
}

pub(crate) fn parse_shuffle(text: &str) -> Result<ShuffleModel, String> {
    match text {
        "simmr" => Ok(ShuffleModel::SimMr),
        "mumak" => Ok(ShuffleModel::Mumak),
        _ => Err("expected simmr or mumak".to_owned()),
    }
}

pub(crate) fn parse_locality_cost(text: &str) -> Result<LocalityCost, String> {
    let pair = text.split_once(',').and_then(|(rack, off)| Some((factor_ppm(rack)?, factor_ppm(off)?)));
    let (rack_ppm, off_rack_ppm) = pair.ok_or("expected two factors with a comma, such as 1.1,1.3")?;
    Ok(LocalityCost { rack_ppm, off_rack_ppm })
}

/// `worker-3@60s` or `worker-3@60s+5m`.
pub(crate) fn parse_loss(text: &str) -> Result<Loss, String> {
    let expected = || "expected WORKER@TIME or WORKER@TIME+BACK, such as worker-3@60s+5m".to_owned();
    let (worker, when) = text.rsplit_once('@').filter(|(worker, _)| !worker.is_empty()).ok_or_else(expected)?;
    let (at, back) = when.split_once('+').map_or((when, None), |(at, back)| (at, Some(back)));
    let at = Time::ZERO + parse_span(at).map_err(|_| expected())?;
    let back_after = back.map(parse_span).transpose().map_err(|_| expected())?;
    Ok(Loss { worker: worker.to_owned(), at, back_after })
}

/// `job_7_0003@90s` or `3@90s`.
pub(crate) fn parse_question(text: &str) -> Result<Question, String> {
    let expected = || "expected JOB@TIME, such as job_0_0003@90s or 3@90s".to_owned();
    let (job, at) = text.rsplit_once('@').filter(|(job, _)| !job.is_empty()).ok_or_else(expected)?;
    let at = Time::ZERO + parse_span(at).map_err(|_| expected())?;
    Ok(Question { job: job.to_owned(), at })
}

/// A speed: `worker-3=0.5` or `worker-3=0.5@60s`, in millionths.
pub(crate) fn parse_speed(text: &str) -> Result<Step, String> {
    let expected = || "expected WORKER=FACTOR or WORKER=FACTOR@TIME, such as worker-3=0.5@60s".to_owned();
    step(text, factor_ppm).ok_or_else(expected)
}

/// A foreign load: `worker-3=4` or `worker-3=4@180s`, in thousandths.
pub(crate) fn parse_foreign_load(text: &str) -> Result<Step, String> {
    let expected = || "expected WORKER=LOAD or WORKER=LOAD@TIME, such as worker-3=4@180s".to_owned();
    step(text, |load| thousandths(load, 0.0)).ok_or_else(expected)
}

/// An attribute: `worker-3=gpu=2` or `worker-3=gpu=2@60s`.
pub(crate) fn parse_attribute(text: &str) -> Result<Attribute, String> {
    let expected = || "expected WORKER=NAME=VALUE or WORKER=NAME=VALUE@TIME, such as worker-3=gpu=2@60s".to_owned();
    let (worker, rest) = text.split_once('=').filter(|(worker, _)| !worker.is_empty()).ok_or_else(expected)?;
    let (name, rest) = rest.split_once('=').filter(|(name, _)| is_attribute_name(name)).ok_or_else(expected)?;
    // A value may hold an @ of its own, where no time follows.
    let timed = rest.rsplit_once('@').and_then(|(value, at)| Some((value, parse_span(at).ok()?)));
    let (value, from) = timed.unwrap_or((rest, Span::ZERO));
    if !is_attribute_value(value) {
        return Err(expected());
    }
    let [worker, name, value] = [worker, name, value].map(str::to_owned);
    Ok(Attribute { worker, name, value, from: Time::ZERO + from })
}

/// A number of cores, in thousandths.
pub(crate) fn parse_cores(text: &str) -> Result<u32, String> {
    thousandths(text, 0.001).ok_or_else(|| "expected a number of cores above 0, such as 4 or 0.5".to_owned())
}

/// A number from `least` to a million, in thousandths.
fn thousandths(text: &str, least: f64) -> Option<u32> {
    let value: f64 = text.trim().parse().ok()?;
    (least..=1e6).contains(&value).then(|| (value * 1e3).round() as u32)
}

/// `WORKER=VALUE` or `WORKER=VALUE@TIME`.
fn step(text: &str, value: impl Fn(&str) -> Option<u32>) -> Option<Step> {
    let (worker, rest) = text.rsplit_once('=').filter(|(worker, _)| !worker.is_empty())?;
    let (number, from) = rest.split_once('@').map_or((rest, None), |(number, from)| (number, Some(from)));
    let from = from.map(parse_span).transpose().ok()?.unwrap_or(Span::ZERO);
    Some(Step { worker: worker.to_owned(), value: value(number)?, from: Time::ZERO + from })
}

pub(crate) fn parse_percentiles(text: &str) -> Result<Percentiles, String> {
    let one = |word: &str| word.trim().parse().ok().filter(|q| (0.0..=100.0).contains(q));
    let list: Option<Vec<f64>> = text.split(',').map(one).collect();
    list.map(Percentiles).ok_or_else(|| "expected numbers from 0 to 100 with commas, such as 50,95,99".to_owned())
}

/// `key=value`.
pub(crate) fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.to_owned())),
        _ => Err("expected the form key=value".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_have_a_worker_a_name_and_a_value_and_perhaps_an_instant() {
        let parsed = |text: &str| {
            let Attribute { worker, name, value, from } = parse_attribute(text).expect(text);
            (worker, name, value, from.as_us() / 1_000_000)
        };
        let expected = |name: &str, value: &str, s| ("w-1".to_owned(), name.to_owned(), value.to_owned(), s);
        assert_eq!(parsed("w-1=gpu=2"), expected("gpu", "2", 0));
        assert_eq!(parsed("w-1=gpu=@60s"), expected("gpu", "", 60));
        assert_eq!(parsed("w-1=os=a=b@home"), expected("os", "a=b@home", 0));
        assert_eq!(parsed("w-1=os=a@home@2m"), expected("os", "a@home", 120));
        for wrong in ["", "w-1", "w-1=gpu", "=gpu=1", "w-1=1gpu=2", "w-1=gpu= 2"] {
            assert!(parse_attribute(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn rules_of_arrival_and_deadlines_are_read() {
        assert_eq!(parse_arrivals("asis"), Ok(Arrivals::AsRecorded));
        assert_eq!(parse_arrivals("poisson:1.5s"), Ok(Arrivals::Poisson { mean: Span::from_ms(1_500) }));
        assert_eq!(parse_arrivals("load:0.7"), Ok(Arrivals::Load { rho_ppm: 700_000 }));
        assert_eq!(parse_deadlines("uniform:1.5"), Ok(Deadlines::Uniform { factor_ppm: 1_500_000 }));
        for wrong in ["", "poisson", "poisson:", "load:0", "load:-1", "load:NaN", "batch:1"] {
            assert!(parse_arrivals(wrong).is_err(), "{wrong}");
        }
        assert!(parse_deadlines("uniform:0.9").is_err());
    }

    #[test]
    fn workers_are_named_with_what_happens_to_them() {
        let at = |s| Time::ZERO + Span::from_secs(s);
        let loss = Loss { worker: "a@b".to_owned(), at: at(60), back_after: Some(Span::from_secs(300)) };
        assert_eq!(parse_loss("a@b@60s+5m"), Ok(loss));
        assert_eq!(parse_loss("w@2").map(|loss| loss.back_after), Ok(None));
        let slow = Step { worker: "w".to_owned(), value: 500_000, from: at(10) };
        assert_eq!(parse_speed("w=0.5@10s"), Ok(slow.clone()));
        assert_eq!(parse_foreign_load("w=500@10s"), Ok(slow));
        assert_eq!((parse_cores("0.5"), parse_cores("16")), (Ok(500), Ok(16_000)));
        for wrong in ["w", "@5s", "w@", "w@soon", "w@5s+"] {
            assert!(parse_loss(wrong).is_err(), "{wrong}");
        }
        assert!(parse_speed("w=fast").is_err() && parse_speed("=1").is_err());
        assert!(parse_foreign_load("w=-1").is_err() && parse_foreign_load("w=1@").is_err());
        assert!(parse_cores("0").is_err() && parse_cores("NaN").is_err());
    }

    #[test]
    fn a_question_is_a_job_and_an_instant() {
        let at = Time::ZERO + Span::from_secs(90);
        assert_eq!(parse_question("job_7_0003@90s"), Ok(Question { job: "job_7_0003".to_owned(), at }));
        for wrong in ["3", "@90s", "3@", "3@soon"] {
            assert!(parse_question(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        assert_eq!(parse_ppm("0.05"), Ok(50_000));
        assert!(parse_ppm("1.1").is_err() && parse_ppm("-0.1").is_err() && parse_ppm("NaN").is_err());
        assert_eq!(parse_percentiles("50, 99.9"), Ok(Percentiles(vec![50.0, 99.9])));
        assert!(parse_percentiles("101").is_err() && parse_percentiles("").is_err());
        assert!(parse_heartbeat("0").is_err());
        assert_eq!(parse_heartbeat("instant"), Ok(Span::ZERO));
        assert_eq!(parse_locality_cost("1,1.3").map(|cost| cost.off_rack_ppm), Ok(1_300_000));
    }
}
