//! `up --hosts` and `down --hosts`: a cluster on other machines, by ssh.
//!
//! Each machine first has this very executable, then starts its daemon with `howdah daemon`, which over there waits until
//! the daemon is of use. All machines are worked on at a time; one that fails does not stop the others, and is named with
//! its reason at the end.

use std::path::{Path, PathBuf};

use super::args::{DownArgs, UpArgs};
use super::ssh::{Ssh, quote};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::progress::spinner;
use crate::output::{Screen, Style};
use crate::units;

/// Read from the file.
#[derive(Debug, PartialEq, Eq)]
struct Machines {
    master: String,
    workers: Vec<String>,
}

/// What each machine needs to know.
#[derive(Clone, Debug)]
struct Site {
    ssh: Ssh,
    dir: PathBuf,
}

type HostOutcome = (String, Result<String, String>);

/// `howdah up --hosts`
pub(crate) async fn up(context: &Context, args: &UpArgs, file: &Path) -> Outcome {
    let screen = context.screen(context.colour()?);
    let machines = Machines::read(file)?;
    let site = Site::new(&args.machines.ssh, &args.dir)?;
    if let Some(file) = context.path() {
        return Err(Failure::usage(format!("`{}` is not sent to other machines", file.display()))
            .help("put it there as /etc/howdah/howdah.toml, where daemons find it, and leave --config away"));
    }
    let shown = spinner(&screen, format!("starting the master on {}", machines.master));
    let started = site.start(&machines.master, "master", &[], &master_args(args, &machines.master)).await;
    let address = started.map_err(|reason| {
        shown.finish_and_clear();
        Failure::broke(format!("the master on {}: {reason}", machines.master))
    })?;
    shown.set_message(format!("starting {}", units::counted(machines.workers.len() as u64, "worker")));
    let outcomes = all(&machines.workers, |host| {
        let (site, args, address) = (site.clone(), worker_args(args, &host, &address), address.clone());
        async move { site.start(&host, "worker", &[name_of(&host).to_owned(), address], &args).await }
    })
    .await;
    shown.finish_and_clear();
    let live = outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).count();
    screen.line(format!(
        "{}: one master at {} and {}",
        screen.paint(Style::Good, "up"),
        screen.paint(Style::Bold, &address),
        units::counted(live as u64, "worker"),
    ))?;
    screen.line(format!(
        "  look around    howdah cluster --master {address}   ·   export HOWDAH_MASTER={address} saves the typing"
    ))?;
    screen.line(format!("  stop it        howdah down --hosts {} --dir {}", file.display(), args.dir.display()))?;
    complain(outcomes, "the worker on", "mend it and type the same again: what runs stays as it is")
}

/// `howdah down --hosts`
pub(crate) async fn down(screen: &Screen, args: &DownArgs, file: &Path) -> Outcome {
    let machines = Machines::read(file)?;
    let site = Site::new(&args.machines.ssh, &args.dir)?;
    let grace = args.grace.as_millis();
    let shown = spinner(screen, "stopping");
    // Workers say goodbye to a master that still listens.
    let mut outcomes = all(&machines.workers, |host| {
        let site = site.clone();
        async move { site.stop(&host, "worker", grace).await }
    })
    .await;
    outcomes.push((machines.master.clone(), site.stop(&machines.master, "master", grace).await));
    shown.finish_and_clear();
    let stopped = outcomes.iter().filter(|(_, outcome)| outcome.as_deref() == Ok("stopped")).count();
    let idle = outcomes.iter().filter(|(_, outcome)| outcome.as_deref() == Ok("nothing runs")).count();
    let also = if idle > 0 { format!(", {idle} did not run") } else { String::new() };
    screen.line(format!("down: {} stopped{also}", units::counted(stopped as u64, "daemon")))?;
    for (host, outcome) in &outcomes {
        if let Ok(how @ ("hurried" | "killed")) = outcome.as_deref() {
            screen.line(format!("  {host}: it did not end by itself and was {how}"))?;
        }
    }
    complain(outcomes, "the daemon on", "type the same again once the machine can be reached")
}

