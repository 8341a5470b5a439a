//! What a job requires of a worker's attributes: `ssd`, `rack=r2`, `gpu>=1`, `ram<64`.
//!
//! A requirement that is only a name holds where the attribute is there and says more than no: it is not empty, `no`,
//! `false` or zero. `<`, `<=`, `>`, `>=` compare exact decimal numbers; `=` and `!=` compare numbers where both sides
//! are some, and bytes otherwise. **An attribute that is missing, or is no number where one is wanted, fails every
//! requirement but `!=`**: `zone!=b` keeps a job away from zone b, and `zone` beside it from workers that do not say.
//! Source: load-aware §3.3.

mod decimal;
mod list;

use std::fmt;
use std::str::FromStr;

use self::decimal::Decimal;
pub use self::list::{MAX_REQUIREMENTS, Requirements};

/// Bytes of an attribute's name.
pub const MAX_ATTRIBUTE_NAME_BYTES: usize = 64;
/// Bytes of an attribute's value.
pub const MAX_ATTRIBUTE_VALUE_BYTES: usize = 256;
/// Attributes of one worker.
pub const MAX_ATTRIBUTES: usize = 256;

/// How an attribute is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Comparison {
    /// `name`: it is there and says more than no.
    Holds,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `>=`
    AtLeast,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `<`
    Less,
}

impl Comparison {
    /// Those with a sign, each before any that it begins with.
    const SIGNED: [Comparison; 6] = [
        Comparison::NotEqual,
        Comparison::AtLeast,
        Comparison::AtMost,
        Comparison::More,
        Comparison::Less,
        Comparison::Equal,
    ];

    /// As it stands between name and value; empty for [`Comparison::Holds`].
    pub const fn sign(self) -> &'static str {
        match self {
            Comparison::Holds => "",
            Comparison::Equal => "=",
            Comparison::NotEqual => "!=",
            Comparison::AtLeast => ">=",
            Comparison::AtMost => "<=",
            Comparison::More => ">",
            Comparison::Less => "<",
        }
    }
}

/// One requirement. Its text is what was written, without blanks around its parts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Requirement {
    name: String,
    comparison: Comparison,
    /// Empty for [`Comparison::Holds`], and only then.
    value: String,
    /// The value, if it is a number; there for each comparison that needs one.
    number: Option<Decimal>,
}

/// A text that is no requirement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequirementError {
    /// The attribute's name.
    #[error("requirement `{text}`: `{name}` is no attribute's name, {EXPECTED_NAME}")]
    Name {
        /// As given.
        text: String,
        /// The part before the comparison.
        name: String,
    },
    /// The value is missing, or begins with another comparison.
    #[error("requirement `{text}`: found no value after `{sign}`, expected one such as {sign}4")]
    Value {
        /// As given.
        text: String,
        /// The comparison.
        sign: &'static str,
    },
    /// The value holds control characters or is too long.
    #[error(
        "requirement of `{name}`: the value is too long or holds control characters, expected at most {MAX_ATTRIBUTE_VALUE_BYTES} printable bytes"
    )]
    Unprintable {
        /// The attribute.
        name: String,
    },
    /// A number is compared with something else.
    #[error("requirement `{text}`: `{value}` is no number, expected one such as 4 or 1.5; only = and != compare text")]
    Number {
        /// As given.
        text: String,
        /// The part after the comparison.
        value: String,
    },
    /// There are more than anyone needs.
    #[error("{found} requirements, expected at most {MAX_REQUIREMENTS}")]
    TooMany {
        /// As given.
        found: usize,
    },
}

/// What [`is_attribute_name`] takes, for messages.
pub const EXPECTED_NAME: &str = "expected letters, digits and any of _ - . / behind a first letter, at most 64 bytes";

/// Whether workers can have an attribute of this name: letters, digits and any of `_`, `-`, `.` and `/`, a letter or `_`
/// first, at most [`MAX_ATTRIBUTE_NAME_BYTES`].
pub fn is_attribute_name(name: &str) -> bool {
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let rest = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    first && name.len() <= MAX_ATTRIBUTE_NAME_BYTES && name.bytes().all(rest)
}

/// Whether an attribute can have this value: at most [`MAX_ATTRIBUTE_VALUE_BYTES`], no control characters, no blanks
/// around it. It may be empty.
pub fn is_attribute_value(value: &str) -> bool {
    value.len() <= MAX_ATTRIBUTE_VALUE_BYTES && !value.contains(char::is_control) && value.trim() == value
}

impl Requirement {
    /// The attribute that it speaks of.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it compares.
    pub fn comparison(&self) -> Comparison {
        self.comparison
    }

