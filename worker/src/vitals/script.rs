//! Vitals from a program: for machines whose load is known elsewhere, a hypervisor or a batch system.
//!
//! It prints lines of a name and a number; what it prints replaces what was measured of the host, all else stays. It
//! runs on a thread of its own, so a slow one delays nobody. One that fails, takes too long or prints something else
//! changes nothing: the values of its last good run stay, and a warning says so once until it works again. What a run
//! leaves behind ends with it, and what it computes is no foreign load.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use howdah_core::tracker::Vitals;
use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use super::queue::OwnProcesses;

/// How long it may take.
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// What it may print.
const MOST_BYTES: u64 = 64 << 10;

/// What it said; absent values are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Said {
    load: [Option<f64>; 3],
    run_queue: Option<f64>,
    foreign_load: Option<f64>,
    cpus: Option<f64>,
    cpu_khz: Option<f64>,
    max_khz: Option<f64>,
}

impl Said {
    /// Lines of a name and a number; empty ones and those that start with `#` are left out.
    fn parse(text: &str) -> Result<Said, String> {
        let mut said = Said::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (name, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let place = match name {
                "load1" => &mut said.load[0],
                "load5" => &mut said.load[1],
                "load15" => &mut said.load[2],
                "run_queue" => &mut said.run_queue,
                "foreign_load" => &mut said.foreign_load,
                "cpus" => &mut said.cpus,
                "cpu_khz" => &mut said.cpu_khz,
                "max_khz" => &mut said.max_khz,
                _ => return Err(format!("it printed `{line}`, expected one of the names in the guide")),
            };
            let value = value.trim().parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
            *place = Some(value.ok_or_else(|| format!("it printed `{line}`, expected a number of at least 0"))?);
        }
        Ok(said)
    }

    /// Whether it says what the frequency is: then no limit of the machine's counts.
    pub(super) fn has_frequency(&self) -> bool {
        self.cpu_khz.is_some()
    }

    /// Puts what it said in the place of what was measured. A run queue that it leaves out is the foreign load and
    /// what `own_milli` says the worker's attempts add.
    pub(super) fn put(&self, vitals: &mut Vitals, own_milli: u32) {
        let milli = |value: f64| super::milli::milli(value);
        let places = [&mut vitals.load1_milli, &mut vitals.load5_milli, &mut vitals.load15_milli];
        for (place, value) in places.into_iter().zip(self.load) {
            *place = value.map_or(*place, milli);
        }
        if let Some(foreign) = self.foreign_load {
            vitals.foreign_milli = milli(foreign);
            vitals.run_queue_milli = vitals.foreign_milli.saturating_add(own_milli);
        }
        vitals.run_queue_milli = self.run_queue.map_or(vitals.run_queue_milli, milli);
        vitals.cpus_milli = self.cpus.map_or(vitals.cpus_milli, |cpus| milli(cpus).max(1));
        vitals.cpu_khz = self.cpu_khz.map_or(vitals.cpu_khz, |khz| khz as u32);
        vitals.max_khz = self.max_khz.map_or(vitals.max_khz, |khz| khz as u32);
    }
}

/// The newest good answer, and what is wrong with the newest one.
#[derive(Clone, Debug, Default)]
struct Word {
    said: Said,
    trouble: Option<String>,
}

/// What the script says; it is run for as long as somebody holds this.
#[derive(Clone, Debug, Default)]
pub(super) struct Script(Arc<Mutex<Word>>);

impl Script {
    /// Runs it now, so that the first report has its values, then on the beat until the script is let go of.
    pub(super) fn start(command: String, every: Duration, own: OwnProcesses) -> std::io::Result<Script> {
        let script = Script::default();
        let runner = Runner { command, own };
        runner.beat(&script.0);
        let shared = Arc::downgrade(&script.0);
        std::thread::Builder::new().name("vitals-script".to_owned()).spawn(move || runner.run(&shared, every))?;
        Ok(script)
    }

