//! Input that is in the page cache before its maps start, as the master's forecast says which maps run here and when.
//!
//! Two lists come with a forecast: what the next maps read, which is read ahead, and what later ones read, which stays in
//! memory once a map here has read it (*retention*). What nobody names any more is dropped, if nobody but this worker had it
//! read. What was announced and not yet read by a map, and what is retained, stay within `prefetch_bytes` together: for
//! what comes next, the range that is needed last has to go. It is a hint and nothing else: without it, or with a wrong
//! one, maps read as they always do. Source: Wang et al., ICPADS 2013, §IV-A.

mod advice;
mod queue;
mod range;

use std::collections::VecDeque;

use howdah_core::job::Split;
use howdah_proto::v1;

use self::advice::Kernel;
use self::range::{Place, Range};

/// Has ranges read ahead, retains and counts.
#[derive(Debug)]
pub(crate) struct Prefetcher {
    budget: u64,
    /// Announced and not read by a map yet, oldest first; of some the reading has not begun.
    held: VecDeque<Range>,
    /// Being read by maps; one for each of them.
    reading: Vec<Range>,
    /// Read by a map, and in memory for another that is still to come.
    retained: VecDeque<Place>,
    /// What maps will read here by the last forecast, first needed first.
    named: Vec<Range>,
    costs: v1::PrefetchCosts,
    kernel: Kernel,
}

impl Prefetcher {
    /// With so many bytes of memory; `None` without any, or without a thread.
    pub(crate) fn start(budget: u64) -> Option<Prefetcher> {
        if budget == 0 {
            return None;
        }
        Some(Prefetcher::over(Kernel::start()?, budget))
    }

    fn over(kernel: Kernel, budget: u64) -> Prefetcher {
        Prefetcher {
            budget,
            held: VecDeque::new(),
            reading: Vec::new(),
            retained: VecDeque::new(),
            named: Vec::new(),
            costs: v1::PrefetchCosts::default(),
            kernel,
        }
    }

    /// The ranges that are needed next and those that are needed later, each first needed first. An answer without
    /// a new forecast names none.
    pub(crate) fn named(&mut self, next: Vec<v1::SplitRange>, later: Vec<v1::SplitRange>) {
        if next.is_empty() && later.is_empty() {
            return;
        }
        let next: Vec<Range> = next.into_iter().map(Range::from).collect();
        self.named = next.iter().cloned().chain(later.into_iter().map(Range::from)).collect();
        self.release();
        self.read_ahead(&next);
        let rank = |place: &Place| next.iter().position(|range| range.place == *place).unwrap_or(usize::MAX);
        self.kernel.queue().order(rank);
    }

    fn read_ahead(&mut self, next: &[Range]) {
        for range in next {
            let place = &range.place;
            if self.held.contains(range) || place.length == 0 || place.length > self.budget {
                continue;
            }
            // It is in memory, or a map is reading it there now.
            if self.retained.contains(place) || self.is_read(place) {
                continue;
            }
            if !self.make_room(place.length, next) || !self.kernel.queue().read(place) {
                return;
            }
            self.costs.announced_bytes += place.length;
            self.held.push_back(range.clone());
        }
    }

    /// Lets go of what is not among the next ones, then of what is needed last, until there is room.
    fn make_room(&mut self, length: u64, next: &[Range]) -> bool {
        while self.bytes() + length > self.budget {
            if let Some(old) = self.held.iter().position(|held| !next.contains(held)) {
                self.waste(old);
                continue;
            }
            let is_next = |place: &Place| next.iter().any(|range| range.place == *place);
            let needed = |place: &Place| self.named.iter().position(|range| range.place == *place);
            let spare = (0..self.retained.len()).filter(|&at| !is_next(&self.retained[at]));
            let Some(last) = spare.max_by_key(|&at| needed(&self.retained[at]).unwrap_or(usize::MAX)) else {
                return false;
            };
            if let Some(place) = self.retained.remove(last) {
                self.kernel.queue().drop_range(&place);
            }
        }
        true
    }

    /// A map of a job starts to read its split.
    pub(crate) fn started(&mut self, job: u32, split: &Split) {
        let Some(range) = Range::of(job, split) else { return };
        if let Some(at) = self.named.iter().position(|named| *named == range) {
            self.named.remove(at);
        }
        if let Some(at) = self.held.iter().position(|held| *held == range) {
            self.held.remove(at);
            // What nobody has begun to read the map reads faster by itself.
            if self.take_back(&range.place) {
                self.costs.misses += 1;
            } else {
                self.costs.hits += 1;
            }
        } else if let Some(at) = self.retained.iter().position(|place| *place == range.place) {
            self.retained.remove(at);
            self.costs.hits += 1;
            self.costs.retained_hits += 1;
        } else {
            self.costs.misses += 1;
        }
        self.reading.push(range);
    }

