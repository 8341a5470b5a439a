//! One order over all parts: reduce `i` gets the keys between cut `i - 1` and cut `i`.
//!
//! The client samples keys of the input while it plans, sorts them and takes even quantiles as cuts. They travel as
//! a property of the job, so that every attempt partitions alike.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use howdah_core::job::splits::is_splittable;
use howdah_task::{Partitioner, Properties, Result};

/// The cuts as hexadecimal digits, separated by commas; ascending, fewer than there are reduces.
pub(crate) const CUTS: &str = "total.order.cuts";

/// Places of the input where keys are read, evenly spaced.
const PLACES: u64 = 1_000;
/// Bytes read at each.
const CHUNK: usize = 16 << 10;
/// A cut needs no more bytes of a long line than these.
const LONGEST_CUT: usize = 64;

/// What the keys of the input are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Keys {
    /// Whole lines.
    Lines,
    /// The first bytes of records of a fixed length.
    Fixed {
        /// Bytes of a record.
        record: usize,
        /// Bytes of its key.
        key: usize,
    },
}

/// Cuts for `n_reduces`, as the property's value.
pub(crate) fn sample(files: &[PathBuf], keys: Keys, n_reduces: u32) -> Result<String, (PathBuf, io::Error)> {
    let mut samples = Vec::new();
    let mut sized = Vec::new();
    for path in files {
        let with_path = |error| (path.clone(), error);
        if path.to_str().is_some_and(|name| !is_splittable(name)) {
            return Err(with_path(io::Error::new(io::ErrorKind::Unsupported, "it is compressed")));
        }
        let file = File::open(path).map_err(with_path)?;
        let length = file.metadata().map_err(with_path)?.len();
        sized.push((path, file, length));
    }
    let total: u64 = sized.iter().map(|(_, _, length)| length).sum();
    let step = (total / PLACES).max(CHUNK as u64);
    for (path, file, length) in &sized {
        for offset in (0..*length).step_by(step as usize) {
            read_keys(file, offset, keys, &mut samples).map_err(|error| ((*path).clone(), error))?;
        }
    }
    samples.sort_unstable();
    let cuts = (1..u64::from(n_reduces)).filter_map(|i| {
        let index = samples.len() as u64 * i / u64::from(n_reduces);
        samples.get(index as usize)
    });
    Ok(cuts.map(|cut| hex(cut)).collect::<Vec<_>>().join(","))
}

/// The keys of the records that begin in one chunk; the first line there may be the end of a longer one.
fn read_keys(file: &File, offset: u64, keys: Keys, samples: &mut Vec<Vec<u8>>) -> io::Result<()> {
    let offset = match keys {
        Keys::Fixed { record, .. } => offset / record as u64 * record as u64,
        Keys::Lines => offset,
    };
    let mut chunk = vec![0; CHUNK];
    let mut filled = 0;
    while filled < chunk.len() {
        match file.read_at(&mut chunk[filled..], offset + filled as u64)? {
            0 => break,
            n => filled += n,
        }
    }
    let chunk = &chunk[..filled];
    match keys {
        Keys::Fixed { record, key } => samples.extend(chunk.chunks_exact(record).map(|record| record[..key].to_vec())),
        Keys::Lines => {
            let lines = chunk.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
            let short = |line: &[u8]| line[..line.len().min(LONGEST_CUT)].to_vec();
            samples.extend(lines.skip(usize::from(offset > 0)).filter(|line| !line.is_empty()).map(short));
        }
    }
    Ok(())
}

/// Sends each key to the reduce whose range holds it.
pub(crate) struct TotalOrder {
    cuts: Vec<Vec<u8>>,
}

