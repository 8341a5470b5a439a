//! No bytes in a file that people write make the command panic: configuration, Hadoop's site files, batches, clusters, what a
//! cluster says of itself, and the log of a replay.
//!
//! Arbitrary bytes, and small good files that are changed. The readers of traces have tests of their own kind in
//! `shared/traces/tests/fuzz_readers.rs`; lists of machines and Hadoop's configuration have theirs beside their readers.

use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use howdah_fuzz::{Readings, changed, changes};
use howdah_master::MasterConfig;
use howdah_traces::ImportNotes;
use howdah_worker::WorkerConfig;
use proptest::prelude::*;

use crate::config::{ClientConfig, ConfigFile, Section, Settings};
use crate::local::access::Access;
use crate::log::LogConfig;
use crate::mapred_site::Site;
use crate::replay::cluster_file;
use crate::replay_log::{self, LOG_SCHEMA};
use crate::submit::batch_file::BatchFile;

const CONFIG: &str = "[master]\nlisten = \"0.0.0.0:9001\"\nscheduler = \"fair\"\nseed = 7\n[master.cluster]\nexpiry_ms = 5000\n\
    [master.limits]\ninbox = 16\n[worker]\nmap_slots = 8\nattributes = { gpu = \"1\" }\n[client]\noutput = \"json\"\n\
    [log]\nfile = \"d.log\"\nmax_size = \"10MiB\"\n";
const SITE: &str = "<?xml version=\"1.0\"?>\n<configuration>\n<property><name>mapred.jobtracker.taskScheduler</name>\
    <value>org.apache.hadoop.mapred.FairScheduler</value></property>\n<property><name>mapred.queue.names</name>\
    <value>default,research</value></property>\n<property><name>mapred.fairscheduler.preemption.interval</name>\
    <value>15000</value></property>\n</configuration>\n";
const BATCH: &str = "[[job]]\napp = \"wordcount\"\nname = \"night\"\n[[job]]\napp = \"sort\"\n";
const CLUSTER: &str = "[[worker]]\ncount = 3\nmap_slots = 2\nreduce_slots = 1\ncores = 2.0\n";
const ACCESS: &str =
    "{\"master\":\"m:1\",\"pids\":[1],\"processes\":[{\"name\":\"master\",\"pid\":1,\"start_ticks\":2}]}";
/// One job, whose history an earlier build wrote.
static LOG: LazyLock<String> = LazyLock::new(|| {
    let packed = &include_bytes!("../../tests/recorded/history/job_202611261029_0001.json.gz")[..];
    let mut history = String::new();
    GzDecoder::new(packed).read_to_string(&mut history).expect("it was packed whole");
    let history: serde_json::Value = serde_json::from_str(&history).expect("it is JSON");
    let cluster = "{\"scheduler\":\"fifo\",\"workers\":[]}";
    let header = format!(
        "\"schema\":\"{LOG_SCHEMA}\",\"source\":\"fifo\",\"start_ms_epoch\":1795688944855,\"cluster\":{cluster}"
    );
    format!("{{{header}}}\n{history}\n")
});
static GOOD: LazyLock<[&str; 6]> = LazyLock::new(|| [CONFIG, SITE, BATCH, CLUSTER, ACCESS, &LOG]);

static READINGS: Readings = Readings::of("files");

/// Gives the bytes to every reader; whatever it says is right, as long as it says it.
fn read_all(folder: &Path, bytes: &[u8]) {
    let path = folder.join("file");
    std::fs::write(&path, bytes).expect("write the file");
    if let Ok(file) = ConfigFile::read(&path) {
        settings::<MasterConfig>(Section::Master, &file);
        settings::<WorkerConfig>(Section::Worker, &file);
        settings::<ClientConfig>(Section::Client, &file);
        settings::<LogConfig>(Section::Log, &file);
    }
    for asked in [None, Some("capacity"), Some("fair")] {
        let _ = Site::read(Some(&path), asked);
    }
    let _ = BatchFile::read(&path);
    let _ = cluster_file::read(&path);
    let _ = replay_log::read(&mut &bytes[..], &mut ImportNotes::default());
    std::fs::rename(&path, folder.join("access.json")).expect("rename the file");
    let _ = Access::read(folder);
    READINGS.add(11);
}

fn settings<T: Default + serde::Serialize + serde::de::DeserializeOwned>(section: Section, file: &ConfigFile) {
    let mut settings = Settings::defaults::<T>(section).expect("defaults are written");
    if settings.add_file::<T>(file).is_ok() {
        settings.build::<T>().expect("what was taken piece by piece is taken as a whole");
    }
}

#[test]
fn the_good_files_are_taken_by_their_readers() {
    let folder = tempfile::tempdir().expect("make a folder");
    let write = |text: &str| {
        let path = folder.path().join("access.json");
        std::fs::write(&path, text).expect("write the file");
        path
    };
    assert!(ConfigFile::read(&write(CONFIG)).is_ok());
    Site::read(Some(&write(SITE)), None).expect("a site file");
    assert!(BatchFile::read(&write(BATCH)).is_ok());
    assert!(cluster_file::read(&write(CLUSTER)).is_ok());
    let trace = replay_log::read(&mut LOG.as_bytes(), &mut ImportNotes::default()).expect("a log");
    assert_eq!(trace.jobs.len(), 1);
    write(ACCESS);
    assert!(Access::read(folder.path()).is_ok());
}

#[test]
fn entities_that_grow_are_refused() {
    let folder = tempfile::tempdir().expect("make a folder");
    let path = folder.path().join("site.xml");
    let entities: String =
        (1..12).map(|n| format!("<!ENTITY e{n} \"{}\">", format!("&e{};", n - 1).repeat(10))).collect();
    let text = format!(
        "<!DOCTYPE x [<!ENTITY e0 \"ha\">{entities}]>\n<configuration><property><name>&e11;</name>\
        <value>1</value></property></configuration>"
    );
    std::fs::write(&path, text).expect("write the file");
    let refused = Site::read(Some(&path), None).expect_err("it is refused").to_string();
    assert!(refused.starts_with("error: "), "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_files_are_taken_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
        let folder = tempfile::tempdir().expect("make a folder");
        read_all(folder.path(), &bytes);
    }

    #[test]
    fn changed_files_are_taken_or_refused(
        which in 0..GOOD.len(),
        changes in changes(),
    ) {
        let folder = tempfile::tempdir().expect("make a folder");
        let bytes = changed(GOOD[which].as_bytes(), &changes);
        read_all(folder.path(), &bytes);
    }
}
