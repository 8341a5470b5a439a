//! The machine on which a page is typed: namespaces in which the page's addresses, host names and folders exist.
//!
//! Processes, network and mounts vanish with the shell, whatever it left running. Where the user is not root, a user
//! namespace makes it root in there.

use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// For one page; reached only when something hangs.
const BOUND: Duration = Duration::from_secs(900);
const MAKE: &str = include_str!("place.sh");

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the sources are there")
}

/// What this machine lacks, in one line.
pub(crate) fn missing() -> Option<String> {
    let tried = namespaces().args(["ip", "link", "set", "lo", "up"]).stdin(Stdio::null()).output();
    match tried {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(format!("no namespaces: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Some(format!("no namespaces: {error}")),
    }
}

fn namespaces() -> Command {
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", &BOUND.as_secs().to_string(), "unshare"]);
    let root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if !root {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    command
}

/// What a shell did with a script.
#[derive(Debug)]
pub(crate) struct Typed {
    pub(crate) succeeded: bool,
    /// Both streams, with the commands themselves after a `+`.
    pub(crate) said: String,
    pub(crate) took: Duration,
}

/// Types a script in an empty directory of a machine of its own.
pub(crate) fn type_in(name: &str, script: &str) -> Typed {
    let folder = std::env::temp_dir().join(format!("howdah-pages-{}-{name}", std::process::id()));
    fs::create_dir_all(folder.join("here")).expect("make a folder");
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).expect("write a script");
        path
    };
    let (make, script) = (write("place.sh", MAKE), write("script.sh", script));
    let said = fs::File::create(folder.join("said")).expect("make a file");
    let mut command = namespaces();
    command.arg("bash").arg(make).arg(&folder).arg(script);
    for (name, _) in std::env::vars_os() {
        if ["HOWDAH_", "HADOOP_"].iter().any(|start| name.to_string_lossy().starts_with(start)) {
            command.env_remove(name);
        }
    }
    let own = Path::new(env!("CARGO_BIN_EXE_howdah")).parent().expect("it lies in a folder");
    command.env("PATH", format!("{}:{}", own.display(), std::env::var("PATH").expect("a shell needs a path")));
    // Whoever runs the tests may be root, which daemons that others reach refuse.
    command.env("HOWDAH_MASTER_AS_ROOT", "true").env("HOWDAH_WORKER_AS_ROOT", "true");
    command.env("HOME", folder.join("here")).env("REPOSITORY", repository());
    command.stdin(Stdio::null()).stdout(said.try_clone().expect("a second handle")).stderr(said);
    let began = Instant::now();
    let status = command.status().expect("start unshare");
    let mut said = Vec::new();
    fs::File::open(folder.join("said")).and_then(|mut file| file.read_to_end(&mut said)).expect("read what was said");
    fs::remove_dir_all(&folder).expect("remove the folder");
    let mut said = String::from_utf8_lossy(&said).into_owned();
    if began.elapsed() >= BOUND {
        said.push_str(&format!("\nnot over after {} s", BOUND.as_secs()));
    }
    Typed { succeeded: status.success(), said, took: began.elapsed() }
}
