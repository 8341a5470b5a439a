//! What is wrong with a name or an address.

use std::time::Duration;

use super::host_port::HostPortError;

/// How long an answer may take: a directory service that is away must not hold up a daemon for ever.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Why a name has no address.
#[derive(Debug, thiserror::Error)]
pub enum NameError {
    /// It is not even a name.
    #[error(transparent)]
    Malformed(#[from] HostPortError),
    /// Nobody knows it.
    #[error("host `{0}` is unknown: it is neither in /etc/hosts nor does `getent ahosts` find it")]
    Unknown(String),
    /// There is nobody to ask.
    #[error("host `{host}` is not in /etc/hosts, and `getent`, which would ask DNS, cannot be run: {problem}")]
    NoGetent {
        /// The name.
        host: String,
        /// Why not.
        problem: String,
    },
    /// Whoever was asked did not answer.
    #[error("host `{0}`: `getent ahosts` gave no answer within {seconds} s", seconds = PATIENCE.as_secs())]
    Slow(String),
}
