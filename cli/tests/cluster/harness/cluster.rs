//! One master and its workers as child processes of the test.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use howdah_guards::{Guard, VARIABLE};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use super::command::{Finished, howdah, howdah_within};
use super::processes::Mark;
use super::wait_for;
use crate::halt::halt;

/// Jobs over the large inputs are given this long.
const LONG: Duration = Duration::from_secs(540);

/// What to start.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) workers: usize,
    pub(crate) map_slots: u32,
    pub(crate) reduce_slots: u32,
    /// Whether each worker plays a machine of its own: no task gets a speculative attempt on its own host.
    pub(crate) own_hosts: bool,
    /// What the workers' machines are called, the first worker's first; others are called as this machine is.
    pub(crate) hosts: &'static [&'static str],
    /// Files that the master may have open, connections included; as many as this process without a number.
    pub(crate) master_descriptors: Option<u32>,
    /// Files that each worker, and each of its attempts, may have open.
    pub(crate) worker_descriptors: Option<u32>,
    /// Guards that the daemons and clients do without.
    pub(crate) guards_off: &'static [Guard],
    /// Variables of the daemons.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// TOML of the master's configuration file.
    pub(crate) master_config: String,
    /// TOML of each worker's configuration file.
    pub(crate) worker_config: String,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            workers: 2,
            map_slots: 2,
            reduce_slots: 1,
            own_hosts: false,
            hosts: &[],
            master_descriptors: None,
            worker_descriptors: None,
            guards_off: &[],
            environment: Vec::new(),
            master_config: String::new(),
            worker_config: String::new(),
        }
    }
}

impl Setup {
    /// The default, with a master that notices a silent worker within the test.
    pub(crate) fn expiring() -> Setup {
        Setup { master_config: "[master.cluster]\nexpiry_ms = 8000\n".to_owned(), ..Setup::default() }
    }

    /// What the environment of all processes of the cluster says of guards.
    pub(crate) fn guards(&self) -> (&'static str, String) {
        (VARIABLE, self.guards_off.iter().map(|guard| guard.name()).collect::<Vec<_>>().join(","))
    }
}

/// A running cluster. Dropping it kills whatever is left of it.
pub(crate) struct Cluster {
    pub(crate) mark: Mark,
    pub(crate) address: String,
    setup: Setup,
    master: Child,
    workers: Vec<Option<Child>>,
    folder: TempDir,
}

impl Cluster {
    /// Starts the daemons and waits until all workers are registered.
    pub(crate) fn start(setup: Setup) -> Cluster {
        let folder = tempfile::Builder::new().prefix("howdah-test-").tempdir().expect("make a folder");
        let mark = Mark::new();
        std::fs::write(folder.path().join("master.toml"), &setup.master_config).expect("write the configuration");
        std::fs::write(folder.path().join("worker.toml"), &setup.worker_config).expect("write the configuration");
        let master = spawn_master(&mark, folder.path(), &setup);
        let mut cluster = Cluster { mark, address: String::new(), setup, master, workers: Vec::new(), folder };
        cluster.address = wait_for("the master's access file", || cluster.read_address());
        for _ in 0..cluster.setup.workers {
            cluster.add_worker();
        }
        let wanted = cluster.setup.workers;
        wait_for("all workers to register", || (cluster.live_workers() == wanted).then_some(()));
        cluster
    }

    /// Where the master answers over HTTP, if its settings say so.
    pub(crate) fn http_address(&self) -> String {
        let text = std::fs::read_to_string(self.path("master").join("access.json")).expect("the access file");
        let access: Value = serde_json::from_str(&text).expect("JSON");
        access["http"].as_str().expect("an HTTP address").to_owned()
    }

    fn read_address(&mut self) -> Option<String> {
        if let Some(status) = self.master.try_wait().expect("look at the master") {
            let said = std::fs::read_to_string(self.folder.path().join("master.err")).unwrap_or_default();
            panic!("the master ended with {status}:\n{said}");
        }
        let text = std::fs::read_to_string(self.path("master").join("access.json")).ok()?;
        let access: Value = serde_json::from_str(&text).ok()?;
        access["master"].as_str().map(str::to_owned)
    }

    /// A path in the cluster's own folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts one more worker, `worker-1` being the first, and returns its index.
    pub(crate) fn add_worker(&mut self) -> usize {
        let index = self.workers.len();
        let child = self.spawn_worker(index);
        self.workers.push(Some(child));
        index
    }

