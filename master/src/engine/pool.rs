//! A few threads for work on file systems, which may hang: one job's work in order and one piece at a time, different
//! jobs' beside each other.
//!
//! A slow disk or a network file system that hangs so holds up the jobs that use it, and no others until all threads
//! wait for it.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use howdah_core::job::JobId;

struct Queue<W> {
    waiting: VecDeque<(JobId, W)>,
    busy: BTreeSet<JobId>,
    closed: bool,
}

struct Shared<W> {
    queue: Mutex<Queue<W>>,
    changed: Condvar,
}

impl<W> Shared<W> {
    fn lock(&self) -> MutexGuard<'_, Queue<W>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first piece of work whose job has none under way; `None` when there will be no more.
    fn next(&self) -> Option<(JobId, W)> {
        let mut queue = self.lock();
        loop {
            let free = queue.waiting.iter().position(|(job, _)| !queue.busy.contains(job));
            if let Some((job, work)) = free.and_then(|at| queue.waiting.remove(at)) {
                queue.busy.insert(job);
                return Some((job, work));
            }
            if queue.closed && queue.waiting.is_empty() {
                return None;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn done(&self, job: JobId) {
        self.lock().busy.remove(&job);
        self.changed.notify_all();
    }
}

/// The threads and what waits for them.
pub(super) struct Pool<W> {
    shared: Arc<Shared<W>>,
    threads: Vec<JoinHandle<()>>,
}

impl<W: Send + 'static> Pool<W> {
    /// Starts `n` threads, each of which calls `perform` with one piece of work after another.
    pub(super) fn start(name: &str, n: usize, perform: impl Fn(W) + Send + Sync + 'static) -> Pool<W> {
        let queue = Queue { waiting: VecDeque::new(), busy: BTreeSet::new(), closed: false };
        let shared = Arc::new(Shared { queue: Mutex::new(queue), changed: Condvar::new() });
        let perform = Arc::new(perform);
        let spawn = |_| {
            let (shared, perform) = (Arc::clone(&shared), Arc::clone(&perform));
            let body = move || {
                while let Some((job, work)) = shared.next() {
                    perform(work);
                    shared.done(job);
                }
            };
            std::thread::Builder::new().name(name.to_owned()).spawn(body).expect("the system starts threads")
        };
        Pool { threads: (0..n.max(1)).map(spawn).collect(), shared }
    }

    /// Adds work after that of the same job.
    pub(super) fn send(&self, job: JobId, work: W) {
        self.shared.lock().waiting.push_back((job, work));
        self.shared.changed.notify_one();
    }

    /// Waits until all that was handed over is done.
    pub(super) fn finish(self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    #[test]
    fn work_of_a_job_that_hangs_does_not_hold_up_other_jobs() {
        let (release, hang) = mpsc::channel::<()>();
        let (done, ends) = mpsc::channel();
        let hang = Mutex::new(hang);
        let pool = Pool::start("test", 2, move |(job, n): (u32, u32)| {
            if (job, n) == (1, 0) {
                hang.lock().unwrap().recv().unwrap();
            }
            done.send((job, n)).unwrap();
        });
        for (job, n) in [(1, 0), (1, 1), (2, 0), (3, 0)] {
            pool.send(JobId(job), (job, n));
        }
        let next = || ends.recv_timeout(PATIENCE).unwrap();
        assert_eq!([next(), next()], [(2, 0), (3, 0)], "the hanging job's second piece waits for its first");
        release.send(()).unwrap();
        assert_eq!([next(), next()], [(1, 0), (1, 1)]);
        pool.finish();
    }

    #[test]
    fn all_work_is_done_at_the_end() {
        let (done, ends) = mpsc::channel();
        let pool = Pool::start("test", 3, move |n: u32| done.send(n).unwrap());
        (0..100).for_each(|n| pool.send(JobId(n % 7), n));
        pool.finish();
        let mut all: Vec<u32> = ends.into_iter().collect();
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
    }
}
