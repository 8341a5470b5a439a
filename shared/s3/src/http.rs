//! How requests go out: by the client that the rest of howdah uses, one at a time, with a deadline for every wait.
//!
//! `object_store` asks asynchronously. Nothing else runs beside a request here, so its future does the whole work when it is
//! polled, and the body is read when it is polled. Names are resolved by the machine's `getent`, because the executable is
//! static.

use std::io::{Cursor, Read};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use howdah_webhdfs::{Patience, socket};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use ureq::http::{Method, Request, Uri};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, SendBody};

use crate::verdict;

/// Bytes that are read at once.
const PIECE_BYTES: usize = 256 << 10;
/// Bytes of an answer that is no range of an object: a thousand keys.
const MOST_ANSWER_BYTES: u64 = 16 << 20;

/// How long a store may take to complete an upload: Amazon's says "several minutes".
pub(crate) const DEADLINE: Duration = Duration::from_secs(600);

/// Makes the client that requests go through.
#[derive(Debug)]
pub(crate) struct Connector {
    patience: Patience,
    complete: Duration,
    roots: RootCerts,
}

#[derive(Debug)]
struct Service {
    agent: Agent,
    /// For a whole answer that is no range of an object.
    whole: Duration,
    /// From the request for the completion of an upload to the end of its answer.
    complete: Duration,
}

/// The machine's name service.
#[derive(Debug)]
struct Names;

/// What comes, as it comes.
struct Coming {
    bytes: Mutex<Box<dyn Read + Send>>,
}

impl Connector {
    /// For a store at this address. The machine's own certificates are read if it speaks TLS.
    pub(crate) fn to(endpoint: &str, patience: Patience, complete: Duration) -> Connector {
        let found = endpoint.starts_with("https:").then(rustls_native_certs::load_native_certs);
        let found = found.map(|found| found.certs).unwrap_or_default();
        let certificates: Vec<Certificate<'static>> =
            found.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
        Connector { patience, complete, roots: RootCerts::from(certificates) }
    }
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls =
            TlsConfig::builder().root_certs(self.roots.clone()).unversioned_rustls_crypto_provider(provider).build();
        let config = Agent::config_builder()
            .timeout_connect(Some(self.patience.connect))
            .timeout_recv_response(Some(self.patience.idle))
            .timeout_per_read(Some(self.patience.idle))
            .timeout_per_write(Some(self.patience.idle))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .proxy(None)
            .tls_config(tls)
            .build();
        let agent = Agent::with_parts(config, DefaultConnector::default(), Names);
        Ok(HttpClient::new(Service { agent, whole: self.patience.answer, complete: self.complete }))
    }
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (mut parts, body) = request.into_parts();
        let is_range = parts.method == Method::GET && parts.headers.contains_key("range");
        let completes =
            parts.method == Method::POST && parts.uri.query().is_some_and(|query| query.contains("uploadId="));
        let is_bare = matches!(parts.method, Method::GET | Method::HEAD | Method::DELETE);
        let body = body.collect().await?.to_bytes();
        let body = if is_bare {
            SendBody::none()
        } else {
            parts.headers.insert("content-length", body.len().into());
            SendBody::from_owned_reader(Cursor::new(body))
        };
        let request = self.agent.configure_request(Request::from_parts(parts, body));
        let request = match completes {
            // It may be silent all the time, before and after the answer's first line.
            true => request.timeout_recv_response(None).timeout_per_read(None).timeout_global(Some(self.complete)),
            false => request.timeout_recv_body((!is_range).then_some(self.whole)),
        };
        let answer = self.agent.run(request.build()).map_err(failed)?;
        let (parts, body) = answer.into_parts();
        if completes && parts.status.is_success() {
            return verdict::of(parts, body);
        }
        let most = if is_range { u64::MAX } else { MOST_ANSWER_BYTES };
        let bytes = body.into_with_config().limit(u64::MAX).reader().take(most);
        let coming = Coming { bytes: Mutex::new(Box::new(bytes)) };
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(coming)))
    }
}

/// Which of these may be asked for again is `object_store`'s to say.
fn failed(error: ureq::Error) -> HttpError {
    let kind = match &error {
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => HttpErrorKind::Connect,
        ureq::Error::Timeout(_) => HttpErrorKind::Timeout,
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => HttpErrorKind::Connect,
        ureq::Error::Io(io) if io.kind() == std::io::ErrorKind::ConnectionRefused => HttpErrorKind::Connect,
        _ => HttpErrorKind::Request,
    };
    HttpError::new(kind, error)
}

impl Resolver for Names {
    fn resolve(&self, uri: &Uri, _: &ureq::config::Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let port = if uri.scheme_str() == Some("https") { 443 } else { 80 };
        let address = socket(authority, port).map_err(|problem| ureq::Error::Io(std::io::Error::other(problem)))?;
        let mut found = self.empty();
        found.push(address);
        Ok(found)
    }
}

impl Body for Coming {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let mut piece = vec![0; PIECE_BYTES];
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        Poll::Ready(match bytes.read(&mut piece) {
            Ok(0) => None,
            Ok(n) => {
                piece.truncate(n);
                Some(Ok(Frame::data(piece.into())))
            }
            Err(error) => Some(Err(HttpError::new(HttpErrorKind::Interrupted, error))),
        })
    }
}
