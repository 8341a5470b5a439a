//! Frames in files of our own against an embedded store: batches a second that are on disk, each by a sync of its own.
//!
//! The store is SQLite, as it is in the executable anyway: one table of frames, with a log ahead of it (WAL) and a sync for each
//! transaction (`synchronous = FULL`), which is its quickest way that loses nothing.

use std::path::Path;
use std::time::Instant;

use howdah_master::journal::{JournalReader, JournalWriter};
use howdah_proto::v1;
use rusqlite::Connection;

/// About what a batch of a few reports takes.
const BYTES: usize = 600;
const BATCHES: u32 = 2_000;
const TURNS: usize = 5;

fn own_frames(dir: &Path) -> f64 {
    let header = v1::JournalHeader { version: 2, ..v1::JournalHeader::default() };
    let mut journal = JournalWriter::create(dir, &header, 16 << 20).expect("make the journal");
    let began = Instant::now();
    for time_us in (1..=BATCHES).map(u64::from) {
        journal.append(&mut v1::JournalFrame { time_us, digest: vec![7; BYTES], ..v1::JournalFrame::default() });
        journal.sync().expect("it is on disk");
    }
    let rate = f64::from(BATCHES) / began.elapsed().as_secs_f64();
    drop(journal);
    let mut reader = JournalReader::open(dir).expect("it reads");
    let frames = std::iter::from_fn(|| reader.next_frame().expect("it is whole")).count();
    assert_eq!(frames as u32, BATCHES);
    rate
}

fn embedded_store(dir: &Path) -> f64 {
    let store = Connection::open(dir.join("frames.db")).expect("make the store");
    store.pragma_update(None, "journal_mode", "WAL").expect("a log ahead");
    store.pragma_update(None, "synchronous", "FULL").expect("a sync for each transaction");
    store.execute("CREATE TABLE frames (sequence INTEGER PRIMARY KEY, frame BLOB NOT NULL)", []).expect("a table");
    let mut insert = store.prepare("INSERT INTO frames VALUES (?1, ?2)").expect("a statement");
    let began = Instant::now();
    for sequence in 1..=BATCHES {
        insert.execute((sequence, vec![7_u8; BYTES])).expect("it is on disk");
    }
    let rate = f64::from(BATCHES) / began.elapsed().as_secs_f64();
    let rows: u32 = store.query_row("SELECT count(*) FROM frames", [], |row| row.get(0)).expect("it reads");
    assert_eq!(rows, BATCHES);
    rate
}

/// `cargo test --workspace --bins frames_of_our_own -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn frames_of_our_own_take_no_longer_than_an_embedded_stores() {
    let (mut own, mut store) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        own.push(own_frames(tempfile::tempdir().expect("make a folder").path()));
        store.push(embedded_store(tempfile::tempdir().expect("make a folder").path()));
    }
    let middle = |rates: &mut Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    };
    let (own, store) = (middle(&mut own), middle(&mut store));
    eprintln!("synced batches of {BYTES} bytes a second: {own:.0} in files of our own, {store:.0} in SQLite");
    assert!(own >= store, "{own:.0} a second, {store:.0} by the store");
}
