//! Masters that are killed in the middle of things and started again on their directory.
//!
//! Nothing that was acknowledged may be lost: jobs, finished tasks, counters, the address. Whoever waits for a job
//! waits on, attempts that run go on running, and the output is the same byte for byte.

use std::time::{Duration, Instant};

use howdah_core::models::Random;
use nix::sys::signal::Signal;

use crate::harness::{Cluster, Finished, Gated, Setup, howdah, reference, wait_for};

/// Kills in the ordinary run of the test; `HOWDAH_TEST_KILLS` sets another number.
const KILLS: u64 = 4;

fn kills() -> u64 {
    std::env::var("HOWDAH_TEST_KILLS").map_or(KILLS, |text| text.parse().expect("HOWDAH_TEST_KILLS is a number"))
}

/// What the moments of a test's kills are drawn from: `HOWDAH_TEST_SEED`, or the same seed in each ordinary run. It is printed, so
/// that a run that fails can be made again.
fn draws(stream: u64) -> Random {
    let seed = std::env::var("HOWDAH_TEST_SEED").map_or(1, |text| text.parse().expect("HOWDAH_TEST_SEED is a number"));
    eprintln!("HOWDAH_TEST_SEED={seed}");
    Random::new(seed, stream)
}

/// A pause that is drawn, of at least and of less than so many milliseconds.
fn pause(draws: &mut Random, least: u64, most: u64) -> Duration {
    let more = draws.below(usize::try_from(most - least).expect("a pause is short"));
    Duration::from_millis(least + more as u64)
}

/// All part files of an output directory, by name.
pub(crate) fn parts(output: &str) -> Vec<(String, Vec<u8>)> {
    let mut parts: Vec<(String, Vec<u8>)> = std::fs::read_dir(output)
        .expect("the output directory")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read(&path).expect("a file"))
        })
        .collect();
    parts.sort();
    parts
}

fn expiring() -> Setup {
    Setup { worker_config: "[worker]\nretry_max_ms = 1000\n".to_owned(), ..Setup::default() }
}

#[test]
fn a_job_runs_through_kills_of_the_master_and_writes_the_same_bytes() {
    let mut cluster = Cluster::start(expiring());
    let kills = kills();
    // The job outlives all kills, however fast it is.
    let gated = Gated::new(&cluster, 12 + kills, 3, "0.4");
    // What it writes when nobody is killed.
    let quiet = cluster.output("quiet");
    let first = gated.submit(&cluster, &quiet);
    cluster.wait_job(&first, 0);

    gated.shut();
    let out = cluster.output("out");
    let second = gated.submit(&cluster, &out);
    let printed = cluster.path("waiter.out");
    let lines = std::fs::File::create(&printed).expect("create a file");
    let mut waiter = howdah(&cluster.mark)
        .env("HOWDAH_MASTER", &cluster.address)
        .args(["job", "wait", &second])
        .stdout(lines.try_clone().expect("a second handle"))
        .stderr(lines)
        .spawn()
        .expect("wait for the job");
    let said = || std::fs::read_to_string(&printed).unwrap_or_default();
    wait_for("the waiting command to be notified of its job", || (!said().is_empty()).then_some(()));
    let mut times = Vec::new();
    let mut draws = draws(0);
    for n in 0..kills {
        std::thread::sleep(pause(&mut draws, 100, 1_000));
        let before = cluster.status(&second);
        cluster.kill_master();
        let began = Instant::now();
        cluster.restart_master();
        let after = cluster.status(&second);
        times.push(began.elapsed());
        for done in ["maps_done", "reduces_done"] {
            assert!(after[done].as_u64() >= before[done].as_u64(), "{done}: {before} and then {after}");
        }
        let ids: Vec<_> = cluster.jobs().iter().map(|job| job["job"].clone()).collect();
        assert_eq!(ids, [first.as_str(), second.as_str()]);
        assert_eq!(after["master_restarts"], n + 1, "the kills that it has outlived: {after}");
    }
    gated.open();
    eprintln!("{} kills; from kill to the first answer: {times:?}", times.len());
    let status = wait_for("the waiting command to end", || waiter.try_wait().expect("look at the command"));
    assert_eq!(status.code(), Some(0), "it waited on: {}", said());
    assert_eq!(parts(&out), parts(&quiet));
    // A start after its end is no matter of the job's.
    cluster.kill_master();
    cluster.restart_master();
    let restarts = |job: &str| cluster.json(&["job", "history", job])["job"]["master_restarts"].clone();
    assert_eq!((restarts(&first), restarts(&second)), (0.into(), kills.into()));
    let card = cluster.run(&["job", "history", &second]).expect_code(0).stdout;
    assert!(card.contains(&format!("started again {kills} times meanwhile")), "{card}");
    // Sizes and numbers of records are the same in every run; times and bytes of scratch files are not.
    let counters = |job: &str| {
        let all = cluster.json(&["job", "counters", job])["counters"].clone();
        let groups = all.as_object().expect("groups of counters").clone();
        let flat = groups.values().filter_map(|group| group.as_object()).flatten();
        let records = flat.filter(|(name, _)| name.to_lowercase().contains("record") && !name.contains("pill"));
        records.map(|(name, value)| (name.clone(), value.as_u64())).collect::<std::collections::BTreeMap<_, _>>()
    };
    assert!(!counters(&first).is_empty());
    assert_eq!(counters(&second), counters(&first), "what was counted before a kill counts");
    // An attempt that ran when its master was killed is not run a second time for that.
    let killed = cluster.attempts(&second).iter().filter(|attempt| attempt["state"] != "SUCCEEDED").count();
    assert_eq!(killed, 0, "{:?}", cluster.attempts(&second));
    cluster.stop_and_replay();
}

