//! No bytes in a container of logs, or in the file that says what was collected, make a worker panic, read without end or lose
//! what comes later: both lie where tasks can write.
//!
//! Headers have checksums, so there are also records that say anything beneath good ones.

use std::fs;

use howdah_fuzz::{Readings, cases, changed, changes};
use proptest::prelude::*;

use super::live::COLLECTED;
use super::record::{Kept, Record};
use super::tests::{CLUSTER, Place, bytes_of, map};

static READINGS: Readings = Readings::of("containers of logs");

const TEXTS: [&[u8]; 3] = [b"first", b"second and more", b"third"];

/// Three attempts' logs.
fn good() -> Vec<u8> {
    let place = Place::new(1 << 30);
    (0..3).for_each(|index| place.run(map(index), TEXTS));
    fs::read(place.container()).expect("it is there")
}

/// Everybody reads what there is, the next attempt's logs are added, and what was there before is still read.
fn use_it(place: &Place) {
    let size = fs::metadata(place.container()).expect("it is there").len();
    let read = || {
        let each = (0..3).flat_map(|index| (0..3).map(move |which| (index, which)));
        each.map(|(index, which)| place.read(map(index), which).ok()).collect::<Vec<_>>()
    };
    let before = read();
    // A line that says what was left out may come for each record of an attempt.
    let most = size + 9 * 300;
    assert!(before.iter().flatten().all(|bytes| bytes.len() as u64 <= most), "more comes than there is");
    let mut live = place.start(map(9), TEXTS);
    if place.logs.collect(&mut live, CLUSTER, map(9)) {
        place.logs.retire(live, &place.logs.live(CLUSTER, map(9)));
    }
    assert_eq!(place.read(map(9), 1).expect("it has just run"), TEXTS[1], "added, or still a file");
    let after = read();
    assert!(before.iter().zip(&after).all(|(before, after)| before.is_none() || before == after), "it is gone");
    READINGS.add(1);
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn changed_containers_give_what_is_whole_and_are_gone_on_with_or_left_alone(changes in changes()) {
        let place = Place::new(1 << 30);
        fs::write(place.container(), changed(&good(), &changes)).expect("write");
        use_it(&place);
    }

    #[test]
    fn records_that_lie_beneath_good_checksums_give_no_more_than_there_is(
        records in prop::collection::vec((0..3_u32, prop::array::uniform3((lengths(), lengths())), 0..90_usize), 1..5),
    ) {
        let place = Place::new(1 << 30);
        let mut bytes = b"howdahL1".to_vec();
        for (index, files, n) in records {
            let files = files.map(|(length, kept)| Kept { length, kept });
            bytes.extend(Record::new(map(index), files).header());
            bytes.extend(vec![b'x'; n]);
        }
        fs::write(place.container(), bytes).expect("write");
        use_it(&place);
    }

    #[test]
    fn whatever_a_task_says_was_collected_its_own_lines_are_read_and_kept(changes in changes(), cut in 0..30_usize) {
        let place = Place::new(1 << 30);
        let live = place.start(map(0), TEXTS);
        let collected = place.logs.live(CLUSTER, map(0)).join(COLLECTED);
        let mut bytes = changed(&[[1, 0, 0, 0, 0, 0, 0, 0]; 3].concat(), &changes);
        bytes.truncate(cut);
        fs::write(&collected, bytes).expect("write");
        let read = |place: &Place| TEXTS.iter().enumerate().map(|(which, text)| {
            let read = place.logs.read(CLUSTER, map(0), which).map(bytes_of).expect("it runs, or has run");
            assert!(text.ends_with(&read), "{read:?} is no end of what it wrote");
            read
        }).collect::<Vec<_>>();
        let running = read(&place);
        drop(live);
        let place = place.restart();
        prop_assert_eq!(read(&place), running);
        READINGS.add(1);
    }
}

/// Of a file in a record.
fn lengths() -> impl Strategy<Value = u64> {
    prop_oneof![2 => 0..40_u64, 1 => Just(0), 1 => prop::sample::select(&[1 << 31, 1 << 62, u64::MAX - 1, u64::MAX][..])]
}
