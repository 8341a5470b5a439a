//! Forecasts of a live cluster, and of a moment of its recording.

use std::path::Path;

use howdah_experiments::slow_disk::SlowDisk;
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::harness::{Cluster, Mark, Setup, howdah, wait_for};
use crate::permitted::not_tested;

/// Jobs of one family: the first to learn from, the others to tell.
const NAPS: [&str; 8] = ["sleep", "-m", "8", "-mt", "600", "-r", "1", "-rt"];

fn nap(cluster: &Cluster, number: u32) -> String {
    let name = format!("nap-{number}");
    cluster.submit(&[&NAPS[..], &["300", "--name", &name]].concat())
}

fn job<'a>(forecast: &'a Value, id: &str) -> &'a Value {
    let jobs = forecast["jobs"].as_array().expect("a list of jobs");
    jobs.iter().find(|job| job["job"] == id).unwrap_or_else(|| panic!("{id} is not in {forecast}"))
}

#[test]
fn a_live_cluster_tells_when_its_jobs_will_end_and_its_recording_tells_the_same_later() {
    let cluster = Cluster::start(Setup::default());
    let first = nap(&cluster, 1);
    cluster.wait_job(&first, 0);
    wait_for("what the first job taught", || {
        cluster.json(&["predict"])["made"]["tasks_learnt"].as_u64().filter(|&n| n >= 9)
    });
    let jobs = [nap(&cluster, 2), nap(&cluster, 3), nap(&cluster, 4)];
    let answer = cluster.json(&["predict", "--starts", "100"]);
    let ends: Vec<u64> = jobs
        .iter()
        .map(|id| {
            let job = job(&answer["forecast"], id);
            assert_eq!(job["seen"], true, "{answer}");
            let end = |key: &str| job[key].as_u64().unwrap_or_else(|| panic!("no {key}: {answer}"));
            assert!(end("low_ms_epoch") <= end("finish_ms_epoch") && end("finish_ms_epoch") <= end("high_ms_epoch"));
            end("finish_ms_epoch")
        })
        .collect();
    assert!(ends.windows(2).all(|pair| pair[0] <= pair[1]), "under FIFO they end in order: {answer}");
    assert!(answer["forecast"]["starts"].as_array().is_some_and(|starts| !starts.is_empty()), "{answer}");

    let worse = cluster.json(&["what-if", "--workers", "-1"]);
    assert!(worse["changed"]["makespan_s"].as_f64() > worse["present"]["makespan_s"].as_f64(), "{worse}");
    let thought = cluster.json(&["what-if", "--submit", "sleep", "--name", "nap-9", "--maps", "8", "--reduces", "1"]);
    let added = thought["changed"]["jobs"].as_array().and_then(|jobs| jobs.last()).expect("it is listed");
    assert!(added["hypothetical"] == true && added["seen"] == true && added["finish_ms_epoch"].is_u64(), "{thought}");
    let killed = cluster.json(&["what-if", "--kill", &jobs[1]]);
    assert!(killed["changed"]["jobs"].as_array().is_some_and(|left| left.iter().all(|job| job["job"] != jobs[1])));
    let refused = cluster.run(&["what-if", "--scheduler", "nobody"]).expect_code(2);
    assert!(refused.stderr.contains("scheduler `nobody`: no such scheduler"), "{}", refused.stderr);

    for id in &jobs {
        cluster.wait_job(id, 0);
    }
    let last = cluster.json(&["job", "status", &jobs[2]])["finish_ms_epoch"].as_u64().expect("it is over");
    let took = last.saturating_sub(answer["forecast"]["at_ms_epoch"].as_u64().expect("an instant")) as f64;
    let error = (last as f64 - ends[2] as f64).abs();
    assert!(error < 0.5 * took + 2_000.0, "predicted {error} ms wrong of {took} ms: {answer}");

    let dir = cluster.output("master");
    let at = cluster.json(&["predict", "--dir", &dir, "--at", "1s"]);
    assert!(at["forecast"]["jobs"].as_array().is_some_and(|jobs| jobs.len() == 1), "{at}");
    let score = cluster.json(&["predict", "score", "--dir", &dir, "--every", "500ms"]);
    assert!(score["score"]["tasks"]["n"].as_u64().is_some_and(|n| n >= 27), "{score}");
    assert!(score["jobs"].as_array().is_some_and(|jobs| jobs.len() > 3), "{score}");
    // Nothing of all that is in the decisions.
    let report = cluster.stop_and_validate();
    assert_eq!(report["decisions"]["identical"], report["decisions"]["compared"], "{report}");
}