    /// What it compares with; empty for [`Comparison::Holds`].
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Whether an attribute with this value, or none at all, is what is required.
    pub fn is_met_by(&self, attribute: Option<&str>) -> bool {
        let Some(attribute) = attribute else { return self.comparison == Comparison::NotEqual };
        let found: Option<Decimal> = attribute.parse().ok();
        let ordered = || found.zip(self.number).map(|(found, wanted)| found.cmp(&wanted));
        let equal = || ordered().map_or_else(|| self.bare(attribute) == self.bare(&self.value), |order| order.is_eq());
        match self.comparison {
            Comparison::Holds => says_more_than_no(attribute, found),
            Comparison::Equal => equal(),
            Comparison::NotEqual => !equal(),
            Comparison::AtLeast => ordered().is_some_and(|order| order.is_ge()),
            Comparison::AtMost => ordered().is_some_and(|order| order.is_le()),
            Comparison::More => ordered().is_some_and(|order| order.is_gt()),
            Comparison::Less => ordered().is_some_and(|order| order.is_lt()),
        }
    }

    /// A text as it is compared. Racks are paths whose first slash may be left out, whoever says them: `r2` and `/r2` are
    /// one.
    fn bare<'t>(&self, text: &'t str) -> &'t str {
        if self.name == "rack" { text.strip_prefix('/').unwrap_or(text) } else { text }
    }
}

fn says_more_than_no(attribute: &str, number: Option<Decimal>) -> bool {
    let no = ["", "no", "false"].iter().any(|no| attribute.eq_ignore_ascii_case(no));
    !no && number != Some(Decimal::ZERO)
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.name, self.comparison.sign(), self.value)
    }
}

impl FromStr for Requirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Requirement, RequirementError> {
        let end = text.find(['=', '!', '<', '>']).unwrap_or(text.len());
        let (name, rest) = (text[..end].trim(), &text[end..]);
        if !is_attribute_name(name) {
            return Err(RequirementError::Name { text: text.to_owned(), name: name.to_owned() });
        }
        let signed = Comparison::SIGNED.into_iter().find(|comparison| rest.starts_with(comparison.sign()));
        let Some(comparison) = signed else {
            if rest.is_empty() {
                let (name, value) = (name.to_owned(), String::new());
                return Ok(Requirement { name, comparison: Comparison::Holds, value, number: None });
            }
            // A `!` that no `=` follows.
            return Err(RequirementError::Name { text: text.to_owned(), name: text.to_owned() });
        };
        let value = rest[comparison.sign().len()..].trim();
        Requirement::with(name, comparison, value, text)
    }
}

impl Requirement {
    fn with(name: &str, comparison: Comparison, value: &str, text: &str) -> Result<Requirement, RequirementError> {
        if value.is_empty() || value.starts_with(['=', '!', '<', '>']) {
            return Err(RequirementError::Value { text: text.to_owned(), sign: comparison.sign() });
        }
        if !is_attribute_value(value) {
            return Err(RequirementError::Unprintable { name: name.to_owned() });
        }
        let number: Option<Decimal> = value.parse().ok();
        if number.is_none() && !matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
            return Err(RequirementError::Number { text: text.to_owned(), value: value.to_owned() });
        }
        Ok(Requirement { name: name.to_owned(), comparison, value: value.to_owned(), number })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn met(requirement: &str, attribute: Option<&str>) -> bool {
        requirement.parse::<Requirement>().expect(requirement).is_met_by(attribute)
    }

    #[test]
    fn a_bare_name_wants_more_than_no() {
        for yes in ["yes", "1", "0.5", "-1", "r2", "off-site", "00a"] {
            assert!(met("ssd", Some(yes)), "{yes}");
        }
        for no in ["", "0", "0.00", "-0", "no", "No", "FALSE", "false"] {
            assert!(!met("ssd", Some(no)), "{no}");
        }
        assert!(!met("ssd", None));
    }

    #[test]
    fn numbers_compare_as_numbers_and_text_only_for_equality() {
        assert!(met("gpu>=1", Some("1")) && met("gpu>=1", Some("10")) && !met("gpu>=1", Some("0")));
        assert!(met("ram<64", Some("9")), "not as text");
        assert!(met("ram>63.999999999", Some("64")) && !met("ram>64", Some("64.0")));
        assert!(met("ram<=64", Some("64.0")) && !met("ram<=64", Some("64.000000001")));
        assert!(met("version=1.10", Some("1.1")), "both are numbers");
        assert!(met("zone=b", Some("b")) && !met("zone=b", Some("B")), "bytes");
        assert!(met("zone!=b", Some("a")) && !met("zone!=b", Some("b")) && !met("n!=2", Some("2.0")));
        for requirement in ["gpu>=1", "gpu<1", "gpu<=1", "gpu>0"] {
            assert!(!met(requirement, Some("many")), "{requirement}");
        }
    }