    /// Starts worker `index` again under its name and in its folder.
    pub(crate) fn restart_worker(&mut self, index: usize) {
        assert!(self.workers[index].is_none(), "worker {index} still runs");
        self.workers[index] = Some(self.spawn_worker(index));
    }

    /// Kills the master as a crash would, and nothing else.
    pub(crate) fn kill_master(&mut self) {
        self.master.kill().expect("kill the master");
        self.master.wait().expect("reap the master");
        // What is there now names a master that is gone.
        let _ = std::fs::remove_file(self.path("master").join("access.json"));
    }

    /// How the master ended, if it did.
    pub(crate) fn master_ended(&mut self) -> Option<ExitStatus> {
        self.master.try_wait().expect("look at the master")
    }

    pub(crate) fn master_pid(&self) -> u32 {
        self.master.id()
    }

    /// Halts the master until it goes on.
    pub(crate) fn halt_master(&self) {
        halt(Pid::from_raw(self.master.id() as i32));
    }

    /// A master that was halted goes on.
    pub(crate) fn resume_master(&self) {
        kill(Pid::from_raw(self.master.id() as i32), Signal::SIGCONT).expect("signal the master");
    }

    /// Starts the master again in its directory, and waits until it listens where it did before.
    pub(crate) fn restart_master(&mut self) {
        self.master = spawn_master(&self.mark, self.folder.path(), &self.setup);
        let address = wait_for("the master's access file", || self.read_address());
        assert_eq!(address, self.address, "it listens elsewhere");
    }

    /// What is started from now on has all of its guards.
    pub(crate) fn put_up_guards(&mut self) {
        self.setup.guards_off = &[];
    }

