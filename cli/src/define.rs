//! `-D KEY=VALUE` of schedulers' parameters.

use howdah_shared::schedulers::registry::Params;

use crate::failure::{Failure, Outcome};

/// The parameters that were given.
///
/// # Errors
/// When one is given twice: which of the two was meant, nobody knows.
pub(crate) fn params(define: &[(String, String)]) -> Outcome<Params> {
    let mut params = Params::new();
    for (key, value) in define {
        if let Some(first) = params.insert(key.clone(), value.clone()) {
            return Err(Failure::usage(format!("-D {key}: found `{first}` and `{value}`, expected it once")));
        }
    }
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_that_is_given_twice_is_refused_even_with_one_value() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let given = [pair("preemption", "true"), pair("dialect", "1.2.1")];
        assert_eq!(params(&given).expect("each once"), Params::from(given.clone()));
        let twice = params(&[&given[..], &[pair("preemption", "true")]].concat()).expect_err("twice").to_string();
        assert_eq!(twice, "error: -D preemption: found `true` and `true`, expected it once");
    }
}