    pub(super) fn said(&self) -> Said {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).said
    }

    /// Why its last run said nothing.
    pub(super) fn trouble(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).trouble.clone()
    }
}

struct Runner {
    command: String,
    own: OwnProcesses,
}

impl Runner {
    fn run(self, word: &Weak<Mutex<Word>>, every: Duration) {
        loop {
            std::thread::sleep(every);
            let Some(word) = word.upgrade() else { return };
            self.beat(&word);
        }
    }

    fn beat(&self, word: &Mutex<Word>) {
        let answer = answer(&self.command, TIME_LIMIT, &self.own).and_then(|text| Said::parse(&text));
        let mut word = word.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Ok(said) => *word = Word { said, trouble: None },
            Err(problem) => {
                if word.trouble.is_none() {
                    tracing::warn!(script = self.command, problem, "no vitals from the script; its last values stay");
                }
                word.trouble = Some(problem);
            }
        }
    }
}

/// What the command prints, if it ends well within the limit.
fn answer(command: &str, limit: Duration, own: &OwnProcesses) -> Result<String, String> {
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("it does not start: {error}"))?;
    own.add(child.id());
    let output = child.stdout.take().ok_or("it has no output")?;
    // A child of it may hold the output open for longer than it lives itself.
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = output.take(MOST_BYTES).read_to_string(&mut text);
        let _ = send.send(read.map(|_| text).map_err(|error| format!("its output cannot be read: {error}")));
    });
    let text = receive.recv_timeout(limit);
    let status = end(&mut child, if text.is_ok() { limit } else { Duration::ZERO }, own);
    let text = text.map_err(|_| format!("it took more than {} s", limit.as_secs()))??;
    match status {
        Some(status) if status.success() => Ok(text),
        Some(status) => Err(format!("it ended with {status}")),
        None => Err(format!("it took more than {} s", limit.as_secs())),
    }
}