    fn spawn_worker(&self, index: usize) -> Child {
        let name = worker_name(index);
        let host = self.setup.hosts.get(index).copied().or(self.setup.own_hosts.then_some(&name));
        howdah_within(&self.mark, self.setup.worker_descriptors)
            .envs([self.setup.guards()])
            .envs(self.setup.environment.iter().cloned())
            .args(["worker", "--master", &self.address, "--name", &name, "--config"])
            .arg(self.path("worker.toml"))
            .arg("--dir")
            .arg(self.path(&name))
            .args(["--map-slots", &self.setup.map_slots.to_string()])
            .args(["--reduce-slots", &self.setup.reduce_slots.to_string()])
            .args(host.into_iter().flat_map(|host| ["--host", host]))
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(self.path(&format!("{name}.err"))).expect("create a file"))
            .spawn()
            .expect("start a worker")
    }

    /// Sends a signal to worker `index` alone.
    pub(crate) fn signal_worker(&self, index: usize, signal: Signal) {
        kill(self.worker_pid(index), signal).expect("signal the worker");
    }

    /// Halts worker `index` until it gets SIGCONT.
    pub(crate) fn halt_worker(&self, index: usize) {
        halt(self.worker_pid(index));
    }

    fn worker_pid(&self, index: usize) -> Pid {
        Pid::from_raw(self.worker_process(index) as i32)
    }

    /// The process of worker `index`.
    pub(crate) fn worker_process(&self, index: usize) -> u32 {
        self.workers[index].as_ref().expect("the worker runs").id()
    }

    /// Most memory that worker `index` has held.
    pub(crate) fn worker_peak_kib(&self, index: usize) -> u64 {
        kib(self.worker_pid(index), "VmHWM:")
    }

    /// Memory that the master holds now and that is no file's.
    pub(crate) fn master_anonymous_kib(&self) -> u64 {
        kib(Pid::from_raw(self.master_pid() as i32), "RssAnon:")
    }

    /// Threads that the master has now.
    pub(crate) fn master_threads(&self) -> usize {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.master.id())).expect("it runs");
        tasks.count()
    }

    /// Sends a signal to worker `index` alone, waits for its process to end and returns its exit code.
    pub(crate) fn stop_worker(&mut self, index: usize, signal: Signal) -> Option<i32> {
        let mut child = self.workers[index].take().expect("the worker runs");
        kill(Pid::from_raw(child.id() as i32), signal).expect("signal the worker");
        let status = wait_for("the worker to end", || child.try_wait().expect("look at the worker"));
        status.code()
    }

    /// Runs a client command against this cluster.
    pub(crate) fn run(&self, args: &[&str]) -> Finished {
        Finished::of(&mut self.command(args), LONG)
    }

    /// A client command against this cluster, to be run by the caller.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = howdah(&self.mark);
        command.envs([self.setup.guards()]).env("HOWDAH_MASTER", &self.address).args(args);
        command
    }

    /// Runs a client command with `--output json`, expects exit code 0 and reads what it prints.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let mut args = args.to_vec();
        args.extend(["--output", "json"]);
        self.run(&args).expect_code(0).json()
    }

    /// `job list` as the master has it now.
    pub(crate) fn jobs(&self) -> Vec<Value> {
        self.json(&["job", "list"])["jobs"].as_array().expect("a list of jobs").clone()
    }

    pub(crate) fn attempts(&self, job: &str) -> Vec<Value> {
        self.json(&["job", "attempts", job])["attempts"].as_array().expect("a list of attempts").clone()
    }

    /// Submits a job whose tasks sleep for so many milliseconds.
    #[track_caller]
    pub(crate) fn sleep(&self, maps: u32, map_ms: u32, reduces: u32) -> String {
        let maps = format!("mapred.map.tasks={maps}");
        let map_ms = format!("sleep.job.map.sleep.time={map_ms}");
        self.submit(&["sleep", "-D", &maps, "-D", &map_ms, "--reduces", &reduces.to_string()])
    }

    /// Waits until so many maps of the job run.
    pub(crate) fn wait_running_maps(&self, job: &str, n: u64) {
        wait_for("maps to run", || {
            let running = self.attempts(job).iter().filter(|a| a["state"] == "RUNNING").count() as u64;
            (running >= n).then_some(())
        });
    }

    /// Processes of attempts that run now.
    pub(crate) fn attempt_processes(&self) -> Vec<(i32, String)> {
        self.mark.processes().into_iter().filter(|(_, words)| words.ends_with(" task")).collect()
    }

    /// Spills of all attempts of a job, as their logs tell.
    pub(crate) fn n_spills(&self, job: &str) -> usize {
        let mut n = 0;
        for attempt in self.attempts(job) {
            let attempt = attempt["attempt"].as_str().expect("an attempt id").to_owned();
            let log = self.run(&["job", "logs", &attempt, "--syslog"]).expect_code(0).stdout;
            n += log.lines().filter(|line| line.contains("spill ")).count();
        }
        n
    }

    /// Writes an input file and returns its path.
    pub(crate) fn text(&self, name: &str, text: &str) -> String {
        let path = self.output(name);
        std::fs::write(&path, text).expect("write the input");
        path
    }

    /// Writes a shell script and returns its path.
    pub(crate) fn script(&self, name: &str, body: &str) -> String {
        let path = self.text(name, &format!("#!/bin/sh\n{body}\n"));
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("make it executable");
        path
    }

    /// A path below the cluster's folder, as an argument.
    pub(crate) fn output(&self, name: &str) -> String {
        self.path(name).to_str().expect("a plain path").to_owned()
    }

    /// Submits a job and returns its printed id.
    #[track_caller]
    pub(crate) fn submit(&self, args: &[&str]) -> String {
        let mut all = vec!["submit"];
        all.extend(args);
        let answer = self.json(&all);
        answer["job"].as_str().unwrap_or_else(|| panic!("no job id in {answer}")).to_owned()
    }

    /// Waits for a job's end and expects this exit code of `job wait`.
    #[track_caller]
    pub(crate) fn wait_job(&self, job: &str, code: i32) -> Finished {
        self.run(&["job", "wait", job]).expect_code(code)
    }

    /// `job status` as JSON.
    #[track_caller]
    pub(crate) fn status(&self, job: &str) -> Value {
        self.json(&["job", "status", job])
    }

    /// `worker list` as the master has it now.
    pub(crate) fn workers(&self) -> Vec<Value> {
        self.json(&["worker", "list"])["workers"].as_array().expect("a list of workers").clone()
    }

    /// State of a worker by name; `None` when the master does not know it.
    pub(crate) fn worker_state(&self, index: usize) -> Option<String> {
        let name = worker_name(index);
        let found = self.workers().into_iter().find(|worker| worker["name"] == name.as_str())?;
        found["state"].as_str().map(str::to_owned)
    }

    pub(crate) fn live_workers(&self) -> usize {
        self.workers().iter().filter(|worker| worker["state"] == "LIVE").count()
    }

    /// Stops everything in order and checks that no process is left and that the recorded run decides the same
    /// again, in a process of its own that gets the inputs and no decisions.
    #[track_caller]
    pub(crate) fn stop_and_replay(self) {
        self.stop_and_validate();
    }

    /// As [`Cluster::stop_and_replay`]; returns everything that `validate` says.
    #[track_caller]
    pub(crate) fn stop_and_validate(mut self) -> Value {
        self.stop();
        self.assert_replay_is_identical()
    }

    /// Stops all daemons; what they wrote stays until the cluster is dropped.
    #[track_caller]
    pub(crate) fn stop(&mut self) {
        for index in 0..self.workers.len() {
            if self.workers[index].is_some() {
                self.stop_worker(index, Signal::SIGTERM);
            }
        }
        kill(Pid::from_raw(self.master.id() as i32), Signal::SIGTERM).expect("signal the master");
        wait_for("the master to end", || self.master.try_wait().expect("look at the master"));
        self.mark.wait_until_gone("the daemons stopped");
    }

    #[track_caller]
    fn assert_replay_is_identical(&self) -> Value {
        let dir = self.path("master");
        let log = self.path("decisions.jsonl");
        let [dir, file] = [&dir, &log].map(|path| path.to_str().expect("a plain path"));
        let args = ["validate", "--dir", dir, "--decisions", file, "--output", "json"];
        let report = Finished::of(howdah(&self.mark).args(args), LONG).expect_code(0).json();
        let compared = report["decisions"]["compared"].as_u64().expect("a number of compared effects");
        assert!(compared > 0, "nothing was compared: {report}");
        assert_eq!(report["decisions"]["identical"].as_u64(), Some(compared), "{report}");
        // A launch may have been repeated until its worker confirmed it; the log has it once.
        let text = std::fs::read_to_string(&log).expect("the decision log is written");
        let launches = text.lines().filter(|line| line.contains(r#""decision":"launch""#)).count() as u64;
        let most = report["decisions"]["launches"].as_u64().expect("a number of launches");
        assert!(launches <= most && (launches > 0 || most == 0), "{launches} launches in the log: {report}");
        report
    }

    /// What the master has logged so far.
    pub(crate) fn master_log(&self) -> String {
        std::fs::read_to_string(self.path("master.err")).expect("the master has a log")
    }

    /// What worker `index` has logged so far.
    pub(crate) fn worker_log(&self, index: usize) -> String {
        std::fs::read_to_string(self.path(&format!("{}.err", worker_name(index)))).expect("the worker has a log")
    }

    fn print_logs(&self) {
        let mut files = vec![self.path("master.err")];
        files.extend((0..self.workers.len()).map(|index| self.path(&format!("{}.err", worker_name(index)))));
        for path in files {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            let last = &lines[lines.len().saturating_sub(40)..];
            eprintln!("--- the end of {}:\n{}", file_name(&path), last.join("\n"));
        }
    }
}

fn spawn_master(mark: &Mark, folder: &Path, setup: &Setup) -> Child {
    let log = std::fs::File::options().create(true).append(true).open(folder.join("master.err"));
    let mut command = howdah_within(mark, setup.master_descriptors);
    command
        .envs([setup.guards()])
        .envs(setup.environment.iter().cloned())
        .arg("master")
        .args(["--listen", "127.0.0.1:0", "--config"])
        .arg(folder.join("master.toml"))
        .arg("--dir")
        .arg(folder.join("master"))
        .stdout(Stdio::null())
        .stderr(log.expect("open a file"))
        .spawn()
        .expect("start the master")
}

/// The name under which worker `index` registers.
/// What the kernel says of a process's memory.
fn kib(pid: Pid, what: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix(what)).expect("such a line");
    line.trim().trim_end_matches(" kB").parse().expect("a number of KiB")
}

pub(crate) fn worker_name(index: usize) -> String {
    format!("worker-{}", index + 1)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.print_logs();
        }
        // Unreaped children stay zombies, which do not count, until the test executable ends.
        let _ = self.master.kill();
        let _ = self.master.wait();
        for worker in self.workers.iter_mut().flatten() {
            let _ = worker.kill();
            let _ = worker.wait();
        }
        self.mark.kill_all();
    }
}
