//! Who people are and what machines are called, where files and directory services say different things.

use crate::inside::inside;
use crate::machines::Kind;

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_user_whom_no_file_knows_submits_jobs_under_a_number() {
    inside("names::a_user_whom_no_file_knows_submits_jobs_under_a_number", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        lab.master();
        lab.workers(&["lab1"]);
        lab.wait_state(&["lab1"], "LIVE");
        // A static executable that loads the machine's modules for `systemd` users dies of it.
        let howdah = env!("CARGO_BIN_EXE_howdah");
        let words = ["unshare", "--user", "--map-user=54321", "env", "-u", "USER", "-u", "LOGNAME", howdah];
        let submit = ["submit", "sleep", "--master", "lab0", "--wait"];
        let output = lab.command("desk", &[&words[..], &submit[..]].concat()).output().expect("run howdah");
        assert!(output.status.success(), "{:?}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        let jobs = lab.json(&["job", "list"]);
        assert_eq!(jobs["jobs"][0]["user"], "54321", "{jobs}");
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_host_that_nobody_knows_is_an_error_that_names_it() {
    inside("names::a_host_that_nobody_knows_is_an_error_that_names_it", |lab| {
        let lab = lab.machines(Kind::V4, &[]);
        let output = lab.at_desk(&["worker", "list", "--master", "lab77"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("host `lab77` is unknown"), "{said}");
    });
}
