//! What people name at their own desk: a path there may be another one than on the cluster.

use std::fs;

use crate::inside::inside;
use crate::machines::{Kind, Lab};

/// Words as they are typed at the desk in a folder of it.
fn typed_in(lab: &Lab, folder: &str, words: &[&str]) -> std::process::Output {
    let line = ["sh", "-c", "cd \"$0\" && exec \"$@\"", folder, env!("CARGO_BIN_EXE_howdah")];
    lab.command("desk", &[&line[..], words].concat()).env("HOWDAH_MASTER", "lab0").output().expect("run howdah")
}

fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("list a folder").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn an_output_on_the_desks_own_disk_is_refused_before_anything_is_made() {
    inside("client::an_output_on_the_desks_own_disk_is_refused_before_anything_is_made", |lab| {
        // The desk has a folder of the share's name that is its own.
        let mut lab = lab.machines(Kind::V4, &[]).without_share("desk");
        lab.master();
        lab.workers(&["lab1"]);
        lab.wait_state(&["lab1"], "LIVE");
        let (input, share) = (lab.input(100), lab.shared(""));
        let (out, deep) = (lab.shared("out"), lab.shared("some/where/out"));
        let before = names(&lab.export(""));
        let line = ["submit", "wordcount", "--input", &input, "--reduces", "1", "--output"];
        let with = |words: &[&str]| lab.at_desk(&[&line[..], words].concat());
        let refused = with(&[&out]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        for part in
            [&*out, share.trim_end_matches('/'), "on desk", "on lab0", "help: nothing was submitted", "--remote-paths"]
        {
            assert!(said.contains(part), "{part}: {said}");
        }
        // The same for programs, and for a path that is relative, into a folder that is not there yet.
        let refused = with(&[&out, "--output", "json"]);
        let document: serde_json::Value = serde_json::from_slice(&refused.stderr).expect("JSON");
        assert!(document["error"].as_str().is_some_and(|error| error.contains("is not the one that the master has")));
        let refused = typed_in(&lab, &share, &[&line[..], &["some/where/out"]].concat());
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(2) && said.contains(&deep), "{said}");
        assert_eq!(names(&lab.export("")), before, "nothing is left of them");
        assert_eq!(lab.json(&["job", "list"])["jobs"].as_array().map(Vec::len), Some(0));
        // An input that only the desk has is refused by the master, which does not see it.
        let script = "echo text > own.txt && exec \"$0\" submit wordcount --input own.txt --output out";
        let refused =
            lab.command("desk", &["sh", "-c", &format!("cd {share} && {script}"), env!("CARGO_BIN_EXE_howdah")]);
        let refused = { refused }.env("HOWDAH_MASTER", "lab0").output().expect("run howdah");
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(2) && said.contains(&lab.shared("own.txt")), "{said}");
        // Whoever means the master's folder says so; of a folder that the desk has not there is a note.
        lab.desk(&[&line[..], &[&out, "--remote-paths", "--wait"]].concat());
        let noted = with(&[&deep, "--wait", "--output", "json"]);
        let said = String::from_utf8_lossy(&noted.stderr).into_owned();
        assert!(
            noted.status.success() && said.contains("note: desk has no folder for") && said.contains("lab0"),
            "{said}"
        );
        let job = serde_json::from_slice::<serde_json::Value>(&noted.stdout).expect("JSON")["job"].clone();
        for output in ["out", "some/where/out"] {
            assert_eq!(names(&lab.export(output)), ["_SUCCESS", "part-r-00000"]);
        }
        // Once more, to another place.
        let to = lab.shared("again");
        let again = ["job", "resubmit", job.as_str().expect("a job"), "--to", &to, "--wait"];
        assert_eq!(lab.at_desk(&again).status.code(), Some(2));
        assert!(!lab.export("again").exists());
        lab.desk(&[&again[..], &["--remote-paths"]].concat());
        assert!(lab.export("again/_SUCCESS").exists());
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_desk_that_has_the_share_is_told_nothing() {
    inside("client::a_desk_that_has_the_share_is_told_nothing", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        lab.master();
        lab.workers(&["lab1"]);
        lab.wait_state(&["lab1"], "LIVE");
        let (input, share) = (lab.input(100), lab.shared(""));
        let line = ["submit", "wordcount", "--input", &input, "--reduces", "1", "--wait", "--output"];
        for output in [&lab.shared("out"), "new/folders/out"] {
            let done = typed_in(&lab, &share, &[&line[..], &[output]].concat());
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(done.status.success() && !said.contains("note:"), "{said}");
        }
        assert_eq!(names(&lab.export("new/folders/out")), ["_SUCCESS", "part-r-00000"]);
    });
}