/// A job of one family, of maps that take so many milliseconds each.
fn naps(number: u32, maps: u32, ms: u32) -> Vec<String> {
    let words = format!("sleep -m {maps} -mt {ms} -r 0 --name nap-{number}");
    words.split(' ').map(str::to_owned).collect()
}

/// A cluster of two map slots that knows how long naps take.
fn taught(master_config: &str) -> Cluster {
    let setup = Setup { workers: 1, master_config: master_config.to_owned(), ..Setup::default() };
    let cluster = Cluster::start(setup);
    let first = submit(&cluster, &naps(1, 6, 400), &[]);
    cluster.wait_job(&first, 0);
    wait_for("what the first job taught", || {
        cluster.json(&["predict"])["made"]["tasks_learnt"].as_u64().filter(|&n| n >= 6)
    });
    cluster
}

fn submit(cluster: &Cluster, naps: &[String], more: &[&str]) -> String {
    let words: Vec<&str> = naps.iter().map(String::as_str).chain(more.iter().copied()).collect();
    cluster.submit(&words)
}

#[test]
fn jobs_are_listed_with_their_ends_though_nobody_asked_for_a_forecast() {
    // The timer is no help here: the submission itself calls for one.
    let cluster = taught(ONCE_AN_HOUR);
    let job = submit(&cluster, &naps(2, 40, 400), &[]);
    let answer = wait_for("the end of the job in the list", || {
        let listed = cluster.json(&["job", "list", "--active"]);
        Some(listed["jobs"][0]["predicted"].clone()).filter(|answer| answer["finish_ms_epoch"].is_u64())
    });
    let end = |key: &str| answer[key].as_u64().unwrap_or_else(|| panic!("no {key}: {answer}"));
    assert!(answer["seen"] == true && end("at_ms_epoch") < end("finish_ms_epoch"), "{answer}");
    assert!(
        end("low_ms_epoch") <= end("finish_ms_epoch") && end("finish_ms_epoch") <= end("high_ms_epoch"),
        "{answer}"
    );
    let table = cluster.run(&["job", "list"]).expect_code(0);
    assert!(table.stdout.contains("ends in"), "{}", table.stdout);
    // It asks for a forecast of its own, and waits for none.
    wait_for("the end of the job in its status", || {
        let status = cluster.run(&["job", "status", &job]).expect_code(0).stdout;
        let sentence = status.lines().find(|line| line.contains("ends in about "))?.to_owned();
        let (_, interval) = sentence.split_once(", between ")?;
        assert!(interval.contains(" s and ") && interval.ends_with(" s"), "{sentence}");
        Some(())
    });
    cluster.run(&["job", "kill", &job]).expect_code(0);
    let over = cluster.json(&["job", "list"]);
    assert!(over["jobs"].as_array().is_some_and(|jobs| jobs.iter().all(|job| job["predicted"].is_null())), "{over}");
    cluster.stop_and_validate();
}

/// The number behind this name and these labels, if there is one.
fn metric(cluster: &Cluster, name: &str) -> Option<f64> {
    let (status, _, text) = cluster.answer("GET", "/metrics", "");
    assert_eq!(status, 200, "{text}");
    text.lines().find_map(|line| line.strip_prefix(name)?.rsplit(' ').next()?.parse().ok())
}

#[test]
fn starts_are_counted_beside_the_last_forecast_before_each() {
    let config = "[master]\nhttp_listen = \"127.0.0.1:0\"\n[master.prediction]\nevery_ms = 500\n";
    let cluster = taught(config);
    let job = submit(&cluster, &naps(2, 24, 400), &[]);
    cluster.run(&["job", "wait", &job]).expect_code(0);
    let by_fifo = |what: &str| format!("howdah_prediction_{what}_total{{scheduler=\"fifo\"}}");
    let starts = wait_for("starts in the metrics", || metric(&cluster, &by_fifo("starts")));
    let predicted = metric(&cluster, &by_fifo("starts_predicted")).expect("beside the starts");
    assert!(0.0 < predicted && predicted <= starts, "{predicted} of {starts}");
    cluster.stop_and_validate();
}

