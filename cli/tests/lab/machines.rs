//! The lab: machines `lab0` to `lab4` and a `desk`, each a network namespace on one bridge, with one `/etc/hosts` and a
//! shared folder in the place of a network file system.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use howdah_guards::clock::OFFSET_VARIABLE;
use howdah_guards::{Guard, VARIABLE};
use serde_json::Value;
use tempfile::TempDir;

use crate::network_share::{Mood, NetworkShare};
use crate::wait_for;
use crate::waiting::ended_within;

/// The last is where people sit.
pub(crate) const MACHINES: [&str; 6] = ["lab0", "lab1", "lab2", "lab3", "lab4", "desk"];

/// Makes the caller a machine: its name, its hosts, its mounts; then becomes the words after them.
const ENTER: &str = r#"set -e
hostname "$1"; mount --bind "$2/hosts" /etc/hosts; mount --bind "$2/nsswitch.conf" /etc/nsswitch.conf
if [ "$3" != none ]; then mount --bind "$2/$3" "$2/share"; else mount -t tmpfs tmpfs "$2/share"; fi
shift 3; exec "$@""#;

/// As [`ENTER`], with the folders of the README and the guide: the share at three places, the machine's own data at two.
/// What is only in there is made on no file system of this machine.
const ENTER_PAGES: &str = r#"set -e
hostname "$1"; mount --bind "$2/hosts" /etc/hosts; mount --bind "$2/nsswitch.conf" /etc/nsswitch.conf
root="$2/root"; own="$2/own-$1"; mkdir -p "$root" "$own/data" "$own/lib" "$own/here"
mount -t tmpfs tmpfs "$root"
for entry in /*; do
    if [ -L "$entry" ]; then cp -P "$entry" "$root/"; elif [ -d "$entry" ]; then mkdir "$root$entry"; mount --rbind "$entry" "$root$entry"; fi
done
mkdir -p "$root/data" "$root/share" "$root/mnt"
mount -t tmpfs tmpfs "$root/mnt"; mkdir "$root/mnt/share" "$root/mnt/lab"
for at in share mnt/share mnt/lab; do mount --bind "$2/export" "$root/$at"; done
mount --bind "$own/data" "$root/data"; mount --bind "$own/lib" "$root/var/lib"
here="$own/here"; shift 3; exec chroot "$root" sh -c 'cd "$0" && exec "$@"' "$here" "$@""#;

/// Which addresses the machines have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    V4,
    V6,
}

pub(crate) struct Lab {
    folder: TempDir,
    kind: Kind,
    /// Machines that have not mounted the share.
    bare: Vec<&'static str>,
    /// What machines have mounted as their share that is a network file system.
    network_shares: Vec<(&'static str, NetworkShare)>,
    /// Whether machines have the folders that the pages speak of.
    with_pages_folders: bool,
    /// What all processes are without.
    guards_off: Option<Guard>,
    /// By how many milliseconds machines' clocks are ahead.
    clocks: Vec<(&'static str, i64)>,
    /// What daemons are started from.
    executable: String,
    daemons: Vec<(String, Child)>,
}

impl Lab {
    /// Without machines yet.
    pub(crate) fn new() -> Lab {
        let folder = tempfile::Builder::new().prefix("howdah-lab-").tempdir().expect("make a folder");
        for name in ["export", "share"] {
            fs::create_dir(folder.path().join(name)).expect("make a folder");
        }
        run("mount", &["-t", "tmpfs", "tmpfs", "/run"]);
        run("ip", &["link", "set", "lo", "up"]);
        run("ip", &["link", "add", "br0", "type", "bridge"]);
        run("ip", &["link", "set", "br0", "up"]);
        let lab = Lab {
            folder,
            kind: Kind::V4,
            bare: Vec::new(),
            network_shares: Vec::new(),
            with_pages_folders: false,
            guards_off: None,
            clocks: Vec::new(),
            executable: env!("CARGO_BIN_EXE_howdah").to_owned(),
            daemons: Vec::new(),
        };
        lab.write("nsswitch.conf", "passwd: files systemd\nhosts: files dns\n");
        lab
    }

    /// Makes the machines and connects those that are not `late`.
    pub(crate) fn machines(mut self, kind: Kind, late: &[&str]) -> Lab {
        self.kind = kind;
        self.write_hosts(|name| name);
        for name in MACHINES {
            run("ip", &["netns", "add", name]);
            run("ip", &["link", "add", &format!("v-{name}"), "type", "veth", "peer", "name", "eth0", "netns", name]);
            run("ip", &["link", "set", &format!("v-{name}"), "master", "br0", "up"]);
            run("ip", &["-n", name, "link", "set", "lo", "up"]);
            if !late.contains(&name) {
                self.connect(name);
            }
        }
        self
    }

    /// Writes the file of names that all machines have: which machine has which name.
    fn write_hosts(&self, machine: impl Fn(&'static str) -> &'static str) {
        let hosts: String = MACHINES.iter().map(|name| format!("{} {name}\n", self.address(machine(name)))).collect();
        // Debian's installer puts a machine's own name onto 127.0.1.1.
        self.write("hosts", &format!("127.0.0.1 localhost\n::1 localhost\n127.0.1.1 here\n{hosts}"));
    }

    /// Gives a name to another machine, beside its own.
    pub(crate) fn move_name(&self, moved: &'static str, to: &'static str) {
        self.write_hosts(|name| if name == moved { to } else { name });
    }

    /// Mounts the share on a machine that had none, for what runs there, too.
    pub(crate) fn mount_share(&mut self, machine: &str) {
        self.bare.retain(|name| *name != machine);
        let [from, to] = ["export", "share"].map(|name| self.path(name).display().to_string());
        for (_, child) in self.daemons.iter().filter(|(name, _)| name == machine) {
            let pid = child.id().to_string();
            run("nsenter", &["--target", &pid, "--mount", "mount", "--bind", &from, &to]);
        }
    }

    /// Leaves the share unmounted on a machine, for what starts there from now on.
    pub(crate) fn without_share(mut self, name: &'static str) -> Lab {
        self.bare.push(name);
        self
    }

    /// Gives a machine the share by way of a network file system, for what starts there from now on.
    pub(crate) fn with_network_share(mut self, machine: &'static str) -> Lab {
        let at = self.path(&format!("nfs-{machine}"));
        fs::create_dir(&at).expect("make a folder");
        let share = NetworkShare::mount(&self.path("export"), &at).expect("mount a file system of our own");
        self.network_shares.push((machine, share));
        self
    }

    /// What a machine has mounted.
    pub(crate) fn network_share(&self, machine: &str) -> &NetworkShare {
        let found = self.network_shares.iter().find(|(of, _)| *of == machine);
        &found.expect("the machine has a network share").1
    }

    /// Gives the machines the folders that the README and the guide speak of.
    pub(crate) fn with_pages_folders(mut self) -> Lab {
        self.with_pages_folders = true;
        self
    }

    /// Sets a machine's clock wrong, for what starts from now on.
    pub(crate) fn with_clock(mut self, name: &'static str, ahead_ms: i64) -> Lab {
        self.clocks.push((name, ahead_ms));
        self
    }

    /// Switches a guard off, for what starts from now on.
    pub(crate) fn without_guard(mut self, guard: Guard) -> Lab {
        self.guards_off = Some(guard);
        self
    }

    /// Gives a machine its address.
    pub(crate) fn connect(&self, name: &str) {
        let network = format!("{}/{}", self.address(name), if self.kind == Kind::V4 { 24 } else { 64 });
        let mut words = vec!["-n", name, "addr", "add", &network, "dev", "eth0"];
        if self.kind == Kind::V6 {
            words.push("nodad");
        }
        run("ip", &words);
        run("ip", &["-n", name, "link", "set", "eth0", "up"]);
    }

    /// Gives a machine one more address, of any network.
    pub(crate) fn add_address(&self, name: &str, network: &str) {
        run("ip", &["-n", name, "addr", "add", network, "dev", "eth0"]);
        run("ip", &["-n", name, "link", "set", "eth0", "up"]);
    }

    /// Takes a machine's cable out.
    pub(crate) fn unplug(&self, name: &str) {
        run("ip", &["link", "set", &format!("v-{name}"), "down"]);
    }

    /// Puts it back.
    pub(crate) fn plug(&self, name: &str) {
        run("ip", &["link", "set", &format!("v-{name}"), "up"]);
    }

    /// Lets nothing through between two machines, which others get to as ever.
    pub(crate) fn cut_between(&self, one: &str, other: &str) {
        run("ip", &["-n", one, "route", "add", "blackhole", &self.address(other)]);
        run("ip", &["-n", other, "route", "add", "blackhole", &self.address(one)]);
    }

    /// Undoes [`Lab::cut_between`].
    pub(crate) fn mend_between(&self, one: &str, other: &str) {
        run("ip", &["-n", one, "route", "del", "blackhole", &self.address(other)]);
        run("ip", &["-n", other, "route", "del", "blackhole", &self.address(one)]);
    }

    /// Drops what comes for a port of a machine, without an answer, as packet filters do.
    pub(crate) fn close_port(&self, name: &str, port: u16) {
        self.filter(name, &format!("iifname eth0 tcp dport {port} drop"));
    }

    /// As [`Lab::close_port`], for what comes from one machine.
    pub(crate) fn close_port_to(&self, name: &str, port: u16, from: &str) {
        self.filter(name, &format!("{} tcp dport {port} drop", self.sent_by(from)));
    }

    /// Lets nothing through from one machine, neither what it asks nor what it answers.
    pub(crate) fn drop_from(&self, name: &str, from: &str) {
        self.filter(name, &format!("{} drop", self.sent_by(from)));
    }

    /// What of a packet filter's rule is for a machine's packets.
    fn sent_by(&self, name: &str) -> String {
        let family = if self.kind == Kind::V4 { "ip" } else { "ip6" };
        format!("{family} saddr {}", self.address(name))
    }

    /// Takes a machine's packet filter away.
    pub(crate) fn open_all(&self, name: &str) {
        run("ip", &["netns", "exec", name, "nft", "delete table inet lab"]);
    }

    /// Adds a rule to a machine's packet filter. Nothing else is in it.
    fn filter(&self, name: &str, rule: &str) {
        let nft = |words: &str| run("ip", &["netns", "exec", name, "nft", words]);
        nft("add table inet lab");
        nft("add chain inet lab input { type filter hook input priority 0; }");
        nft(&format!("add rule inet lab input {rule}"));
    }

    pub(crate) fn address(&self, name: &str) -> String {
        let number = MACHINES.iter().position(|known| *known == name).expect("a machine") + 10;
        match self.kind {
            Kind::V4 => format!("10.77.0.{number}"),
            Kind::V6 => format!("fd77::{number}"),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A path on the share, as an argument.
    pub(crate) fn shared(&self, name: &str) -> String {
        self.path("share").join(name).display().to_string()
    }

    /// Where the share's files lie for the test itself.
    pub(crate) fn export(&self, name: &str) -> PathBuf {
        self.path("export").join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("write a file");
    }

    /// Words as they are typed on a machine.
    pub(crate) fn command(&self, machine: &str, words: &[&str]) -> Command {
        let share = match self.network_shares.iter().any(|(of, _)| *of == machine) {
            _ if self.bare.contains(&machine) => "none".to_owned(),
            true => format!("nfs-{machine}"),
            false => "export".to_owned(),
        };
        let mut command = Command::new("ip");
        let enter = if self.with_pages_folders { ENTER_PAGES } else { ENTER };
        command.args(["netns", "exec", machine, "unshare", "--mount", "--uts", "sh", "-c", enter, "sh", machine]);
        command.arg(self.folder.path()).arg(share).args(words).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HOWDAH_") {
                command.env_remove(name);
            }
        }
        command.envs(self.guards_off.map(|guard| (VARIABLE, guard.name())));
        let clock = self.clocks.iter().find(|(name, _)| *name == machine);
        command.envs(clock.map(|(_, ahead_ms)| (OFFSET_VARIABLE, ahead_ms.to_string())));
        command
    }

    /// Starts a daemon on a machine; its log is in `MACHINE.log`.
    pub(crate) fn daemon(&mut self, machine: &str, words: &[&str]) {
        let mut all = vec![&self.executable[..]];
        all.extend(words);
        let log = fs::OpenOptions::new().append(true).create(true).open(self.path(&format!("{machine}.log")));
        let child = self.command(machine, &all).stdout(Stdio::null()).stderr(log.expect("make a log")).spawn();
        self.daemons.push((machine.to_owned(), child.expect("start a daemon")));
    }

    /// Starts a daemon by a line as it stands on a page.
    pub(crate) fn daemon_line(&mut self, machine: &str, line: &str) {
        let log = fs::OpenOptions::new().append(true).create(true).open(self.path(&format!("{machine}.log")));
        let mut command = self.typed(machine, &["sh", "-c", &format!("exec {line}")]);
        let child = command.stdout(Stdio::null()).stderr(log.expect("make a log")).spawn();
        self.daemons.push((machine.to_owned(), child.expect("start a daemon")));
    }

    /// Types lines in a shell of a machine; expects success and returns what was printed.
    #[track_caller]
    pub(crate) fn type_at(&self, machine: &str, lines: &str) -> String {
        let output = self.typed(machine, &["sh", "-euxc", lines]).output().expect("run a shell");
        let [said, complained] =
            [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
        if !output.status.success() {
            self.print_logs();
            panic!("{machine}: typed lines ended with {}:\n{said}\n{complained}", output.status);
        }
        said
    }

    /// As [`Lab::command`], where `howdah` is on the path and root's daemons are meant.
    fn typed(&self, machine: &str, words: &[&str]) -> Command {
        let mut command = self.command(machine, words);
        let own = Path::new(&self.executable).parent().expect("it lies in a folder");
        let path = std::env::var("PATH").expect("a shell needs a path");
        command.env("PATH", format!("{}:{path}", own.display()));
        command.env("HOWDAH_MASTER_AS_ROOT", "true").env("HOWDAH_WORKER_AS_ROOT", "true");
        command
    }

    /// Starts the master on `lab0` and waits until it listens.
    pub(crate) fn master(&mut self) {
        self.master_with(&[]);
    }

    /// As [`Lab::master`], with more words than it needs.
    pub(crate) fn master_with(&mut self, words: &[&str]) {
        let dir = self.path("master").display().to_string();
        let needed = ["master", "--as-root", "--listen", "lab0", "--dir", &dir];
        self.daemon("lab0", &[&needed[..], words].concat());
        wait_for("the master to listen", || self.path("master/access.json").exists().then_some(()));
    }

    /// Starts a worker with more words than it needs.
    pub(crate) fn worker_with(&mut self, machine: &str, words: &[&str]) {
        let dir = self.path(&format!("worker-{machine}")).display().to_string();
        let mut all = vec!["worker", "--as-root", "--master", "lab0", "--name", machine, "--dir", &dir];
        all.extend(words);
        self.daemon(machine, &all);
    }

    pub(crate) fn workers(&mut self, machines: &[&str]) {
        for machine in machines {
            self.worker_with(machine, &[]);
        }
    }

    /// Runs `howdah` at the desk to its end.
    pub(crate) fn at_desk(&self, words: &[&str]) -> Output {
        let mut all = vec![env!("CARGO_BIN_EXE_howdah")];
        all.extend(words);
        self.command("desk", &all).env("HOWDAH_MASTER", "lab0").output().expect("run howdah")
    }

    /// As [`Lab::at_desk`]; expects success and returns what it printed.
    #[track_caller]
    pub(crate) fn desk(&self, words: &[&str]) -> String {
        let output = self.at_desk(words);
        let [said, complained] =
            [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
        if !output.status.success() {
            self.print_logs();
            panic!("{words:?} ended with {}:\n{said}\n{complained}", output.status);
        }
        said
    }

    #[track_caller]
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let mut all = words.to_vec();
        all.extend(["--output", "json"]);
        serde_json::from_str(&self.desk(&all)).expect("JSON")
    }

    /// `job attempts` as the master has it now.
    #[track_caller]
    pub(crate) fn attempts(&self, job: &str) -> Vec<Value> {
        self.json(&["job", "attempts", job])["attempts"].as_array().expect("attempts").clone()
    }

    /// The workers by name, as the master has them now.
    pub(crate) fn worker(&self, name: &str) -> Option<Value> {
        let list = self.json(&["worker", "list"]);
        list["workers"].as_array()?.iter().find(|worker| worker["name"] == name).cloned()
    }

    /// Waits until these workers are in a state.
    pub(crate) fn wait_state(&self, names: &[&str], state: &str) {
        wait_for(&format!("{names:?} to be {state}"), || {
            let there = |name: &&str| self.worker(name).is_some_and(|worker| worker["state"] == state);
            names.iter().all(there).then_some(())
        });
    }

    /// Starts daemons from another executable from now on.
    pub(crate) fn start_with(&mut self, executable: &str) {
        executable.clone_into(&mut self.executable);
    }

    /// Stops the daemon of a machine as an administrator does, and waits for its end.
    pub(crate) fn stop(&mut self, machine: &str) {
        self.signal(machine, "-TERM");
        for (_, child) in self.daemons.iter_mut().filter(|(name, _)| name == machine) {
            ended_within(child, &format!("the daemon of {machine}"));
        }
    }

    /// Kills all processes of a machine.
    pub(crate) fn kill(&self, machine: &str) {
        self.signal(machine, "-KILL");
    }

    /// Sends a signal to all processes of a machine.
    pub(crate) fn signal(&self, machine: &str, signal: &str) {
        let listed = Command::new("ip").args(["netns", "pids", machine]).output().expect("list processes");
        for pid in String::from_utf8_lossy(&listed.stdout).split_whitespace() {
            // One that has just ended is as good.
            let _ = Command::new("kill").args([signal, pid]).status();
        }
    }

    pub(crate) fn log(&self, machine: &str) -> String {
        fs::read_to_string(self.path(&format!("{machine}.log"))).unwrap_or_default()
    }

    fn print_logs(&self) {
        for machine in MACHINES {
            let log = self.log(machine);
            let lines: Vec<&str> = log.lines().collect();
            eprintln!("--- the end of the log of {machine}:\n{}", lines[lines.len().saturating_sub(30)..].join("\n"));
        }
    }

    /// Writes an input of some lines onto the share and returns its path there.
    pub(crate) fn input(&self, lines: usize) -> String {
        let text: String = (0..lines).map(|n| format!("word{} and\n", n % 7)).collect();
        fs::write(self.export("input.txt"), text).expect("write the input");
        self.shared("input.txt")
    }

    /// Counts words of the input with so many maps, and checks the outcome.
    #[track_caller]
    pub(crate) fn count_words(&self, output: &str, lines: usize) -> Value {
        let (input, to) = (self.input(lines), self.shared(output));
        let splits = "mapred.max.split.size=2000";
        let said = self.json(&[
            "submit",
            "wordcount",
            "--input",
            &input,
            "--output",
            &to,
            "--reduces",
            "2",
            "-D",
            splits,
            "--wait",
        ]);
        let counted = read_counts(&self.export(output));
        assert_eq!(counted.iter().map(|(_, n)| n).sum::<u64>(), 2 * lines as u64, "{counted:?}");
        assert!(counted.contains(&("and".to_owned(), lines as u64)), "{counted:?}");
        said
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.print_logs();
        }
        // What waits for a share that hangs cannot end.
        self.network_shares.iter().for_each(|(_, share)| share.set(Mood::Well));
        for (_, child) in &mut self.daemons {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn read_counts(output: &Path) -> Vec<(String, u64)> {
    let mut counts = Vec::new();
    for entry in fs::read_dir(output).expect("the output").flatten() {
        if entry.file_name().to_string_lossy().starts_with("part-") {
            let text = fs::read_to_string(entry.path()).expect("text");
            counts.extend(text.lines().filter_map(|line| {
                let (word, n) = line.split_once('\t')?;
                Some((word.to_owned(), n.parse().ok()?))
            }));
        }
    }
    counts
}

#[track_caller]
fn run(program: &str, words: &[&str]) {
    let output = Command::new(program).args(words).output().expect("start a program");
    assert!(output.status.success(), "{program} {words:?}: {}", String::from_utf8_lossy(&output.stderr));
}
