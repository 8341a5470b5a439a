//! The share is not mounted on one machine: that costs nobody a job.

use crate::inside::inside;
use crate::machines::Kind;

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_worker_without_the_share_costs_the_jobs_of_others_nothing() {
    inside("share::a_worker_without_the_share_costs_the_jobs_of_others_nothing", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]).without_share("lab2");
        lab.master();
        lab.workers(&["lab1", "lab2", "lab3"]);
        lab.wait_state(&["lab1", "lab2", "lab3"], "LIVE");
        // Who looks first is told, and nothing is made in the mount's place.
        let looked = lab.at_desk(&["doctor", "--share", &lab.shared("")]);
        let said = String::from_utf8_lossy(&looked.stdout).into_owned();
        assert_eq!(looked.status.code(), Some(1), "{said}");
        let bad: Vec<&str> = said.lines().filter(|line| line.contains(" BAD ")).collect();
        assert_eq!(bad.len(), 1, "{said}");
        assert!(bad[0].starts_with("lab2") && bad[0].contains("is not seen: No such file"), "{said}");
        for output in ["out-1", "out-2"] {
            let job = lab.count_words(output, 2_000)["job"].as_str().expect("a job").to_owned();
            let attempts = lab.attempts(&job);
            let of = |state: &str| attempts.iter().filter(|attempt| attempt["state"] == state).count();
            assert_eq!(of("FAILED"), 0, "{attempts:#?}");
            let blind = attempts.iter().filter(|attempt| attempt["worker"] == "lab2");
            assert!(blind.clone().all(|attempt| attempt["state"] == "KILLED"), "{attempts:#?}");
            // Its four slots at the most, once.
            assert!(blind.count() <= 4, "{attempts:#?}");
        }
        assert_eq!(std::fs::read_dir(lab.path("share")).expect("the mount's place").count(), 0);
        let listed = lab.desk(&["worker", "list"]);
        assert!(listed.contains("lab2: ") && listed.contains("this machine does not see `"), "{listed}");
        // Mounted again, the next job uses the worker, which was not started anew.
        lab.mount_share("lab2");
        let job = lab.count_words("out-3", 2_000)["job"].as_str().expect("a job").to_owned();
        let attempts = lab.attempts(&job);
        assert!(attempts.iter().all(|attempt| attempt["state"] == "SUCCEEDED"), "{attempts:#?}");
        assert!(attempts.iter().any(|attempt| attempt["worker"] == "lab2"), "{attempts:#?}");
    });
}
