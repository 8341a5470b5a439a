//! Why a request has no answer, as JSON: what went wrong in one line, and advice, as the command's own errors have them.

use axum::http::{StatusCode, Uri};
use schemars::JsonSchema;
use serde::Serialize;
use tonic::{Code, Status};

/// Advice to who asked for what is not there or not so.
const HELP: &str = "/api/v1/openapi.json describes what there is";

/// An answer that is none.
#[derive(Debug)]
pub(in crate::rest) struct Refused {
    pub(in crate::rest) status: StatusCode,
    pub(in crate::rest) body: Refusal,
}

/// An error.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub(in crate::rest) struct Refusal {
    /// What went wrong, in one line.
    error: String,
    /// Advice, a line each; may be empty.
    help: Vec<String>,
}

impl Refused {
    fn new(status: StatusCode, error: impl Into<String>, help: &str) -> Refused {
        Refused { status, body: Refusal { error: error.into(), help: vec![help.to_owned()] } }
    }

    /// A query that is not what the resource takes.
    pub(super) fn query(uri: &Uri, why: &str) -> Refused {
        Refused::new(StatusCode::BAD_REQUEST, format!("query of {}: {why}", uri.path()), HELP)
    }

    pub(super) fn no_resource(uri: &Uri) -> Refused {
        Refused::new(StatusCode::NOT_FOUND, format!("{}: no such resource", uri.path()), HELP)
    }

    pub(in crate::rest) fn method(method: &str, uri: &Uri) -> Refused {
        let error = format!("{method} {}: expected GET, nothing here is changed this way", uri.path());
        Refused::new(StatusCode::METHOD_NOT_ALLOWED, error, "the command `howdah` changes jobs and workers")
    }

    pub(in crate::rest) fn busy(at_a_time: usize) -> Refused {
        let error = format!("{at_a_time} requests are being served");
        Refused::new(StatusCode::SERVICE_UNAVAILABLE, error, "try again in a second")
    }

    pub(super) fn internal(error: impl std::fmt::Display) -> Refused {
        tracing::error!(%error, "failed to answer a request");
        Refused::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("failed to answer: {error}"),
            "the master's log may say why",
        )
    }
}

impl From<Status> for Refused {
    fn from(status: Status) -> Refused {
        let code = match status.code() {
            Code::NotFound => StatusCode::NOT_FOUND,
            Code::InvalidArgument => StatusCode::BAD_REQUEST,
            Code::FailedPrecondition => StatusCode::CONFLICT,
            Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        let mut lines = status.message().lines();
        let error = lines.next().unwrap_or("it failed without a word").to_owned();
        let help = lines.map(|line| line.trim().trim_start_matches("help: ").to_owned()).collect();
        Refused { status: code, body: Refusal { error, help } }
    }
}
