//! No bytes in what daemons and commands keep for later make them panic: histories of jobs, jobs' files, notes of uploads,
//! indexes of map outputs, calibrations; nor do policies' allocations, descriptions of workloads and schedules of load.
//!
//! Good ones are changed. Journals have a file of their own; spools and records of logs are cut at every byte by the tests
//! beside them.

use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use flate2::read::GzDecoder;
use howdah_core::job::{App, InputFormat, JobFile, JobSpec, OutputFormat, Split};
use howdah_core::models::calibration::Calibration;
use howdah_core::schedulers::fair::Allocations;
use howdah_core::schedulers::hadoop_xml;
use howdah_core::schedulers::mapred_site::MapredSite;
use howdah_fuzz::{Readings, change, changed, changes};
use howdah_master::history::{JobHistory, read_all};
use howdah_planning::workloads::custom::Description;
use howdah_s3::Pending;
use howdah_task::find_segment;
use proptest::prelude::*;

use crate::load::schedule::Schedule;

/// Histories that an earlier build wrote, packed.
const HISTORIES: [&[u8]; 2] = [
    include_bytes!("../../tests/recorded/history/job_202611261029_0001.json.gz"),
    include_bytes!("../../tests/recorded/history/job_202611261029_0003.json.gz"),
];
const ALLOCATIONS: [&str; 2] = [
    "<?xml version=\"1.0\"?>\n<allocations>\n<pool name=\"etl\"><minMaps>5</minMaps><maxMaps>20</maxMaps><weight>2.5</weight>\
     <minSharePreemptionTimeout>30</minSharePreemptionTimeout><schedulingMode>fifo</schedulingMode></pool>\n<user \
     name=\"ann\"><maxRunningJobs>3</maxRunningJobs></user>\n<userMaxJobsDefault>6</userMaxJobsDefault>\n</allocations>\n",
    "user_max_jobs = 6\n[pools.etl]\nmin_maps = 5\nweight = 2.5\n[users.ann]\nmax_jobs = 3\n",
];
const CAPACITY: &str = "<?xml version=\"1.0\"?>\n<configuration><property><name>mapred.queue.names</name><value>default,etl\
     </value></property><property><name>mapred.capacity-scheduler.queue.etl.capacity</name><value>60</value></property>\
     </configuration>\n";
const DESCRIPTION: &str = "name = \"mine\"\njobs = 20\n[[class]]\nname = \"small\"\nshare = 0.5\nmaps = 3\nmap_ms = \"lognormal(9.95,1.68)\"\n\
     reduces = 1\nreduce_ms = \"uniform(1,10)\"\n";
const CALIBRATION: &str = "schema = \"howdah/calibration/v1\"\ncurve = \"below=0.02,linear=1.01\"\ncores = 2.0\nkhz = 2000000\n\
     base_s = 1.5\nr_squared = 0.99\nmean_error = 0.01\nmax_error = 0.02\n[[points]]\nforeign = 1.0\ntime_s = 2.5\n";
const SCHEDULE: &str = "0s:4,180s:8.5\n600s:0 # the end\n";
const PENDING: &str = "{\"path\":\"/out/part-r-00000\",\"length\":10485760,\"upload\":\"2~abc\",\"tags\":[\"\\\"9b2c\\\"\",\"\\\"77aa\\\"\"]}";
static READINGS: Readings = Readings::of("what is kept");

static PLAIN: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| HISTORIES.map(unpacked).to_vec());

fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut plain).expect("it was packed whole");
    plain
}

/// What a job was submitted as.
fn job_file() -> String {
    let file = JobFile {
        id: "job_202611261029_0001".to_owned(),
        submit_ms_epoch: 1_795_688_944_855,
        spec: JobSpec { n_maps: 2, n_reduces: 1, ..JobSpec::default() },
        app: App::BuiltIn { name: "sleep".to_owned() },
        input_format: InputFormat::Generated { n_maps: 2 },
        splits: vec![Split::Generated; 2],
        output: OutputFormat::Files { directory: "/out".into() },
        marked: true,
        properties: [("sleep.job.map.sleep.time".to_owned(), "100".to_owned())].into(),
        token: "0123456789abcdef".to_owned(),
    };
    serde_json::to_string(&file).expect("it is plain")
}