/// What one round of the mixed work submits: its name, its arguments without an output, and whether it writes one.
fn mixed(cluster: &Cluster, input: &str) -> Vec<(&'static str, Vec<String>, bool)> {
    let mapper = cluster.script("slow-mapper.sh", "sleep 0.2; tr ' ' '\\n'");
    let reducer = cluster.script("counter.sh", "sort | uniq -c");
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let streaming = format!("streaming --mapper {mapper} --reducer {reducer} --reduces 2 --input {input}");
    vec![
        ("wordcount", words(&format!("wordcount --reduces 2 --input {input}")), true),
        ("maps", words(&format!("streaming --mapper {mapper} --reduces 0 --input {input}")), true),
        ("streaming", words(&streaming), true),
        ("sleep", words("sleep -D mapred.map.tasks=6 -D sleep.job.map.sleep.time=100 --reduces 1"), false),
    ]
}

/// Kills of the master while jobs of several kinds come and go; `HOWDAH_TEST_MIXED_KILLS` sets another number. While it is
/// away one of its workers is killed every third time, and one stands still every other third time.
#[test]
fn mixed_work_runs_through_kills_of_the_master_and_of_workers_and_nothing_acknowledged_is_lost() {
    let kills = std::env::var("HOWDAH_TEST_MIXED_KILLS").map_or(3, |text| text.parse().expect("a number of kills"));
    let mut cluster = Cluster::start(expiring());
    let text: String = (0..2_000_u64).map(|n| format!("word{} of line {n}\n", n * n % 311)).collect();
    let input = cluster.text("input.txt", &text);
    let work = mixed(&cluster, &input);
    let submit = |cluster: &Cluster, words: &[String], out: Option<&str>| {
        let words = words.iter().map(String::as_str);
        cluster.submit(&words.chain(out.into_iter().flat_map(|out| ["--output", out])).collect::<Vec<_>>())
    };
    // What each writes when nobody is killed.
    let quiet: Vec<String> = work
        .iter()
        .map(|(name, words, writes)| {
            let out = cluster.output(&format!("quiet-{name}"));
            let job = submit(&cluster, words, writes.then_some(&*out));
            cluster.wait_job(&job, 0);
            out
        })
        .collect();
    let mut jobs: Vec<(String, usize, String)> = Vec::new();
    let mut times = Vec::new();
    // What is submitted depends on how fast jobs end, so it draws from others: the moments of a seed stay the same.
    let (mut draws, mut of_work) = (draws(1), draws(2));
    for n in 0..kills {
        // At most so many are under way, or the queue would only grow.
        let open = cluster.jobs().iter().filter(|job| job["finish_ms_epoch"].is_null()).count();
        if open < 6 {
            let kind = of_work.below(work.len());
            let (name, words, writes) = &work[kind];
            let out = cluster.output(&format!("{name}-{n}"));
            let job = submit(&cluster, words, writes.then_some(&*out));
            jobs.push((job, kind, out));
        }
        std::thread::sleep(pause(&mut draws, 0, 700));
        cluster.kill_master();
        let worker = draws.below(2);
        match n % 3 {
            0 => drop(cluster.stop_worker(worker, Signal::SIGKILL)),
            1 => cluster.halt_worker(worker),
            _ => {}
        }
        let began = Instant::now();
        cluster.restart_master();
        let listed = cluster.jobs();
        times.push(began.elapsed());
        match n % 3 {
            0 => cluster.restart_worker(worker),
            1 => cluster.signal_worker(worker, Signal::SIGCONT),
            _ => {}
        }
        assert_eq!(listed.len(), work.len() + jobs.len(), "after kill {n}: what was acknowledged, and nothing else");
    }
    for (job, kind, out) in &jobs {
        cluster.wait_job(job, 0);
        if work[*kind].2 {
            assert_eq!(parts(out), parts(&quiet[*kind]), "{job} ({})", work[*kind].0);
        }
    }
    times.sort();
    let (middle, longest) = (times.get(times.len() / 2), times.last());
    eprintln!(
        "{} kills, {} jobs; from kill to the listing: {middle:?} in the middle, {longest:?} at most",
        times.len(),
        jobs.len()
    );
    cluster.stop_and_replay();
}

