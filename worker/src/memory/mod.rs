//! Attempts whose processes hold more memory than their job asked for.
//!
//! A thread of its own looks twice a second at the attempts of jobs that name their tasks' memory
//! (`mapred.job.map.memory.mb` and the like). One that holds more has failed, with that reason: left alone it would take the
//! memory that other slots were promised, until the system ends whoever it likes, the worker included. Source:
//! `docs/hadoop.md#capacity`.
//!
//! A process that has just split in two, to start a program, holds everything twice for a moment. So what is over the limit
//! fails at the second look; what is over twice the limit, at the first.
//! Deviation: Hadoop bounds virtual memory, of which a process may have any amount that it never touches, and counts
//! processes that are older than a look. Here it is what only they hold, swapped pages included; pages of files are the
//! system's, and do not count.
//!
//! What left its process group and its parent is not seen.

mod usage;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use anyhow::Context;
use howdah_core::job::{AttemptId, MemoryLimit, PerKind};

use crate::space::Writer;

const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The processes that are watched. The thread that looks ends with the last of the clones.
#[derive(Clone, Debug)]
pub(crate) struct Memory(Arc<Mutex<Vec<Watched>>>);

/// A process of a job that names its tasks' memory.
#[derive(Debug)]
struct Watched {
    process: Weak<dyn Writer>,
    /// Its process group, while it runs an attempt.
    group: u32,
    limits: PerKind<Option<MemoryLimit>>,
    /// The attempt that held too much at the last look.
    over: Option<AttemptId>,
}

impl Memory {
    /// Starts the thread that looks.
    pub(crate) fn start() -> anyhow::Result<Memory> {
        let memory = Memory(Arc::default());
        let shared = Arc::downgrade(&memory.0);
        let watch = move || {
            while let Some(watched) = shared.upgrade() {
                look(&watched);
                drop(watched);
                std::thread::sleep(LOOK_EVERY);
            }
        };
        let thread = std::thread::Builder::new().name("memory".to_owned());
        thread.spawn(watch).context("start the thread that watches memory")?;
        Ok(memory)
    }

    /// Watches the processes of a group, whose leader `process` is, while it exists. Without a limit there is nothing to watch.
    pub(crate) fn watch(&self, process: Weak<dyn Writer>, group: u32, limits: PerKind<Option<MemoryLimit>>) {
        if limits.iter().any(Option::is_some) {
            let watched = Watched { process, group, limits, over: None };
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(watched);
        }
    }
}

fn look(watched: &Mutex<Vec<Watched>>) {
    let mut watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
    watched.retain(|watched| watched.process.strong_count() > 0);
    let mut running = BTreeMap::new();
    for watched in watched.iter_mut() {
        let now = watched.process.upgrade().and_then(|process| Some((process.current()?.1, process)));
        if let Some((attempt, process, limit)) =
            now.and_then(|(attempt, process)| Some((attempt, process, watched.limits[attempt.kind]?)))
        {
            running.insert(watched.group, (attempt, process, limit, &mut watched.over));
        }
    }
    if running.is_empty() {
        return;
    }
    let trees = usage::trees(running.keys().copied());
    for (group, (attempt, process, limit, over)) in running {
        let held = usage::held(&trees[&group], limit.bytes);
        let again = over.take() == Some(attempt);
        if held <= limit.bytes {
            continue;
        }
        if !again && held / 2 <= limit.bytes {
            *over = Some(attempt);
            continue;
        }
        tracing::warn!(?attempt, held, limit = limit.bytes, "an attempt holds more memory than its job asked for");
        let (held, most) = (held >> 20, limit.bytes >> 20);
        process.fail(format!("the attempt's processes hold {held} MiB of memory, more than {most} (`{}`)", limit.key));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};
    use std::time::Instant;

    use howdah_core::job::{ClusterId, JobId, TaskId, TaskKind};

    use super::*;

    /// Longer than any of this takes.
    const LONG: Duration = Duration::from_secs(60);

    /// Keeps the reason for which it was ended.
    #[derive(Debug, Default)]
    struct Failing(Mutex<String>);

    impl Writer for Failing {
        fn current(&self) -> Option<(ClusterId, AttemptId)> {
            Some((ClusterId(1), TaskId { job: JobId(1), kind: TaskKind::Map, index: 0 }.attempt(0)))
        }

        fn fail(&self, reason: String) {
            *self.0.lock().unwrap() = reason;
        }
    }

    /// A shell with 64 MB of text, two more that it split off, and a file that they make when all are there.
    struct Hoarders {
        child: Child,
        group: u32,
        _dir: tempfile::TempDir,
    }

    impl Hoarders {
        fn start() -> Hoarders {
            let dir = tempfile::tempdir().unwrap();
            let script = "x=$(head -c 64000000 /dev/zero | tr '\\0' x)
                (touch a; sleep 60; :) & (touch b; sleep 60; :) & touch c; sleep 60; :";
            let child = Command::new("sh").args(["-c", script]).current_dir(&dir).process_group(0).spawn().unwrap();
            let group = child.id();
            let began = Instant::now();
            while !["a", "b", "c"].iter().all(|name| dir.path().join(name).exists()) {
                assert!(began.elapsed() < LONG, "the shells are there");
                std::thread::sleep(Duration::from_millis(5));
            }
            Hoarders { child, group, _dir: dir }
        }
    }

    impl Drop for Hoarders {
        fn drop(&mut self) {
            let _ = nix::sys::signal::killpg(
                nix::unistd::Pid::from_raw(self.group as i32),
                nix::sys::signal::Signal::SIGKILL,
            );
            let _ = self.child.wait();
        }
    }

    /// What becomes of them, at two looks, where they may hold so much.
    fn said(group: u32, mib: u64) -> [String; 2] {
        let process = Arc::new(Failing::default());
        let writer: Arc<dyn Writer> = process.clone();
        let memory = Memory(Arc::default());
        let limit = Some(MemoryLimit { key: "mapred.job.map.memory.mb", bytes: mib << 20 });
        memory.watch(Arc::downgrade(&writer), group, [limit, None]);
        [(), ()].map(|()| {
            look(&memory.0);
            process.0.lock().unwrap().clone()
        })
    }

    #[test]
    fn what_processes_share_counts_once_and_what_is_over_the_limit_fails_at_the_second_look() {
        let hoarders = Hoarders::start();
        // Three shells have the text, and there is one of it.
        assert_eq!(said(hoarders.group, 120), ["", ""]);
        let [first, second] = said(hoarders.group, 50);
        assert_eq!(first, "");
        assert!(second.ends_with(" MiB of memory, more than 50 (`mapred.job.map.memory.mb`)"), "{second}");
        let [at_once, _] = said(hoarders.group, 10);
        assert!(at_once.contains("more than 10 "), "{at_once}");
    }

    #[test]
    fn nobody_watches_jobs_that_name_no_memory_and_processes_that_are_gone() {
        let process: Arc<dyn Writer> = Arc::new(Failing::default());
        let memory = Memory(Arc::default());
        memory.watch(Arc::downgrade(&process), 1, [None, None]);
        assert!(memory.0.lock().unwrap().is_empty());
        let limit = Some(MemoryLimit { key: "mapred.job.map.memory.mb", bytes: 1 << 20 });
        memory.watch(Arc::downgrade(&process), 1, [limit, None]);
        assert_eq!(memory.0.lock().unwrap().len(), 1);
        drop(process);
        look(&memory.0);
        assert!(memory.0.lock().unwrap().is_empty());
    }
}
