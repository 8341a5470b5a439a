//! Pieces of work that do not need each other, on all cores.
//!
//! They are handed out in their order, one after another to whichever thread is free, and their results come back in
//! that order: **nothing depends on the number of threads.** The caller learns how far it is and may stop it, on the thread
//! that asked.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// At least so often it is asked whether to go on.
const PATIENCE: Duration = Duration::from_millis(100);

/// Threads with something of their own each, which they keep from one set of work to the next.
pub struct Crew<S> {
    own: Vec<S>,
}

impl Crew<()> {
    /// One thread per core, with nothing of its own.
    pub fn of_cores() -> Crew<()> {
        Crew::new(0, || ())
    }
}

impl<S: Send> Crew<S> {
    /// So many threads, or one per core for 0.
    pub fn new(threads: usize, own: impl Fn() -> S) -> Crew<S> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if threads == 0 { cores() } else { threads };
        Crew { own: (0..threads).map(|_| own()).collect() }
    }

    /// `work` of each item, in the items' order; `None` if it was stopped. `goes_on` is told how many are done: before
    /// the first one begins, after each, and every now and then; once it answers false, nothing more begins.
    ///
    /// # Errors
    /// That of the first item in their order that has one; what comes behind it need not have begun.
    pub fn each<T: Sync, R: Send, E: Send>(
        &mut self,
        items: &[T],
        work: impl Fn(&mut S, &T) -> Result<R, E> + Sync,
        mut goes_on: impl FnMut(usize) -> bool,
    ) -> Result<Option<Vec<R>>, E> {
        if !goes_on(0) {
            return Ok(None);
        }
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (tell, done_counts) = mpsc::channel();
        let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
        let (mut done, mut stopped, mut failed) = (0, false, None::<(usize, E)>);
        std::thread::scope(|scope| {
            for own in self.own.iter_mut().take(items.len()) {
                let (tell, next, stop, work) = (tell.clone(), &next, &stop, &work);
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let Some(item) = items.get(place) else { return };
                        if tell.send((place, work(own, item))).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(tell);
            loop {
                match done_counts.recv_timeout(PATIENCE) {
                    Ok((place, Ok(result))) => {
                        results[place] = Some(result);
                        done += 1;
                    }
                    // Those before it have begun, so that the first of all errors comes too.
                    Ok((place, Err(error))) => {
                        stop.store(true, Ordering::Relaxed);
                        if failed.as_ref().is_none_or(|(first, _)| place < *first) {
                            failed = Some((place, error));
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return,
                }
                if !stopped && !goes_on(done) {
                    stopped = true;
                    stop.store(true, Ordering::Relaxed);
                }
            }
        });
        match failed {
            Some((_, error)) => Err(error),
            None if stopped => Ok(None),
            None => Ok(results.into_iter().collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(_: &mut (), n: &u32) -> Result<u32, u32> {
        if *n == 13 || *n == 40 { Err(*n) } else { Ok(2 * n) }
    }

    #[test]
    fn results_come_in_the_order_of_the_items_whatever_the_number_of_threads() {
        let items: Vec<u32> = (50..150).collect();
        let doubled: Vec<u32> = items.iter().map(|n| 2 * n).collect();
        for threads in [1, 3, 200] {
            let mut counts = Vec::new();
            let found = Crew::new(threads, || ()).each(&items, double, |done| {
                counts.push(done);
                true
            });
            assert_eq!(found, Ok(Some(doubled.clone())));
            assert!(counts.is_sorted() && counts.first() == Some(&0) && counts.last() == Some(&100), "{counts:?}");
        }
        assert_eq!(Crew::of_cores().each(&[], double, |_| true), Ok(Some(vec![])));
    }

    #[test]
    fn the_first_error_of_all_is_reported() {
        let items: Vec<u32> = (0..100).collect();
        for threads in [1, 2, 8] {
            assert_eq!(Crew::new(threads, || ()).each(&items, double, |_| true), Err(13));
        }
    }

    #[test]
    fn a_stop_counts_before_the_first_item_and_after_the_last() {
        let begun = AtomicUsize::new(0);
        let mut crew = Crew::of_cores();
        let mut each = |until: usize| {
            let count = |_: &mut (), _: &u8| Ok::<_, ()>(begun.fetch_add(1, Ordering::Relaxed));
            crew.each(&[0; 5], count, |done| done < until)
        };
        assert_eq!((each(0), begun.load(Ordering::Relaxed)), (Ok(None), 0));
        assert_eq!(each(5), Ok(None));
    }

    #[test]
    fn threads_keep_what_is_their_own() {
        let mut crew = Crew::new(1, || 0u32);
        let count = |own: &mut u32, _: &u8| {
            *own += 1;
            Ok::<u32, ()>(*own)
        };
        assert_eq!(crew.each(&[0; 3], count, |_| true), Ok(Some(vec![1, 2, 3])));
        assert_eq!(crew.each(&[0; 2], count, |_| true), Ok(Some(vec![4, 5])));
    }
}