/// The timer is no help to what happens within a test.
const ONCE_AN_HOUR: &str = "[master.prediction]\nevery_ms = 3600000\n";

/// When a job will end by the last round, once that says something of which this is true; in milliseconds since the epoch.
fn listed_end(cluster: &Cluster, job: &str, what: &str, is_true: impl Fn(u64) -> bool) -> u64 {
    wait_for(what, || {
        let jobs = cluster.jobs();
        let listed =
            jobs.iter().find(|listed| listed["job"] == job).unwrap_or_else(|| panic!("{job} is not in {jobs:?}"));
        assert!(listed["finish_ms_epoch"].is_null(), "it is over: {listed}");
        listed["predicted"]["finish_ms_epoch"].as_u64().filter(|&end| is_true(end))
    })
}

#[test]
fn the_next_round_sees_a_worker_that_is_lost() {
    let master_config = format!("{}{ONCE_AN_HOUR}", Setup::expiring().master_config);
    let mut cluster = Cluster::start(Setup { master_config, ..Setup::default() });
    let first = submit(&cluster, &naps(1, 8, 400), &[]);
    cluster.wait_job(&first, 0);
    wait_for("what the first job taught", || {
        cluster.json(&["predict"])["made"]["tasks_learnt"].as_u64().filter(|&n| n >= 8)
    });
    // Half a minute on four slots, and a minute on two.
    let job = submit(&cluster, &naps(2, 300, 400), &[]);
    let before = listed_end(&cluster, &job, "the end on two workers", |_| true);
    cluster.stop_worker(1, Signal::SIGKILL);
    listed_end(&cluster, &job, "a later end on one worker", |end| end > before + 8_000);
    cluster.run(&["job", "kill", &job]).expect_code(0);
    cluster.stop_and_validate();
}

#[test]
fn the_next_round_sees_that_a_job_has_failed() {
    let cluster = taught(ONCE_AN_HOUR);
    let gate = cluster.path("gate");
    let mapper = format!("until [ -e '{}' ]; do sleep 0.1; done; exit 1", gate.display());
    let mapper = cluster.script("doomed.sh", &mapper);
    let input = cluster.text("input.txt", &"one line of many\n".repeat(2_000));
    let output = cluster.output("out");
    let words = ["streaming", "--mapper", &mapper, "--input", &input, "--output", &output, "-r", "0"];
    // 40 maps, of which nobody knows that none will do any work: a second each, as nothing like them was seen.
    let limits = ["-D", "mapred.max.split.size=850", "-D", "mapred.map.max.attempts=1"];
    let doomed = cluster.submit(&[&words[..], &limits].concat());
    let job = submit(&cluster, &naps(2, 150, 400), &[]);
    let before = listed_end(&cluster, &job, "the end behind the other job", |_| true);
    std::fs::write(&gate, "open").expect("open the gate");
    cluster.wait_job(&doomed, 1);
    listed_end(&cluster, &job, "an earlier end without it", |end| end + 8_000 < before);
    cluster.run(&["job", "kill", &job]).expect_code(0);
    cluster.stop_and_validate();
}

