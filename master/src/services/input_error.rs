//! What is wrong with the input that a job names, and how much of it the master looks at.

use std::path::PathBuf;
use std::time::Duration;

use super::remote_store::RemoteError;

/// Files of one job.
pub(super) const MAX_FILES: usize = 1_000_000;
/// Entries of directories that one job's input may make the master look at.
pub(super) const MAX_ENTRIES: usize = 2_000_000;
/// For all questions to name nodes and stores about one job's input.
pub(super) const HDFS_DEADLINE: Duration = Duration::from_secs(60);
/// Directories inside each other.
pub(super) const MAX_DEPTH: usize = 64;

/// Advice to who names an HDFS that is not in the table.
pub(super) const NAME_NODES_HELP: &str = "the master's setting `name_nodes` says which it may speak to: [master.name_nodes] \
                                          with a line such as \"nn:9000\" = \"http://nn:9870\"";
/// Advice to who names one that does not answer.
pub(super) const NAME_NODE_HELP: &str =
    "nothing was submitted; does the name node run, and is its WebHDFS at the address in [master.name_nodes]?";

/// Advice to who names a bucket where nobody can read one.
pub(super) const S3_BUILD_HELP: &str =
    "`cargo build --release --features s3` builds it in: the master and every worker need such a howdah";
/// Advice to who has no credentials where they are looked for.
pub(super) const S3_WHO_HELP: &str =
    "the master and every worker take AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY from the environment they start in";
/// Advice to who names another store.
pub(super) const S3_WHERE_HELP: &str = "the master takes the store's address from AWS_ENDPOINT_URL where it is started";
/// Advice to who names a store that does not answer.
pub(super) const S3_TROUBLE_HELP: &str = "nothing was submitted; does the store run, and is its address what AWS_ENDPOINT_URL says where the master is started?";

/// Input that cannot be turned into splits.
#[derive(Debug, thiserror::Error)]
pub(super) enum InputError {
    #[error("the job names no input, expected at least one path")]
    NoInput,
    #[error("input `{path}`: expected an absolute path")]
    Relative { path: String },
    #[error("input `{path}` does not exist")]
    Missing { path: String },
    #[error("input pattern `{path}` matches no file")]
    NoMatch { path: String },
    #[error("input pattern `{path}`: {problem}")]
    Pattern { path: String, problem: String },
    #[error("input `{path}`: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("input `{path}` is a directory inside an input directory")]
    Nested { path: PathBuf },
    #[error("input `{path}` is neither a file nor a directory")]
    Special { path: PathBuf },
    #[error("input has more than {MAX_FILES} files")]
    TooManyFiles,
    #[error("input has more than {MAX_ENTRIES} entries of directories, counted as often as links lead to them")]
    TooManyEntries,
    #[error("input `{path}` is a directory inside itself, or more than {MAX_DEPTH} deep: links lead in a circle")]
    Circle { path: PathBuf },
    #[error("input {0}")]
    Address(howdah_webhdfs::AddressError),
    #[error("input `{path}`: this master fetches nothing from {name_node}")]
    NoNameNode { path: String, name_node: String },
    #[error("input `{path}`: {source}")]
    Remote { path: String, source: RemoteError },
    #[error("input `{path}`: its file system took more than {} s for this job's input", HDFS_DEADLINE.as_secs())]
    TooSlow { path: String },
    #[error("input `{path}` is more than {MAX_DEPTH} directories deep, or has names too long for a path")]
    TooDeep { path: String },
    #[error("nobody waits for this input any more")]
    Cancelled,
    #[error("input `{path}` has {length} bytes, expected whole records of {record} bytes")]
    PartialRecord { path: PathBuf, length: u64, record: u32 },
    #[error("maps of 0 lines, expected at least 1")]
    NoLines,
    #[error("records of 0 bytes, expected at least 1")]
    EmptyRecords,
    #[error("property `{key}`: `{value}` is not a number of bytes such as 134217728 or 128m")]
    Size { key: &'static str, value: String },
    #[error("the input has more than {max} splits")]
    TooManySplits { max: u32 },
    #[error("a job with generated input takes no input paths, found `{path}`")]
    Unwanted { path: String },
}
