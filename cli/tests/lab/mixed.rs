//! Mixed work beside faults that a seed draws: masters and workers are killed, workers stand still, machines are cut off, two
//! workers do not get to each other, disks fill up; each for a while, and some of them two at a time.
//!
//! Whatever was acknowledged ends with the bytes of a quiet run, nothing else is listed, and the run decides the same again.
//! `HOWDAH_TEST_LAB_FAULTS` sets how many times something goes wrong, `HOWDAH_TEST_SEED` the seed; `cargo xtask soak faults`
//! does so a hundred times.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use howdah_core::models::Random;

use crate::faults::{fill, small_disk};
use crate::inside::inside_for;
use crate::machines::{Kind, Lab};

const WORKERS: [&str; 3] = ["lab1", "lab2", "lab3"];
/// Every kind once, in an order that the seed draws.
const ROUNDS: u64 = Fault::ALL.len() as u64;
/// How long an ordinary fault lasts, and one after which a worker is lost.
const SHORT_MS: u64 = 1_500;
const LONG_MS: u64 = 9_000;
/// After so much silence; faults of the longer kind last longer.
const EXPIRY_MS: u64 = 7_000;
/// Jobs under way at a time.
const OPEN: usize = 5;
/// For the ordinary run, and for each time that something goes wrong.
const BOUND: Duration = Duration::from_secs(240);
const BOUND_OF_ONE: Duration = Duration::from_secs(40);

/// What goes wrong, in the order in which it is mended: a master starts only where it can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    FullMaster,
    FullWorker,
    /// Between a machine and all others.
    CutOff,
    /// Between two workers; the master gets to both.
    Between,
    HaltWorker,
    HaltMaster,
    KillWorker,
    KillMaster,
}

impl Fault {
    const ALL: [Fault; 8] = [
        Fault::FullMaster,
        Fault::FullWorker,
        Fault::CutOff,
        Fault::Between,
        Fault::HaltWorker,
        Fault::HaltMaster,
        Fault::KillWorker,
        Fault::KillMaster,
    ];

    /// What must not happen at once: to one process, or to one disk and the process that starts on it.
    fn of_master(self) -> bool {
        matches!(self, Fault::FullMaster | Fault::HaltMaster | Fault::KillMaster)
    }

    fn begin(self, lab: &Lab, worker: &str, other: &str) {
        match self {
            Fault::FullMaster => fill(&lab.path("master/filler")),
            Fault::FullWorker => fill(&lab.path(&format!("worker-{worker}/filler"))),
            Fault::CutOff => lab.unplug(worker),
            Fault::Between => lab.cut_between(worker, other),
            Fault::HaltWorker => lab.signal(worker, "-STOP"),
            Fault::HaltMaster => lab.signal("lab0", "-STOP"),
            Fault::KillWorker => lab.kill(worker),
            Fault::KillMaster => lab.kill("lab0"),
        }
    }

    /// Mends it; where the master was killed, gives the time until the new one answers.
    fn end(self, lab: &mut Lab, worker: &str, other: &str, config: &str) -> Option<Duration> {
        match self {
            Fault::FullMaster => fs::remove_file(lab.path("master/filler")).expect("make room"),
            Fault::FullWorker => fs::remove_file(lab.path(&format!("worker-{worker}/filler"))).expect("make room"),
            Fault::CutOff => lab.plug(worker),
            Fault::Between => lab.mend_between(worker, other),
            Fault::HaltWorker => lab.signal(worker, "-CONT"),
            Fault::HaltMaster => lab.signal("lab0", "-CONT"),
            Fault::KillWorker => start_worker(lab, worker, config),
            Fault::KillMaster => {
                // It names a master that is gone.
                let _ = fs::remove_file(lab.path("master/access.json"));
                let began = Instant::now();
                lab.master_with(&["--config", config]);
                lab.json(&["job", "list"]);
                return Some(began.elapsed());
            }
        }
        None
    }
}

fn start_worker(lab: &mut Lab, worker: &str, config: &str) {
    lab.worker_with(worker, &["--config", config, "--map-slots", "2", "--reduce-slots", "1"]);
}

