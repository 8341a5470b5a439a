//! The services of the package under a real systemd, which is the first process of namespaces of its own: started, watched,
//! restarted and stopped as on a machine of a lab.

use crate::package::{package, text};
use crate::systemd;

/// The package's services, and what would take them minutes in seconds.
const SERVICES: &str = r#"
dpkg --install /package/*.deb > /dev/null
mkdir -p /srv/lab
chown howdah /srv/lab
cp /lib/systemd/system/howdah-master.service /lib/systemd/system/howdah-worker.service /units/
mkdir /units/howdah-worker.service.d
printf '[Service]\nWatchdogSec=12\nRestartSec=1\n' > /units/howdah-worker.service.d/sooner.conf
"#;

/// What an administrator does on that machine, with a line of what is there after each step.
const STEPS: &str = r##"
value() { systemctl show --property "$2" --value "howdah-$1.service"; }
until_is() { for _ in $(seq 300); do [ "$(value "$1" "$2")" = "$3" ] && return; sleep 0.1; done; value "$1" "$2"; exit 1; }
live() { for _ in $(seq 300); do howdah worker list 2> /dev/null | grep -q LIVE && return; sleep 0.1; done; exit 1; }

systemctl start howdah-master.service
echo "master: $(value master ActiveState), $(value master StatusText)"
systemctl start howdah-worker.service
howdah wait --workers 1
live
echo "worker: $(value worker ActiveState) $(value worker User), $(value worker StatusText)"

# One who may not speak for the service: what attempts are started with does not name the manager's socket.
howdah submit streaming --mapper env --input /etc/hostname --output /srv/lab/env -D mapred.reduce.tasks=0 --wait > /dev/null
echo "job: $(grep -c HOWDAH_ATTEMPT= /srv/lab/env/part-m-00000) $(grep -c NOTIFY_SOCKET /srv/lab/env/part-m-00000 || true)"

# Halted, it neither works nor dies.
kill -STOP "$(value worker MainPID)"
until_is worker NRestarts 1
until_is worker SubState running
live
echo "watched: $(value worker ActiveState)"

kill -KILL "$(value master MainPID)"
until_is master NRestarts 1
until_is master SubState running
live
echo "restarted: $(howdah job list --output json | grep -c SUCCEEDED)"

systemctl stop howdah-worker.service
echo "stopped: $(value worker Result) $(howdah worker list --all | grep -c STOPPED)"
systemctl stop howdah-master.service
echo "stopped: $(value master Result)"
"##;

#[test]
fn the_services_start_are_watched_restarted_and_stopped_by_systemd() {
    let Some(package) = package() else { return };
    let Some(output) = systemd::run("the services under systemd", &[package], "", SERVICES, STEPS) else { return };
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    for line in [
        "master: active, listening on 127.0.0.1:9001",
        "worker: active howdah, worker lab0-worker of the master at lab0:9001",
        "job: 1 0",
        "watched: active",
        "restarted: 1",
        "stopped: success 1",
        "stopped: success",
    ] {
        assert!(said.lines().any(|one| one == line), "no line `{line}` in\n{said}");
    }
}
