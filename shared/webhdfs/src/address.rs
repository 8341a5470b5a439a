//! `hdfs://nn:9000/a/b` or `s3://bucket/a/b`: a file system by its name node or a bucket, and a path in it.

use std::fmt;
use std::str::FromStr;

/// The scheme of buckets.
const S3: &str = "s3";

/// Whether it is the scheme of buckets, or one of Hadoop's for them.
fn is_of_s3(scheme: &str) -> bool {
    matches!(scheme, S3 | "s3a" | "s3n")
}

/// A path in a named HDFS, or in a bucket of an S3-compatible store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemotePath {
    /// `hdfs`, `webhdfs` or `s3`.
    pub scheme: String,
    /// `host` or `host:port`, as it was written; with `webhdfs` the address of its HTTP server, with `s3` the bucket.
    pub authority: String,
    /// Absolute, without empty parts, `.` and `..`, and without a slash at its end; `/` for the root. Not percent-encoded.
    /// Of an object, its key with a slash before it.
    pub path: String,
}

/// The text names no such path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}`: {problem}")]
pub struct AddressError {
    text: String,
    problem: &'static str,
}

impl RemotePath {
    /// Whether a path is meant to be one, by its scheme.
    pub fn is_one(text: &str) -> bool {
        text.split_once(':').is_some_and(|(scheme, _)| matches!(scheme, "hdfs" | "webhdfs") || is_of_s3(scheme))
    }

    /// Whether it lies in a bucket.
    pub fn is_object(&self) -> bool {
        self.scheme == S3
    }

    /// Another path in the same file system.
    pub fn with_path(&self, path: impl Into<String>) -> RemotePath {
        RemotePath { path: path.into(), ..self.clone() }
    }

    /// An entry of this directory.
    pub fn child(&self, name: &str) -> RemotePath {
        self.with_path(format!("{}/{name}", self.path.trim_end_matches('/')))
    }
}

impl FromStr for RemotePath {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<RemotePath, AddressError> {
        let wrong = |problem| AddressError { text: text.to_owned(), problem };
        let (scheme, rest) = text.split_once(':').unwrap_or((text, ""));
        if !RemotePath::is_one(text) {
            return Err(wrong("expected hdfs://HOST:PORT/PATH, webhdfs://HOST:PORT/PATH or s3://BUCKET/PATH"));
        }
        let of_bucket = is_of_s3(scheme);
        let rest = rest.strip_prefix("//").unwrap_or_default();
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let others = if of_bucket { ".-_" } else { ".-_:[]" };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || others.contains(c);
        if authority.is_empty() || authority.len() > 261 || !authority.chars().all(is_plain) {
            return Err(wrong(if of_bucket {
                "expected a bucket's name after `//`"
            } else {
                "expected the name node's HOST:PORT after `//`"
            }));
        }
        if path.chars().any(char::is_control) {
            return Err(wrong("expected a path without control characters"));
        }
        let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        if parts.contains(&"..") {
            return Err(wrong("expected a path without `..`"));
        }
        Ok(RemotePath {
            scheme: if of_bucket { S3.to_owned() } else { scheme.to_owned() },
            authority: authority.to_owned(),
            path: format!("/{}", parts.join("/")),
        })
    }
}

impl fmt::Display for RemotePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_in_one_spelling() {
        let read = |text: &str| text.parse::<RemotePath>().map(|path| path.to_string());
        assert_eq!(read("hdfs://nn:9000//a/./b c/").unwrap(), "hdfs://nn:9000/a/b c");
        assert_eq!(read("webhdfs://nn.example:9870").unwrap(), "webhdfs://nn.example:9870/");
        let path: RemotePath = "hdfs://nn/".parse().unwrap();
        assert_eq!(path.child("a").child("b").to_string(), "hdfs://nn/a/b");
        for scheme in ["s3", "s3a", "s3n"] {
            assert_eq!(read(&format!("{scheme}://logs.2026//a/b/")).unwrap(), "s3://logs.2026/a/b");
        }
    }

    #[test]
    fn what_names_no_file_system_is_refused() {
        let why = |text: &str| text.parse::<RemotePath>().unwrap_err().to_string();
        assert!(why("ftp://b/a").contains("expected hdfs://"));
        for text in ["s3:///a", "s3://b:80/a", "s3a://key@b/a"] {
            assert!(why(text).contains("a bucket's name"), "{text}");
        }
        for text in ["hdfs:///a", "hdfs:/a", "hdfs://user@nn/a", "hdfs://n n/a", "hdfs://nn?x/a"] {
            assert!(why(text).contains("the name node's HOST:PORT"), "{text}");
        }
        assert!(why("hdfs://nn/a/../b").contains("without `..`"));
        assert!(why("hdfs://nn/a\nb").contains("control characters"));
    }
}