/// What is submitted again and again, each with an output.
fn work(lab: &Lab) -> Vec<Vec<String>> {
    let text: String = (0..2_000_u64).map(|n| format!("word{} of line {n}\n", n * n % 311)).collect();
    fs::write(lab.export("text"), text).expect("write the input");
    fs::write(lab.export("mapper.sh"), "sleep 0.3; tr ' ' '\\n'\n").expect("write the mapper");
    fs::write(lab.export("reducer.sh"), "sort | uniq -c\n").expect("write the reducer");
    let [text, mapper, reducer] = ["text", "mapper.sh", "reducer.sh"].map(|name| lab.shared(name));
    let (mapper, reducer) = (format!("sh {mapper}"), format!("sh {reducer}"));
    let splits = "mapred.max.split.size=4000";
    let common = ["--input", &text, "-D", splits];
    [
        &["wordcount", "--reduces", "2"][..],
        &["streaming", "--mapper", &mapper, "--reduces", "0"],
        &["streaming", "--mapper", &mapper, "--reducer", &reducer, "--reduces", "2"],
    ]
    .map(|words| ["submit"].iter().chain(words).chain(&common).map(|word| (*word).to_owned()).collect())
    .to_vec()
}

/// Submits one of them; `None` if nobody acknowledged it.
fn submit(lab: &Lab, words: &[String], output: &str) -> Option<String> {
    let to = lab.shared(output);
    let words = words.iter().map(String::as_str).chain(["--output", &to, "--output", "json"]);
    let ended = lab.at_desk(&words.collect::<Vec<_>>());
    let said: serde_json::Value = serde_json::from_slice(&ended.stdout).ok()?;
    ended.status.success().then(|| said["job"].as_str().expect("a job").to_owned())
}

/// All parts of an output, by name.
fn parts(output: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(output).expect("the output").flatten();
    let read = entries.map(|entry| {
        (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("a file of an output"))
    });
    read.collect()
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}: `{text}` is no number")))
}

