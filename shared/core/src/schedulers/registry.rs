//! Policies by name.
//!
//! A new policy is one line in `POLICIES`.

pub use super::params::{Allocations, Params, Reader, SchedulerError, read};

use super::{
    BalancedPools, Capacity, Fifo, JobOrder, JobQueue, Johnson, MaxEdf, MinEdf, Offer, Ordered, Scheduler, Shortest,
    fair, size_based,
};

/// A policy's name and what makes it from its parameters.
type Policy = (&'static str, fn(&mut Reader<'_>) -> Result<Box<dyn Scheduler>, SchedulerError>);

/// All policies, by name.
const POLICIES: &[Policy] = &[
    ("balanced-pools", |params| Ok(Box::new(BalancedPools::from_params(params)?))),
    ("capacity", |params| Ok(Box::new(Capacity::from_params(params)?))),
    ("comp", size_based::comp),
    ("fair", |params| fair::by_params(fair::FAIR, params)),
    ("fbq", size_based::fbq),
    ("fifo", |params| match params.word("dialect", &["plain", "0.20.2", "1.2.1"])? {
        "plain" => ordered(Fifo, params),
        dialect => Ok(Box::new(JobQueue::from_params(dialect, params)?)),
    }),
    ("johnson", |params| ordered(Johnson::from_params(params)?, params)),
    ("load-aware", |params| fair::by_params(fair::LOAD_AWARE, params)),
    ("maxedf", |params| ordered(MaxEdf, params)),
    ("minedf", |params| ordered(MinEdf::from_params(params)?, params)),
    ("naive-fair", |params| fair::by_params(fair::NAIVE, params)),
    ("shortest", |params| ordered(Shortest, params)),
    ("sita", size_based::sita),
    ("tags", size_based::tags),
];

/// Whether a policy of this name orders jobs by their deadlines, and so does nothing special where none has one.
pub fn orders_by_deadline(name: &str) -> bool {
    ["maxedf", "minedf"].contains(&name)
}

/// A policy over an order of jobs, with the parameters that all of them have.
fn ordered(order: impl JobOrder, params: &mut Reader<'_>) -> Result<Box<dyn Scheduler>, SchedulerError> {
    Ok(Box::new(Ordered::new(order, Offer::from_params(params)?)))
}

/// The names of all policies, ascending.
pub fn names() -> impl Iterator<Item = &'static str> {
    POLICIES.iter().map(|&(name, _)| name)
}

/// Makes a policy from its name and parameters.
///
/// # Errors
/// Names the unknown policy or the parameter, and what was expected.
pub fn by_name(name: &str, params: &Params) -> Result<Box<dyn Scheduler>, SchedulerError> {
    let Some((_, make)) = POLICIES.iter().find(|(known, _)| *known == name) else {
        let known = names().collect::<Vec<_>>().join(", ");
        return Err(SchedulerError::Unknown { name: name.to_owned(), known });
    };
    read(name, params, make)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(pairs: &[(&str, &str)]) -> Params {
        pairs.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect()
    }

    #[test]
    fn an_unknown_scheduler_is_answered_with_the_known_names() {
        let error = by_name("lottery", &params(&[])).err().expect("no such policy");
        let known = names().collect::<Vec<_>>().join(", ");
        assert_eq!(error.to_string(), format!("scheduler `lottery`: no such scheduler, expected one of {known}"));
        let error = by_name("fiar", &params(&[])).err().expect("no such policy");
        assert_eq!(error.to_string(), "scheduler `fiar`: no such scheduler, did you mean `fair`?");
    }

    #[test]
    fn a_parameter_of_another_rule_says_whose_it_is() {
        let said = |pairs: &[(&str, &str)]| by_name("fifo", &params(pairs)).err().expect("it is refused").to_string();
        let cap = said(&[("speculation.cap", "2")]);
        let all = "hadoop or hadoop-0.21 or late or load-aware";
        let expected = format!("`speculation` is none, expected {all}, which reads it");
        assert_eq!(cap, format!("scheduler `fifo`: parameter `speculation.cap`: {expected}"));
        assert_eq!(said(&[("speculation", "none"), ("speculation.cap", "2")]), cap);
        let curve = said(&[("speculation", "late"), ("load-aware.curve", "below=0,linear=1")]);
        assert!(
            curve.ends_with("`load-aware.curve`: `speculation` is late, expected load-aware, which reads it"),
            "{curve}"
        );
        let nobodys = said(&[("speculation", "late"), ("speculation.hat", "2")]);
        assert!(nobodys.ends_with("unknown parameter `speculation.hat`, did you mean `speculation.cap`?"), "{nobodys}");
    }

    #[test]
    fn a_misspelt_parameter_is_answered_with_the_one_that_was_meant_and_others_with_all() {
        let said = |key: &str| by_name("fair", &params(&[(key, "1")])).err().expect("it is refused").to_string();
        assert_eq!(said("preemptoin"), "scheduler `fair`: unknown parameter `preemptoin`, did you mean `preemption`?");
        let prefixed = said("mapred.fairscheduler.premption");
        assert!(prefixed.ends_with("did you mean `mapred.fairscheduler.preemption`?"), "{prefixed}");
        let all = said("quantum");
        assert!(all.contains("expected one of ") && all.contains(" sizebasedweight, "), "{all}");
        assert!(!all.contains("mapred."), "each name once: {all}");
    }

    #[test]
    fn wrong_parameters_are_named() {
        let error = by_name("fifo", &params(&[("quantum", "3")])).err().expect("no such parameter");
        assert_eq!(
            error.to_string(),
            "scheduler `fifo`: unknown parameter `quantum`, expected one of dialect, speculation"
        );
        let error = by_name("fifo", &params(&[("speculation", "maybe")])).err().expect("no such rule");
        assert_eq!(
            error.to_string(),
            "scheduler `fifo`: parameter `speculation`: `maybe` is not none or hadoop or hadoop-0.21 or late or load-aware"
        );
    }
}