fn complain(outcomes: Vec<HostOutcome>, what: &str, advice: &str) -> Outcome {
    let failed: Vec<(String, String)> =
        outcomes.into_iter().filter_map(|(host, outcomes)| Some((host, outcomes.err()?))).collect();
    if failed.is_empty() {
        return Ok(Exit::Done);
    }
    let failures = failed.into_iter().map(|(host, reason)| Failure::broke(format!("{what} {host}: {reason}")));
    let mut failures: Vec<Failure> = failures.collect();
    if let Some(last) = failures.pop() {
        failures.push(last.help(advice));
    }
    // The first one is what the command ends with, so the advice has the last word.
    failures.reverse();
    crate::failure::all_reported(failures)
}

/// Does something on all machines at a time, and keeps their order.
async fn all<F>(hosts: &[String], work: impl Fn(String) -> F) -> Vec<HostOutcome>
where
    F: Future<Output = Result<String, String>> + Send + 'static,
{
    let running: Vec<_> = hosts.iter().map(|host| (host.clone(), tokio::spawn(work(host.clone())))).collect();
    let mut outcomes = Vec::new();
    for (host, task) in running {
        outcomes.push((host, task.await.unwrap_or_else(|error| Err(error.to_string()))));
    }
    outcomes
}

impl Machines {
    fn read(file: &Path) -> Outcome<Machines> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| Failure::usage(format!("cannot read `{}`: {error}", file.display())))?;
        Machines::parse(&text).map_err(|problem| Failure::usage(format!("{}: {problem}", file.display())))
    }

    fn parse(text: &str) -> Result<Machines, String> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let mut hosts = Vec::new();
        for host in lines.filter(|line| !line.is_empty()) {
            // A word of ssh's must be a machine and nothing else.
            if host.starts_with('-') || host.contains(char::is_whitespace) {
                return Err(format!("`{host}` is no machine, expected one a line such as lab1 or user@lab1"));
            }
            hosts.push(host.to_owned());
        }
        if hosts.len() < 2 {
            let n = hosts.len();
            return Err(format!("names {n} machines, expected the master's and at least one worker's"));
        }
        let master = hosts.remove(0);
        let twice =
            hosts.iter().enumerate().find(|(at, host)| hosts[..*at].iter().any(|one| name_of(one) == name_of(host)));
        if let Some((_, host)) = twice {
            return Err(format!("`{host}` is named for two workers, expected one for each machine"));
        }
        Ok(Machines { master, workers: hosts })
    }
}

impl Site {
    fn new(ssh: &str, dir: &Path) -> Outcome<Site> {
        if !dir.is_absolute() {
            return Err(Failure::usage(format!(
                "--dir `{}` is relative, expected one that all machines understand",
                dir.display()
            ))
            .help("with --hosts the directory is on each machine: name it from the root on"));
        }
        Ok(Site { ssh: Ssh::new(ssh), dir: dir.to_owned() })
    }

    fn exe(&self) -> String {
        quote(&self.dir.join("bin/howdah").display().to_string())
    }

    /// Copies this executable where it is not there, or where another build is.
    async fn put_executable(&self, host: &str) -> Result<(), String> {
        let exe = self.exe();
        let ours = format!("howdah {}", crate::commands::VERSION);
        let there = self.ssh.run(host, &format!("[ ! -x {exe} ] || {exe} --version"), None).await?;
        if there == ours {
            return Ok(());
        }
        let own = std::env::current_exe().map_err(|error| format!("find this program: {error}"))?;
        let bin = quote(&self.dir.join("bin").display().to_string());
        // In one step, so that an attempt that is about to start sees the old one or the new one.
        let line = format!("mkdir -p {bin} && cat > {exe}.new && chmod 755 {exe}.new && mv {exe}.new {exe}");
        self.ssh.run(host, &line, Some(&own)).await.map(drop)
    }

    async fn start(&self, host: &str, role: &str, until_live: &[String], args: &[String]) -> Result<String, String> {
        self.put_executable(host).await?;
        let mut words = vec!["daemon".to_owned(), "start".to_owned(), role.to_owned(), "--dir".to_owned()];
        words.push(self.dir.join(role).display().to_string());
        if !until_live.is_empty() {
            words.push("--until-live".to_owned());
            words.extend(until_live.iter().cloned());
        }
        words.push("--".to_owned());
        words.extend(args.iter().cloned());
        self.ssh.run(host, &self.line(&words), None).await
    }

