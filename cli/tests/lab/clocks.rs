//! Clocks that are off by an hour: nothing depends on them, and the doctor names whose they are.

use crate::inside::inside;
use crate::machines::Kind;

const HOUR_MS: i64 = 3_600_000;

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn machines_whose_clocks_are_off_by_an_hour_do_their_work_and_the_doctor_names_them() {
    inside("clocks::machines_whose_clocks_are_off_by_an_hour_do_their_work_and_the_doctor_names_them", |lab| {
        let lab = lab.with_clock("lab1", -HOUR_MS).with_clock("lab2", HOUR_MS).with_clock("desk", HOUR_MS);
        let mut lab = lab.machines(Kind::V4, &[]);
        lab.master();
        lab.workers(&["lab1", "lab2", "lab3"]);
        lab.wait_state(&["lab1", "lab2", "lab3"], "LIVE");
        let job = lab.count_words("out", 4_000)["job"].as_str().expect("a job").to_owned();
        let attempts = lab.attempts(&job);
        for name in ["lab1", "lab2", "lab3"] {
            assert!(attempts.iter().any(|attempt| attempt["worker"] == name), "{name} did nothing: {attempts:#?}");
        }
        for attempt in &attempts {
            assert_eq!(attempt["state"], "SUCCEEDED", "{attempt:#}");
            // On the master's clock, which nobody else's shows in.
            let took = attempt["ended_ms_epoch"].as_i64().zip(attempt["assigned_ms_epoch"].as_i64());
            assert!(took.is_some_and(|(ended, from)| (0..HOUR_MS / 2).contains(&(ended - from))), "{attempt:#}");
        }
        let seen = lab.desk(&["worker", "list"]);
        assert!(!seen.contains(" min ") && !seen.contains(" h "), "{seen}");

        let share = lab.shared("");
        let bad = lab.at_desk(&["doctor", "--share", &share]);
        let said = String::from_utf8_lossy(&bad.stdout).into_owned();
        assert_eq!(bad.status.code(), Some(1), "{said}");
        let clocks: Vec<&str> = said.lines().filter(|line| line.contains(" clock ")).collect();
        for (whose, what) in [
            ("this machine", "ahead of the master's"),
            ("lab1", "behind the master's"),
            ("lab2", "ahead of the master's"),
            ("lab3", "as the master's"),
        ] {
            let line = clocks.iter().find(|line| line.starts_with(whose)).unwrap_or_else(|| panic!("{whose}: {said}"));
            assert!(line.contains(what) && (line.contains("ok") == (whose == "lab3")), "{line}");
        }
    });
}
