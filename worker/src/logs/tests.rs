//! Logs from an attempt's files to a reader, and what lies in the way.

use std::fs::{File, Permissions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, symlink};

use howdah_core::job::{TaskId, TaskKind};
use tempfile::TempDir;

use super::reading::Reading;
use super::*;

pub(super) const CLUSTER: ClusterId = ClusterId(202_611_201_200);

pub(super) fn map(index: u32) -> AttemptId {
    TaskId { job: JobId(1), kind: TaskKind::Map, index }.attempt(0)
}

pub(super) struct Place {
    dir: TempDir,
    pub(super) logs: Logs,
}

impl Place {
    pub(super) fn new(bound: u64) -> Place {
        let dir = tempfile::tempdir().unwrap();
        let logs = Logs::new(dir.path().to_owned(), bound);
        Place { dir, logs }
    }

    /// The same directory after the worker was killed and started again.
    pub(super) fn restart(self) -> Place {
        let logs = Logs::new(self.dir.path().to_owned(), self.logs.bound);
        let place = Place { logs, ..self };
        place.logs.recover(&place.logs.left());
        place
    }

    pub(super) fn start(&self, attempt: AttemptId, texts: [&[u8]; 3]) -> LiveLogs {
        let live = self.logs.start(CLUSTER, attempt).unwrap();
        self.write(attempt, texts);
        live
    }

    /// What an attempt says, as a process that appends to its files.
    fn write(&self, attempt: AttemptId, texts: [&[u8]; 3]) {
        for (name, text) in FILES.iter().zip(texts) {
            let path = self.logs.live(CLUSTER, attempt).join(name);
            fs::OpenOptions::new().append(true).open(path).unwrap().write_all(text).unwrap();
        }
    }

    /// An attempt from its beginning to its end.
    pub(super) fn run(&self, attempt: AttemptId, texts: [&[u8]; 3]) {
        let mut live = self.start(attempt, texts);
        assert!(self.logs.collect(&mut live, CLUSTER, attempt));
        self.logs.retire(live, &self.logs.live(CLUSTER, attempt));
    }

    pub(super) fn read(&self, attempt: AttemptId, which: usize) -> io::Result<Vec<u8>> {
        self.logs.read(CLUSTER, attempt, which).map(bytes_of)
    }

    fn text(&self, attempt: AttemptId, which: usize) -> String {
        String::from_utf8(self.read(attempt, which).unwrap()).unwrap()
    }

    pub(super) fn container(&self) -> PathBuf {
        self.logs.container(CLUSTER, JobId(1))
    }

    fn size(&self) -> u64 {
        fs::metadata(self.container()).unwrap().len()
    }

    /// Files and directories below `userlogs`.
    fn entries(&self) -> Vec<String> {
        let names = |dir: &Path| fs::read_dir(dir).unwrap().flatten().map(|e| e.path()).collect::<Vec<_>>();
        let mut found = names(self.dir.path());
        for at in 0.. {
            let Some(path) = found.get(at) else { break };
            if fs::symlink_metadata(path).unwrap().is_dir() {
                found.extend(names(&path.clone()));
            }
        }
        let mut found: Vec<_> =
            found.iter().map(|p| p.strip_prefix(self.dir.path()).unwrap().display().to_string()).collect();
        found.sort();
        found
    }
}

pub(super) fn bytes_of(reading: Reading) -> Vec<u8> {
    let length = reading.length();
    let mut all = Vec::new();
    for piece in reading.pieces {
        match piece {
            Piece::Bytes { file, offset, length } => {
                let mut bytes = vec![0; length as usize];
                file.read_exact_at(&mut bytes, offset).unwrap();
                all.extend(bytes);
            }
            Piece::Said(text) => all.extend(text),
        }
    }
    assert_eq!(all.len() as u64, length);
    all
}

#[test]
fn logs_read_the_same_before_and_after_their_attempt_is_over_and_leave_one_file() {
    let place = Place::new(1 << 30);
    let large = vec![b'x'; 200_000];
    for index in 0..3 {
        let mut live = place.start(map(index), [b"out", &large, format!("log of {index}").as_bytes()]);
        let read = || [0, 1, 2].map(|which| place.read(map(index), which).unwrap());
        let running = read();
        assert!(place.logs.collect(&mut live, CLUSTER, map(index)));
        assert_eq!(read(), running, "its files are empty and still there");
        place.logs.retire(live, &place.logs.live(CLUSTER, map(index)));
        assert_eq!(read(), running);
        assert_eq!(running[1], large);
    }
    assert_eq!(place.text(map(1), 2), "log of 1");
    assert_eq!(place.entries().len(), 2 + 5, "the files wait for the job's next process");
    let mut last = place.start(map(3), [b"", b"", b""]);
    place.logs.forget(CLUSTER, JobId(1));
    assert!(place.logs.collect(&mut last, CLUSTER, map(3)));
    place.logs.retire(last, &place.logs.live(CLUSTER, map(3)));
    assert_eq!(place.entries(), ["job_202611201200_0001.logs"], "also of what ends after its job");
    assert!(place.read(map(7), 0).is_err(), "it never ran");
}