    async fn stop(&self, host: &str, role: &str, grace_ms: u128) -> Result<String, String> {
        let dir = self.dir.join(role).display().to_string();
        let words = ["daemon", "stop", "--dir", &dir, "--grace", &format!("{grace_ms}ms")].map(str::to_owned);
        // Without the executable nothing of ours can run there.
        let line = format!("[ -x {} ] || {{ echo nothing runs; exit 0; }}; {}", self.exe(), self.line(&words));
        self.ssh.run(host, &line, None).await
    }

    fn line(&self, words: &[String]) -> String {
        let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
        format!("{} {}", self.exe(), quoted.join(" "))
    }
}

/// The machine's name without the user's.
fn name_of(host: &str) -> &str {
    host.rsplit_once('@').map_or(host, |(_, name)| name)
}

fn master_args(args: &UpArgs, host: &str) -> Vec<String> {
    let listen = args.listen.clone().unwrap_or_else(|| format!("{}:9001", name_of(host)));
    let mut words = vec!["--listen".to_owned(), listen];
    if let Some(scheduler) = &args.scheduler {
        words.extend(["--scheduler".to_owned(), scheduler.clone()]);
    }
    words.extend(args.define.iter().flat_map(|(key, value)| ["-D".to_owned(), format!("{key}={value}")]));
    words.extend(args.as_root.then(|| "--as-root".to_owned()));
    words
}

fn worker_args(args: &UpArgs, host: &str, master: &str) -> Vec<String> {
    let mut words = vec!["--master".to_owned(), master.to_owned(), "--name".to_owned(), name_of(host).to_owned()];
    for (flag, value) in [("--map-slots", args.map_slots), ("--reduce-slots", args.reduce_slots)] {
        words.extend(value.iter().flat_map(|value| [flag.to_owned(), value.to_string()]));
    }
    if args.map_slots.is_none() && args.reduce_slots.is_none() {
        words.push("--slots-by-cores".to_owned());
    }
    words.extend(args.vitals_source.iter().flat_map(|source| ["--vitals-source".to_owned(), source.clone()]));
    words.extend(args.as_root.then(|| "--as-root".to_owned()));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_machine_is_the_masters_and_may_come_again() {
        let read = Machines::parse("# the lab\nlab0\n\nme@lab1 # upstairs\nlab0\n").expect("it reads");
        assert_eq!(
            read,
            Machines { master: "lab0".to_owned(), workers: vec!["me@lab1".to_owned(), "lab0".to_owned()] }
        );
    }

    #[test]
    fn what_is_no_list_of_machines_says_so() {
        let refused = |text: &str| Machines::parse(text).expect_err("it is refused");
        assert_eq!(refused("lab0\n"), "names 1 machines, expected the master's and at least one worker's");
        assert!(refused("lab0\n-oProxyCommand=x\n").starts_with("`-oProxyCommand=x` is no machine"));
        assert!(refused("lab0\nlab1\nyou@lab1\n").starts_with("`you@lab1` is named for two workers"));
    }
}

#[cfg(test)]
mod fuzz {
    use howdah_fuzz::{Readings, cases, changed, changes};
    use proptest::prelude::*;

    use super::*;

    static READINGS: Readings = Readings::of("lists of machines");

    proptest! {
        #![proptest_config(cases(1))]

        #[test]
        fn a_changed_list_names_machines_and_never_an_option_of_ssh(changes in changes()) {
            let bytes = changed(b"# the lab\nann@lab1\nlab2 # the fast one\n192.168.0.7\n\nlab4\n", &changes);
            if let Ok(machines) = Machines::parse(&String::from_utf8_lossy(&bytes)) {
                prop_assert!(!machines.workers.is_empty());
                for host in machines.workers.iter().chain([&machines.master]) {
                    let is_word = !host.is_empty() && !host.starts_with('-') && !host.contains([' ', '\n', '#']);
                    prop_assert!(is_word, "{:?}", host);
                }
            }
            READINGS.add(1);
        }
    }
}