#[test]
fn a_cluster_that_was_stopped_goes_on_with_its_jobs_and_shows_the_old_ones() {
    let mut cluster = Cluster::start(Setup { workers: 1, ..expiring() });
    let done = cluster.sleep(1, 10, 0);
    cluster.wait_job(&done, 0);
    let before = cluster.json(&["job", "history", &done]);
    let open = cluster.sleep(40, 300, 0);
    cluster.wait_running_maps(&open, 1);
    cluster.stop_worker(0, Signal::SIGKILL);
    cluster.kill_master();
    cluster.restart_master();
    assert_eq!(cluster.json(&["job", "history", &done]), before);
    assert_eq!(cluster.status(&done)["state"], "SUCCEEDED");
    cluster.restart_worker(0);
    let late = cluster.sleep(1, 10, 0);
    assert_ne!(late, open);
    cluster.wait_job(&open, 0);
    cluster.wait_job(&late, 0);
    cluster.stop_and_replay();
}

#[test]
fn a_job_whose_output_did_not_come_to_the_disk_with_the_journal_finds_it_made_again() {
    let mut cluster = Cluster::start(Setup { workers: 1, ..expiring() });
    cluster.stop_worker(0, Signal::SIGKILL);
    let words = "to be or not to be\nthat is the question\n".repeat(500);
    let input = cluster.text("words.txt", &words);
    let out = cluster.output("deep/out");
    let job = cluster.submit(&["wordcount", "--reduces", "2", "--input", &input, "--output", &out]);
    cluster.kill_master();
    // As after a power cut: nobody waited until the directories were on the disk.
    std::fs::remove_dir_all(cluster.path("deep")).expect("take the output away");
    cluster.restart_master();
    cluster.restart_worker(0);
    cluster.wait_job(&job, 0);
    let parts = reference::read_parts(std::path::Path::new(&out));
    reference::assert_same_parts(&parts, &reference::word_count_parts(words.as_bytes(), 2), "output made again");
    cluster.stop_and_replay();
}

