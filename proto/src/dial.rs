//! TCP connections to a master by name or address, for tonic: names go through [`crate::names`].

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::codegen::http::Uri;
use tonic::transport::{Channel, Endpoint, Error};
use tower::service_fn;

use crate::names::{self, MASTER_PORT, NameError};

/// What one address of several may take; the next one may be the one that answers.
const ONE_TRY: Duration = Duration::from_secs(3);
/// A machine that is there answers in milliseconds.
const HTTP_PATIENCE: Duration = Duration::from_secs(3);

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// The name has no address.
    #[error(transparent)]
    Name(#[from] NameError),
    /// None of its addresses answers; the last one's problem.
    #[error("connect to {address}: {source}")]
    Connect {
        /// The last one tried.
        address: SocketAddr,
        /// What it said.
        source: io::Error,
    },
}

/// A connection to the first address of `host` or `host:port` that answers.
///
/// # Errors
/// When the name has no address, or none of them answers.
pub async fn tcp(target: &str, port: u16) -> Result<TcpStream, DialError> {
    let addresses = names::sockets(target, port).await?;
    let mut last = None;
    for address in addresses {
        let tried = tokio::time::timeout(ONE_TRY, TcpStream::connect(address)).await;
        let slow = || io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {} s", ONE_TRY.as_secs()));
        match tried.unwrap_or_else(|_| Err(slow())) {
            Ok(stream) => {
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Err(source) => last = Some(DialError::Connect { address, source }),
        }
    }
    Err(last.unwrap_or_else(|| NameError::Unknown(target.to_owned()).into()))
}

/// Whether an HTTP server answers at `host:port` within seconds; what is wrong if none does.
///
/// # Errors
/// When nothing answers, or what answers is no HTTP server.
pub async fn http(address: &str) -> Result<(), String> {
    let tried = tokio::time::timeout(HTTP_PATIENCE, health(address)).await;
    tried.unwrap_or_else(|_| Err(format!("no answer within {} s", HTTP_PATIENCE.as_secs())))
}

async fn health(address: &str) -> Result<(), String> {
    let mut stream = tcp(address, 0).await.map_err(|error| error.to_string())?;
    let mut begin = [0; 5];
    stream.write_all(b"GET /health HTTP/1.0\r\n\r\n").await.map_err(|error| error.to_string())?;
    stream.read_exact(&mut begin).await.map_err(|error| error.to_string())?;
    if &begin == b"HTTP/" { Ok(()) } else { Err("what answers is no HTTP server".to_owned()) }
}

async fn connect(uri: Uri) -> Result<TokioIo<TcpStream>, DialError> {
    let target = uri.authority().map_or("", |authority| authority.as_str());
    tcp(target, MASTER_PORT).await.map(TokioIo::new)
}

/// As [`Endpoint::connect`].
///
/// # Errors
/// When there is no connection.
pub async fn channel(endpoint: &Endpoint) -> Result<Channel, Error> {
    endpoint.connect_with_connector(service_fn(connect)).await
}

/// As [`Endpoint::connect_lazy`].
pub fn channel_lazy(endpoint: &Endpoint) -> Channel {
    endpoint.connect_with_connector_lazy(service_fn(connect))
}