    #[test]
    fn a_rack_is_a_path_whose_first_slash_may_be_left_out_on_either_side() {
        for (wanted, said) in [("r2", "/r2"), ("/r2", "r2"), ("/dc/r2", "dc/r2"), ("default-rack", "/default-rack")] {
            assert!(met(&format!("rack={wanted}"), Some(said)) && !met(&format!("rack!={wanted}"), Some(said)));
        }
        assert!(!met("rack=r2", Some("/dc/r2")) && !met("rack=/r2", Some("r2/")));
        assert!(!met("path=/a", Some("a")), "only racks");
    }

    #[test]
    fn a_missing_attribute_meets_only_a_requirement_to_be_something_else() {
        for requirement in ["gpu", "gpu=1", "gpu>=0", "gpu<=0", "gpu<1", "gpu>-1"] {
            assert!(!met(requirement, None), "{requirement}");
        }
        assert!(met("zone!=b", None));
    }

    #[test]
    fn what_is_no_requirement_is_refused_with_what_was_expected() {
        let error = |text: &str| text.parse::<Requirement>().expect_err(text).to_string();
        assert_eq!(error("gpu>="), "requirement `gpu>=`: found no value after `>=`, expected one such as >=4");
        assert_eq!(error("gpu=>1"), "requirement `gpu=>1`: found no value after `=`, expected one such as =4");
        assert_eq!(
            error("gpu>=fast"),
            "requirement `gpu>=fast`: `fast` is no number, expected one such as 4 or 1.5; only = and != compare text"
        );
        assert_eq!(
            error("=1"),
            "requirement `=1`: `` is no attribute's name, expected letters, digits and any of _ - . / behind a first \
             letter, at most 64 bytes"
        );
        for wrong in ["", "!gpu", "gpu!1", "gpu==1", "1gpu=2", "a b=1", "gpu=", "zone=a\u{7}", "gpu>1e3", "é=1"] {
            let said = error(wrong);
            assert!(said.contains("expected") && !said.contains('\n'), "{said}");
        }
        assert!(format!("zone={}", "b".repeat(MAX_ATTRIBUTE_VALUE_BYTES + 1)).parse::<Requirement>().is_err());
        assert!("n".repeat(MAX_ATTRIBUTE_NAME_BYTES + 1).parse::<Requirement>().is_err());
    }

    #[test]
    fn blanks_around_the_parts_are_left_out() {
        let requirement: Requirement = " gpu >= 1 ".parse().expect("a requirement");
        assert_eq!(requirement.to_string(), "gpu>=1");
        let text: Requirement = "os=Debian GNU/Linux 13".parse().expect("a requirement");
        assert_eq!(text.value(), "Debian GNU/Linux 13");
    }

    fn requirement() -> impl Strategy<Value = Requirement> {
        let signs = prop::sample::select(vec!["=", "!=", "<", "<=", ">", ">="]);
        let number = "[+-]?[0-9]{1,6}(\\.[0-9]{1,9})?";
        let name = "[A-Za-z_][A-Za-z0-9_./-]{0,8}";
        let texts = prop_oneof![
            name.prop_map(|name| name),
            (name, prop::sample::select(vec!["=", "!="]), "[a-zA-Z0-9/.-][ -~]{0,6}[a-z]")
                .prop_map(|(n, s, v)| n + s + &v),
            (name, signs, number).prop_map(|(n, s, v)| n + s + &v),
        ];
        texts.prop_map(|text| text.parse().expect("made of its grammar"))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_printed_reads_as_the_same(requirement in requirement()) {
            prop_assert_eq!(requirement.to_string().parse(), Ok(requirement));
        }

        #[test]
        fn no_text_makes_reading_panic_and_what_reads_prints_and_reads_again(text in ".{0,12}|[a-z=!<>0-9 .]{0,12}") {
            if let Ok(requirement) = text.parse::<Requirement>() {
                prop_assert_eq!(requirement.to_string().parse(), Ok(requirement));
            }
        }

        #[test]
        fn each_comparison_is_the_other_sides_opposite(
            wanted in -40i32..40, found in prop_oneof!["-?[0-4]\\.?[0-9]", "-?[0-4]", "[a-c]"],
        ) {
            let value = f64::from(wanted) / 10.0;
            let at = |sign: &str| format!("n{sign}{value}").parse::<Requirement>().expect("a number").is_met_by(Some(&found));
            prop_assert_eq!(at("="), !at("!="));
            if let Ok(number) = found.parse::<f64>() {
                // Tenths this small are ordered the same as floats.
                prop_assert_eq!(at("<"), number < value);
                prop_assert_eq!(at("<="), !at(">"));
                prop_assert_eq!(at(">="), !at("<"));
                prop_assert_eq!(at("="), at("<=") && at(">="));
            } else {
                prop_assert!(!at("<") && !at("<=") && !at(">") && !at(">="));
            }
        }
    }
}