    /// A map of a job has read its split, or has failed to: it stays in memory if another will read it here.
    pub(crate) fn ended(&mut self, job: u32, split: &Split) {
        let Some(range) = Range::of(job, split) else { return };
        let Some(at) = self.reading.iter().position(|reading| *reading == range) else { return };
        let place = self.reading.swap_remove(at).place;
        if self.is_read(&place) || self.retained.contains(&place) {
            return;
        }
        let announced = self.held.iter().any(|held| held.place == place);
        let fits = self.bytes() + place.length <= self.budget;
        if !announced && self.is_named(&place) && fits {
            self.retained.push_back(place);
        } else if !announced {
            self.kernel.queue().drop_range(&place);
        }
    }

    /// A job is over: nobody will read what was announced or retained for it alone.
    pub(crate) fn forget(&mut self, job: u32) {
        self.named.retain(|range| range.job != job);
        self.reading.retain(|range| range.job != job);
        while let Some(at) = self.held.iter().position(|held| held.job == job) {
            self.waste(at);
        }
        self.release();
    }

    /// Since the worker's start.
    pub(crate) fn costs(&self) -> v1::PrefetchCosts {
        v1::PrefetchCosts { retained_bytes: self.retained_bytes(), dropped_bytes: self.kernel.dropped(), ..self.costs }
    }

    fn retained_bytes(&self) -> u64 {
        self.retained.iter().map(|place| place.length).sum()
    }

    /// All that counts against the budget.
    fn bytes(&self) -> u64 {
        self.held.iter().map(|range| range.place.length).sum::<u64>() + self.retained_bytes()
    }

    fn is_named(&self, place: &Place) -> bool {
        self.named.iter().any(|range| range.place == *place)
    }

    fn is_read(&self, place: &Place) -> bool {
        self.reading.iter().any(|range| range.place == *place)
    }

    /// Drops what was retained and nobody names any more.
    fn release(&mut self) {
        let (stay, go): (VecDeque<Place>, VecDeque<Place>) =
            std::mem::take(&mut self.retained).into_iter().partition(|place| self.is_named(place));
        self.retained = stay;
        go.iter().for_each(|place| self.kernel.queue().drop_range(place));
    }

    /// Takes back what was announced if nothing of it was read yet; false if it was.
    fn take_back(&mut self, place: &Place) -> bool {
        let is_back = self.kernel.queue().take_back(place);
        if is_back {
            self.costs.announced_bytes -= place.length;
        }
        is_back
    }