// Small jobs behind a large one: whoever lets the shortest go first is better by far.
#[test]
fn the_scheduler_with_the_best_forecast_takes_over_once_and_the_outcome_is_reported() {
    let cluster = taught(
        "[master.prediction]\nevery_ms = 1000\n\
         [master.prediction.switch]\ncandidates = [\"fifo\", \"shortest\"]\nhold_ms = 1000\n",
    );
    let jobs: Vec<String> =
        [80, 2, 2, 2, 2].into_iter().zip(2..).map(|(maps, n)| submit(&cluster, &naps(n, maps, 400), &[])).collect();
    let switch = wait_for("the switch", || {
        let shown = cluster.json(&["scheduler", "show"]);
        shown["switches"].as_array().and_then(|switches| switches.first().cloned())
    });
    assert_eq!((&switch["from"], &switch["to"]), (&Value::from("fifo"), &Value::from("shortest")), "{switch}");
    let figure = |switch: &Value, key: &str| switch[key].as_f64().unwrap_or_else(|| panic!("no {key}: {switch}"));
    assert!(figure(&switch, "switching") < 0.95 * figure(&switch, "staying"), "{switch}");
    for job in &jobs {
        cluster.wait_job(job, 0);
    }
    let shown = wait_for("what came of the switch", || {
        let shown = cluster.json(&["scheduler", "show"]);
        shown["switches"][0]["came"].is_f64().then_some(shown)
    });
    assert_eq!((&shown["scheduler"], shown["switches"].as_array().map(Vec::len)), (&Value::from("shortest"), Some(1)));
    let table = cluster.run(&["scheduler", "show"]).expect_code(0);
    assert!(table.stdout.starts_with("shortest decides\n"), "{}", table.stdout);
    assert!(table.stdout.contains("\nchosen by forecast among fifo, shortest\n"), "{}", table.stdout);
    let scored = cluster.json(&["predict", "score", "--dir", &cluster.output("master"), "--every", "500ms"]);
    let forecasts = |of: &Value| of["score"]["forecasts"].as_u64().unwrap_or_else(|| panic!("no score: {scored}"));
    let by: Vec<&Value> = scored["runs"].as_array().expect("a list").iter().map(|run| &run["scheduler"]).collect();
    assert_eq!(by, ["fifo", "shortest"], "{scored}");
    let sum: u64 = scored["runs"].as_array().expect("a list").iter().map(forecasts).sum();
    assert_eq!(sum, forecasts(&scored), "{scored}");
    // The switch is part of the recording.
    let report = cluster.stop_and_validate();
    assert_eq!(report["decisions"]["identical"], report["decisions"]["compared"], "{report}");
}

#[test]
fn a_deadline_that_cannot_be_met_is_refused_before_anything_is_submitted() {
    let cluster = taught("");
    let long = submit(&cluster, &naps(2, 300, 400), &[]);
    let ask = |more: &[&str]| {
        let own = naps(3, 8, 400);
        let words: Vec<&str> = own.iter().map(String::as_str).chain(more.iter().copied()).collect();
        cluster.run(&[&["submit"], &words[..]].concat())
    };
    let refused = ask(&["--deadline", "2s", "--admit", "check"]).expect_code(1);
    assert!(
        refused.stderr.contains("the deadline of 2.00 s cannot be met: it would end in about"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("nothing was submitted; `--admit force` submits it anyway"), "{}", refused.stderr);
    assert_eq!(cluster.jobs().len(), 2, "{:?}", cluster.jobs());
    let forced = ask(&["--deadline", "2s", "--admit", "force", "--output", "json"]).expect_code(0).json();
    assert!(forced["admitted"][0]["in_time"].as_f64().is_some_and(|share| share < 0.5), "{forced}");
    assert!(forced["job"].is_string(), "{forced}");
    let accepted = ask(&["--deadline", "2h", "--admit", "check", "--priority", "HIGH"]).expect_code(0);
    assert!(accepted.stdout.contains("Deadline in 2 h 00 min: it would end in about"), "{}", accepted.stdout);
    assert!(accepted.stdout.contains(&format!("{long} (nap-2) would end later by")), "{}", accepted.stdout);
    cluster.run(&["job", "kill", "--all"]).expect_code(0);
    cluster.stop_and_validate();
}

/// Asks as a user.
fn json_by(cluster: &Cluster, user: &str, args: &[&str]) -> Value {
    let said = cluster.command(args).env("USER", user).args(["--output", "json"]).output().expect("it runs");
    assert!(said.status.success(), "{args:?}: {}", String::from_utf8_lossy(&said.stderr));
    serde_json::from_slice(&said.stdout).expect("JSON")
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("no {key}: {value}"))
}

