//! Takes a fingerprint of the sources that decide: a recording names it, so that `howdah validate` knows whether the
//! rules that it decides by are those of the recording. The version in `Cargo.toml` changes far less often.
//!
//! Deviation: a comment changes the fingerprint as a rule does. That errs on the side of saying too much.

use std::path::{Path, PathBuf};

/// What recorded inputs pass on their way to a recorded decision.
const DECIDING: [&str; 9] = [
    "../shared/core/src/time.rs",
    "../shared/core/src/job",
    "../shared/core/src/cluster",
    "../shared/core/src/models",
    "../shared/core/src/schedulers",
    "../shared/core/src/tracker",
    "../proto/src/convert",
    "src/policies",
    "src/digest.rs",
];

fn main() -> std::io::Result<()> {
    // FNV-1a: 64 bits tell builds apart, nobody has to be kept from finding two alike.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for root in DECIDING {
        println!("cargo:rerun-if-changed={root}");
        for file in files(Path::new(root))? {
            add(file.to_string_lossy().as_bytes());
            add(&std::fs::read(&file)?);
        }
    }
    println!("cargo:rustc-env=HOWDAH_RULES={hash:016x}");
    Ok(())
}

/// Of the file or folder, in an order that is everywhere the same.
fn files(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    if root.is_file() {
        return Ok(vec![root.to_path_buf()]);
    }
    let mut entries = std::fs::read_dir(root)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        found.extend(files(&entry)?);
    }
    Ok(found)
}