#[test]
fn offsets_are_those_of_the_whole_log() {
    let place = Place::new(1 << 30);
    place.run(map(0), [b"0123456789", b"", b""]);
    let after = |n| bytes_of(place.logs.read(CLUSTER, map(0), 0).unwrap().after(n));
    assert_eq!([after(0), after(4), after(10), after(99)], [&b"0123456789"[..], b"456789", b"", b""]);
}

#[test]
fn empty_logs_cost_16_bytes() {
    let place = Place::new(1 << 30);
    place.run(map(0), [b"", b"", b""]);
    let one = place.size();
    place.run(map(1), [b"", b"", b""]);
    assert_eq!((one, place.size() - one), (24, 16));
    assert_eq!(place.text(map(0), 0), "");
}

#[test]
fn a_process_that_goes_on_to_another_attempt_leaves_each_its_own_lines() {
    let place = Place::new(1 << 30);
    let mut live = place.start(map(0), [b"first\n", b"", b""]);
    assert!(place.logs.collect(&mut live, CLUSTER, map(0)));
    fs::rename(place.logs.live(CLUSTER, map(0)), place.logs.live(CLUSTER, map(1))).unwrap();
    place.write(map(1), [b"second\n", b"", b""]);
    assert_eq!(place.text(map(1), 0), "second\n", "while it runs");
    assert!(place.logs.collect(&mut live, CLUSTER, map(1)));
    place.write(map(1), [b"the process says goodbye\n", b"", b""]);
    assert!(place.logs.collect_rest(&mut live, CLUSTER, map(1)));
    place.logs.retire(live, &place.logs.live(CLUSTER, map(1)));
    assert_eq!(place.text(map(0), 0), "first\n");
    assert_eq!(place.text(map(1), 0), "second\nthe process says goodbye\n");
}

#[test]
fn files_go_on_to_the_next_process_of_their_job_alone_and_only_as_they_were_made() {
    let place = Place::new(1 << 30);
    let number = |attempt| fs::metadata(place.logs.live(CLUSTER, attempt).join("stdout")).unwrap().ino();
    let run = |attempt, harm: &dyn Fn(&Path)| {
        let mut live = place.start(attempt, [b"text", b"", b""]);
        let own = place.logs.live(CLUSTER, attempt);
        harm(&own);
        let file = live.streams().unwrap()[0].metadata().unwrap().ino();
        assert!(place.logs.collect(&mut live, CLUSTER, attempt));
        place.logs.retire(live, &own);
        file
    };
    let other = TaskId { job: JobId(2), kind: TaskKind::Map, index: 0 }.attempt(0);
    let first = run(map(0), &|_| {});
    assert_eq!(run(map(1), &|_| {}), first);
    drop(place.start(other, [b""; 3]));
    assert_ne!(number(other), first, "another job's");
    let harms: [&dyn Fn(&Path); 4] = [
        &|own| fs::write(own.join("profile"), "mine").unwrap(),
        &|own| {
            symlink("/dev/null", {
                fs::remove_file(own.join("syslog")).unwrap();
                own.join("syslog")
            })
            .unwrap()
        },
        &|own| fs::set_permissions(own.join("stderr"), Permissions::from_mode(0o400)).unwrap(),
        &|own| fs::set_permissions(own, Permissions::from_mode(0o500)).unwrap(),
    ];
    for (index, harm) in (10..).zip(harms) {
        run(map(index), harm);
        assert!(!place.logs.live(CLUSTER, map(index)).join("stdout").exists(), "{index}");
        assert_eq!(place.text(map(index), 0), "text");
    }
    // One that got away writes on.
    let mut live = place.start(map(20), [b"text", b"", b""]);
    let [mut stdout, _] = live.streams().unwrap();
    assert!(place.logs.collect(&mut live, CLUSTER, map(20)));
    place.logs.retire(live, &place.logs.live(CLUSTER, map(20)));
    stdout.write_all(b"late").unwrap();
    drop(place.start(map(21), [b"", b"", b""]));
    assert_eq!(place.text(map(21), 0), "");
}