// Two long jobs, a minute each, and nobody has a deadline.
#[test]
fn both_courses_are_held_to_a_deadline_and_a_job_is_thought_of_as_its_callers_own() {
    let cluster = taught("[master]\nscheduler = \"maxedf\"\n");
    let [_, last] = [("ann", 2), ("bob", 3)].map(|(user, job)| {
        let naps = naps(job, 300, 400);
        let words: Vec<&str> = ["submit"].into_iter().chain(naps.iter().map(String::as_str)).collect();
        json_by(&cluster, user, &words)["job"].as_str().expect("an id").to_owned()
    });
    let courses = |deadline: &str| {
        let answer = cluster.json(&["what-if", "--deadline", &format!("3={deadline}")]);
        ["present", "changed"].map(|course| job(&answer[course], &last).clone())
    };
    let [before, after] = courses("1h");
    assert!(number(&after, "left_s") < 0.8 * number(&before, "left_s"), "it goes first: {before} {after}");
    assert_eq!(before["deadline_ms_epoch"], after["deadline_ms_epoch"]);
    for course in [&before, &after] {
        assert!((number(course, "spare_s") - (3_600.0 - number(course, "left_s"))).abs() < 0.01, "{course}");
        assert_eq!(course["in_time"], 1.0, "{course}");
    }
    for course in courses("1ms") {
        assert!(number(&course, "spare_s") < 0.0 && course["in_time"] == 0.0, "{course}");
    }
    let table = cluster.run(&["what-if", "--deadline", "3=1ms"]).expect_code(0);
    let row = table.stdout.lines().rfind(|line| line.starts_with(&last)).expect("its row");
    assert!(table.stdout.contains("\ndeadline of ") && row.matches(" late ").count() == 2, "{}", table.stdout);

    let thought = |user: &str, more: &[&str]| {
        let words = ["what-if", "--submit", "sleep", "--name", "nap-9", "--maps", "40"];
        let answer = json_by(&cluster, user, &[&words[..], more].concat());
        let job = answer["changed"]["jobs"].as_array().and_then(|jobs| jobs.last()).expect("it is listed").clone();
        assert!(job["hypothetical"] == true, "{answer}");
        job
    };
    let (first, behind) = (thought("ann", &["--deadline", "30m"]), thought("ann", &[]));
    assert!(number(&first, "left_s") < 0.5 * number(&behind, "left_s"), "{first} {behind}");
    assert!(number(&first, "spare_s") > 1_500.0 && behind["spare_s"].is_null(), "{first} {behind}");
    // Fair's pools are users. Of six slots Carol has two for herself, and Ann three for two jobs, of which the first has two.
    let fair = ["--scheduler", "fair", "--workers", "+2"];
    let [shared, own] = ["ann", "carol"].map(|user| number(&thought(user, &fair), "left_s"));
    assert!(own < 0.8 * shared, "{own} s in a pool of its own, {shared} s in a shared one");
    cluster.run(&["job", "kill", "--all"]).expect_code(0);
    cluster.stop_and_validate();
}

/// One slot, forecasts twice a second, and memory for what they name.
fn prefetching() -> Setup {
    Setup {
        workers: 1,
        map_slots: 1,
        master_config: "[master.prediction]\nevery_ms = 500\n".to_owned(),
        worker_config: "[worker]\nprefetch_bytes = 67108864\nvitals_interval_ms = 200\n".to_owned(),
        ..Setup::default()
    }
}

/// Maps of half a second over pieces of the input.
fn submit_slow_maps(cluster: &Cluster, input: &str, output: &str) -> String {
    let mapper = cluster.script(&format!("mapper-of-{output}.sh"), "sleep 0.5; cat");
    let words = ["streaming", "--mapper", &mapper, "--input", input, "--output", &cluster.output(output), "-r", "0"];
    cluster.submit(&[&words[..], &["-D", "mapred.max.split.size=40000"]].concat())
}

fn prefetch_costs(cluster: &Cluster) -> serde_json::Value {
    cluster.json(&["worker", "list"])["workers"][0]["vitals"]["prefetch"].clone()
}

