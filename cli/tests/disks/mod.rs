//! Small disks for tests: a file system in a file on a loop device, and filling one up.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

/// Runs a tool of the system to its end, or says why it failed.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("start {:?}: {error}", command.get_program()))?;
    let said = || String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
    if output.status.success() { Ok(()) } else { Err(said()) }
}

/// Makes a file system of so many bytes in `image` and mounts it at `at`, which is there.
pub(crate) fn loop_disk(image: &Path, at: &Path, bytes: u64, options: &[&str]) -> Result<(), String> {
    File::create(image).and_then(|file| file.set_len(bytes)).map_err(|error| error.to_string())?;
    run(Command::new("mkfs.ext4").arg("-qF").args(options).arg(image))?;
    run(Command::new("mount").args(["-o", "loop"]).args([image, at]))
}

/// Writes a file until nothing more fits.
pub(crate) fn fill(path: &Path) -> io::Result<File> {
    let mut file = File::create(path)?;
    for block in [&[7_u8; 1 << 16][..], &[7]] {
        while file.write_all(block).is_ok() {}
    }
    Ok(file)
}
