//! The Debian package: built from the executable under test, then installed, looked at, removed and purged by the machine's
//! own `dpkg` in a change root over a layer above this machine's files, which stay as they are.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::daemons::HOWDAH;
use crate::{deploy, layer};

/// A release build is promised to be installed within ten seconds; beside other tests it takes several times that.
const MOST: Duration = Duration::from_secs(60);

pub(crate) fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

/// The package, built once for all tests; `None`, and said, where this machine cannot build it.
pub(crate) fn package() -> Option<&'static Path> {
    static BUILT: LazyLock<Option<PathBuf>> = LazyLock::new(build);
    BUILT.as_deref()
}

fn build() -> Option<PathBuf> {
    if let Err(error) = Command::new("dpkg-deb").arg("--version").output() {
        crate::permitted::not_tested(&format!("the package, as dpkg-deb does not start: {error}; install `dpkg`"));
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("package");
    let output = Command::new(deploy().join("debian/build.sh")).arg(HOWDAH).arg(folder).output().expect("run build.sh");
    assert!(output.status.success(), "{}", text(&output));
    Some(String::from_utf8(output.stdout).expect("a path").trim_end().into())
}

#[test]
fn the_package_has_what_a_machine_of_a_lab_needs_and_its_configuration_is_kept_as_such() {
    let Some(package) = package() else { return };
    let run = |args: &[&str]| text(&Command::new("dpkg-deb").args(args).arg(package).output().expect("run dpkg-deb"));
    let files = run(&["--contents"]);
    for path in [
        "./usr/bin/howdah",
        "./etc/howdah/howdah.toml",
        "./lib/systemd/system/howdah-master.service",
        "./lib/systemd/system/howdah-worker.service",
        "./usr/share/man/man1/howdah-job-list.1.gz",
        "./usr/share/bash-completion/completions/howdah",
        "./usr/share/zsh/vendor-completions/_howdah",
        "./usr/share/fish/vendor_completions.d/howdah.fish",
    ] {
        let line = files.lines().find(|line| line.ends_with(path)).unwrap_or_else(|| panic!("no {path} in\n{files}"));
        assert!(line.contains("root/root"), "{line}");
    }
    assert_eq!(run(&["--info"]).matches("Package: howdah\n").count(), 1);
    let conffiles =
        Command::new("dpkg-deb").arg("--info").arg(package).arg("conffiles").output().expect("run dpkg-deb");
    assert_eq!(String::from_utf8_lossy(&conffiles.stdout), "/etc/howdah/howdah.toml\n");
}

/// What the package would change here if its layer leaked: who the users are, and which of its paths are there.
fn of_this_machine() -> (String, [bool; 3]) {
    let users = std::fs::read_to_string("/etc/passwd").expect("read the users");
    (users, ["/usr/bin/howdah", "/etc/howdah", "/var/lib/howdah"].map(|path| Path::new(path).exists()))
}

/// What is done with the package, with a line of what is there after each step.
const STEPS: &str = r##"
exec 2>&1
dpkg --install /package/*.deb
echo "installed: $(howdah --version | head -n 1 | cut -d ' ' -f 1) $(getent passwd howdah | cut -d : -f 6)"
echo "owner: $(stat -c %U /var/lib/howdah)"
[ -s /lib/systemd/system/howdah-worker.service ]
echo "# mine" >> /etc/howdah/howdah.toml
dpkg --install /package/*.deb
echo "again: $(tail -n 1 /etc/howdah/howdah.toml)"
dpkg --remove howdah
echo "removed: $(ls /usr/bin/howdah 2> /dev/null) $(tail -n 1 /etc/howdah/howdah.toml) $(getent passwd howdah | cut -d : -f 1)"
dpkg --purge howdah
echo "purged: $(ls -d /etc/howdah /var/lib/howdah 2> /dev/null) $(getent passwd howdah)"
"##;

#[test]
fn the_package_is_installed_again_removed_and_purged_and_keeps_what_an_administrator_wrote() {
    let Some(package) = package() else { return };
    let before = of_this_machine();
    let started = Instant::now();
    let Some(output) = layer::run("installing the package", &[], &[package], STEPS) else { return };
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    for line in
        ["installed: howdah /var/lib/howdah", "owner: howdah", "again: # mine", "removed:  # mine howdah", "purged:  "]
    {
        assert!(said.lines().any(|one| one == line), "no line `{line}` in\n{said}");
    }
    // Four times, in fact.
    assert!(started.elapsed() < 4 * MOST, "{:?}", started.elapsed());
    assert_eq!(of_this_machine(), before, "this machine was changed");
}
