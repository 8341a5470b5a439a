//! `-D KEY=VALUE` of schedulers' parameters, and beside them of a foreign trace's import.

use howdah_core::schedulers::registry::Params;

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

/// What a command that simulates was given: the policy's parameters, and the settings of the trace's import.
pub(crate) fn apart(define: &[(String, String)]) -> [Vec<(String, String)>; 2] {
    let is_import = |key: &str| ["swim.", "coflow."].iter().any(|model| key.starts_with(model));
    let (import, policy) = define.iter().cloned().partition(|(key, _)| is_import(key));
    [policy, import]
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
    #[test]
    fn what_only_an_import_knows_is_no_parameter_of_a_policy() {
        let pair = |key: &str| (key.to_owned(), "1".to_owned());
        let found = apart(&[pair("queues"), pair("swim.split"), pair("speculation.cap"), pair("coflow.startup")]);
        assert_eq!(found[0], [pair("queues"), pair("speculation.cap")]);
        assert_eq!(found[1], [pair("swim.split"), pair("coflow.startup")]);
    }
}
