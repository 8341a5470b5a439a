//! Requests over HTTP whose bodies are here before anybody answers them.
//!
//! A server that answers while a body is still on its way, because it refuses the method for example, closes the connection behind
//! its answer. A client that keeps its connections learns of that from its next request, which fails.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Bytes of a body. What changes a cluster over HTTP is said in a few.
const MAX_BYTES: usize = 64 << 10;
/// For the whole of it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads a request's body and passes both on. One that is too long is answered with 413, one that does not come with 408.
pub async fn read_first(request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    match tokio::time::timeout(PATIENCE, to_bytes(body, MAX_BYTES)).await {
        Ok(Ok(bytes)) => next.run(Request::from_parts(head, Body::from(bytes))).await,
        Ok(Err(_)) => {
            let problem = format!("the body is longer than {MAX_BYTES} bytes, or broke off\n");
            (StatusCode::PAYLOAD_TOO_LARGE, problem).into_response()
        }
        Err(_) => (StatusCode::REQUEST_TIMEOUT, format!("no body came in {PATIENCE:?}\n")).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::Router;
    use axum::http::Method;
    use axum::middleware::from_fn;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    async fn server() -> TcpStream {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("listen");
        let address = listener.local_addr().expect("an address");
        let gets_only = |method: Method| async move {
            if method == Method::GET { StatusCode::OK } else { StatusCode::METHOD_NOT_ALLOWED }
        };
        let router = Router::new().fallback(gets_only).layer(from_fn(read_first));
        tokio::spawn(axum::serve(listener, router).into_future());
        TcpStream::connect(address).await.expect("connect")
    }

    /// Sends this and gives the status of the answer.
    async fn ask(stream: &mut TcpStream, pieces: &[&str]) -> String {
        for piece in pieces {
            stream.write_all(piece.as_bytes()).await.expect("send");
            // So that the server sees each by itself.
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            answer.push(stream.read_u8().await.expect("an answer"));
        }
        String::from_utf8_lossy(&answer[9..12]).into_owned()
    }

    #[tokio::test]
    async fn a_connection_stays_after_a_refusal_though_the_body_came_later_than_the_head() {
        let mut stream = server().await;
        for _ in 0..3 {
            let head = "POST / HTTP/1.1\r\nHost: m\r\nContent-Length: 2\r\n\r\n";
            assert_eq!(ask(&mut stream, &[head, "{}"]).await, "405");
            assert_eq!(ask(&mut stream, &["GET / HTTP/1.1\r\nHost: m\r\n\r\n"]).await, "200");
        }
    }

    #[tokio::test]
    async fn a_body_beyond_the_bound_is_refused() {
        let mut stream = server().await;
        for (more, status) in [(0, "200"), (1, "413")] {
            let length = MAX_BYTES + more;
            let head = format!("GET / HTTP/1.1\r\nHost: m\r\nContent-Length: {length}\r\n\r\n");
            assert_eq!(ask(&mut stream, &[&head, &"x".repeat(length)]).await, status);
        }
    }
}
