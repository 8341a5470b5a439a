//! No bytes of a segment or of an index make a reduce panic or eat memory: they come from other workers, and on their disks a
//! map's own program may have written them.
//!
//! A checksum keeps nearly all changed bytes from being read at all, so blocks are changed beneath good ones as well: what a
//! program writes on purpose has these.

use std::sync::{Arc, LazyLock};

use howdah_fuzz::{Change, Readings, cases, changed, changes, most_held};
use proptest::prelude::*;

use super::*;
use crate::api::error::TaskError;

static READINGS: Readings = Readings::of("segments and indexes");

/// What a reading may hold beside what it was given: a block that LZ4 stands for, and what zstd keeps of its frame.
fn most(bytes: usize) -> usize {
    300 * bytes + (4 << 20)
}

const RECORDS: u64 = 40;

/// Whole records.
fn raw() -> Vec<u8> {
    let mut raw = Vec::new();
    for n in 0..RECORDS {
        let (key, value) = (format!("key-{n:03}"), "v".repeat(n as usize * 5));
        put_varint(&mut raw, key.len());
        put_varint(&mut raw, value.len());
        raw.extend_from_slice(key.as_bytes());
        raw.extend_from_slice(value.as_bytes());
    }
    raw
}

/// A segment of these blocks, each with its header's checksum, and an end that says so many records.
fn segment(codec: Codec, blocks: &[(u32, Vec<u8>)], records: u64) -> Vec<u8> {
    let mut bytes = segment_header(codec).to_vec();
    let end = (END_MARK, records.to_le_bytes().to_vec());
    for (raw_len, stored) in blocks.iter().chain([&end]) {
        bytes.extend_from_slice(&BlockHeader::for_payload(*raw_len, stored).to_bytes());
        bytes.extend_from_slice(stored);
    }
    bytes
}

fn stored(codec: Codec) -> Vec<u8> {
    let mut packed = Vec::new();
    codec.compress(&raw(), &mut packed).expect("it can be compressed");
    packed
}

const CODECS: [Codec; 3] = [Codec::Plain, Codec::Lz4, Codec::Zstd];

static GOOD: LazyLock<[Vec<u8>; 3]> =
    LazyLock::new(|| CODECS.map(|codec| segment(codec, &[(raw().len() as u32, stored(codec))], RECORDS)));

/// What a fetcher finds, and what a merge reads: the number of records, if all is good.
fn read(bytes: &[u8], piece: usize) -> (Option<u64>, Result<u64, TaskError>) {
    let mut checker = SegmentChecker::new("a segment".to_owned());
    let fed = bytes.chunks(piece).try_for_each(|piece| checker.feed(piece));
    let checked = fed.and_then(|()| checker.finish()).ok();
    let all = || {
        let mut reader = SegmentReader::memory(Arc::new(bytes.to_vec()), "a segment".to_owned())?;
        let mut records = 0;
        while reader.advance()? {
            records += 1;
            assert!(reader.key().len() + reader.value().len() < 5 << 20, "no record is longer than its block");
        }
        Ok(records)
    };
    (checked, all())
}

fn check(bytes: &[u8], piece: usize) -> Option<u64> {
    let ((checked, read), held) = most_held(|| read(bytes, piece));
    assert!(held < most(bytes.len()), "{held} bytes were held for {}", bytes.len());
    READINGS.add(1);
    match read {
        Ok(records) => {
            assert!(checked.is_none_or(|said| said == records), "{checked:?} checked, {records} read");
            checked
        }
        Err(error) => {
            let said = error.to_string();
            assert!(said.contains("a segment") && !said.contains('\n'), "{said}");
            None
        }
    }
}

#[test]
fn good_segments_are_read_whatever_pieces_they_come_in() {
    for good in &*GOOD {
        for piece in [1, 7, 1 << 20] {
            assert_eq!(check(good, piece), Some(RECORDS));
        }
    }
}

/// Changes of the payload, and a length of its own for what it is said to hold.
fn beneath(codec: Codec, payload: &[Change], raw_len: u32, records: u64) -> Vec<u8> {
    segment(codec, &[(raw_len, changed(&stored(codec), payload))], records)
}

proptest! {
    #![proptest_config(cases(1))]

    #[test]
    fn changed_segments_are_read_as_they_were_or_refused(
        which in 0..GOOD.len(),
        changes in changes(),
        piece in 1..200_usize,
    ) {
        let bytes = changed(&GOOD[which], &changes);
        if let Some(records) = check(&bytes, piece) {
            // A change may leave everything as it was; no other one has all of its checksums.
            prop_assert!(records == RECORDS && bytes == GOOD[which]);
        }
    }

    #[test]
    fn blocks_that_lie_beneath_good_checksums_are_read_or_refused(
        which in 0..CODECS.len(),
        payload in prop::collection::vec(howdah_fuzz::change(), 0..5),
        raw_len in prop_oneof![
            2 => Just(raw().len() as u32),
            1 => any::<u32>(),
            1 => prop::sample::select(&[0, 1, 1 << 20, (1 << 20) + 1, 1 << 30, u32::MAX - 1, u32::MAX][..]),
        ],
        records in prop_oneof![2 => Just(RECORDS), 1 => any::<u64>()],
    ) {
        check(&beneath(CODECS[which], &payload, raw_len, records), 1 << 20);
    }

    #[test]
    fn changed_indexes_are_of_whole_output_only_if_they_are_as_they_were(
        changes in changes(),
        length in prop_oneof![Just(128_u64), 0..300_u64],
        partition in 0..5_u32,
    ) {
        let dir = tempfile::tempdir().expect("a folder");
        let (index, output) = (dir.path().join("file.out.index"), dir.path().join("file.out"));
        let places =
            [SegmentPlace { offset: 0, length: 28, records: 0 }, SegmentPlace { offset: 28, length: 100, records: 7 }];
        write_index(&index, &places).expect("write");
        let good = std::fs::read(&index).expect("read");
        let bytes = changed(&good, &changes);
        std::fs::write(&index, &bytes).expect("write");
        std::fs::File::create(&output).and_then(|file| file.set_len(length)).expect("write");
        let (whole, held) = most_held(|| whole_output(&index, &output));
        prop_assert!(held < 4 * bytes.len() + (64 << 10), "{} bytes were held for {}", held, bytes.len());
        match whole {
            Ok(partitions) => {
                // An entry that was taken out or doubled has its checksum: then the file must be as long as all of them say.
                let of = |n| find_segment(&index, n).expect("each is good");
                prop_assert_eq!((0..partitions).map(|n| of(n).length).sum::<u64>(), length);
            }
            Err(error) => prop_assert!(error.to_string().contains("file.out.index"), "{}", error),
        }
        if let Ok(place) = find_segment(&index, partition) {
            prop_assert!(places.contains(&place), "{:?}", place);
        }
        READINGS.add(2);
    }
}
