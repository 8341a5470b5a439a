//! The reduce's side of the shuffle: fetches its partition of every map's output.
//!
//! One thread (this one) decides: it takes the worker's events, keeps track of maps ([`state`]), hands fetches to
//! fetcher threads ([`fetcher`]), of which it starts as many as are needed and at most `mapred.reduce.parallel.copies`,
//! and merges what is in memory to disk when that is full ([`memory`]).
//!
//! Memory: fetched segments hold at most `howdah.shuffle.memory.mb` (140 MiB); a segment of more than a quarter of
//! that goes to disk as it arrives. While merging, each segment takes one block more, which is why many small ones are
//! merged before the memory is full.
//!
//! Deadlines: a connection, an answer and each piece of it have one; what misses it counts as a failed fetch. A shuffle
//! that has something to fetch and gets nothing gives no sign of life, so that the task's timeout ends it. One that waits
//! for maps to finish does.

mod fetcher;
mod memory;
mod state;

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use self::fetcher::{Ends, Fetch, Fetched, Fetcher, Patience, Place, Wake};
use self::memory::Budget;
use self::state::{MapStates, Verdict};
use crate::api::context::Context;
use crate::api::error::TaskError;
use crate::merge::{CombineStep, Merge, MergePlan};
use crate::process::link::{Incoming, Link};
use crate::segment::{Run, RunWriter, SegmentReader};
use crate::umbilical::{FromTask, ToTask};

/// Segments in memory at which they are merged even if they are small: each costs a reader.
/// `Deviation:` 1,000 in Hadoop, whose readers of segments in memory hold no block of their own.
const MOST_SEGMENTS: usize = 256;
/// Longest wait without a sign of life.
const BEAT: Duration = Duration::from_millis(500);

/// Everything that was fetched.
pub(crate) struct Collected {
    /// Segments in memory, each with what to call it.
    pub(crate) memory: Vec<(Arc<Vec<u8>>, String)>,
    /// Runs on disk, of one segment each.
    pub(crate) runs: Vec<Run>,
}

/// Fetches this reduce's partition of all maps.
pub(crate) fn fetch(
    context: &Context,
    link: &Link,
    plan: &MergePlan,
    combine: &mut CombineStep,
) -> Result<Collected, TaskError> {
    let properties = context.properties();
    let copies = properties.parse_or::<usize>(
        &["mapred.reduce.parallel.copies", "mapreduce.reduce.shuffle.parallelcopies"],
        5,
        "a number of threads from 1 to 100",
    )?;
    let megabytes = properties.parse_or::<usize>(&["howdah.shuffle.memory.mb"], 140, "a number of MiB from 1")?;
    let most_segments = properties.parse_or(
        &["mapred.inmem.merge.threshold", "mapreduce.reduce.merge.inmem.threshold"],
        MOST_SEGMENTS as i64,
        "a number of map outputs; 0 or less for any",
    )?;
    let (results, finished) = channel();
    let (wake_read, wake) = Wake::pair()?;
    let mut shuffle = Shuffle {
        context,
        link,
        plan,
        combine,
        maps: MapStates::new(context.n_maps()),
        patience: Patience::of(properties)?,
        budget: Arc::new(Budget::new(megabytes.clamp(1, 1 << 16) << 20)),
        moved: Arc::default(),
        n_moved: 0,
        is_news: true,
        fetchers: Vec::new(),
        copies: copies.clamp(1, 100),
        results,
        finished,
        wake,
        memory: Vec::new(),
        most_segments: usize::try_from(most_segments).ok().filter(|&most| most > 0).unwrap_or(usize::MAX),
        runs: Vec::new(),
        n_merges: 0,
    };
    while !shuffle.maps.all_fetched() {
        shuffle.dispatch()?;
        shuffle.wait(&wake_read)?;
        shuffle.take_messages()?;
        shuffle.take_results()?;
        shuffle.relieve_memory()?;
        shuffle.beat()?;
    }
    context.log(&format!(
        "fetched {} map outputs, {} bytes; {} segments in memory, {} on disk",
        context.n_maps(),
        context.tally().reduce_shuffle_bytes.get(),
        shuffle.memory.len(),
        shuffle.runs.len()
    ));
    Ok(Collected { memory: std::mem::take(&mut shuffle.memory), runs: std::mem::take(&mut shuffle.runs) })
}

struct Shuffle<'a> {
    context: &'a Context,
    link: &'a Link,
    plan: &'a MergePlan,
    combine: &'a mut CombineStep,
    maps: MapStates,
    patience: Patience,
    budget: Arc<Budget>,
    /// Bytes that the fetchers were sent.
    moved: Arc<AtomicU64>,
    /// How many when this was last looked at.
    n_moved: u64,
    /// Whether anything came on since the last sign of life.
    is_news: bool,
    fetchers: Vec<Fetcher>,
    copies: usize,
    results: Sender<Fetched>,
    finished: Receiver<Fetched>,
    wake: Wake,
    memory: Vec<(Arc<Vec<u8>>, String)>,
    most_segments: usize,
    runs: Vec<Run>,
    n_merges: usize,
}

impl Drop for Shuffle<'_> {
    fn drop(&mut self) {
        // Fetchers that wait for memory find that there is nobody to fetch for.
        self.budget.close();
    }
}

