//! What a master says over HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::Cluster;

impl Cluster {
    /// The status and the JSON of the answer.
    pub(crate) fn request(&self, method: &str, target: &str, body: &str) -> (u16, Value) {
        let (status, head, body) = self.answer(method, target, body);
        assert!(head.contains("content-type: application/json"), "{target}: {head}");
        (status, serde_json::from_str(&body).unwrap_or_else(|error| panic!("{target}: {error}: {body}")))
    }

    /// Status, head in lower case, and body of an answer of any type.
    pub(crate) fn answer(&self, method: &str, target: &str, body: &str) -> (u16, String, String) {
        let mut connection = TcpStream::connect(self.http_address()).expect("connect");
        let length = body.len();
        let head = format!("{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}");
        write!(connection, "{head}\r\n\r\n{body}").expect("ask");
        let mut answer = String::new();
        connection.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{target}: {answer}"));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        (status, head.to_lowercase(), body.to_owned())
    }
}
