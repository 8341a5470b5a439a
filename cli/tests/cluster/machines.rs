//! `up --hosts` and `down --hosts`: machines are folders here, and a script stands in the place of ssh.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use crate::harness::{Finished, Scene, howdah};

const LONG: Duration = Duration::from_secs(300);

/// As ssh: a machine's name and words for its shell. What is below FOLDER/lab is below FOLDER/lab/MACHINE there; nobody
/// gets at lab9. Every line is written down.
const SSH: &str = r#"#!/bin/sh
host=$1; shift
echo "$host $*" >> FOLDER/lines
[ "$host" != lab9 ] || { echo "ssh: connect to host lab9 port 22: No route to host" >&2; exit 255; }
exec sh -c "$(printf %s "$*" | sed "s#FOLDER/lab#FOLDER/lab/$host#g")"
"#;

struct Lab(Scene);

impl Lab {
    fn new() -> Lab {
        let scene = Scene::new();
        let folder = scene.folder.path().display().to_string();
        std::fs::write(scene.path("ssh"), SSH.replace("FOLDER", &folder)).expect("write a program");
        std::fs::set_permissions(scene.path("ssh"), std::fs::Permissions::from_mode(0o755)).expect("make it a program");
        Lab(scene)
    }

    /// Runs `up` or `down` on these machines.
    fn run(&self, verb: &str, hosts: &str, more: &[&str]) -> Finished {
        std::fs::write(self.0.path("hosts"), hosts).expect("write the hosts");
        let mut command = howdah(&self.0.mark);
        command.arg(verb).arg("--hosts").arg(self.0.path("hosts")).arg("--dir").arg(self.0.path("lab"));
        command.arg("--ssh").arg(self.0.path("ssh")).args(more);
        Finished::of(&mut command, LONG)
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.0.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Times that the executable was copied.
    fn copies(&self) -> usize {
        self.read("lines").matches("cat > ").count()
    }

    fn live(&self) -> Vec<String> {
        let access: serde_json::Value = serde_json::from_str(&self.read("lab/lab0/master/access.json")).expect("JSON");
        let list = ["worker", "list", "--output", "json", "--master", access["master"].as_str().expect("an address")];
        let list = Finished::of(howdah(&self.0.mark).args(list), LONG).expect_code(0).json();
        let live = list["workers"].as_array().expect("workers").iter().filter(|worker| worker["state"] == "LIVE");
        live.map(|worker| worker["name"].as_str().expect("a name").to_owned()).collect()
    }
}

#[test]
fn machines_get_the_executable_start_together_and_stop_together() {
    let lab = Lab::new();
    let listen = ["--listen", "127.0.0.1:0"];
    let up = lab.run("up", "lab0 # the master\nlab1\n", &listen).expect_code(0);
    assert!(
        up.stdout.contains("up: one master at 127.0.0.1:") && up.stdout.contains("and 1 worker\n"),
        "{}",
        up.stdout
    );
    assert_eq!(lab.live(), ["lab1"]);
    assert_eq!(lab.copies(), 2);
    let process = lab.read("lab/lab1/worker/process.json");
    // Each has a log that is put aside when it is full; what it says elsewhere is where that is.
    for (machine, role) in [("lab0", "master"), ("lab1", "worker")] {
        let [log, errors] = ["log", "err"].map(|end| format!("lab/{machine}/{role}/{role}.{end}"));
        assert!(!lab.read(&log).is_empty());
        assert_eq!(lab.read(&errors), format!("the log is {}\n", lab.0.path(&log).display()));
    }

    // What runs is left alone, and what is there is not copied; who cannot be reached is named, and nobody waits for it.
    let again = lab.run("up", "lab0\nlab1\nlab9\n", &listen).expect_code(3);
    let expected = "error: the worker on lab9: ssh: connect to host lab9 port 22: No route to host\nhelp: ";
    assert!(again.stderr.starts_with(expected), "{}", again.stderr);
    assert_eq!((lab.copies(), lab.read("lab/lab1/worker/process.json")), (2, process));

    // A daemon that ends says why. The master's machine has a worker, too.
    let wrong = lab.run("up", "lab0\nlab0\nlab1\n", &["--vitals-source", "script"]).expect_code(3);
    let expected = "error: the worker on lab0: it ended with exit status: 2: setting `vitals_script`: is not set";
    assert!(wrong.stderr.starts_with(expected), "{}", wrong.stderr);
    lab.run("up", "lab0\nlab0\nlab1\n", &[]).expect_code(0);
    let mut live = lab.live();
    live.sort();
    assert_eq!((live, lab.copies()), (vec!["lab0".to_owned(), "lab1".to_owned()], 2));

    let down = lab.run("down", "lab0\nlab0\nlab1\nlab2\n", &[]).expect_code(0);
    assert!(down.stdout.contains("down: 3 daemons stopped, 1 did not run"), "{}", down.stdout);
    lab.0.mark.wait_until_gone("down");
    let down = lab.run("down", "lab0\nlab1\n", &[]).expect_code(0);
    assert!(down.stdout.contains("down: 0 daemons stopped, 2 did not run"), "{}", down.stdout);
}

#[test]
fn a_list_of_machines_and_a_directory_that_will_not_do_are_wrong_usage() {
    let lab = Lab::new();
    let alone = lab.run("up", "lab0\n", &[]).expect_code(2);
    assert!(
        alone.stderr.contains("names 1 machines, expected the master's and at least one worker's"),
        "{}",
        alone.stderr
    );
    let both = lab.run("up", "lab0\nlab1\n", &["--workers", "3"]).expect_code(2);
    assert!(both.stderr.contains("cannot be used with"), "{}", both.stderr);
    let words = ["up", "--dir", "here", "--hosts"];
    let relative = Finished::of(howdah(&lab.0.mark).args(words).arg(lab.0.path("hosts")), LONG).expect_code(2);
    assert!(relative.stderr.contains("--dir `here` is relative"), "{}", relative.stderr);
    assert!(!lab.0.path("lines").exists(), "nothing was started");
}
