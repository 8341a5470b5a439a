//! The commands that an administrator has: wait, doctor, and daemons that refuse to be root's by accident.

use crate::inside::inside;
use crate::machines::Kind;

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_script_waits_for_workers_and_the_doctor_finds_the_one_that_is_missing() {
    inside("kit::a_script_waits_for_workers_and_the_doctor_finds_the_one_that_is_missing", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        let early = lab.at_desk(&["wait", "--workers", "1", "--timeout", "1s"]);
        let said = String::from_utf8_lossy(&early.stderr).into_owned();
        assert_eq!(early.status.code(), Some(4), "{said}");
        assert!(said.starts_with("error: no answer for 1 s: "), "{said}");
        lab.master();
        lab.workers(&["lab1", "lab2"]);
        lab.desk(&["wait", "--workers", "2", "--timeout", "60s"]);
        let share = lab.shared("");
        let good = lab.desk(&["doctor", "--share", &share]);
        assert!(good.contains("port from here") && !good.contains("BAD"), "{good}");
        // What each worker sees: the other one, and the share.
        for worker in ["lab1", "lab2"] {
            let of = |what: &str| good.lines().find(|line| line.starts_with(worker) && line.contains(what));
            assert!(of("other workers").is_some_and(|line| line.contains("it gets to 1 of 1")), "{good}");
            assert!(of("share").is_some_and(|line| line.contains("reads and writes it")), "{good}");
            assert!(of("limits").is_some_and(|line| line.contains("may open")), "{good}");
        }
        assert!(good.lines().any(|line| line.starts_with("daemons") && line.contains("all run as user ")), "{good}");
        assert!(good.contains("does what howdah expects"), "{good}");
        assert_eq!(std::fs::read_dir(lab.export("")).expect("the share").count(), 0, "what was tried is left");
        // It says goodbye, so that the master need not wait for its silence.
        lab.signal("lab2", "-TERM");
        lab.wait_state(&["lab2"], "STOPPED");
        let bad = lab.at_desk(&["doctor", "--share", "/nowhere"]);
        let said = String::from_utf8_lossy(&bad.stdout).into_owned();
        assert_eq!(bad.status.code(), Some(1), "{said}");
        assert!(said.contains("it is STOPPED") && said.contains("No such file"), "{said}");
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_daemon_of_roots_that_others_get_at_wants_to_be_meant() {
    inside("kit::a_daemon_of_roots_that_others_get_at_wants_to_be_meant", |lab| {
        let lab = lab.machines(Kind::V4, &[]);
        let dir = lab.path("m").display().to_string();
        let cases = [
            (["master", "--listen", "lab0:9001"], "", "`listen` is `lab0:9001`"),
            // Jobs are killed over HTTP, too.
            (["master", "--listen", "localhost"], "0.0.0.0:0", "`http_listen` is `0.0.0.0:0`"),
            (["master", "--listen", "localhost"], "lab0", "`http_listen` is `lab0`"),
            (["worker", "--master", "lab0"], "", "`master` is `lab0`"),
        ];
        for (words, http, by) in cases {
            let all = [&[env!("CARGO_BIN_EXE_howdah")], &words[..], &["--dir", &dir]].concat();
            let mut command = lab.command("lab0", &all);
            command.envs((!http.is_empty()).then_some(("HOWDAH_MASTER_HTTP_LISTEN", http)));
            let output = command.output().expect("run howdah");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains(&format!("is root's and other machines get at it ({by})")), "{said}");
            assert!(said.contains("--as-root"), "{said}");
        }
        assert!(!lab.path("m").exists());
    });
}
