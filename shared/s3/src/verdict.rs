//! What a store says of an upload that was to be completed, after its `200`.
//!
//! The status is sent before the store knows: white space follows for as long as it takes, and then a result or an error.

use std::io::Read;

use object_store::client::{HttpError, HttpErrorKind, HttpResponse, HttpResponseBody};
use roxmltree::Document;
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
    match said(text) {
        Some(Verdict::Completed) => {}
        Some(Verdict::Refused(status)) => parts.status = status,
        // Nobody knows what became of it.
        None => return Err(broken(std::io::Error::other("the answer is cut off, or none to what was asked"))),
    }
    Ok(HttpResponse::from_parts(parts, HttpResponseBody::from(text.to_owned())))
}

/// What an answer says that came whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Completed,
    /// With the status that belongs to the error's code.
    Refused(StatusCode),
}

fn said(text: &str) -> Option<Verdict> {
    let document = Document::parse(text).ok()?;
    let root = document.root_element();
    match root.tag_name().name() {
        "CompleteMultipartUploadResult" => Some(Verdict::Completed),
        "Error" => {
            let code = root.children().find(|child| child.tag_name().name() == "Code").and_then(|code| code.text());
            Some(Verdict::Refused(status(code.unwrap_or_default().trim())))
        }
        _ => None,
    }
}

fn status(code: &str) -> StatusCode {
    match code {
        "NoSuchUpload" => StatusCode::NOT_FOUND,
        code if TROUBLE.contains(&code) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_element_is_what_the_answer_is_and_an_error_has_its_codes_status() {
        let refused = |status| Some(Verdict::Refused(status));
        for (text, verdict) in [
            ("<s3:CompleteMultipartUploadResult xmlns:s3=\"x\"/>", Some(Verdict::Completed)),
            (
                "<CompleteMultipartUploadResult xmlns=\"x\"><ETag>e</ETag></CompleteMultipartUploadResult>",
                Some(Verdict::Completed),
            ),
            (
                "<?xml version=\"1.0\"?>\n<!-- a --><Error><Code>SlowDown</Code></Error>",
                refused(StatusCode::SERVICE_UNAVAILABLE),
            ),
            ("<Error xmlns=\"x\"><Code> NoSuchUpload </Code></Error>", refused(StatusCode::NOT_FOUND)),
            ("<Error><Message>InternalError</Message></Error>", refused(StatusCode::BAD_REQUEST)),
            ("<Error/>", refused(StatusCode::BAD_REQUEST)),
            ("<Error><Code>SlowDown</Co", None),
            ("<html><Error/></html>", None),
            ("<!DOCTYPE a [<!ENTITY b \"c\">]><Error><Code>&b;</Code></Error>", None),
            ("<?xml version=\"1.0\"?>\n", None),
            ("", None),
        ] {
            assert_eq!(said(text), verdict, "{text}");
        }
    }
}
