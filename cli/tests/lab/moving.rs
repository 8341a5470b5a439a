//! The master moves to another machine, and its name with it, as the guide's page has it.

use std::process::Command;

use crate::inside::inside;
use crate::machines::Kind;
use crate::wait_for;

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_master_moves_to_another_machine_and_the_job_at_work_goes_on() {
    inside("moving::a_master_moves_to_another_machine_and_the_job_at_work_goes_on", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        let workers = ["lab1", "lab2", "lab3"];
        lab.master();
        lab.workers(&workers);
        lab.wait_state(&workers, "LIVE");
        let before = lab.count_words("before", 2_000)["job"].as_str().expect("a job").to_owned();
        let long = lab.json(&["submit", "sleep", "-m", "24", "-mt", "8000", "-r", "0"]);
        let long = long["job"].as_str().expect("a job").to_owned();
        let attempts = || lab.attempts(&long);
        wait_for("maps to run", || attempts().iter().any(|attempt| attempt["state"] == "RUNNING").then_some(()));

        // Stop, copy, the name, start.
        lab.stop("lab0");
        let [old, new] = ["master", "moved"].map(|name| lab.path(name));
        let copied = Command::new("cp").arg("-a").args([&old, &new]).status();
        assert!(copied.expect("start cp").success());
        lab.move_name("lab0", "lab4");
        let dir = new.display().to_string();
        lab.daemon("lab4", &["master", "--as-root", "--listen", "lab0", "--dir", &dir]);
        wait_for("the master to listen", || new.join("access.json").exists().then_some(()));

        // Nobody told the workers, nor the desk.
        lab.wait_state(&workers, "LIVE");
        let jobs = lab.json(&["job", "list"]);
        let listed: Vec<&str> =
            jobs["jobs"].as_array().into_iter().flatten().filter_map(|job| job["job"].as_str()).collect();
        assert!(listed.contains(&before.as_str()) && listed.contains(&long.as_str()), "{jobs:#}");
        lab.desk(&["job", "wait", &long]);
        let ended = lab.attempts(&long);
        assert!(ended.len() == 24 && ended.iter().all(|attempt| attempt["state"] == "SUCCEEDED"), "{ended:#?}");
        assert_eq!(lab.json(&["job", "status", &long])["master_restarts"], 1);
        lab.count_words("after", 2_000);
    });
}
