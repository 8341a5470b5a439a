//! Symbolic links that tasks plant where the daemons write, move and read, and output in a daemon's own directory.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use howdah_guards::Guard;
use nix::sys::signal::Signal;

use super::{Usual, expect_all_live, narrow, submit_program, without};
use crate::harness::{Cluster, Finished, Setup};

/// What somebody else's file says as long as nobody touches it.
const MINE: &str = "mine\n";

fn victim(cluster: &Cluster, name: &str) -> PathBuf {
    cluster.text(name, MINE).into()
}

fn is_untouched(path: &PathBuf) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text == MINE)
}

/// Submits a map that copies its input and does `harm` with `$out`, the job's output, meanwhile.
fn submit_map(cluster: &Cluster, harm: &str) -> String {
    let out = cluster.output("attack.out");
    let mapper = cluster.script("mapper.sh", &format!("out={out}\n{harm}\nexec cat"));
    let input = cluster.text("attack.txt", "one line\n");
    let args = ["streaming", "--mapper", &mapper, "--input", &input, "--output", &out, "--reduces", "0"];
    cluster.submit(&args)
}

/// Makes the mark of success a link to the victim.
fn plant_success(cluster: &Cluster) -> (String, PathBuf) {
    let victim = victim(cluster, "victim");
    let job = submit_map(cluster, &format!("ln -s {} $out/_SUCCESS", victim.display()));
    (job, victim)
}

#[test]
fn a_link_in_the_place_of_success_truncates_nothing() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    let (job, victim) = plant_success(&cluster);
    let innocent = usual.submit(&cluster, "innocent");
    cluster.wait_job(&job, 1);
    innocent.expect_right_bytes(&cluster);
    assert!(is_untouched(&victim));
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn a_link_in_the_place_of_success_truncates_a_file_where_links_are_followed() {
    let cluster = Cluster::start(without(&[Guard::OutputLinks]));
    let (job, victim) = plant_success(&cluster);
    cluster.wait_job(&job, 0);
    assert!(!is_untouched(&victim));
}

/// Exchanges the attempt's private output for a link to somebody's directory, whose part file is wanted.
fn plant_directory(cluster: &Cluster) -> (String, PathBuf) {
    let theirs = cluster.path("theirs");
    std::fs::create_dir(&theirs).expect("make a directory");
    let victim = victim(cluster, "theirs/part-m-00000");
    // The command starts before its attempt makes the part file.
    let harm = format!(
        "until test -e $out/_temporary/attempt_*/part-m-00000; do sleep 0.05; done
        own=$(echo $out/_temporary/attempt_*); mv $own $out/_temporary/away; ln -s {} $own",
        theirs.display()
    );
    (submit_map(cluster, &harm), victim)
}

#[test]
fn a_link_in_the_place_of_private_output_moves_nobodys_file() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    let (job, victim) = plant_directory(&cluster);
    let innocent = usual.submit(&cluster, "innocent");
    cluster.wait_job(&job, 1);
    innocent.expect_right_bytes(&cluster);
    assert!(is_untouched(&victim));
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn a_link_in_the_place_of_private_output_moves_a_file_where_links_are_followed() {
    let cluster = Cluster::start(without(&[Guard::OutputLinks]));
    let (job, victim) = plant_directory(&cluster);
    cluster.wait_job(&job, 0);
    assert!(!victim.exists() && is_untouched(&cluster.path("attack.out/part-m-00000")));
}

/// Attempt 0 makes the log directory of attempt 1, with a link in it, and a link of its own log.
fn plant_logs(cluster: &Cluster) -> (String, PathBuf) {
    let victim = victim(cluster, "victim");
    let body = format!(
        r#"read -r run
        case $HOWDAH_LOG_DIR in *_0)
            next=${{HOWDAH_LOG_DIR%_0}}_1
            mkdir $next; ln -s {victim} $next/stdout
            rm $HOWDAH_LOG_DIR/stdout; ln -s {victim} $HOWDAH_LOG_DIR/stdout;;
        esac
        exit 3"#,
        victim = victim.display()
    );
    (submit_program(cluster, &body, &[]), victim)
}

