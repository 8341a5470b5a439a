//! What is wrong with a property or a specification.

/// A property or a specification that is inconsistent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// A property's value.
    #[error("property `{key}`: `{value}` is not {expected}")]
    Property {
        /// Its Hadoop name.
        key: String,
        /// As given.
        value: String,
        /// A noun phrase.
        expected: &'static str,
    },
    /// More memory for a task than the cluster gives to any.
    #[error("property `{key}`: {wanted_mb} MB, expected at most {limit_mb} (`{limit_key}`)")]
    Memory {
        /// The job's property.
        key: &'static str,
        /// As asked for.
        wanted_mb: u64,
        /// The cluster's setting.
        limit_key: &'static str,
        /// Its value.
        limit_mb: u64,
    },
    /// A profile that no durations have.
    #[error("job `{job}`: profile: the average `{part}` is above its maximum")]
    Profile {
        /// The job's name.
        job: String,
        /// Of the profile.
        part: &'static str,
    },
    /// Two numbers that must agree.
    #[error("job `{job}`: {what} has {found} entries, expected {expected}")]
    Length {
        /// The job's name.
        job: String,
        /// The table.
        what: &'static str,
        /// Entries there.
        found: usize,
        /// Entries wanted.
        expected: usize,
    },
}