// Maps of half a second on one slot: all but the first are forecast long before they start.
#[test]
fn a_worker_with_memory_for_it_reads_what_its_next_maps_need_before_they_start() {
    let cluster = Cluster::start(prefetching());
    let input = cluster.text("input.txt", &"one line of many\n".repeat(20_000));
    let job = submit_slow_maps(&cluster, &input, "out");
    let costs = || prefetch_costs(&cluster);
    let hits =
        wait_for("a map whose input was read ahead", || Some(costs()).filter(|costs| costs["hits"].as_u64() > Some(0)));
    assert!(hits["announced_bytes"].as_u64() >= Some(40_000), "{hits}");
    cluster.wait_job(&job, 0);
    let wide = cluster.run(&["worker", "list", "--wide"]).expect_code(0);
    assert!(wide.stdout.contains("read ahead: hits, misses, wasted"), "{}", wide.stdout);
    // A hint is in no recording and changes no decision.
    let report = cluster.stop_and_validate();
    assert_eq!(report["decisions"]["identical"], report["decisions"]["compared"], "{report}");
}

// Two jobs read the same input, one behind the other: what the first one's maps have read stays for the second one's.
#[test]
fn a_worker_keeps_in_memory_what_another_job_will_read_there_and_no_more_once_it_has() {
    let cluster = Cluster::start(prefetching());
    // Ten seconds of maps each: on a busy machine a forecast may take some, and this asks for it only now and then.
    let input = cluster.text("input.txt", &"one line of many\n".repeat(45_000));
    let jobs = ["first", "second"].map(|output| submit_slow_maps(&cluster, &input, output));
    let costs = || prefetch_costs(&cluster);
    let count =
        |costs: &serde_json::Value, key: &str| costs[key].as_u64().unwrap_or_else(|| panic!("no {key}: {costs}"));
    wait_for("input that stays for the second job", || {
        Some(costs()).filter(|costs| costs["retained_bytes"].as_u64() > Some(0))
    });
    for job in &jobs {
        cluster.wait_job(job, 0);
    }
    let after = wait_for("a worker that keeps nothing for nobody", || {
        Some(costs()).filter(|costs| count(costs, "retained_bytes") == 0 && count(costs, "retained_hits") > 0)
    });
    assert!(count(&after, "retained_hits") <= count(&after, "hits"), "{after}");
    // The input was written a moment ago: it is in memory since, and not the worker's to drop.
    assert_eq!(count(&after, "dropped_bytes"), 0, "{after}");
    cluster.stop_and_validate();
}

/// A disk of a MiB a second with so many files of a MiB each, `input-1.txt` and so on; `None`, said in a line, where this machine
/// permits none.
fn slow_disk(folder: &Path, files: u32) -> Option<SlowDisk> {
    let disk = SlowDisk::make(folder, 64, 1 << 20);
    let disk = disk.map_err(|error| not_tested(&format!("input behind a slow disk: {error:#}; run the tests as root")));
    let disk = disk.ok()?;
    for n in 1..=files {
        let text = "one line of many\n".repeat((1 << 20) / 17);
        std::fs::write(disk.path().join(format!("input-{n}.txt")), text).expect("write the input");
    }
    Some(disk)
}

/// Submits maps that each read a file of the disk and then compute for so long.
fn submit_cold_maps(cluster: &Cluster, disk: &SlowDisk, files: &str, compute_s: &str) -> String {
    let mapper = cluster.script(&format!("mapper-{compute_s}.sh"), &format!("cat > /dev/null; sleep {compute_s}"));
    let input = disk.path().join(files).to_str().expect("an ordinary path").to_owned();
    let output = cluster.output(&format!("out-{compute_s}"));
    cluster.submit(&["streaming", "--mapper", &mapper, "--input", &input, "--output", &output, "-r", "0"])
}

