//! A layer above this machine's files in which a script may install and start what it likes: nothing of it stays.

use std::path::Path;
use std::process::{Command, Output};

/// How a layer says that this machine has none.
const NONE_HERE: i32 = 77;

/// Makes the layer; the words after it are the folder that the script has as `/out`, the script, and the files. `SEEN` has
/// folders, with colons between them, that may lie in file systems of their own, which the layer is not above.
const MAKE: &str = r#"
mount --make-rprivate /
mount -t tmpfs none "$1" && mkdir "$1/upper" "$1/work" "$1/merged"
mount -t overlay -o lowerdir=/,upperdir="$1/upper",workdir="$1/work" none "$1/merged" || exit 77
mount --bind /dev "$1/merged/dev"
layer=$1 out=$2 script=$3
shift 3
mkdir -p "$layer/merged/package" "$layer/merged/out" && cp -r "$@" "$layer/merged/package/"
mount --bind "$out" "$layer/merged/out"
IFS=:
for folder in $SEEN; do
    [ -e "$layer/merged$folder" ] || { mkdir -p "$layer/merged$folder" && mount --bind "$folder" "$layer/merged$folder"; }
done
exec chroot "$layer/merged" /bin/sh -eu -c "$script"
"#;

/// Runs a script in a layer that has packages, or other files and folders, in `/package`, in namespaces besides that of mounts,
/// and returns what it said, to its standard output and then to `/out/said`; `None`, and said, where this machine has no layers or this user may
/// not make them.
pub(crate) fn run(what: &str, namespaces: &[&str], files: &[&Path], script: &str) -> Option<Output> {
    run_seeing("", what, namespaces, files, script)
}

/// The same where the script also sees these folders, with colons between them, wherever they are.
pub(crate) fn run_seeing(seen: &str, what: &str, namespaces: &[&str], files: &[&Path], script: &str) -> Option<Output> {
    let [layer, out] = std::array::from_fn(|_| tempfile::tempdir().expect("make a folder"));
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", "240", "unshare", "--mount"]).args(namespaces);
    command.args(["sh", "-c", MAKE, "sh"]).arg(layer.path()).arg(out.path()).arg(script).args(files);
    let mut output = command.env("SEEN", seen).output().expect("run unshare");
    let is_root = nix::unistd::geteuid().is_root();
    if !is_root || output.status.code() == Some(NONE_HERE) {
        if is_root {
            eprintln!("{}", crate::package::text(&output));
        }
        crate::permitted::not_tested(&format!("{what}: only root, where file systems can be layered"));
        return None;
    }
    output.stdout.extend(std::fs::read(out.path().join("said")).unwrap_or_default());
    Some(output)
}