impl TotalOrder {
    /// Reads the job's cuts.
    ///
    /// # Errors
    /// When they are missing, damaged or out of order.
    pub(crate) fn of(properties: &Properties) -> Result<TotalOrder> {
        let text = properties.get(CUTS).ok_or_else(|| format!("property `{CUTS}` is not set"))?;
        let parts = text.split(',').filter(|part| !part.is_empty());
        let cuts: Option<Vec<Vec<u8>>> = parts.map(unhex).collect();
        match cuts {
            Some(cuts) if cuts.is_sorted() => Ok(TotalOrder { cuts }),
            _ => Err(format!("property `{CUTS}`: expected ascending hexadecimal keys").into()),
        }
    }
}

impl Partitioner for TotalOrder {
    fn partition(&self, key: &[u8], n_partitions: u32) -> u32 {
        let index = self.cuts.partition_point(|cut| cut.as_slice() <= key);
        (index as u32).min(n_partitions - 1)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    text.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn order(cuts: &str) -> Result<TotalOrder> {
        TotalOrder::of(&Properties::from(BTreeMap::from([(CUTS.to_owned(), cuts.to_owned())])))
    }

    #[test]
    fn keys_go_where_their_range_is_and_a_cut_begins_the_next_one() {
        let order = order("62,64").expect("b and d");
        let parts: Vec<u32> = ["a", "b", "bz", "c", "d", "z", ""].map(|key| order.partition(key.as_bytes(), 3)).into();
        assert_eq!(parts, [0, 1, 1, 1, 2, 2, 0]);
        assert_eq!(order.partition(b"z", 2), 1, "never beyond the last partition");
    }

    #[test]
    fn damaged_cuts_are_refused() {
        assert_eq!(order("").expect("one reduce needs no cuts").partition(b"x", 1), 0);
        for text in ["6", "zz", "64,62", "+6"] {
            assert!(order(text).is_err(), "{text}");
        }
    }

    #[test]
    fn compressed_files_are_not_sampled() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("lines.gz");
        std::fs::write(&path, "not really").expect("a small file");
        let (at, error) = sample(std::slice::from_ref(&path), Keys::Lines, 2).expect_err("refused");
        assert_eq!((at, error.to_string()), (path, "it is compressed".to_owned()));
    }

    #[test]
    fn sampled_cuts_halve_the_lines_of_several_files() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let files: Vec<PathBuf> = ["a", "b"].map(|name| dir.path().join(name)).into();
        let lines =
            |parity: usize| (0..50_000).filter(|i| i % 2 == parity).map(|i| format!("{i:08}\n")).collect::<String>();
        std::fs::write(&files[0], lines(0)).expect("a file");
        std::fs::write(&files[1], lines(1)).expect("a file");
        let cuts = sample(&files, Keys::Lines, 2).expect("readable");
        let middle: u32 = String::from_utf8(unhex(&cuts).expect("one cut")).expect("digits").parse().expect("a number");
        assert!((24_000..26_000).contains(&middle), "{middle}");
    }
}

#[cfg(test)]
mod fuzz {
    use std::collections::BTreeMap;

    use howdah_fuzz::{Readings, cases, changed, changes};
    use proptest::prelude::*;

    use super::*;

    static READINGS: Readings = Readings::of("cuts");

    proptest! {
        #![proptest_config(cases(1))]

        #[test]
        fn changed_cuts_put_keys_into_one_order_or_are_refused(
            changes in changes(),
            keys in prop::array::uniform2(prop::collection::vec(any::<u8>(), 0..8)),
            n in 1..5_u32,
        ) {
            let bytes = changed(b"30313233,6262,62ff00,7a7a", &changes);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if let Ok(order) = TotalOrder::of(&Properties::from(BTreeMap::from([(CUTS.to_owned(), text)]))) {
                let [low, high] = [keys[0].clone().min(keys[1].clone()), keys[0].clone().max(keys[1].clone())];
                let parts = [low, high].map(|key| order.partition(&key, n));
                prop_assert!(parts[0] <= parts[1] && parts[1] < n, "{:?}", parts);
            }
            READINGS.add(1);
        }
    }
}
