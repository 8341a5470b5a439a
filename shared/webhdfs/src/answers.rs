//! The JSON of a name node, and what is kept of it.
//!
//! What nobody here reads is skipped while it is read, so that an answer costs little more memory than its bytes.

use serde::Deserialize;

use crate::text::said;

/// Hosts of a block that are kept; no file has more copies of its blocks than a few.
const MOST_HOSTS: usize = 8;
/// Bytes of a host's name (RFC 1123).
const MOST_HOST_BYTES: usize = 253;

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A link, or what no release of Hadoop that we know has.
    Other,
}

/// A file or a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStatus {
    /// Its name in the directory that was listed; empty where the path itself was asked for.
    pub name: String,
    /// File or directory.
    pub kind: FileKind,
    /// Bytes.
    pub length: u64,
    /// Bytes of a block of it, at least 1.
    pub block_bytes: u64,
    /// When it was last written, in milliseconds since the epoch.
    pub modified_ms: i64,
}

/// A file or a directory as listings show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub status: FileStatus,
    /// The user it belongs to; empty where that is not said.
    pub owner: String,
    /// The group it belongs to; as above.
    pub group: String,
    /// Octal digits.
    pub permission: String,
    /// Copies of each block; 0 of a directory.
    pub replication: u32,
}

/// A stretch of a file, and who has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// Names of the hosts with a copy, the nearest first; at most eight.
    pub hosts: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Status {
    #[serde(default)]
    path_suffix: String,
    r#type: String,
    length: u64,
    #[serde(default)]
    block_size: u64,
    modification_time: i64,
}

