//! A client of HDFS: WebHDFS, its own interface over HTTP, with simple authentication.
//!
//! The master lists inputs, asks where their blocks are and moves output to its place; attempts read and write files. Both
//! trust a name node with nothing but their time and memory, and with little of these: every wait has a deadline, every
//! answer a largest size, and a read or a write follows one redirect, over HTTP. Not spoken: Kerberos, TLS, HDFS's RPC.
//!
//! Source: "WebHDFS REST API" of Hadoop 2.7 and 3.3.

mod address;
mod answers;
mod changes;
mod client;
mod error;
#[cfg(feature = "fake")]
pub mod fake;
mod output;
mod reader;
mod resolve;
mod text;
mod upload;

pub use address::{AddressError, RemotePath};
pub use answers::{Block, Entry, FileKind, FileStatus};
pub use client::{Client, Patience};
pub use error::Error;
pub use output::{JobOutput, Owner};
pub use reader::FileReader;
pub use resolve::socket;

/// What the properties begin with that a master gives its attempts for reading and writing; jobs cannot set them.
pub const PROPERTIES: &str = "howdah.hdfs.";
/// As which user a job reads and writes.
pub const USER_PROPERTY: &str = "howdah.hdfs.user";
/// What is in the mark of a job's output.
pub const MARK_PROPERTY: &str = "howdah.hdfs.mark";

/// The property that names the HTTP server of this file system.
pub fn server_property(path: &RemotePath) -> String {
    format!("{PROPERTIES}http.{}://{}", path.scheme, path.authority)
}