#[test]
fn a_container_torn_at_any_byte_loses_what_is_torn_and_goes_on() {
    let texts: [&[u8]; 3] = [b"first", b"second", b"third"];
    let whole = Place::new(1 << 30);
    whole.run(map(0), texts);
    let first = whole.size();
    whole.run(map(1), texts);
    let all = fs::read(whole.container()).unwrap();
    for length in 0..all.len() {
        let place = Place::new(1 << 30);
        fs::write(place.container(), &all[..length]).unwrap();
        let kept = length as u64 >= first;
        assert_eq!(place.read(map(0), 2).is_ok(), kept, "{length}");
        place.run(map(2), texts);
        assert_eq!(place.text(map(2), 1), "second", "{length}");
        assert_eq!(place.read(map(0), 2).ok(), kept.then(|| b"third".to_vec()), "{length}");
        assert!(place.read(map(1), 0).is_err(), "{length}");
    }
}

#[test]
fn a_container_stays_within_its_bound_and_says_what_it_leaves_out() {
    const BOUND: u64 = 64 << 10;
    let place = Place::new(BOUND);
    let long: Vec<u8> = (0..20_000).flat_map(|n| format!("{n}\n").into_bytes()).collect();
    for index in 0..200 {
        place.run(map(index), [&long, &long, b"a line\n"]);
    }
    assert!(place.size() <= BOUND + 200 * 64, "{}", place.size());
    let text = place.text(map(0), 0);
    let said: Vec<_> = text.lines().filter(|line| line.starts_with("[howdah: ")).collect();
    assert_eq!(said.len(), 1);
    assert!(said[0].contains(&format!("of {} bytes are left out here", long.len())), "{}", said[0]);
    assert!(text.starts_with("0\n1\n2\n") && text.ends_with("\n19998\n19999\n"));
    assert_eq!(place.text(map(0), 2), "a line\n", "a long log leaves room for others");
    assert!(place.text(map(199), 0).contains("are left out here"));
}

#[test]
fn what_is_added_is_read_while_others_add() {
    let place = Place::new(1 << 30);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let place = &place;
            scope.spawn(move || {
                for index in 0..100 {
                    let text = format!("{writer} {index}").repeat(index as usize * 40 + 1);
                    let attempt = map(writer * 100 + index);
                    place.run(attempt, [text.as_bytes(), b"", b"x"]);
                    assert_eq!(place.text(attempt, 0), text);
                }
            });
        }
    });
    assert_eq!(place.text(map(307), 2), "x");
}

#[test]
fn what_a_killed_worker_left_is_collected_once_and_a_tasks_own_files_stay() {
    let place = Place::new(1 << 30);
    drop(place.start(map(0), [b"killed with its worker", b"", b""]));
    // Killed between the record and the files' end.
    let live = place.start(map(1), [b"recorded", b"", b""]);
    let stdout = File::open(place.logs.live(CLUSTER, map(1)).join("stdout")).unwrap();
    assert!(place.logs.append(CLUSTER, map(1), [Source::after(&stdout, 0), None, None]));
    drop(live);
    drop(place.start(map(2), [b"with a profile", b"", b""]));
    fs::write(place.logs.live(CLUSTER, map(2)).join("profile"), "mine").unwrap();
    fs::create_dir(place.dir.path().join("photos")).unwrap();
    let place = place.restart();
    assert_eq!(place.text(map(0), 0), "killed with its worker");
    assert_eq!(place.text(map(1), 0), "recorded");
    assert_eq!(place.text(map(2), 0), "with a profile");
    let job = CLUSTER.job(JobId(1));
    let own = format!("{job}/{}", CLUSTER.attempt(map(2)));
    let profile = format!("{own}/profile");
    assert_eq!(place.entries(), [job.clone(), job + SUFFIX, own, profile, "photos".to_owned()]);
}

