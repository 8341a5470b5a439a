//! A client of S3-compatible stores, in what blocks: inputs are listed and read by range, output is uploaded and completed.
//!
//! Signatures, retries and the forms of answers are the crate `object_store`'s; HTTP is the client that the rest of howdah uses,
//! which resolves names by `getent` as all of it does (see `webhdfs::resolve`). All of that is built with the feature `client`
//! alone, which is the command's feature `s3`: without it every request is refused, and nothing more is linked.
//!
//! Objects have no directories. What a key has before a slash is taken for one, as Hadoop's S3A does.

#[cfg(not(feature = "client"))]
#[path = "absent.rs"]
mod client;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod complete;
mod error;
#[cfg(feature = "client")]
mod http;
#[cfg(feature = "client")]
mod objects;
mod output;
mod pending;
#[cfg(feature = "client")]
mod reader;
mod store;
#[cfg(feature = "client")]
mod verdict;

pub use client::Client;
#[cfg(not(feature = "client"))]
pub use client::ObjectReader;
pub use error::Error;
pub use output::JobBucket;
pub use pending::Pending;
#[cfg(feature = "client")]
pub use reader::ObjectReader;
pub use store::{Credentials, Store, StoreError, check_secrets, is_secret};

/// What the properties begin with that a master gives its attempts for reading and writing; jobs cannot set them.
pub const PROPERTIES: &str = "howdah.s3.";
/// What is in the mark of a job's output.
pub const MARK_PROPERTY: &str = "howdah.s3.mark";

/// Whether this build speaks to stores.
pub const IS_BUILT: bool = cfg!(feature = "client");