/// The first faults of this round, and what else happens beside every third.
fn draw(round: u64, block: &mut Vec<Fault>, draws: &mut Random) -> Vec<Fault> {
    if block.is_empty() {
        *block = Fault::ALL.to_vec();
        draws.shuffle(block);
    }
    let first = block.pop().expect("it was filled");
    let fits = |other: &Fault| first.of_master() != other.of_master();
    let mut beside: Vec<Fault> = Fault::ALL.iter().copied().filter(fits).collect();
    draws.shuffle(&mut beside);
    let mut faults: Vec<Fault> =
        [first].into_iter().chain(beside.into_iter().take(usize::from(round % 3 == 2))).collect();
    faults.sort();
    faults
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn mixed_work_outlives_whatever_a_seed_draws() {
    let rounds = number("HOWDAH_TEST_LAB_FAULTS").unwrap_or(ROUNDS);
    let bound = BOUND + BOUND_OF_ONE * u32::try_from(rounds.saturating_sub(ROUNDS)).expect("some");
    inside_for(bound, "mixed::mixed_work_outlives_whatever_a_seed_draws", |lab| {
        go_through(lab.machines(Kind::V4, &[]), rounds, number("HOWDAH_TEST_SEED").unwrap_or(1));
    });
}

fn go_through(mut lab: Lab, rounds: u64, seed: u64) {
    small_disk(&lab, "master", 256);
    WORKERS.iter().for_each(|worker| small_disk(&lab, &format!("worker-{worker}"), 128));
    // Old inputs go, so that the disk is full only when it is filled.
    let settings = format!(
        "[master]\njournal_segment_bytes = 1048576\n[master.cluster]\nexpiry_ms = {EXPIRY_MS}\n[master.keep_inputs]\nbytes = 33554432\n\
         [worker]\nretry_max_ms = 1000\n"
    );
    lab.write("lab.toml", &settings);
    let config = lab.path("lab.toml").display().to_string();
    lab.master_with(&["--config", &config]);
    WORKERS.iter().for_each(|worker| start_worker(&mut lab, worker, &config));
    lab.wait_state(&WORKERS, "LIVE");
    let work = work(&lab);
    let quiet: Vec<_> = work
        .iter()
        .enumerate()
        .map(|(kind, words)| {
            let output = format!("quiet-{kind}");
            let job = submit(&lab, words, &output).expect("it is accepted");
            lab.desk(&["job", "wait", &job]);
            parts(&lab.export(&output))
        })
        .collect();
    // What is submitted depends on how fast jobs end, so it draws from others: a seed's faults stay the same.
    let (mut draws, mut of_work) = (Random::new(seed, 0), Random::new(seed, 1));
    let (mut jobs, mut block) = (Vec::new(), Vec::new());
    let (mut happened, mut times, mut unanswered) = (BTreeMap::<Fault, u32>::new(), Vec::new(), 0);
    for round in 0..rounds {
        let faults = draw(round, &mut block, &mut draws);
        let mut workers = WORKERS;
        draws.shuffle(&mut workers);
        let [worker, other, _] = workers;
        let long = if draws.below(3) == 0 { LONG_MS } else { SHORT_MS + draws.below(1_500) as u64 };
        eprintln!("seed {seed}, round {round}: {faults:?} of {worker} (and {other}) for {long} ms");
        let mut enter = |lab: &Lab, when: &str, draws: &mut Random| {
            let kind = draws.below(work.len());
            let output = format!("out-{round}-{when}");
            match submit(lab, &work[kind], &output) {
                Some(job) => jobs.push((job, kind, output)),
                None => unanswered += 1,
            }
        };
        let list = lab.json(&["job", "list"]);
        let open = list["jobs"].as_array().expect("jobs").iter().filter(|job| job["finish_ms_epoch"].is_null()).count();
        if open < OPEN {
            enter(&lab, "before", &mut of_work);
        }
        std::thread::sleep(Duration::from_millis(draws.below(600) as u64));
        let began = Instant::now();
        faults.iter().for_each(|fault| fault.begin(&lab, worker, other));
        // Who submits now is refused, or waits and is answered later, or is as good as anybody; a master that is gone or
        // stands still has nobody to say anything.
        if open < OPEN && !faults.iter().any(|fault| matches!(fault, Fault::KillMaster | Fault::HaltMaster)) {
            enter(&lab, "amid", &mut of_work);
        }
        std::thread::sleep(Duration::from_millis(long).saturating_sub(began.elapsed()));
        for fault in &faults {
            times.extend(fault.end(&mut lab, worker, other, &config));
            *happened.entry(*fault).or_default() += 1;
        }
        let list = lab.json(&["job", "list"]);
        let listed: Vec<&str> =
            list["jobs"].as_array().expect("jobs").iter().filter_map(|job| job["job"].as_str()).collect();
        for (job, ..) in &jobs {
            assert!(listed.contains(&job.as_str()), "{job} was acknowledged and is not there: {listed:?}");
        }
        let known = work.len() + jobs.len();
        assert!((known..=known + unanswered).contains(&listed.len()), "{} jobs, {known} acknowledged", listed.len());
    }
    for (job, kind, output) in &jobs {
        lab.desk(&["job", "wait", job]);
        assert!(
            parts(&lab.export(output)) == quiet[*kind],
            "{job} wrote other bytes than a quiet run of {:?}",
            work[*kind]
        );
    }
    lab.wait_state(&WORKERS, "LIVE");
    lab.count_words("last", 2_000);
    ["lab1", "lab2", "lab3", "lab0"].iter().for_each(|machine| lab.stop(machine));
    let master = lab.path("master").display().to_string();
    lab.desk(&["validate", "--dir", &master]);
    times.sort();
    eprintln!(
        "seed {seed}: {happened:?}; {} jobs acknowledged, {unanswered} refused; from a start to the listing {:?} in the middle, {:?} \
         at most",
        jobs.len(),
        times.get(times.len() / 2),
        times.last()
    );
}