/// Waits for a process within a bound, ends its group with all that it left there, and reaps it; what it ended with if
/// that was its own doing.
fn end(child: &mut Child, bound: Duration, own: &OwnProcesses) -> Option<std::process::ExitStatus> {
    let (began, group) = (Instant::now(), Pid::from_raw(child.id() as i32));
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT | WaitPidFlag::WNOHANG;
    let by_itself = loop {
        if !matches!(waitid(Id::Pid(group), flags), Ok(WaitStatus::StillAlive) | Err(Errno::EINTR)) {
            break true;
        }
        if began.elapsed() >= bound {
            break false;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    // Not reaped yet, so the number is still its own.
    let _ = killpg(group, Signal::SIGKILL);
    own.remove(child.id());
    let status = child.wait().ok();
    status.filter(|_| by_itself)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_replace_what_was_measured() {
        let said =
            Said::parse("# of the hypervisor\nload1 2.5\n\nforeign_load\t1.25\ncpus 4\ncpu_khz 2600000\n").unwrap();
        let mut vitals = Vitals { load1_milli: 9, load5_milli: 7, foreign_milli: 5, max_khz: 3, ..Vitals::default() };
        said.put(&mut vitals, 2_000);
        assert_eq!((vitals.load1_milli, vitals.load5_milli), (2_500, 7));
        assert_eq!((vitals.foreign_milli, vitals.run_queue_milli), (1_250, 3_250));
        assert_eq!((vitals.cpus_milli, vitals.cpu_khz, vitals.max_khz), (4_000, 2_600_000, 3));
    }

    #[test]
    fn garbage_is_named() {
        assert_eq!(Said::parse("gpu 1").unwrap_err(), "it printed `gpu 1`, expected one of the names in the guide");
        for line in ["load1 much", "load1", "load1 -1", "load1 NaN"] {
            let expected = format!("it printed `{line}`, expected a number of at least 0");
            assert_eq!(Said::parse(line).unwrap_err(), expected);
        }
    }

    #[test]
    fn a_script_that_hangs_fails_or_is_missing_keeps_the_last_values() {
        let script = Script::default();
        let good = Said::parse("load1 1").unwrap();
        script.0.lock().unwrap().said = good;
        for command in ["exit 3", "echo load1 x", "no-such-program-anywhere", "printf '\\377'"] {
            let runner = Runner { command: command.to_owned(), own: OwnProcesses::default() };
            runner.beat(&script.0);
            assert!(script.trouble().is_some(), "{command}");
            assert_eq!(script.said(), good, "{command}");
        }
        let began = Instant::now();
        let own = OwnProcesses::default();
        let hangs = answer("echo load1 1; sleep 600 & wait", Duration::from_millis(200), &own);
        assert!(hangs.is_err() && began.elapsed() < Duration::from_secs(60), "{hangs:?}");
        assert_eq!(answer("echo load1 1", TIME_LIMIT, &own).as_deref(), Ok("load1 1\n"));
    }

    /// It runs every two seconds: whatever stayed would pile up.
    #[test]
    fn what_a_run_leaves_behind_ends_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let (file, own) = (dir.path().join("child"), OwnProcesses::default());
        for (closes, good) in [(">/dev/null", true), ("", false)] {
            let command = format!("sleep 600 {closes} & echo $! > {}; echo load1 1", file.display());
            let limit = if good { TIME_LIMIT } else { Duration::from_millis(500) };
            assert_eq!(answer(&command, limit, &own).is_ok(), good, "the output of {command} ends with its children");
            let pid = std::fs::read_to_string(&file).unwrap();
            let stat = format!("/proc/{}/stat", pid.trim());
            let lives = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
            let began = Instant::now();
            while lives() {
                assert!(began.elapsed() < Duration::from_secs(60), "{pid} lives on");
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn what_it_computes_is_the_workers_own() {
        let dir = tempfile::tempdir().unwrap();
        let (file, stop, own) = (dir.path().join("own"), dir.path().join("stop"), OwnProcesses::default());
        let (runs, paths) = (own.clone(), [file.clone(), stop.clone()].map(|path| path.display().to_string()));
        let command =
            format!("echo $$ > {}; while test ! -e {}; do sleep 0.01; done; echo load1 1", paths[0], paths[1]);
        let run = std::thread::spawn(move || answer(&command, Duration::from_secs(60), &runs));
        let pid = loop {
            match std::fs::read_to_string(&file) {
                Ok(pid) if pid.ends_with('\n') => break pid.trim().parse().unwrap(),
                _ => std::thread::yield_now(),
            }
        };
        // The script may be at work before whoever started it has noted its number.
        let began = Instant::now();
        while !own.has(pid) {
            assert!(began.elapsed() < Duration::from_secs(60), "{pid} counts as foreign");
            std::thread::yield_now();
        }
        std::fs::write(stop, "").unwrap();
        assert_eq!(run.join().unwrap().as_deref(), Ok("load1 1\n"));
        assert!(!own.has(pid), "its number may be another one's by now");
    }
}

#[cfg(test)]
mod fuzz {
    use howdah_fuzz::{Readings, cases, changed, changes};
    use proptest::prelude::*;

    use super::*;

    static READINGS: Readings = Readings::of("vitals of scripts");

    const GOOD: &str = "# of the hypervisor\nload1 2.5\nload5 1\nload15 0.5\nrun_queue 3\nforeign_load 1.25\ncpus 4\n\
                        cpu_khz 2600000\nmax_khz 3000000\n";

    proptest! {
        #![proptest_config(cases(1))]

        #[test]
        fn changed_words_are_numbers_or_are_refused_with_their_line(changes in changes(), own_milli in any::<u32>()) {
            let bytes = changed(GOOD.as_bytes(), &changes);
            let text = String::from_utf8_lossy(&bytes);
            match Said::parse(&text) {
                Ok(said) => {
                    let mut vitals = Vitals::default();
                    said.put(&mut vitals, own_milli);
                    prop_assert!(said.cpus.is_none() || vitals.cpus_milli > 0);
                }
                Err(problem) => prop_assert!(problem.starts_with("it printed `"), "{}", problem),
            }
            READINGS.add(1);
        }
    }
}
