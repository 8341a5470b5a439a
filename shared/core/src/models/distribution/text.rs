//! The text form of distributions, for commands, workload descriptions and reports.
//!
//! A name and its parameters: `constant(5)` or just `5`, `uniform(LOW,HIGH)`, `exponential(MEAN)`,
//! `normal(MEAN,SD)` or `normal(MEAN,SD,clamp|redraw|absolute)`, `lognormal(MU,SIGMA)`, `weibull(SHAPE,SCALE)`,
//! `gamma(SHAPE,SCALE)`, `pareto(MINIMUM,SHAPE)`, `empirical(VALUE,…)`, `mixture(WEIGHT:DISTRIBUTION,…)`. Printing
//! and parsing again gives the same distribution to the last bit.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Distribution, Negative};

/// A text that is no distribution, or a distribution that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("distribution `{text}`: expected {expected}")]
pub struct DistributionError {
    /// As given.
    pub text: String,
    /// A noun phrase.
    pub expected: String,
}

impl fmt::Display for Negative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Negative::Keep => "keep",
            Negative::Clamp => "clamp",
            Negative::Redraw => "redraw",
            Negative::Absolute => "absolute",
        })
    }
}

impl FromStr for Negative {
    type Err = DistributionError;

    fn from_str(text: &str) -> Result<Negative, DistributionError> {
        match text.trim() {
            "keep" => Ok(Negative::Keep),
            "clamp" => Ok(Negative::Clamp),
            "redraw" => Ok(Negative::Redraw),
            "absolute" => Ok(Negative::Absolute),
            other => Err(wrong(other, "clamp, redraw or absolute")),
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distribution::Constant(value) => write!(f, "constant({value})"),
            Distribution::Uniform { low, high } => write!(f, "uniform({low},{high})"),
            Distribution::Exponential { mean } => write!(f, "exponential({mean})"),
            Distribution::Normal { mean, sd, negative: Negative::Keep } => write!(f, "normal({mean},{sd})"),
            Distribution::Normal { mean, sd, negative } => write!(f, "normal({mean},{sd},{negative})"),
            Distribution::LogNormal { mu, sigma } => write!(f, "lognormal({mu},{sigma})"),
            Distribution::Weibull { shape, scale } => write!(f, "weibull({shape},{scale})"),
            Distribution::Gamma { shape, scale } => write!(f, "gamma({shape},{scale})"),
            Distribution::Pareto { minimum, shape } => write!(f, "pareto({minimum},{shape})"),
            Distribution::Empirical(values) => {
                f.write_str("empirical(")?;
                list(f, values, |f, value| write!(f, "{value}"))
            }
            Distribution::Mixture(parts) => {
                f.write_str("mixture(")?;
                list(f, parts, |f, (weight, part)| write!(f, "{weight}:{part}"))
            }
        }
    }
}

fn list<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    one: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(",")?;
        }
        one(f, item)?;
    }
    f.write_str(")")
}

impl FromStr for Distribution {
    type Err = DistributionError;

    fn from_str(text: &str) -> Result<Distribution, DistributionError> {
        parse(text.trim(), 0)?.check().map_err(|error| DistributionError { text: text.to_owned(), ..error })
    }
}