#[test]
fn links_in_the_place_of_logs_lead_nobody_to_another_file() {
    let cluster = Cluster::start(Setup { workers: 1, ..narrow() });
    let usual = Usual::of(&cluster);
    let (job, victim) = plant_logs(&cluster);
    let innocent = usual.submit(&cluster, "innocent");
    cluster.wait_job(&job, 1);
    innocent.expect_right_bytes(&cluster);
    assert!(is_untouched(&victim));
    let attempt = cluster.attempts(&job)[0]["attempt"].as_str().expect("an attempt id").to_owned();
    let log = cluster.run(&["job", "logs", &attempt, "--stdout"]);
    assert!(!log.stdout.contains(MINE), "{}", log.all());
    expect_all_live(&cluster, 1);
    cluster.stop_and_replay();
}

#[test]
fn a_link_in_the_place_of_a_log_truncates_a_file_where_links_are_followed() {
    let cluster = Cluster::start(Setup { workers: 1, ..without(&[Guard::PlainFiles]) });
    let (job, victim) = plant_logs(&cluster);
    cluster.wait_job(&job, 1);
    assert!(!is_untouched(&victim));
}

#[test]
fn a_link_in_the_place_of_a_log_is_collected_where_links_are_followed() {
    let cluster = Cluster::start(Setup { workers: 1, ..without(&[Guard::PlainFiles]) });
    let victim = victim(&cluster, "victim");
    let own = "$HOWDAH_LOG_DIR/stdout";
    let body = format!("read -r run; rm {own}; ln -s {} {own}; exit 3", victim.display());
    let job = submit_program(&cluster, &body, &[]);
    cluster.wait_job(&job, 1);
    let attempt = cluster.attempts(&job)[0]["attempt"].as_str().expect("an attempt id").to_owned();
    let log = cluster.run(&["job", "logs", &attempt, "--stdout"]).expect_code(0);
    assert!(log.stdout.contains(MINE), "{}", log.all());
}

/// Makes `way-in` a link to a daemon's directory.
fn lead_into(cluster: &Cluster, directory: &str) {
    symlink(cluster.path(directory), cluster.path("way-in")).expect("make a link");
}

/// A word count with an output in a daemon's directory, or where `way-in` leads.
fn submit_into(cluster: &Cluster, place: &str) -> Finished {
    let input = cluster.text("attack.txt", "one line\n");
    let out = cluster.output(place);
    cluster.run(&["submit", "wordcount", "--input", &input, "--output", &out])
}

#[test]
fn output_in_the_masters_own_directory_is_refused() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    lead_into(&cluster, "master");
    for place in ["master/out", "way-in/out"] {
        let refused = submit_into(&cluster, place).expect_code(2);
        assert!(refused.stderr.contains("lies in the master's own directory"), "{}", refused.stderr);
    }
    assert!(!cluster.path("master/out").exists());
    usual.submit(&cluster, "innocent").expect_right_bytes(&cluster);
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn output_in_the_masters_own_directory_is_written_where_nobody_compares() {
    let cluster = Cluster::start(without(&[Guard::OutputPlace]));
    lead_into(&cluster, "master");
    submit_into(&cluster, "way-in/out").expect_code(0);
    assert!(cluster.path("master/out").exists());
}

#[test]
fn output_in_a_workers_own_directory_is_refused() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    lead_into(&cluster, "worker-2");
    for place in ["worker-2", "worker-2/local/out", "way-in/local/out"] {
        let refused = submit_into(&cluster, place).expect_code(2);
        let why = "lies in worker `worker-2`'s own directory";
        assert!(refused.stderr.contains(why), "{place}: {}", refused.stderr);
    }
    assert!(!cluster.path("worker-2/local/out").exists());
    usual.submit(&cluster, "innocent").expect_right_bytes(&cluster);
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn output_in_a_workers_own_directory_goes_with_its_files_where_nobody_compares() {
    let mut cluster = Cluster::start(Setup { workers: 1, ..without(&[Guard::OutputPlace]) });
    lead_into(&cluster, "worker-1");
    let submitted = submit_into(&cluster, "way-in/local/out").expect_code(0);
    let job = cluster.jobs()[0]["job"].as_str().expect("a job id").to_owned();
    cluster.wait_job(&job, 0);
    let success = cluster.path("worker-1/local/out/_SUCCESS");
    assert!(success.exists(), "{}", submitted.all());
    cluster.stop_worker(0, Signal::SIGTERM);
    assert!(!success.exists());
}
