//! What a fake server puts on the wire.

use std::io::Write;
use std::net::TcpStream;

pub(super) fn redirect(stream: &mut TcpStream, to: &str) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
}

pub(super) fn missing(stream: &mut TcpStream, path: &str) -> std::io::Result<()> {
    refuse(stream, "404 Not Found", "FileNotFoundException", &format!("File does not exist: {path}"))
}

pub(super) fn refuse(stream: &mut TcpStream, status: &str, exception: &str, message: &str) -> std::io::Result<()> {
    let message = serde_json::Value::from(message);
    json(stream, status, &format!(r#"{{"RemoteException":{{"exception":"{exception}","message":{message}}}}}"#))
}

pub(super) fn json(stream: &mut TcpStream, status: &str, text: &str) -> std::io::Result<()> {
    let length = text.len();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}")
}

pub(super) fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes().iter().copied();
    while let Some(byte) = rest.next() {
        let hex = (byte == b'%')
            .then(|| [rest.next(), rest.next()].into_iter().flatten().map(char::from).collect::<String>());
        bytes.push(hex.and_then(|hex| u8::from_str_radix(&hex, 16).ok()).unwrap_or(byte));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
