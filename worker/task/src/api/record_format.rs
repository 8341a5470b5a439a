//! How output records are written.

/// How keys and values become bytes of a part file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordFormat {
    /// `key TAB value LF`, Hadoop's TextOutputFormat; the separator is `mapred.textoutputformat.separator`.
    #[default]
    Text,
    /// The key's bytes, then the value's bytes, nothing between or after them (terasort).
    Raw,
}