/// How long a job of eight cold files took in seconds, each of which takes the disk a second and its map another; and what the
/// worker says of what it read ahead.
fn cold_job(disk: &mut SlowDisk, prefetch_bytes: u64) -> (f64, Value) {
    disk.cool().expect("mount it anew");
    let worker_config = format!("[worker]\nprefetch_bytes = {prefetch_bytes}\nvitals_interval_ms = 200\n");
    let cluster = Cluster::start(Setup { worker_config, ..prefetching() });
    disk.hold_back(cluster.worker_process(0)).expect("put the worker into the group");
    let job = submit_cold_maps(&cluster, disk, "input-*.txt", "1");
    cluster.wait_job(&job, 0);
    let status = cluster.status(&job);
    let time = |key: &str| status[key].as_u64().unwrap_or_else(|| panic!("no {key}: {status}"));
    let took = time("finish_ms_epoch").saturating_sub(time("submit_ms_epoch")) as f64 / 1e3;
    let counted =
        |costs: &Value| costs["hits"].as_u64().zip(costs["misses"].as_u64()).map(|(hits, misses)| hits + misses);
    let costs = || wait_for("all maps", || Some(prefetch_costs(&cluster)).filter(|costs| counted(costs) == Some(8)));
    (took, if prefetch_bytes > 0 { costs() } else { Value::Null })
}

// A file each, as the kernel reads ahead within one.
#[test]
fn cold_input_behind_a_slow_disk_is_read_while_the_maps_before_it_compute() {
    let folder = tempfile::tempdir().expect("make a folder");
    let Some(mut disk) = slow_disk(folder.path(), 8) else { return };
    let (without, _) = cold_job(&mut disk, 0);
    let (with, costs) = cold_job(&mut disk, 64 << 20);
    assert!(without > 14.0, "the disk was not slow: {without} s");
    assert!(costs["hits"].as_u64() >= Some(5), "{costs}");
    assert!(with < 0.85 * without, "{with} s with, {without} s without: {costs}");
}

// Under naive fair the small job has the next free slot. The disk has seconds to do by then.
#[test]
fn a_map_that_nobody_foresaw_does_not_wait_behind_all_that_is_read_ahead_for_others() {
    let folder = tempfile::tempdir().expect("make a folder");
    let Some(mut disk) = slow_disk(folder.path(), 20) else { return };
    std::fs::write(disk.path().join("small.txt"), "a line\n".repeat(10_000)).expect("write the small input");
    disk.cool().expect("mount it anew");
    let master_config = "[master]\nscheduler = \"naive-fair\"\n\n[master.prediction]\nevery_ms = 500\n".to_owned();
    let cluster = Cluster::start(Setup { map_slots: 2, master_config, ..prefetching() });
    disk.hold_back(cluster.worker_process(0)).expect("put the worker into the group");
    let large = submit_cold_maps(&cluster, &disk, "input-*.txt", "2");
    wait_for("ten files to be read ahead", || {
        prefetch_costs(&cluster)["announced_bytes"].as_u64().filter(|&bytes| bytes >= 10 << 20)
    });
    let small = submit_cold_maps(&cluster, &disk, "small.txt", "0");
    cluster.wait_job(&small, 0);
    let attempts = cluster.json(&["job", "attempts", &small]);
    cluster.run(&["job", "kill", &large]).expect_code(0);
    let time = |key: &str| attempts["attempts"][0][key].as_u64().unwrap_or_else(|| panic!("no {key}: {attempts}"));
    let took = time("finished_ms_epoch").saturating_sub(time("started_ms_epoch"));
    assert!(took < 3_000, "it read for {took} ms");
}

#[test]
fn a_master_that_could_not_choose_its_scheduler_is_refused_before_it_starts() {
    let mark = Mark::new();
    let folder = tempfile::tempdir().expect("make a folder");
    let config = folder.path().join("howdah.toml");
    for (switch, said) in [
        ("candidates = [\"fifo\"]", "[master] prediction.switch.candidates: one scheduler, expected at least two"),
        ("candidates = [\"fifo\", \"fare\"]", "scheduler `fare`: no such scheduler"),
        ("rule = \"lastign\"", "no such switching rule, did you mean `lasting`?"),
        ("candidates = [\"fifo\", \"fair\"]\nmargin = 2.0", "[master] prediction.switch.margin: 2 is no gain"),
    ] {
        std::fs::write(&config, format!("[master.prediction.switch]\n{switch}\n")).expect("write the configuration");
        let output =
            howdah(&mark).arg("--config").arg(&config).arg("master").arg("--dir").arg(folder.path().join("m")).output();
        let output = output.expect("start the master");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(said), "{stderr}");
        assert!(!folder.path().join("m").exists(), "nothing was made");
    }
}
