//! Input that is read into the page cache before its maps start, as the master's forecast says which come next.
//!
//! The kernel reads, asked with `posix_fadvise(WILLNEED)` on a thread of its own: no attempt and no heartbeat waits for it.
//! What was announced and not yet read by a map stays within `prefetch_bytes`; beyond it what nobody names any more goes
//! first, as wasted. It is a hint and nothing else: without it, or with a wrong one, maps read as they always do. Source:
//! Wang et al., ICPADS 2013, §IV-A.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::mpsc::{SyncSender, sync_channel};

use howdah_core::job::Split;
use howdah_proto::v1;
use nix::fcntl::{OFlag, PosixFadviseAdvice, posix_fadvise};

/// Ranges that may wait for the thread.
const WAITING: usize = 256;

/// Part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Range {
    job: u32,
    path: String,
    offset: u64,
    length: u64,
}

/// Announces and counts.
#[derive(Debug)]
pub(crate) struct Prefetcher {
    budget: u64,
    /// Announced and not read by a map yet, oldest first.
    held: VecDeque<Range>,
    costs: v1::PrefetchCosts,
    read: SyncSender<Range>,
}

impl Prefetcher {
    /// With so many bytes of memory; `None` without any, or without a thread.
    pub(crate) fn start(budget: u64) -> Option<Prefetcher> {
        if budget == 0 {
            return None;
        }
        let (read, ranges) = sync_channel::<Range>(WAITING);
        let body = move || ranges.into_iter().for_each(|range| announce(&range));
        if let Err(error) = std::thread::Builder::new().name("prefetch".to_owned()).spawn(body) {
            tracing::warn!(%error, "there can be no prefetch thread; input is read when maps start");
            return None;
        }
        Some(Prefetcher { budget, held: VecDeque::new(), costs: v1::PrefetchCosts::default(), read })
    }

    /// The ranges that are needed next, first needed first.
    pub(crate) fn want(&mut self, wanted: Vec<v1::SplitRange>) {
        let wanted: Vec<Range> = wanted.into_iter().map(Range::from).collect();
        for range in &wanted {
            if self.held.contains(range) || range.length == 0 || range.length > self.budget {
                continue;
            }
            while self.held_bytes() + range.length > self.budget {
                let Some(old) = self.held.iter().position(|held| !wanted.contains(held)) else { return };
                self.waste(old);
            }
            if self.read.try_send(range.clone()).is_err() {
                return;
            }
            self.costs.announced_bytes += range.length;
            self.held.push_back(range.clone());
        }
    }

    /// A map of a job starts to read its split.
    pub(crate) fn started(&mut self, job: u32, split: &Split) {
        let Split::File { path, offset, .. } = split else { return };
        let mine = |held: &Range| held.job == job && held.offset == *offset && held.path == *path;
        match self.held.iter().position(mine) {
            Some(at) => {
                self.held.remove(at);
                self.costs.hits += 1;
            }
            None => self.costs.misses += 1,
        }
    }

    /// A job is over: nobody will read what was announced for it.
    pub(crate) fn forget(&mut self, job: u32) {
        while let Some(at) = self.held.iter().position(|held| held.job == job) {
            self.waste(at);
        }
    }

    /// Since the worker's start.
    pub(crate) fn costs(&self) -> v1::PrefetchCosts {
        self.costs
    }

    fn held_bytes(&self) -> u64 {
        self.held.iter().map(|range| range.length).sum()
    }

    fn waste(&mut self, at: usize) {
        if let Some(range) = self.held.remove(at) {
            self.costs.wasted_bytes += range.length;
        }
    }
}

impl From<v1::SplitRange> for Range {
    fn from(range: v1::SplitRange) -> Range {
        let v1::SplitRange { job, path, offset, length } = range;
        Range { job, path, offset, length }
    }
}

/// Asks the kernel. A file that is gone, or is none (a pipe would wait for a writer), is the map's business.
fn announce(range: &Range) {
    let flags = (OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits();
    let Ok(file) = File::options().read(true).custom_flags(flags).open(&range.path) else { return };
    if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        let [offset, length] = [range.offset, range.length].map(|n| i64::try_from(n).unwrap_or(0));
        let _ = posix_fadvise(&file, offset, length, PosixFadviseAdvice::POSIX_FADV_WILLNEED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(job: u32, offset: u64) -> v1::SplitRange {
        v1::SplitRange { job, path: "/nowhere/input".to_owned(), offset, length: 10 }
    }

    fn split(offset: u64) -> Split {
        Split::File { path: "/nowhere/input".to_owned(), offset, length: 10, hosts: Vec::new(), file: None }
    }

    #[test]
    fn what_was_announced_is_a_hit_once_and_all_else_a_miss() {
        let mut prefetcher = Prefetcher::start(100).expect("it has memory");
        prefetcher.want(vec![range(1, 0), range(1, 10), range(1, 0)]);
        for offset in [0, 20, 0] {
            prefetcher.started(1, &split(offset));
        }
        prefetcher.started(1, &Split::Generated);
        prefetcher.forget(1);
        let costs = v1::PrefetchCosts { hits: 1, misses: 2, announced_bytes: 20, wasted_bytes: 10 };
        assert_eq!(prefetcher.costs(), costs);
    }

    #[test]
    fn no_more_is_held_than_the_budget_and_what_is_no_longer_named_goes_first() {
        let mut prefetcher = Prefetcher::start(25).expect("it has memory");
        prefetcher.want(vec![range(1, 0), range(1, 10), range(1, 20)]);
        assert_eq!((prefetcher.held_bytes(), prefetcher.costs().wasted_bytes), (20, 0), "the third waits");
        prefetcher.want(vec![range(1, 10), range(2, 0)]);
        assert_eq!((prefetcher.held_bytes(), prefetcher.costs().wasted_bytes), (20, 10));
        prefetcher
            .want(vec![v1::SplitRange { length: 26, ..range(3, 0) }, v1::SplitRange { length: 0, ..range(3, 1) }]);
        assert_eq!(prefetcher.costs().announced_bytes, 30, "what never fits, and what is nothing, is left alone");
        assert!(Prefetcher::start(0).is_none());
    }
}