/// An index of two partitions, the second of which is empty.
fn index() -> Vec<u8> {
    let mut bytes = b"HDX1\x02\0\0\0".to_vec();
    for numbers in [[0_u64, 100, 7], [100, 4, 0]] {
        let entry: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        bytes.extend(&entry);
        bytes.extend(crc32fast::hash(&entry).to_le_bytes());
    }
    bytes
}

/// Gives a text to every reader of texts; whatever it says is right, as long as it says it.
fn read_text(text: &str) {
    for (file, old) in [("a.xml", false), ("a.toml", false), ("a.xml", true)] {
        let _ = Allocations::parse(text, file, old);
    }
    let _ = hadoop_xml::parse(text);
    let _ = MapredSite::read(text, None);
    let _ = Description::parse(text);
    let _ = Calibration::parse(text);
    for end in [None, Some(Duration::from_secs(5))] {
        let _ = Schedule::parse(text, end);
    }
    let _ = serde_json::from_str::<JobFile>(text);
    let _ = Pending::from_bytes(text.as_bytes());
    READINGS.add(10);
}

/// A history in the place in which a run has it, and asked for in both ways.
fn read_history(run: &Path, name: &str, bytes: &[u8]) -> bool {
    let folder = run.join("history");
    std::fs::create_dir_all(&folder).expect("make a folder");
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("write the file");
    READINGS.add(2);
    let _ = read_all(run);
    JobHistory::read(&path).is_ok()
}

#[test]
fn the_good_ones_are_taken_by_their_readers() {
    for (text, file) in ALLOCATIONS.iter().zip(["a.xml", "a.toml"]) {
        Allocations::parse(text, file, false).expect("allocations");
    }
    assert!(hadoop_xml::parse(CAPACITY).is_ok());
    Description::parse(DESCRIPTION).expect("a description");
    Calibration::parse(CALIBRATION).expect("a calibration");
    serde_json::from_str::<JobFile>(&job_file()).expect("a job's file");
    Schedule::parse(SCHEDULE, None).expect("a schedule");
    Pending::from_bytes(PENDING.as_bytes()).expect("a note");
    let run = tempfile::tempdir().expect("make a folder");
    assert!(
        read_history(run.path(), "job_1.json.gz", HISTORIES[0]) && read_history(run.path(), "job_2.json", &PLAIN[1])
    );
    std::fs::write(run.path().join("index"), index()).expect("write the index");
    let place = find_segment(&run.path().join("index"), 0).expect("a place");
    assert_eq!((place.offset, place.length, place.records), (0, 100, 7));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_texts_are_taken_or_refused(
        which in 0..8_usize,
        changes in changes(),
    ) {
        let job_file = job_file();
        let good = [
            ALLOCATIONS[0], ALLOCATIONS[1], CAPACITY, DESCRIPTION, CALIBRATION, SCHEDULE, PENDING, &job_file,
        ];
        let bytes = changed(good[which].as_bytes(), &changes);
        read_text(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn changed_histories_are_taken_or_refused(
        which in 0..HISTORIES.len(),
        packed in any::<bool>(),
        changes in changes(),
    ) {
        let run = tempfile::tempdir().expect("make a folder");
        let bytes = changed(if packed { HISTORIES[which] } else { &PLAIN[which] }, &changes);
        read_history(run.path(), if packed { "job_1.json.gz" } else { "job_1.json" }, &bytes);
    }

    #[test]
    fn changed_indexes_give_the_good_places_or_are_refused(
        partition in 0..4_u32,
        changes in prop::collection::vec(change(), 1..4),
    ) {
        let run = tempfile::tempdir().expect("make a folder");
        let path = run.path().join("index");
        std::fs::write(&path, changed(&index(), &changes)).expect("write the index");
        if let Ok(place) = find_segment(&path, partition) {
            prop_assert!([(0, 100), (100, 4)].contains(&(place.offset, place.length)), "{place:?}");
        }
        READINGS.add(1);
    }
}
