//! Which executable this is: two of one version may differ, and a cluster of both is worth a note.

use std::fs::File;
use std::io::Read;
use std::sync::OnceLock;

/// The checksum of this process's executable, eight hexadecimal digits; empty where it cannot be read. It is read
/// through the open executable, so one that was replaced on disk since is not taken for this one.
pub fn id() -> &'static str {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| checksum("/proc/self/exe").unwrap_or_default())
}

fn checksum(path: &str) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = crc32fast::Hasher::new();
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(format!("{:08x}", hasher.finalize())),
            n => hasher.update(&piece[..n]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executable_has_the_same_id_each_time() {
        assert_eq!(id().len(), 8);
        assert_eq!(checksum("/proc/self/exe").unwrap(), id());
        assert_ne!(checksum("/proc/self/cmdline").unwrap(), id());
    }
}
