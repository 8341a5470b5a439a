//! What a store says of an upload that was to be completed, after its `200`.
//!
//! The status is sent before the store knows: white space follows for as long as it takes, and then a result or an error.

use std::io::Read;

use object_store::client::{HttpError, HttpErrorKind, HttpResponse, HttpResponseBody};
use ureq::Body;
use ureq::http::StatusCode;
use ureq::http::response::Parts;

/// A store's errors that another try may not meet.
const TROUBLE: [&str; 6] =
    ["InternalError", "SlowDown", "ServiceUnavailable", "RequestTimeout", "OperationAborted", "Throttling"];
const MOST_BYTES: u64 = 1 << 20;

/// The answer with the status that it would have had if it had been known at its first line. `object_store` would take some
/// errors for a result: they name a part's tag, and it looks for nothing else.
pub(crate) fn of(mut parts: Parts, body: Body) -> Result<HttpResponse, HttpError> {
    let broken = |problem: std::io::Error| HttpError::new(HttpErrorKind::Interrupted, problem);
    let mut bytes = Vec::new();
    body.into_with_config().limit(u64::MAX).reader().take(MOST_BYTES).read_to_end(&mut bytes).map_err(broken)?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start();
    match root(text) {
        Some("CompleteMultipartUploadResult") => {}
        Some("Error") => parts.status = status(text),
        // Nobody knows what became of it.
        None => return Err(broken(std::io::Error::other("the answer ends before it says anything"))),
        Some(_) => return Err(broken(std::io::Error::other("the answer is none to what was asked"))),
    }
    Ok(HttpResponse::from_parts(parts, HttpResponseBody::from(text.to_owned())))
}

/// The name of the first element, without its namespace's.
fn root(text: &str) -> Option<&str> {
    let mut starts = text.match_indices('<').map(|(at, _)| &text[at + 1..]);
    let first = starts.find(|rest| !rest.starts_with(['?', '!']))?;
    let name = first.split(|c: char| c.is_whitespace() || c == '>' || c == '/').next()?;
    Some(name.rsplit(':').next().unwrap_or(name))
}

fn status(error: &str) -> StatusCode {
    let code = error.split_once("<Code>").and_then(|(_, rest)| rest.split_once('<')).map_or("", |(code, _)| code);
    match code.trim() {
        "NoSuchUpload" => StatusCode::NOT_FOUND,
        code if TROUBLE.contains(&code) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_element_is_what_the_answer_is() {
        for (text, name) in [
            ("<?xml version=\"1.0\"?>\n<!-- a --><Error><Code>", Some("Error")),
            ("<s3:CompleteMultipartUploadResult xmlns=\"x\">", Some("CompleteMultipartUploadResult")),
            ("<Error/>", Some("Error")),
            ("<?xml version=\"1.0\"?>\n", None),
            ("", None),
        ] {
            assert_eq!(root(text), name, "{text}");
        }
    }
}