impl Shuffle<'_> {
    /// Gives work to idle fetchers, starting new ones up to the limit.
    fn dispatch(&mut self) -> Result<(), TaskError> {
        loop {
            let idle = self.fetchers.iter().position(|fetcher| !fetcher.busy);
            if idle.is_none() && self.fetchers.len() == self.copies {
                return Ok(());
            }
            let Some(fetch) = self.maps.next(Instant::now()) else { return Ok(()) };
            let index = match idle {
                Some(index) => index,
                None => {
                    let number = self.fetchers.len();
                    let ends = Ends {
                        budget: self.budget.clone(),
                        moved: self.moved.clone(),
                        results: self.results.clone(),
                        wake: self.wake.try_clone()?,
                    };
                    self.fetchers.push(Fetcher::start(number, self.context.spec(), self.patience, ends)?);
                    number
                }
            };
            self.fetchers[index].give(Fetch { fetcher: index, ..fetch })?;
        }
    }

    /// Waits for the worker, for a fetcher, for a retry's time, or for the next beat.
    fn wait(&mut self, wake_read: &std::os::unix::net::UnixStream) -> Result<(), TaskError> {
        let beat = Instant::now() + BEAT;
        let deadline = self.maps.next_retry().map_or(beat, |at| at.min(beat));
        if !self.link.has_line() {
            let woken = self.link.wait(Some(wake_read.as_fd()), deadline)?.other;
            if woken {
                Wake::drain(wake_read);
            }
        }
        Ok(())
    }

    /// A sign of life, unless there is something to fetch and nothing of it comes: then the task's timeout counts.
    fn beat(&mut self) -> Result<(), TaskError> {
        let n_moved = self.moved.load(Ordering::Relaxed);
        self.is_news |= n_moved != self.n_moved || !self.maps.has_sources();
        self.n_moved = n_moved;
        if self.is_news && self.context.is_due(Instant::now()) {
            self.is_news = false;
            let fetched = f64::from(self.maps.n_fetched()) / f64::from(self.context.n_maps().max(1));
            self.context.report(fetched / 3.0)?;
        }
        Ok(())
    }

    fn take_messages(&mut self) -> Result<(), TaskError> {
        loop {
            match self.link.receive(Some(Instant::now()))? {
                Incoming::Message(ToTask::MapEvents { events }) => {
                    self.is_news |= !events.is_empty();
                    for event in events {
                        if !self.maps.on_event(event) {
                            self.context.log("an event names a map that the job does not have");
                        }
                    }
                }
                Incoming::Nothing => return Ok(()),
                Incoming::Message(ToTask::CommitGranted) => {}
                Incoming::Message(ToTask::Exit | ToTask::Run(_)) | Incoming::Closed => {
                    return Err(TaskError::Umbilical("the worker took the attempt back while it fetched".to_owned()));
                }
            }
        }
    }

    fn take_results(&mut self) -> Result<(), TaskError> {
        while let Ok(fetched) = self.finished.try_recv() {
            self.fetchers[fetched.fetch.fetcher].busy = false;
            let Fetch { map, attempt, .. } = fetched.fetch;
            match fetched.place {
                Ok(place) => {
                    self.maps.on_fetched(map);
                    self.keep(place, &attempt);
                }
                Err(fetcher::FetchError::Unusable(error)) => return Err(error),
                Err(fetcher::FetchError::Failed(message)) => {
                    self.context.log(&format!("fetch of {attempt} failed: {message}"));
                    if self.maps.on_failed(map, &attempt, Instant::now()) == Verdict::Report {
                        self.link.send(&FromTask::FetchFailure { attempt, message })?;
                    }
                }
            }
        }
        Ok(())
    }

    fn keep(&mut self, place: Place, attempt: &str) {
        let tally = self.context.tally();
        match place {
            Place::Memory { bytes, records } => {
                tally.reduce_shuffle_bytes.add(bytes.len() as u64);
                if records == 0 {
                    self.budget.release(bytes.len());
                } else {
                    self.memory.push((Arc::new(bytes), format!("map output of {attempt} in memory")));
                }
            }
            Place::Disk(run) => {
                tally.reduce_shuffle_bytes.add(run.bytes);
                tally.file_bytes_written.add(run.bytes);
                self.runs.push(run);
            }
        }
    }

    /// Merges memory to disk when it is full, and runs when they are many.
    fn relieve_memory(&mut self) -> Result<(), TaskError> {
        let full = self.budget.is_full() || self.memory.len() >= self.most_segments;
        if full && !self.memory.is_empty() {
            let segments = std::mem::take(&mut self.memory);
            let bytes: usize = segments.iter().map(|(bytes, _)| bytes.len()).sum();
            let n = segments.len();
            let run = self.merge_to_disk(segments)?;
            self.budget.release(bytes);
            self.context.log(&format!("merged {n} segments of {bytes} bytes in memory to {} on disk", run.bytes));
            self.runs.push(run);
        }
        if self.runs.len() >= 2 * self.plan.factor {
            let runs = std::mem::take(&mut self.runs);
            let name = format!("shuffle-merge.{}", self.n_merges);
            self.n_merges += 1;
            self.runs = self.plan.shrink(runs, &name, self.combine, self.context)?;
        }
        Ok(())
    }

    fn merge_to_disk(&mut self, segments: Vec<(Arc<Vec<u8>>, String)>) -> Result<Run, TaskError> {
        let path = self.plan.dir.join(format!("shuffle-memory.{}", self.n_merges));
        self.n_merges += 1;
        let mut readers = Vec::with_capacity(segments.len());
        for (bytes, what) in segments {
            readers.push(SegmentReader::memory(bytes, what)?);
        }
        let writer = RunWriter::create(path, self.plan.codec, self.context)?;
        let run = self.combine.write_segment(&mut Merge::new(readers, self.plan.order.clone()), writer)?.finish()?;
        self.context.tally().spilled_records.add(run.places.iter().map(|place| place.records).sum());
        Ok(run)
    }
}
