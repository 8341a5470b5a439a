//! What a request is answered with, or why it has no answer.

use axum::http::StatusCode;
use serde_json::Value;
use tonic::Code;

/// Why a request has no answer, as Hadoop says it.
pub(super) struct Refusal(pub(super) StatusCode, pub(super) &'static str, pub(super) String);

/// What a resource answers.
pub(super) type Answer = Result<Value, Refusal>;

impl Refusal {
    pub(super) fn not_found(what: impl Into<String>) -> Refusal {
        Refusal(StatusCode::NOT_FOUND, "NotFoundException", what.into())
    }

    pub(super) fn bad(what: impl Into<String>) -> Refusal {
        Refusal(StatusCode::BAD_REQUEST, "BadRequestException", what.into())
    }
}

impl From<tonic::Status> for Refusal {
    fn from(status: tonic::Status) -> Refusal {
        let message = status.message().lines().next().unwrap_or_default().to_owned();
        match status.code() {
            Code::NotFound | Code::InvalidArgument => Refusal::not_found(message),
            Code::FailedPrecondition => Refusal::bad(message),
            _ => Refusal(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailableException", message),
        }
    }
}
