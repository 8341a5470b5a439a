//! A machine with a real systemd: the first process of namespaces of its own, in a layer above this machine's files, none of whose
//! own units it starts.

use std::path::Path;
use std::process::Output;

use crate::layer;

/// What systemd needs, and `steps.service`, which does the steps and ends everything.
const MACHINE: &str = r#"
exec 2>&1
mount -t proc proc /proc
mount -t tmpfs none /run
mount -t sysfs sysfs /sys
mkdir -p /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup || exit 77
ip link set lo up
echo lab0 > /etc/hostname
echo "127.0.0.1 lab0 localhost" > /etc/hosts
mkdir -p /units
for name in sysinit basic shutdown network-online remote-fs multi-user system; do
    printf '[Unit]\nDefaultDependencies=no\n' > "/units/$name.target"
done
printf '[Unit]\nSuccessAction=exit-force\nFailureAction=exit-force\n[Service]\nType=oneshot\nExecStart=/bin/sh -eu /steps.sh\nStandardOutput=file:/out/said\nStandardError=file:/out/said\n' > /units/steps.service
printf '[Unit]\nDefaultDependencies=no\nWants=steps.service\n' > /units/test.target
"#;

const START: &str = r#"
END
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=test SYSTEMD_UNIT_PATH=/units:/etc/systemd/system \
    /lib/systemd/systemd --system --unit=test.target --log-target=console --show-status=0
"#;

/// Starts the machine with what is in `files` in `/package`, and the folders of `seen` where they are, does `before` without
/// systemd and then `steps` with it, and returns what they said; `None`, and said, where this machine cannot have one.
pub(crate) fn run(what: &str, files: &[&Path], seen: &str, before: &str, steps: &str) -> Option<Output> {
    if !Path::new("/lib/systemd/systemd").exists() {
        crate::permitted::not_tested(&format!("{what}, as no systemd is installed"));
        return None;
    }
    let script = [MACHINE, before, "\ncat > /steps.sh <<'END'\n", steps, START].concat();
    let namespaces = ["--net", "--pid", "--fork", "--kill-child", "--uts", "--ipc", "--cgroup"];
    layer::run_seeing(seen, what, &namespaces, files, &script)
}
