//! The playbook by Ansible itself, on a machine with a real systemd which is the lab's master and its worker under two names.
//!
//! `cargo xtask interop` installs Ansible beside the Python that `HOWDAH_INTEROP_PYTHON` names; without one the test fails, so that
//! nobody takes it for passed.

use std::path::Path;
use std::process::Command;

use crate::package::{package, text};
use crate::{deploy, systemd};

/// The executable as an administrator has it, and the inventory.
const BEFORE: &str = r#"
dpkg-deb --extract /package/*.deb /built
printf '127.0.0.1 lab0 lab1 localhost\n' > /etc/hosts
printf '[master]\nlab0\n[workers]\nlab1\n[all:vars]\nansible_connection=local\nansible_become=false\n' > /hosts
"#;

/// Twice, with a line of what is there after each time.
const STEPS: &str = r##"
export HOME=/root LC_ALL=C.UTF-8 ANSIBLE_NOCOLOR=1
play() {
    ansible-playbook -i /hosts /package/deploy/ansible/howdah.yaml -e howdah=/built/usr/bin/howdah > /play 2>&1 || { cat /play; exit 1; }
    sed -nE 's/^(lab[01]) .* changed=([0-9]+) .* failed=([0-9]+) .*/\1: \2 changed, \3 failed/p' /play
}
play
howdah wait --workers 1
echo "worker: $(howdah worker list | grep -c ' LIVE ')"
for name in master worker; do echo "$name: $(systemctl is-active howdah-$name) $(systemctl is-enabled howdah-$name)"; done
echo again
play
"##;

fn beside(program: &str, name: &str) -> String {
    Path::new(program).with_file_name(name).display().to_string()
}

#[test]
#[ignore = "run by `cargo xtask interop`"]
fn the_playbook_brings_up_a_master_and_a_worker_and_changes_nothing_the_second_time() {
    let python = std::env::var("HOWDAH_INTEROP_PYTHON").expect("`cargo xtask interop` names the Python of these tests");
    let Some(package) = package() else { return };
    let steps = STEPS.replace("ansible-playbook -i", &format!("{python} {} -i", beside(&python, "ansible-playbook")));
    // Its environment, and the Python that it is of.
    let mut look = Command::new(&python);
    let base = look.args(["-c", "import sys; print(sys.prefix, sys.base_prefix, sep=':', end='')"]).output();
    let seen = String::from_utf8(base.expect("run Python").stdout).expect("paths");
    let Some(output) = systemd::run("the playbook", &[package, &deploy()], &seen, BEFORE, &steps) else { return };
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.lines().any(|line| line == "worker: 1"), "{said}");
    for service in ["master", "worker"] {
        assert!(said.lines().any(|line| line == format!("{service}: active enabled")), "{said}");
    }
    let (first, second) = said.split_once("\nagain\n").unwrap_or_else(|| panic!("not played twice:\n{said}"));
    for host in ["lab0", "lab1"] {
        assert!(!first.contains(&format!("{host}: 0 changed")) && first.contains(&format!("{host}: ")), "{said}");
        assert!(second.contains(&format!("{host}: 0 changed, 0 failed")), "{said}");
    }
}
