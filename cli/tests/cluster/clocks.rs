//! A client whose clock is wrong shows right ages: they are counted on the master's.

use howdah_guards::clock::OFFSET_VARIABLE;

use crate::harness::{Cluster, Setup, wait_for};

/// Off by an hour, to either side.
const OFFSETS: [&str; 2] = ["3600000", "-3600000"];

/// The seconds and minutes of an age like `12.3 s` or `3 min 20 s` that begins a text; `None` of any other.
fn age_s(text: &str) -> Option<f64> {
    let mut words = text.split_whitespace();
    let number: f64 = words.next()?.parse().ok()?;
    match words.next()? {
        "s" => Some(number),
        "min" => Some(60.0 * number),
        _ => None,
    }
}

#[test]
fn ages_are_right_where_the_clients_clock_is_off_by_an_hour() {
    let cluster = Cluster::start(Setup { workers: 1, ..Setup::default() });
    let job = cluster.sleep(1, 600_000, 0);
    cluster.wait_running_maps(&job, 1);
    for offset in OFFSETS {
        let said = |words: &[&str]| {
            let output = cluster.command(words).env(OFFSET_VARIABLE, offset).output().expect("run howdah");
            assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).expect("text")
        };
        // Each in its own words; none is taken for right by being near to nothing.
        let asked: [(&[&str], &str); 4] = [
            (&["job", "status", &job], "so far "),
            (&["job", "list"], " 0/0 "),
            (&["job", "attempts", &job], " % "),
            (&["cluster"], ", up "),
        ];
        for (words, before) in asked {
            wait_for(&format!("{words:?} to say an age of seconds or minutes, {offset} ms off"), || {
                let text = said(words);
                let line = text.lines().rfind(|line| line.contains(before))?;
                let rest = line.split_once(before)?.1.trim_start();
                // What stands between where there is no locality.
                let age = age_s(rest.trim_start_matches("unknown").trim_start_matches('-'));
                age.filter(|age| (1.0..1_800.0).contains(age))
            });
        }
        let seen = said(&["worker", "list"]);
        assert!(!seen.contains(" min ") && !seen.contains(" h "), "{seen}");
    }
    cluster.run(&["job", "kill", &job]).expect_code(0);
    cluster.stop_and_replay();
}
