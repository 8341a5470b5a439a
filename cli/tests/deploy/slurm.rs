//! The script for Slurm on a Slurm: Debian's controller and two nodes' daemons, installed in a layer above this machine's files, in
//! namespaces of their own.
//!
//! `cargo xtask interop` downloads the packages and names their folder in `HOWDAH_INTEROP_SLURM`; without one the test fails, so
//! that nobody takes it for passed. `scripts.rs` runs the script everywhere, with programs of its own in Slurm's place.

use std::path::PathBuf;

use crate::layer;
use crate::package::{package, text};

/// Starts Slurm with two nodes, which are this machine twice.
const BOOT: &str = r#"
exec 2>&1
# No service of a package starts by itself.
printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
dpkg --install /package/*.deb > /out/said || { cat /out/said; exit 1; }
: > /out/said
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs none /sys/fs/cgroup
mount -t tmpfs none /run
mount -t tmpfs none /tmp
chmod 1777 /tmp
ip link set lo up
# A name is not looked up where only loopback's own addresses are.
ip addr add 192.0.2.1/32 dev lo
hostname lab0
printf '192.0.2.1 lab0\n127.0.0.1 localhost\n' > /etc/hosts
mkdir -p /run/munge /var/spool/slurmctld
head -c 1024 /dev/urandom > /etc/munge/munge.key
chown munge /etc/munge/munge.key /run/munge /var/lib/munge /var/log/munge
chmod 400 /etc/munge/munge.key
setpriv --reuid munge --regid munge --clear-groups munged
cat > /etc/slurm/slurm.conf <<'END'
ClusterName=lab
SlurmctldHost=lab0
SlurmUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd.%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.%n.pid
SlurmctldLogFile=/run/slurmctld.log
SlurmdLogFile=/run/slurmd.%n.log
NodeName=n[1-2] NodeHostname=lab0 NodeAddr=lab0 Port=[17001-17002]
PartitionName=lab Nodes=n[1-2] Default=YES State=UP
END
printf 'CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\n' > /etc/slurm/cgroup.conf
slurmctld
slurmd -N n1
slurmd -N n2
for _ in $(seq 300); do sinfo --noheader --format='%t %D' | grep -q '^idle 2' && break; sleep 0.1; done
mkdir /srv/lab
cd /srv/lab
cat > howdah.sbatch <<'END'
"#;

/// What somebody does there, with a line of what is there after each step.
const STEPS: &str = r#"
END
exec > /out/said
printf '#!/bin/sh\nhowdah submit wordcount --input input.txt --output counts --wait >&2 && howdah worker list\n' > count.sh
chmod 755 count.sh
echo "one two two" > input.txt
chown -R nobody /srv/lab
submit() { setpriv --reuid nobody --regid nogroup --clear-groups sbatch --wait --output="said.$1" howdah.sbatch "$2" $3; }

sed -i 's/^#SBATCH --nodes=4$/#SBATCH --nodes=2/' howdah.sbatch
submit 1 ./count.sh '' > /dev/null || { cat said.1 /run/slurm*.log; exit 1; }
echo "counted: $(echo $(cat counts/part-r-00000))"
echo "workers: $(grep -c ' LIVE ' said.1)"
echo "stopped: $(grep -c 'a worker stopped' howdah-1/master.log) $(grep -l 'worker stopped' howdah-1/worker-*.log | wc -l)"
echo "left: $(ls /tmp/howdah-1 | wc -l) folders, $(pgrep howdah | wc -l) processes"
code=0
submit 2 ls /no/such/folder > /dev/null || code=$?
echo "code: $code"
"#;

#[test]
#[ignore = "run by `cargo xtask interop`"]
fn a_slurm_job_has_a_worker_on_each_node_which_stop_as_asked_when_its_command_ends() {
    let folder = PathBuf::from(
        std::env::var_os("HOWDAH_INTEROP_SLURM").expect("`cargo xtask interop` names the folder of Slurm's packages"),
    );
    let Some(package) = package() else { return };
    let mut packages: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder of packages")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .collect();
    packages.push(package.to_owned());
    let packages: Vec<_> = packages.iter().map(PathBuf::as_path).collect();
    let script = [BOOT, include_str!("../../../deploy/slurm/howdah.sbatch"), STEPS].concat();
    let namespaces = ["--net", "--pid", "--fork", "--kill-child", "--uts", "--ipc"];
    let Some(output) = layer::run("the script for Slurm", &namespaces, &packages, &script) else { return };
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    for line in ["counted: one 1 two 2", "workers: 2", "stopped: 2 2", "left: 0 folders, 0 processes", "code: 2"] {
        assert!(said.lines().any(|one| one == line), "no line `{line}` in\n{said}");
    }
}