#[test]
fn links_and_fifos_in_the_place_of_logs_are_neither_read_nor_followed() {
    let place = Place::new(1 << 30);
    let victim = place.dir.path().join("victim");
    fs::create_dir(&victim).unwrap();
    for name in FILES {
        fs::write(victim.join(name), "precious").unwrap();
    }
    let mut live = place.start(map(0), [b"said before", b"", b""]);
    let own = place.logs.live(CLUSTER, map(0));
    FILES.iter().for_each(|name| fs::remove_file(own.join(name)).unwrap());
    symlink(victim.join("stdout"), own.join("stdout")).unwrap();
    nix::unistd::mkfifo(&own.join("stderr"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(place.logs.collect(&mut live, CLUSTER, map(0)));
    place.logs.retire(live, &own);
    assert_eq!((place.text(map(0), 0).as_str(), place.text(map(0), 1).as_str()), ("said before", ""));
    // A directory in the place of the attempt's own.
    let mut live = place.start(map(1), [b"said", b"", b""]);
    let own = place.logs.live(CLUSTER, map(1));
    fs::rename(&own, own.with_file_name("away")).unwrap();
    symlink(&victim, &own).unwrap();
    assert!(place.logs.collect(&mut live, CLUSTER, map(1)));
    place.logs.retire(live, &own);
    assert_eq!(place.text(map(1), 0), "said");
    // And left to be found at the next start.
    symlink(&victim, place.logs.live(CLUSTER, map(2))).unwrap();
    let live = place.start(map(3), [b"", b"", b""]);
    drop(live);
    let own = place.logs.live(CLUSTER, map(3));
    fs::remove_file(own.join("syslog")).unwrap();
    symlink(victim.join("syslog"), own.join("syslog")).unwrap();
    let place = place.restart();
    assert_eq!(place.text(map(3), 2), "");
    for name in FILES {
        assert_eq!(fs::read_to_string(victim.join(name)).unwrap(), "precious");
    }
}

#[test]
fn what_lies_in_the_place_of_a_container_is_left_alone_and_logs_stay_files() {
    let plant: [fn(&Path, &Path); 4] = [
        |at, victim| symlink(victim, at).unwrap(),
        |at, victim| fs::hard_link(victim, at).unwrap(),
        |at, victim| assert!(fs::copy(victim, at).unwrap() > 8),
        |at, _| nix::unistd::mkfifo(at, nix::sys::stat::Mode::S_IRWXU).unwrap(),
    ];
    for (case, plant) in plant.into_iter().enumerate() {
        let place = Place::new(1 << 30);
        let victim = place.dir.path().join("victim");
        fs::write(&victim, "precious, and long enough").unwrap();
        plant(&place.container(), &victim);
        let mut live = place.start(map(0), [b"text", b"", b""]);
        assert!(!place.logs.collect(&mut live, CLUSTER, map(0)), "{case}");
        assert_eq!(place.text(map(0), 0), "text", "{case}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious, and long enough", "{case}");
    }
}

#[test]
fn a_container_that_somebody_deletes_or_cuts_meanwhile_is_begun_or_gone_on_with() {
    let place = Place::new(1 << 30);
    place.run(map(0), [b"zero", b"", b""]);
    fs::remove_file(place.container()).unwrap();
    place.run(map(1), [b"one", b"", b""]);
    assert_eq!((place.read(map(0), 0).is_ok(), place.text(map(1), 0).as_str()), (false, "one"));
    let size = place.size();
    place.run(map(2), [b"two", b"", b""]);
    fs::OpenOptions::new().write(true).open(place.container()).unwrap().set_len(size + 5).unwrap();
    place.run(map(3), [b"three", b"", b""]);
    assert_eq!((place.text(map(1), 0).as_str(), place.text(map(3), 0).as_str()), ("one", "three"));
    assert!(place.read(map(2), 0).is_err());
}

#[test]
fn logs_that_are_still_written_to_are_kept_however_old_their_job_is() {
    let place = Place::new(1 << 30);
    let age = |path: &Path| {
        let long_ago = SystemTime::now() - Duration::from_secs(10_000);
        File::open(path).unwrap().set_modified(long_ago).unwrap();
    };
    for job in ["old", "busy"] {
        let attempt = place.dir.path().join(job).join("attempt");
        fs::create_dir_all(&attempt).unwrap();
        fs::write(attempt.join("stdout"), "").unwrap();
        let container = place.dir.path().join(format!("{job}.logs"));
        fs::write(&container, "").unwrap();
        let now = if job == "busy" { None } else { Some(attempt.join("stdout")) };
        [now, Some(container), Some(attempt.clone()), attempt.parent().map(Path::to_owned)]
            .iter()
            .flatten()
            .for_each(|path| age(path));
    }
    place.logs.prune(Duration::from_secs(5_000));
    assert_eq!(place.entries(), ["busy", "busy.logs", "busy/attempt", "busy/attempt/stdout"]);
}

#[test]
fn containers_that_are_open_are_few() {
    let place = Place::new(1 << 30);
    for job in 1..200 {
        let attempt = TaskId { job: JobId(job), kind: TaskKind::Map, index: 0 }.attempt(0);
        assert!(place.logs.append(CLUSTER, attempt, [None; 3]));
    }
    assert!(place.logs.writers.lock().unwrap().len() <= MAX_OPEN);
    let mut text = String::new();
    File::open(place.container()).unwrap().take(8).read_to_string(&mut text).unwrap();
    assert_eq!(text, "howdahL1");
}