fn parse(text: &str, depth: u32) -> Result<Distribution, DistributionError> {
    const FORM: &str = "a number or a form such as lognormal(9.95,1.68), normal(50,20,redraw) or uniform(1,10)";
    if let Ok(value) = text.parse::<f64>() {
        return Ok(Distribution::Constant(value));
    }
    let open = text.find('(').ok_or_else(|| wrong(text, FORM))?;
    let inside = text[open + 1..].strip_suffix(')').ok_or_else(|| wrong(text, "a closing parenthesis at the end"))?;
    let arguments = split(inside);
    let name = text[..open].trim();
    let number = |index: usize| {
        let argument = arguments.get(index).map_or("", |argument| argument.trim());
        argument.parse::<f64>().map_err(|_| wrong(text, &format!("a number as parameter {}", index + 1)))
    };
    let count = |wanted: &[usize], form: &str| {
        if wanted.contains(&arguments.len()) { Ok(()) } else { Err(wrong(text, &format!("the form {form}"))) }
    };
    match name {
        "constant" => {
            count(&[1], "constant(VALUE)")?;
            Ok(Distribution::Constant(number(0)?))
        }
        "uniform" => {
            count(&[2], "uniform(LOW,HIGH)")?;
            Ok(Distribution::Uniform { low: number(0)?, high: number(1)? })
        }
        "exponential" => {
            count(&[1], "exponential(MEAN)")?;
            Ok(Distribution::Exponential { mean: number(0)? })
        }
        "normal" => {
            count(&[2, 3], "normal(MEAN,SD) or normal(MEAN,SD,clamp|redraw|absolute)")?;
            let negative = arguments.get(2).map_or(Ok(Negative::Keep), |word| word.parse())?;
            Ok(Distribution::Normal { mean: number(0)?, sd: number(1)?, negative })
        }
        "lognormal" => {
            count(&[2], "lognormal(MU,SIGMA)")?;
            Ok(Distribution::LogNormal { mu: number(0)?, sigma: number(1)? })
        }
        "weibull" => {
            count(&[2], "weibull(SHAPE,SCALE)")?;
            Ok(Distribution::Weibull { shape: number(0)?, scale: number(1)? })
        }
        "gamma" => {
            count(&[2], "gamma(SHAPE,SCALE)")?;
            Ok(Distribution::Gamma { shape: number(0)?, scale: number(1)? })
        }
        "pareto" => {
            count(&[2], "pareto(MINIMUM,SHAPE)")?;
            Ok(Distribution::Pareto { minimum: number(0)?, shape: number(1)? })
        }
        "empirical" => Ok(Distribution::empirical((0..arguments.len()).map(number).collect::<Result<Vec<_>, _>>()?)),
        "mixture" if depth < 8 => {
            let part = |argument: &&str| {
                let (weight, part) = argument
                    .split_once(':')
                    .ok_or_else(|| wrong(argument, "a weight, a colon and a distribution, such as 0.8:uniform(1,2)"))?;
                let weight = weight.trim().parse().map_err(|_| wrong(argument, "a number as weight"))?;
                Ok((weight, parse(part.trim(), depth + 1)?))
            };
            Ok(Distribution::Mixture(arguments.iter().map(part).collect::<Result<_, DistributionError>>()?))
        }
        "mixture" => Err(wrong(text, "mixtures of mixtures at most eight deep")),
        _ => Err(wrong(text, FORM)),
    }
}

/// Splits at the commas that are outside of all parentheses.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

impl Distribution {
    /// Itself, if its parameters make sense.
    ///
    /// # Errors
    /// Names the parameter and what was expected.
    pub fn check(self) -> Result<Distribution, DistributionError> {
        let complaint = match &self {
            Distribution::Constant(value) if !value.is_finite() => Some("a finite value"),
            Distribution::Uniform { low, high } if !(low.is_finite() && high.is_finite() && low <= high) => {
                Some("finite bounds, the lower one first")
            }
            Distribution::Exponential { mean } if !positive(*mean) => Some("a mean above 0"),
            Distribution::Normal { mean, sd, .. } if !(mean.is_finite() && sd.is_finite() && *sd >= 0.0) => {
                Some("a finite mean and a standard deviation of at least 0")
            }
            Distribution::Normal { mean, sd, negative: Negative::Redraw } if *mean < -3.0 * sd => {
                Some("a mean of at least minus three standard deviations, or drawing again would hardly end")
            }
            Distribution::LogNormal { mu, sigma } if !(mu.is_finite() && sigma.is_finite() && *sigma >= 0.0) => {
                Some("a finite mu and a sigma of at least 0")
            }
            Distribution::Weibull { shape, scale } | Distribution::Gamma { shape, scale }
                if !(positive(*shape) && positive(*scale)) =>
            {
                Some("a shape and a scale above 0")
            }
            // Beyond, it is a normal distribution, and its cumulative one takes for ever.
            Distribution::Gamma { shape, .. } if *shape > 1e6 => Some("a shape of at most 1,000,000"),
            Distribution::Pareto { minimum, shape } if !(positive(*minimum) && positive(*shape)) => {
                Some("a minimum and a shape above 0")
            }
            Distribution::Empirical(values) if values.is_empty() || !values.iter().all(|value| value.is_finite()) => {
                Some("at least one value, all finite")
            }
            Distribution::Mixture(parts) if parts.is_empty() || !parts.iter().all(|(weight, _)| positive(*weight)) => {
                Some("at least one part, all weights above 0")
            }
            Distribution::Mixture(parts) => {
                for (_, part) in parts {
                    part.clone().check()?;
                }
                None
            }
            _ => None,
        };
        match complaint {
            Some(expected) => Err(wrong(&self.to_string(), expected)),
            None => Ok(self),
        }
    }
}

