//! What comes in through a listening socket of a daemon, within the bounds of its [`Book`].

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::transport::server::Connected;

use crate::connections::{Book, Kind, Peer};

/// Between two looks for those that asked nothing.
const SWEEP_EVERY: Duration = Duration::from_secs(2);
/// After an accept that failed, usually for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Between two lines of the log about refused connections.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// What comes in through `listener`, within the book's bounds, until `closing`.
pub fn incoming(
    listener: TcpListener,
    kind: Kind,
    book: Arc<Book>,
    closing: CancellationToken,
) -> ReceiverStream<io::Result<Tracked>> {
    let (send, receive) = mpsc::channel(16);
    tokio::spawn(async move {
        let mut sweep = tokio::time::interval(SWEEP_EVERY);
        let mut logged: Option<Instant> = None;
        let mut log = |what: &str| {
            if logged.is_none_or(|at| at.elapsed() > LOG_EVERY) {
                logged = Some(Instant::now());
                tracing::warn!("{what}");
            }
        };
        loop {
            let accepted = tokio::select! {
                () = closing.cancelled() => return,
                _ = sweep.tick() => { book.sweep(); continue }
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, address)) => match Tracked::new(stream, address, kind, &book) {
                    Some(tracked) => {
                        if send.send(Ok(tracked)).await.is_err() {
                            return;
                        }
                    }
                    None => log(&format!("connections from {} are refused: all are in use", address.ip())),
                },
                Err(error) => {
                    log(&format!("connections cannot be taken: {error}"));
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    });
    ReceiverStream::new(receive)
}

/// The same for a server of HTTP.
#[derive(Debug)]
pub struct HttpIncoming {
    connections: mpsc::Receiver<io::Result<Tracked>>,
    address: SocketAddr,
}

impl HttpIncoming {
    /// What comes in through `listener`, within the book's bounds, until `closing`.
    ///
    /// # Errors
    /// When the socket does not say where it listens.
    pub fn new(listener: TcpListener, book: Arc<Book>, closing: CancellationToken) -> io::Result<HttpIncoming> {
        let address = listener.local_addr()?;
        Ok(HttpIncoming { connections: incoming(listener, Kind::Http, book, closing).into_inner(), address })
    }
}

impl axum::serve::Listener for HttpIncoming {
    type Io = Tracked;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Tracked, SocketAddr) {
        loop {
            match self.connections.recv().await {
                Some(Ok(tracked)) => {
                    let address = tracked.address;
                    return (tracked, address);
                }
                Some(Err(_)) => {}
                // Nobody comes any more; the server ends for a reason of its own.
                None => std::future::pending().await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

/// A connection's bytes.
#[derive(Debug)]
pub struct Tracked {
    stream: TcpStream,
    address: SocketAddr,
    kind: Kind,
    peer: Peer,
    book: Arc<Book>,
    close: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Tracked {
    fn new(stream: TcpStream, address: SocketAddr, kind: Kind, book: &Arc<Book>) -> Option<Tracked> {
        let peer = book.admit(kind, address.ip())?;
        // Answers are small and wanted at once; a socket that refuses is about to close.
        let _ = stream.set_nodelay(true);
        let close = Box::pin(peer.close().clone().cancelled_owned());
        Some(Tracked { stream, address, kind, peer, book: Arc::clone(book), close })
    }
}

impl Tracked {
    /// Whether nothing more is to be written: an answer that nobody reads would hold an HTTP connection for ever. Calls end
    /// with a goodbye.
    fn is_to_end(&mut self, cx: &mut Context<'_>) -> bool {
        self.kind == Kind::Http && self.close.as_mut().poll(cx).is_ready()
    }

    fn took(&self, written: &Poll<io::Result<usize>>) {
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.peer.took();
        }
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        self.book.closed(&self.peer);
    }
}

impl Connected for Tracked {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl AsyncRead for Tracked {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.close.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.peer.heard();
        }
        read
    }
}

impl AsyncWrite for Tracked {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.is_to_end(cx) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.took(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.is_to_end(cx) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.took(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
