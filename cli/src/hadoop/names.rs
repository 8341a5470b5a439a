//! Hadoop's names for a job and the reason of an attempt's end.

use howdah_proto::v1::AttemptInfo;

/// The application that a job is: the same numbers.
pub(super) fn application(job: &str) -> String {
    format!("application{}", job.strip_prefix("job").unwrap_or(job))
}

pub(super) fn job_of(application: &str) -> String {
    application.strip_prefix("application").map_or_else(|| application.to_owned(), |numbers| format!("job{numbers}"))
}

/// Why an attempt failed: what it said itself, else what was seen of it.
pub(super) fn why(attempt: &AttemptInfo) -> &str {
    let said = attempt.end.as_ref().map_or("", |end| end.diagnostics.as_str());
    if said.is_empty() { &attempt.cause } else { said }
}
