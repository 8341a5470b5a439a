//! What the kernel is asked of input in its page cache, on a thread of its own: no attempt and no heartbeat waits for it.
//!
//! A range is read ahead with `posix_fadvise(WILLNEED)`, a chunk at a time: all at once it would fill the disk's queue, and what a
//! map needs now would wait behind what others need later. It is dropped with `DONTNEED` only if none of it was in memory before
//! this worker asked for it, so that nobody loses what he had read himself: a range is looked at first, at a few places, by
//! reads that return at once where they would have to wait for a disk (`RWF_NOWAIT`). Where the file system does not offer
//! such reads, nothing is ever dropped.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::IoSliceMut;
use std::ops::RangeInclusive;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nix::fcntl::{OFlag, PosixFadviseAdvice, posix_fadvise};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

use super::queue::{Ask, Queue};
use super::range::Place;

/// Places of a range that are looked at.
const PROBES: u64 = 16;
/// What is left of a range at both ends when it is dropped: maps of the splits beside it read a line across, and a read of a
/// few bytes would have to wait behind all that is being read ahead.
const EDGE: u64 = 128 << 10;
/// Ranges that are remembered as read by this worker alone.
const OURS: usize = 4_096;
/// A chunk is read in about so long, so that no read of a map waits much longer behind it.
const HOLDUP: Duration = Duration::from_millis(20);
/// Bytes that are read ahead at a time, at least and at most.
const CHUNK: RangeInclusive<u64> = 64 << 10..=4 << 20;

/// Asks the thread.
#[derive(Debug)]
pub(super) struct Kernel {
    queue: Arc<Queue>,
    dropped: Arc<AtomicU64>,
}

impl Kernel {
    /// Starts the thread; `None`, with a warning, where there can be none.
    pub(super) fn start() -> Option<Kernel> {
        let kernel = Kernel { queue: Arc::default(), dropped: Arc::default() };
        let thread = Thread::new(Arc::clone(&kernel.queue), Arc::clone(&kernel.dropped));
        let builder = std::thread::Builder::new().name("prefetch".to_owned());
        match builder.spawn(move || thread.run()) {
            Ok(_) => Some(kernel),
            Err(error) => {
                tracing::warn!(%error, "there can be no prefetch thread; input is read when maps start");
                None
            }
        }
    }

    /// Without a thread: a test is one itself.
    #[cfg(test)]
    pub(super) fn idle() -> Kernel {
        Kernel { queue: Arc::default(), dropped: Arc::default() }
    }

    /// What the thread is to do.
    pub(super) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Bytes that were dropped so far.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.queue.close();
    }
}

struct Thread {
    queue: Arc<Queue>,
    /// Ranges of which nothing was in memory before this worker asked for them.
    ours: BTreeSet<Place>,
    dropped: Arc<AtomicU64>,
}

impl Thread {
    fn new(queue: Arc<Queue>, dropped: Arc<AtomicU64>) -> Thread {
        Thread { queue, ours: BTreeSet::new(), dropped }
    }

    fn run(mut self) {
        while let Some(ask) = self.queue.next() {
            match ask {
                Ask::Read(place) => _ = self.read(&place),
                Ask::Drop(place) => self.drop_range(&place),
            }
        }
    }

    /// Reads a range while it is wanted, and says how much of it.
    fn read(&mut self, place: &Place) -> u64 {
        let Some(file) = open(place) else { return 0 };
        // What was ours and is asked for once more is still nobody else's, as far as anybody can see.
        let is_cold = || inner(place).is_some_and(|inner| is_cold(&file, &inner));
        if !self.ours.contains(place) && self.ours.len() < OURS && is_cold() {
            self.ours.insert(place.clone());
        }
        // Anew for each range: that the last one was in memory says nothing of the disk below this one.
        let (mut done, mut length) = (0, *CHUNK.start());
        while done < place.length && self.queue.goes_on() {
            let began = Instant::now();
            let offset = place.offset.saturating_add(done);
            let chunk = Place { path: String::new(), offset, length: length.min(place.length - done) };
            if !read_in(&file, &chunk) {
                break;
            }
            done += chunk.length;
            length = next_chunk(length, began.elapsed());
        }
        done
    }

    fn drop_range(&mut self, place: &Place) {
        if self.ours.remove(place)
            && let Some(inner) = inner(place)
            && let Some(file) = open(place)
            && advise(&file, &inner, PosixFadviseAdvice::POSIX_FADV_DONTNEED)
        {
            self.dropped.fetch_add(inner.length, Ordering::Relaxed);
        }
    }
}

/// Has a chunk read, and waits until its last byte is there; false at the file's end and where it cannot be read.
fn read_in(file: &File, chunk: &Place) -> bool {
    let last = chunk.offset.saturating_add(chunk.length - 1);
    advise(file, chunk, PosixFadviseAdvice::POSIX_FADV_WILLNEED) && matches!(file.read_at(&mut [0], last), Ok(1))
}

/// How much is asked for at a time after a chunk that took so long.
fn next_chunk(chunk: u64, took: Duration) -> u64 {
    let next = match took {
        _ if took > 2 * HOLDUP => chunk / 2,
        _ if took < HOLDUP / 2 => chunk * 2,
        _ => chunk,
    };
    next.clamp(*CHUNK.start(), *CHUNK.end())
}

