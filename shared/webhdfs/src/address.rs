//! `hdfs://nn:9000/a/b`: a file system by its name node, and a path in it.

use std::fmt;
use std::str::FromStr;

/// A path in a named HDFS.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HdfsPath {
    /// `hdfs` or `webhdfs`.
    pub scheme: String,
    /// `host` or `host:port`, as it was written; with `webhdfs` the address of its HTTP server.
    pub authority: String,
    /// Absolute, without empty parts, `.` and `..`, and without a slash at its end; `/` for the root. Not percent-encoded.
    pub path: String,
}

/// The text names no path in an HDFS.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}`: {problem}")]
pub struct AddressError {
    text: String,
    problem: &'static str,
}

impl HdfsPath {
    /// Whether a path is meant for this crate, by its scheme.
    pub fn is_one(text: &str) -> bool {
        text.starts_with("hdfs:") || text.starts_with("webhdfs:")
    }

    /// Another path in the same file system.
    pub fn with_path(&self, path: impl Into<String>) -> HdfsPath {
        HdfsPath { path: path.into(), ..self.clone() }
    }

    /// An entry of this directory.
    pub fn child(&self, name: &str) -> HdfsPath {
        self.with_path(format!("{}/{name}", self.path.trim_end_matches('/')))
    }
}

impl FromStr for HdfsPath {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<HdfsPath, AddressError> {
        let wrong = |problem| AddressError { text: text.to_owned(), problem };
        let (scheme, rest) = text.split_once(':').unwrap_or((text, ""));
        if !matches!(scheme, "hdfs" | "webhdfs") {
            return Err(wrong("expected hdfs://HOST:PORT/PATH or webhdfs://HOST:PORT/PATH"));
        }
        let rest = rest.strip_prefix("//").unwrap_or_default();
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
        if authority.is_empty() || authority.len() > 261 || !authority.chars().all(is_plain) {
            return Err(wrong("expected the name node's HOST:PORT after `//`"));
        }
        if path.chars().any(char::is_control) {
            return Err(wrong("expected a path without control characters"));
        }
        let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        if parts.contains(&"..") {
            return Err(wrong("expected a path without `..`"));
        }
        Ok(HdfsPath {
            scheme: scheme.to_owned(),
            authority: authority.to_owned(),
            path: format!("/{}", parts.join("/")),
        })
    }
}

impl fmt::Display for HdfsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_in_one_spelling() {
        let read = |text: &str| text.parse::<HdfsPath>().map(|path| path.to_string());
        assert_eq!(read("hdfs://nn:9000//a/./b c/").unwrap(), "hdfs://nn:9000/a/b c");
        assert_eq!(read("webhdfs://nn.example:9870").unwrap(), "webhdfs://nn.example:9870/");
        let path: HdfsPath = "hdfs://nn/".parse().unwrap();
        assert_eq!(path.child("a").child("b").to_string(), "hdfs://nn/a/b");
    }

    #[test]
    fn what_names_no_file_system_is_refused() {
        let why = |text: &str| text.parse::<HdfsPath>().unwrap_err().to_string();
        assert!(why("s3://b/a").contains("expected hdfs://"));
        for text in ["hdfs:///a", "hdfs:/a", "hdfs://user@nn/a", "hdfs://n n/a", "hdfs://nn?x/a"] {
            assert!(why(text).contains("the name node's HOST:PORT"), "{text}");
        }
        assert!(why("hdfs://nn/a/../b").contains("without `..`"));
        assert!(why("hdfs://nn/a\nb").contains("control characters"));
    }
}