/// What listings show beside it.
#[derive(Deserialize)]
pub(crate) struct LongStatus {
    #[serde(flatten)]
    status: Status,
    #[serde(default)]
    owner: String,
    #[serde(default)]
    group: String,
    #[serde(default)]
    permission: String,
    #[serde(default)]
    replication: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct StatusAnswer {
    pub(crate) file_status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ListAnswer<T> {
    pub(crate) file_statuses: ListOf<T>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ListOf<T> {
    pub(crate) file_status: Vec<T>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct BlocksAnswer {
    pub(crate) located_blocks: LocatedBlocks,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LocatedBlocks {
    pub(crate) located_blocks: Vec<LocatedBlock>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LocatedBlock {
    start_offset: u64,
    block: BlockSize,
    #[serde(default)]
    pub(crate) locations: Vec<DataNode>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockSize {
    num_bytes: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DataNode {
    pub(crate) host_name: String,
    #[serde(default)]
    pub(crate) ip_addr: String,
    /// Of its HTTP server.
    #[serde(default)]
    pub(crate) info_port: u16,
    /// By which a name node knows it.
    #[serde(default)]
    pub(crate) name: String,
}

/// Whether what was asked for was done.
#[derive(Deserialize)]
pub(crate) struct DoneAnswer {
    pub(crate) boolean: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ErrorAnswer {
    pub(crate) remote_exception: RemoteException,
}

#[derive(Deserialize)]
pub(crate) struct RemoteException {
    pub(crate) exception: String,
    #[serde(default)]
    pub(crate) message: Option<String>,
}

impl From<Status> for FileStatus {
    fn from(status: Status) -> FileStatus {
        FileStatus {
            name: status.path_suffix,
            kind: match status.r#type.as_str() {
                "FILE" => FileKind::File,
                "DIRECTORY" => FileKind::Directory,
                _ => FileKind::Other,
            },
            length: status.length,
            block_bytes: status.block_size.max(1),
            modified_ms: status.modification_time,
        }
    }
}

impl From<LongStatus> for Entry {
    fn from(long: LongStatus) -> Entry {
        let LongStatus { status, owner, group, permission, replication } = long;
        // They are shown to people.
        let (owner, group) = (said(&owner), said(&group));
        Entry { status: status.into(), owner, group, permission, replication }
    }
}

impl From<LocatedBlock> for Block {
    fn from(located: LocatedBlock) -> Block {
        let is_name = |host: &String| {
            !host.is_empty() && host.len() <= MOST_HOST_BYTES && !host.chars().any(|c| c.is_control() || c == ' ')
        };
        let hosts = located.locations.into_iter().map(|node| node.host_name).filter(is_name);
        Block { offset: located.start_offset, length: located.block.num_bytes, hosts: hosts.take(MOST_HOSTS).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_nodes_answers_are_read_and_what_is_no_host_is_left_out() {
        let long = "x".repeat(300);
        let text = format!(
            r#"{{"LocatedBlocks":{{"fileLength":9,"lastLocatedBlock":{{"any":[1]}},"locatedBlocks":[
            {{"block":{{"blockId":1,"numBytes":4}},"locations":[{{"hostName":"dn-1","xferPort":1}},{{"hostName":"{long}"}},
            {{"hostName":""}},{{"hostName":"a\nb"}}],"startOffset":0}},
            {{"block":{{"numBytes":5}},"startOffset":4}}]}}}}"#
        );
        let answer: BlocksAnswer = serde_json::from_str(&text).unwrap();
        let blocks: Vec<Block> = answer.located_blocks.located_blocks.into_iter().map(Block::from).collect();
        let first = Block { offset: 0, length: 4, hosts: vec!["dn-1".to_owned()] };
        assert_eq!(blocks, [first, Block { offset: 4, length: 5, hosts: Vec::new() }]);
    }

    #[test]
    fn a_link_is_neither_file_nor_directory_and_a_block_has_a_size() {
        let text =
            r#"{"FileStatus":{"pathSuffix":"l","type":"SYMLINK","length":0,"blockSize":0,"modificationTime":-5}}"#;
        let answer: StatusAnswer = serde_json::from_str(text).unwrap();
        let status = FileStatus::from(answer.file_status);
        assert_eq!((status.kind, status.block_bytes, status.modified_ms), (FileKind::Other, 1, -5));
    }

    const GOOD: [&str; 5] = [
        r#"{"FileStatus":{"pathSuffix":"a","type":"FILE","length":9,"blockSize":4,"modificationTime":5}}"#,
        r#"{"FileStatuses":{"FileStatus":[{"pathSuffix":"d","type":"DIRECTORY","length":0,"modificationTime":5,"owner":"ann"}]}}"#,
        r#"{"LocatedBlocks":{"locatedBlocks":[{"block":{"numBytes":4},"locations":[{"hostName":"dn","infoPort":50075}],"startOffset":0}]}}"#,
        r#"{"boolean":true}"#,
        r#"{"RemoteException":{"exception":"FileNotFoundException","message":"File does not exist: /a"}}"#,
    ];

    /// Has every kind of answer made of it, if it is one.
    fn read(bytes: &[u8]) -> u32 {
        let status = serde_json::from_slice::<StatusAnswer>(bytes).map(|answer| FileStatus::from(answer.file_status));
        let list = serde_json::from_slice::<ListAnswer<Status>>(bytes)
            .map(|answer| answer.file_statuses.file_status.into_iter().map(FileStatus::from).collect::<Vec<_>>());
        let long = serde_json::from_slice::<ListAnswer<LongStatus>>(bytes)
            .map(|answer| answer.file_statuses.file_status.into_iter().map(Entry::from).collect::<Vec<_>>());
        let blocks = serde_json::from_slice::<BlocksAnswer>(bytes)
            .map(|answer| answer.located_blocks.located_blocks.into_iter().map(Block::from).collect::<Vec<_>>());
        let done = serde_json::from_slice::<DoneAnswer>(bytes);
        let error = serde_json::from_slice::<ErrorAnswer>(bytes);
        [status.is_ok(), list.is_ok(), long.is_ok(), blocks.is_ok(), done.is_ok(), error.is_ok()]
            .map(u32::from)
            .iter()
            .sum()
    }

    #[test]
    fn answers_that_are_cut_or_changed_anywhere_are_read_or_refused() {
        for good in GOOD {
            assert!(read(good.as_bytes()) > 0, "{good}");
            for at in 0..good.len() {
                assert_eq!(read(&good.as_bytes()[..at]), 0, "{good} cut at {at}");
                for bit in 0..8 {
                    let mut bytes = good.as_bytes().to_vec();
                    bytes[at] ^= 1 << bit;
                    read(&bytes);
                }
                for extreme in ["-1", "1e308", "18446744073709551615", "18446744073709551616", "null", "[]"] {
                    let text = format!("{}{extreme}{}", &good[..at], &good[at + 1..]);
                    read(text.as_bytes());
                }
            }
        }
    }

    mod fuzz {
        use howdah_fuzz::{Readings, cases, changed, changes};
        use proptest::prelude::*;

        use super::*;
        use crate::RemotePath;

        static READINGS: Readings = Readings::of("answers of name nodes");

        const ADDRESSES: [&str; 3] =
            ["hdfs://nn-1.lab:9000/data/./in//a%20b", "webhdfs://[::1]:9870/", "s3a://logs-1/2026/11/27/x"];

        proptest! {
            #![proptest_config(cases(1))]

            #[test]
            fn answers_that_are_changed_in_many_places_are_read_or_refused(which in 0..GOOD.len(), changes in changes()) {
                read(&changed(GOOD[which].as_bytes(), &changes));
                READINGS.add(6);
            }

            #[test]
            fn changed_addresses_are_refused_or_read_and_written_as_the_same_ones(
                which in 0..ADDRESSES.len(),
                changes in changes(),
            ) {
                let bytes = changed(ADDRESSES[which].as_bytes(), &changes);
                let text = String::from_utf8_lossy(&bytes);
                if let Ok(path) = text.parse::<RemotePath>() {
                    prop_assert!(path.path.starts_with('/') && !path.path.split('/').any(|part| part == ".."), "{path:?}");
                    prop_assert!(!path.to_string().chars().any(char::is_control));
                    prop_assert_eq!(path.to_string().parse::<RemotePath>(), Ok(path));
                }
                READINGS.add(1);
            }
        }
    }
}