fn positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

fn wrong(text: &str, expected: &str) -> DistributionError {
    DistributionError { text: text.to_owned(), expected: expected.to_owned() }
}

impl Serialize for Distribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Distribution {
    /// From the text form or a bare number.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Distribution, D::Error> {
        struct Text;

        impl de::Visitor<'_> for Text {
            type Value = Distribution;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a distribution such as lognormal(9.95,1.68)")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Distribution, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Distribution, E> {
                Distribution::Constant(value).check().map_err(E::custom)
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Distribution, E> {
                Ok(Distribution::Constant(value as f64))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Distribution, E> {
                Ok(Distribution::Constant(value as f64))
            }
        }

        deserializer.deserialize_any(Text)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("constant(5)")]
    #[case("uniform(1,10)")]
    #[case("exponential(0.1)")]
    #[case("normal(154,558)")]
    #[case("normal(154,558,redraw)")]
    #[case("lognormal(9.9511,1.6764)")]
    #[case("weibull(0.5,3)")]
    #[case("gamma(0.1,1000000)")]
    #[case("pareto(1,1.5)")]
    #[case("empirical(1,2.5,3)")]
    #[case("mixture(0.8:uniform(1,2),0.2:mixture(1:constant(8),1:normal(9,1,clamp)))")]
    fn text_and_distribution_are_the_same_thing(#[case] text: &str) {
        let distribution: Distribution = text.parse().expect(text);
        assert_eq!(distribution.to_string(), text);
        let json = serde_json::to_string(&distribution).expect("a string");
        assert_eq!(serde_json::from_str::<Distribution>(&json).expect("its own text"), distribution);
    }

    #[test]
    fn spaces_and_bare_numbers_are_fine() {
        assert_eq!("  lognormal( 1 , 2 ) ".parse(), Ok(Distribution::LogNormal { mu: 1.0, sigma: 2.0 }));
        assert_eq!("7.5".parse(), Ok(Distribution::Constant(7.5)));
        assert_eq!(serde_json::from_str::<Distribution>("7").expect("a number"), Distribution::Constant(7.0));
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "[a-z(),:.0-9 é-]{0,60}") {
            let _ = text.parse::<Distribution>();
            let _ = format!("mixture({text})").parse::<Distribution>();
        }
    }

    #[rstest]
    #[case("", "a number or a form")]
    #[case("cauchy(1,2)", "a number or a form")]
    #[case("uniform(1,2", "a closing parenthesis")]
    #[case("uniform(1)", "the form uniform(LOW,HIGH)")]
    #[case("uniform(9,1)", "the lower one first")]
    #[case("normal(1,x)", "a number as parameter 2")]
    #[case("normal(1,2,drop)", "clamp, redraw or absolute")]
    #[case("normal(-100,1,redraw)", "minus three standard deviations")]
    #[case("exponential(0)", "a mean above 0")]
    #[case("lognormal(1,-1)", "a sigma of at least 0")]
    #[case("gamma(1,inf)", "a shape and a scale above 0")]
    #[case("pareto(0,1)", "a minimum and a shape above 0")]
    #[case("empirical()", "a number as parameter 1")]
    #[case("constant(nan)", "a finite value")]
    #[case("mixture(uniform(1,2))", "a weight, a colon")]
    #[case("mixture(-1:constant(2))", "all weights above 0")]
    #[case("mixture(1:exponential(-2))", "a mean above 0")]
    fn what_is_wrong_is_named(#[case] text: &str, #[case] expected: &str) {
        let error = text.parse::<Distribution>().expect_err(text).to_string();
        assert!(error.contains(expected), "{error}");
    }
}