/// Starts a master on the directory of the one that is there.
fn refuses_a_second_master(cluster: &Cluster) {
    let dir = cluster.output("master");
    let mut command = howdah(&cluster.mark);
    command.args(["master", "--listen", "127.0.0.1:0", "--dir", &dir]);
    let refused = Finished::of(&mut command, Duration::from_secs(60));
    assert_ne!(refused.code, Some(0));
    assert!(refused.stderr.contains("in use by another master"), "{}", refused.stderr);
}

#[test]
fn a_second_master_on_the_directory_is_refused() {
    refuses_a_second_master(&Cluster::start(Setup { workers: 0, ..Setup::default() }));
}

/// Longer than a worker may be silent.
const STANDS_STILL: Duration = Duration::from_secs(14);

#[test]
fn a_master_that_stood_still_for_longer_than_workers_may_be_silent_loses_no_worker_and_no_attempt() {
    let master_config = "[master.cluster]\nexpiry_ms = 10000\n".to_owned();
    let cluster = Cluster::start(Setup { master_config, ..expiring() });
    let gated = Gated::new(&cluster, 4, 2, "0");
    let quiet = cluster.output("quiet");
    let first = gated.submit(&cluster, &quiet);
    cluster.wait_job(&first, 0);
    gated.shut();
    let out = cluster.output("out");
    let second = gated.submit(&cluster, &out);
    let reduces = || cluster.status(&second)["reduces_running"].as_u64();
    wait_for("the reduces to run", || reduces().filter(|&running| running == 2));
    let began = Instant::now();
    cluster.halt_master();
    // It has its directory all the same.
    refuses_a_second_master(&cluster);
    // What ends meanwhile is told when it is back.
    gated.open();
    std::thread::sleep(STANDS_STILL.saturating_sub(began.elapsed()));
    cluster.resume_master();
    cluster.wait_job(&second, 0);
    assert_eq!(parts(&out), parts(&quiet));
    let attempts = cluster.attempts(&second);
    assert!(attempts.len() == 6 && attempts.iter().all(|attempt| attempt["state"] == "SUCCEEDED"), "{attempts:?}");
    assert_eq!(cluster.status(&second)["master_restarts"], 0);
    let log = cluster.master_log();
    assert!(log.contains("the master stood still") && !log.contains("a worker is lost"), "{log}");
    cluster.stop_and_replay();
}

#[test]
fn a_journal_that_cannot_be_written_stops_acknowledgements_and_nothing_else() {
    let master_config = "[master]\njournal_segment_bytes = 65536\n".to_owned();
    let cluster = Cluster::start(Setup { master_config, ..expiring() });
    let job = cluster.sleep(2_000, 1, 0);
    let run = std::fs::read_dir(cluster.path("master")).expect("the master's directory");
    let run = run.flatten().map(|entry| entry.path()).find(|path| path.join("header").exists()).expect("a run");
    let (journal, away) = (run.join("journal"), run.join("away"));
    std::fs::rename(&journal, &away).expect("take the journal away");
    let said = || std::fs::read_to_string(cluster.path("master.err")).unwrap_or_default();
    wait_for("the master to notice", || said().contains("the journal cannot be written").then_some(()));
    let refused = cluster.run(&["job", "set-priority", &job, "high"]).expect_code(3);
    assert!(refused.stderr.contains("cannot write its journal"), "{}", refused.stderr);
    // Questions are answered, from what is on disk.
    let before = cluster.status(&job)["maps_done"].as_u64();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(cluster.status(&job)["maps_done"].as_u64(), before, "nothing counts as done that is not on disk");
    std::fs::rename(&away, &journal).expect("bring it back");
    cluster.wait_job(&job, 0);
    assert!(said().contains("the journal can be written again"), "{}", said());
    assert_eq!(cluster.attempts(&job).iter().filter(|attempt| attempt["state"] != "SUCCEEDED").count(), 0);
    cluster.stop_and_replay();
}
