//! `demo`, `up` and `down` leave nothing behind, Ctrl-C included.

use std::process::Stdio;
use std::time::Duration;

use crate::harness::{Finished, Scene, howdah, reference, text, wait_for};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

const LONG: Duration = Duration::from_secs(300);

#[test]
fn the_demo_holds_and_leaves_no_process() {
    let scene = Scene::new();
    let input = scene.folder.path().join("input.txt");
    text::write_text(&input, 4 << 20, &text::words(10_000), 3);
    let mut command = howdah(&scene.mark);
    command.arg("demo").arg("--dir").arg(scene.folder.path().join("demo")).arg("--input").arg(&input);
    let demo = Finished::of(&mut command, LONG).expect_code(0);
    for part in ["wordcount", "sudoku", "identical"] {
        assert!(demo.all().to_lowercase().contains(part), "no `{part}` in:\n{}", demo.all());
    }
    scene.mark.wait_until_gone("the demo ended");
}

#[test]
fn ctrl_c_of_the_demo_leaves_no_process() {
    let scene = Scene::new();
    let input = scene.folder.path().join("input.txt");
    text::write_text(&input, 64 << 20, &text::words(100_000), 3);
    let mut command = howdah(&scene.mark);
    command.arg("demo").arg("--dir").arg(scene.folder.path().join("demo")).arg("--input").arg(&input);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("start the demo");
    wait_for("an attempt of the demo to run", || {
        scene.mark.processes().iter().any(|(_, words)| words.ends_with(" task")).then_some(())
    });
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).expect("interrupt the demo");
    let status = wait_for("the demo to end", || child.try_wait().expect("look at the demo"));
    assert_eq!(status.code(), Some(130), "{status}");
    scene.mark.wait_until_gone("Ctrl-C");
}

#[test]
fn up_serves_until_down_and_down_leaves_no_process() {
    let scene = Scene::new();
    let dir = scene.folder.path().join("cluster");
    let dir = dir.to_str().expect("a plain path");
    Finished::of(howdah(&scene.mark).args(["up", "--workers", "2", "--dir", dir]), LONG).expect_code(0);
    let access =
        std::fs::read_to_string(scene.folder.path().join("cluster/access.json")).expect("read the access file");
    let access: Value = serde_json::from_str(&access).expect("JSON");
    let address = access["master"].as_str().expect("an address").to_owned();
    let list = ["worker", "list", "--master", &address, "--output", "json"];
    let workers = Finished::of(howdah(&scene.mark).args(list), LONG).expect_code(0).json();
    assert_eq!(workers["workers"].as_array().map(Vec::len), Some(2), "{workers}");

    let input = scene.folder.path().join("input.txt");
    std::fs::write(&input, "b a\nb\n").expect("write the input");
    let out = scene.folder.path().join("out");
    let mut submit = howdah(&scene.mark);
    submit
        .args(["submit", "wordcount", "--master", &address, "--wait", "--input"])
        .arg(&input)
        .arg("--output")
        .arg(&out);
    Finished::of(&mut submit, LONG).expect_code(0);
    assert_eq!(reference::read_parts(&out).concat(), b"a\t1\nb\t2\n");

    Finished::of(howdah(&scene.mark).args(["down", "--dir", dir]), LONG).expect_code(0);
    scene.mark.wait_until_gone("down");
}

#[test]
fn the_logs_of_a_cluster_that_stays_are_put_aside_when_they_are_full() {
    let scene = Scene::new();
    let dir = scene.folder.path().join("cluster");
    let words = ["up", "--workers", "1", "--dir", dir.to_str().expect("a plain path")];
    let mut up = howdah(&scene.mark);
    // So much that small files are full at once.
    up.args(words).env("HOWDAH_LOG", "trace").env("HOWDAH_LOG_MAX_SIZE", "16KiB").env("HOWDAH_LOG_KEEP", "2");
    Finished::of(&mut up, LONG).expect_code(0);
    for (name, role) in [("master", "master"), ("worker-1", "worker")] {
        let logs = dir.join(name).join("logs");
        wait_for("two logs to be put aside", || logs.join(format!("{role}.log.2")).exists().then_some(()));
        let mut files: Vec<String> = std::fs::read_dir(&logs)
            .expect("the logs")
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| name.contains(".log"))
            .collect();
        files.sort();
        // One may be on its way to the next name.
        let known = ["", ".1", ".2"].map(|end| format!("{role}.log{end}"));
        assert!(files.iter().all(|file| known.contains(file)), "{files:?}");
        // What it says elsewhere is where its log is.
        let errors = std::fs::read_to_string(logs.join(format!("{role}.err"))).expect("standard error");
        assert_eq!(errors, format!("the log is {}\n", logs.join(format!("{role}.log")).display()));
    }
    Finished::of(howdah(&scene.mark).args(["down", "--dir", words[4]]), LONG).expect_code(0);
    scene.mark.wait_until_gone("down");
}