/// A range without its edges; `None` if nothing is left.
fn inner(place: &Place) -> Option<Place> {
    let length = place.length.checked_sub(2 * EDGE).filter(|&length| length > 0)?;
    Some(Place { path: place.path.clone(), offset: place.offset.saturating_add(EDGE), length })
}

/// A file that is gone, or is none (a pipe would wait for a writer), is the map's business.
fn open(place: &Place) -> Option<File> {
    let flags = (OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits();
    let file = File::options().read(true).custom_flags(flags).open(&place.path).ok()?;
    file.metadata().is_ok_and(|metadata| metadata.is_file()).then_some(file)
}

fn advise(file: &File, place: &Place, advice: PosixFadviseAdvice) -> bool {
    let [offset, length] = [place.offset, place.length].map(|n| i64::try_from(n).unwrap_or(0));
    posix_fadvise(file, offset, length, advice).is_ok()
}

/// Whether nothing of a range is in memory, as far as a few places tell. The kernel may begin to read on from a place that
/// was looked at: hence from the last to the first, and a second look tells nothing.
fn is_cold(file: &File, place: &Place) -> bool {
    let step = (place.length / PROBES).max(1);
    let mut places = (0..PROBES).rev().map(|n| n * step).filter(|&at| at < place.length);
    // The first one that is in memory, or cannot be looked at, decides.
    places.all(|at| {
        let mut byte = [0];
        let read = preadv2(file, &mut [IoSliceMut::new(&mut byte)], place.offset + at, ReadWriteFlags::NOWAIT);
        read == Err(Errno::AGAIN)
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const LENGTH: u64 = 4 << 20;

    /// A file beside the sources, as temporary folders may lie in memory, and its whole range.
    fn written() -> (tempfile::NamedTempFile, Place) {
        let mut file = tempfile::NamedTempFile::new_in(".").expect("make a file");
        file.write_all(&vec![7; LENGTH as usize]).expect("write it");
        file.as_file().sync_all().expect("it reaches the disk");
        let place = Place { path: file.path().to_string_lossy().into_owned(), offset: 0, length: LENGTH };
        (file, place)
    }

    fn thread() -> Thread {
        Thread::new(Arc::default(), Arc::default())
    }

    /// Reads a range as if it had been asked for.
    fn read(thread: &mut Thread, place: &Place) {
        assert!(thread.queue.read(place));
        assert_eq!(thread.queue.next(), Some(Ask::Read(place.clone())));
        assert_eq!(thread.read(place), place.length);
    }

    // A file that was just written is in memory, as one that somebody else reads all day.
    #[test]
    fn what_was_in_memory_before_is_never_dropped() {
        let (file, place) = written();
        let mut thread = thread();
        assert!(!is_cold(file.as_file(), &place));
        read(&mut thread, &place);
        thread.drop_range(&place);
        assert!(!is_cold(file.as_file(), &place), "somebody else's pages are gone");
        assert_eq!(thread.dropped.load(Ordering::Relaxed), 0);
    }

    /// A file of which nothing is in memory, read by this worker alone; `None` where the kernel keeps pages or does not tell.
    fn read_by_us_alone(thread: &mut Thread) -> Option<(tempfile::NamedTempFile, Place)> {
        // It may keep pages of one file for a while, such as those that wait in another processor's list.
        (0..20).find_map(|_| {
            let (file, place) = written();
            assert!(advise(file.as_file(), &place, PosixFadviseAdvice::POSIX_FADV_DONTNEED));
            read(thread, &place);
            thread.ours.contains(&place).then_some((file, place))
        })
    }

    #[test]
    fn what_only_this_worker_had_read_is_dropped_once() {
        // The kernel may keep a page of one file for a while (see above): one of several goes when it is asked to.
        let goes = (0..20).any(|_| {
            let mut thread = thread();
            // Nothing of this worker's to drop, then.
            let Some((file, place)) = read_by_us_alone(&mut thread) else { return true };
            assert!(!is_cold(file.as_file(), &place), "nothing of it was read");
            for _ in 0..2 {
                thread.drop_range(&place);
                assert_eq!(thread.dropped.load(Ordering::Relaxed), LENGTH - 2 * EDGE);
            }
            let inner = inner(&place).expect("it is longer than its edges");
            let last = Place { offset: inner.offset + inner.length - 1, length: 1, ..inner };
            is_cold(file.as_file(), &last)
        });
        assert!(goes, "it is still in memory");
    }

    #[test]
    fn what_is_given_up_is_read_no_further() {
        let (_file, place) = written();
        let mut thread = thread();
        assert!(thread.queue.read(&place));
        assert_eq!(thread.queue.next(), Some(Ask::Read(place.clone())));
        thread.queue.drop_range(&place);
        assert_eq!(thread.read(&place), 0);
    }

    #[test]
    fn chunks_grow_while_the_disk_is_fast_and_shrink_until_nobody_waits_long_behind_one() {
        let ms = Duration::from_millis;
        let mut chunk = *CHUNK.start();
        for _ in 0..20 {
            chunk = next_chunk(chunk, ms(1));
        }
        assert_eq!(chunk, *CHUNK.end());
        assert_eq!([30, 41].map(|took| next_chunk(chunk, ms(took))), [chunk, chunk / 2]);
        assert_eq!(next_chunk(*CHUNK.start(), ms(500)), *CHUNK.start());
    }
}