    fn waste(&mut self, at: usize) {
        let Some(Range { place, .. }) = self.held.remove(at) else { return };
        let wanted = self.held.iter().any(|held| held.place == place) || self.is_read(&place);
        if !wanted && self.take_back(&place) {
            return;
        }
        self.costs.wasted_bytes += place.length;
        if !wanted {
            self.kernel.queue().drop_range(&place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::queue::Ask;

    /// With this test in the thread's place.
    fn prefetcher(budget: u64) -> Prefetcher {
        Prefetcher::over(Kernel::idle(), budget)
    }

    /// As the thread does all that it is asked for; the offsets of what it reads, in order.
    fn read_all(prefetcher: &Prefetcher) -> Vec<u64> {
        let read = |ask| match ask {
            Ask::Read(place) => Some(place.offset),
            Ask::Drop(_) => None,
        };
        prefetcher.kernel.queue().take_all().into_iter().filter_map(read).collect()
    }

    fn range(job: u32, offset: u64) -> v1::SplitRange {
        v1::SplitRange { job, path: "/nowhere/input".to_owned(), offset, length: 10 }
    }

    fn split(offset: u64) -> Split {
        Split::File { path: "/nowhere/input".to_owned(), offset, length: 10, hosts: Vec::new(), file: None }
    }

    fn retained(prefetcher: &Prefetcher) -> Vec<u64> {
        prefetcher.retained.iter().map(|place| place.offset).collect()
    }

    #[test]
    fn what_was_announced_is_a_hit_once_and_all_else_a_miss() {
        let mut prefetcher = prefetcher(100);
        prefetcher.named(vec![range(1, 0), range(1, 10), range(1, 0)], Vec::new());
        assert_eq!(read_all(&prefetcher), [0, 10]);
        for offset in [0, 20, 0] {
            prefetcher.started(1, &split(offset));
        }
        prefetcher.started(1, &Split::Generated);
        prefetcher.forget(1);
        let costs = v1::PrefetchCosts {
            hits: 1,
            misses: 2,
            announced_bytes: 20,
            wasted_bytes: 10,
            ..v1::PrefetchCosts::default()
        };
        assert_eq!(prefetcher.costs(), costs);
    }

    #[test]
    fn no_more_is_held_than_the_budget_and_what_is_no_longer_named_goes_first() {
        let mut prefetcher = prefetcher(25);
        prefetcher.named(vec![range(1, 0), range(1, 10), range(1, 20)], Vec::new());
        assert_eq!(read_all(&prefetcher), [0, 10]);
        assert_eq!((prefetcher.bytes(), prefetcher.costs().wasted_bytes), (20, 0), "the third waits");
        prefetcher.named(vec![range(1, 10), range(2, 30)], Vec::new());
        assert_eq!((prefetcher.bytes(), prefetcher.costs().wasted_bytes), (20, 10));
        let next = vec![v1::SplitRange { length: 26, ..range(3, 0) }, v1::SplitRange { length: 0, ..range(3, 1) }];
        prefetcher.named(next, Vec::new());
        assert_eq!(prefetcher.costs().announced_bytes, 30, "what never fits, and what is nothing, is left alone");
        assert!(Prefetcher::start(0).is_none());
    }

    #[test]
    fn what_another_job_will_read_here_stays_and_is_a_hit_for_it() {
        let mut prefetcher = prefetcher(100);
        prefetcher.named(vec![range(1, 0), range(1, 10)], vec![range(2, 0)]);
        assert_eq!(read_all(&prefetcher), [0, 10]);
        for offset in [0, 10] {
            prefetcher.started(1, &split(offset));
            assert_eq!(retained(&prefetcher), [0][..usize::from(offset > 0)], "nothing is retained that is being read");
            prefetcher.ended(1, &split(offset));
        }
        assert_eq!(retained(&prefetcher), [0], "nobody named the other one");
        prefetcher.named(vec![range(2, 0)], Vec::new());
        assert_eq!(prefetcher.costs().announced_bytes, 20, "it is in memory and not announced again");
        prefetcher.started(2, &split(0));
        let costs = prefetcher.costs();
        assert_eq!((costs.hits, costs.retained_hits, costs.misses, costs.retained_bytes), (3, 1, 0, 0));
        prefetcher.ended(2, &split(0));
        assert_eq!(retained(&prefetcher), [0; 0], "nobody needs it a third time");
    }

    #[test]
    fn what_is_retained_shares_the_budget_and_the_range_that_is_needed_last_makes_room() {
        let mut prefetcher = prefetcher(30);
        let later = || vec![range(2, 20), range(2, 0), range(2, 10)];
        prefetcher.named(vec![range(1, 0), range(1, 10), range(1, 20)], later());
        for offset in [0, 10, 20] {
            prefetcher.started(1, &split(offset));
            prefetcher.ended(1, &split(offset));
        }
        assert_eq!((retained(&prefetcher), prefetcher.bytes()), (vec![0, 10, 20], 30));
        prefetcher.named(vec![range(3, 90)], later());
        assert_eq!((retained(&prefetcher), prefetcher.bytes()), (vec![0, 20], 30), "the last of the later ones went");
        prefetcher.forget(2);
        assert_eq!(retained(&prefetcher), [0; 0], "nobody is left who would read it");
    }

    #[test]
    fn a_map_whose_input_nobody_has_begun_to_read_reads_it_alone_and_is_a_miss() {
        let mut prefetcher = prefetcher(100);
        prefetcher.named(vec![range(1, 0), range(1, 10)], Vec::new());
        prefetcher.started(1, &split(0));
        let costs = v1::PrefetchCosts { misses: 1, announced_bytes: 10, ..v1::PrefetchCosts::default() };
        assert_eq!((prefetcher.costs(), read_all(&prefetcher)), (costs, vec![10]));
    }

    #[test]
    fn a_new_forecast_puts_what_waits_in_its_order_and_takes_back_for_nothing_what_it_no_longer_names() {
        let mut prefetcher = prefetcher(30);
        prefetcher.named(vec![range(1, 0), range(1, 10), range(1, 20)], Vec::new());
        prefetcher.named(vec![range(2, 30), range(1, 20), range(1, 10)], Vec::new());
        assert_eq!(read_all(&prefetcher), [30, 20, 10]);
        let costs = prefetcher.costs();
        assert_eq!((costs.announced_bytes, costs.wasted_bytes), (30, 0));
    }
}
