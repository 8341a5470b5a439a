//! The scripts for Slurm and HyperQueue, run to their end: in the place of `srun` and `hq` stand programs that start the
//! same processes on this machine and, as those do, one for each node.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::daemons::{HOWDAH, howdah};
use crate::deploy;

/// As Slurm: the words on each node, each with the node's name and number. Told to stop, it kills them.
const SRUN: &str = r#"#!/usr/bin/env bash
pids=
while [ $# -gt 0 ]; do
    case $1 in
        --ntasks=*) nodes=${1#*=}; shift;;
        --output=*) out=${1#*=}; shift;;
        --job-name=*) name=${1#*=}; shift;;
        --*) shift;;
        *) break;;
    esac
done
trap 'kill -KILL $pids' TERM
for n in $(seq 0 $((nodes - 1))); do
    SLURM_NODEID=$n SLURMD_NODENAME=node$n "$@" > "${out//%n/$n}" 2>&1 &
    pids="$pids $!"
done
echo "$pids" > "$(dirname "$0")/step.$name"
for pid in $pids; do wait "$pid" || wait "$pid"; done
rm "$(dirname "$0")/step.$name"
"#;
/// As Slurm: the job's steps that run, and their names.
const SQUEUE: &str = r#"#!/usr/bin/env bash
for step in "$(dirname "$0")"/step.*; do [ ! -e "$step" ] || echo "${step##*/} ${step##*.}"; done
"#;
/// As Slurm: a signal to the tasks of a step.
const SCANCEL: &str = r#"#!/usr/bin/env bash
[ "$1" = --signal=TERM ] && kill -TERM $(cat "$(dirname "$0")/$2")
"#;

/// As HyperQueue: `submit` answers with the job's number while its tasks run, `job wait` waits for them.
const HQ: &str = r#"#!/usr/bin/env bash
tasks=$(dirname "$0")/tasks
if [ "$1 $2" = "job wait" ]; then
    [ "$3" = 7 ] || exit 1
    for pid in $(cat "$tasks"); do while kill -0 "$pid" 2> /dev/null; do sleep 0.1; done; done
    exit
fi
[ "$1" = submit ] || exit 1
while [ "$1" != -- ]; do
    case $1 in
        --array) array=$2;;
        --stderr) err=$2;;
    esac
    shift
done
shift
for n in $(seq "${array%-*}" "${array#*-}"); do
    HQ_TASK_ID=$n "$@" > /dev/null 2> "${err//%\{TASK_ID\}/$n}" &
    echo $! >> "$tasks"
done
echo 7
"#;

struct Place(tempfile::TempDir);

impl Place {
    /// A folder with an input and, on the path, programs of these names and texts.
    fn new(programs: &[(&str, &str)]) -> Place {
        let place = Place(tempfile::tempdir().expect("make a folder"));
        for folder in ["bin", "share", "scratch"] {
            std::fs::create_dir(place.path().join(folder)).expect("make a folder");
        }
        for (program, text) in programs {
            let path = place.path().join("bin").join(program);
            std::fs::write(&path, text).expect("write a program");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("make it a program");
        }
        std::fs::write(place.path().join("input.txt"), "one two two\n").expect("write the input");
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs the script with more words and variables than those that every site sets.
    fn run(&self, script: &str, words: &[&str], variables: &[(&str, &str)]) -> Output {
        let checked = Command::new("bash").arg("-n").arg(deploy().join(script)).output().expect("run bash");
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
        let path = std::env::var("PATH").unwrap_or_default();
        // What hangs ends here, and says so with code 124.
        let mut command = Command::new("timeout");
        // The user's settings of howdah are not the test's.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("HOWDAH_")) {
            command.env_remove(name);
        }
        command.args(["120", "bash"]).arg(deploy().join(script)).args(words).current_dir(self.path());
        command.env("PATH", format!("{}:{path}", self.path().join("bin").display()));
        command.env("HOWDAH", HOWDAH).env("HOWDAH_HOST", "127.0.0.1");
        command.env("HOWDAH_SHARE", self.path().join("share")).env("HOWDAH_SCRATCH", self.path().join("scratch"));
        command.envs(variables.iter().copied()).output().expect("run the script")
    }

    /// The words were counted, on as many workers as nodes, and nothing is left but logs.
    fn check(&self, output: &Output, logs: &[&str]) {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{}: {said}", output.status);
        let part = std::fs::read_to_string(self.path().join("counts/part-r-00000")).expect("the output");
        assert_eq!(part, "one\t1\ntwo\t2\n");
        let seen = String::from_utf8_lossy(&output.stdout).into_owned();
        let list: serde_json::Value = serde_json::from_str(seen.lines().last().unwrap_or_default()).expect("JSON");
        assert_eq!(list["live"], logs.len(), "{seen}");
        let left: Vec<_> =
            std::fs::read_dir(self.path().join("scratch")).expect("the scratch folder").flatten().collect();
        let files = |folder: &Path| std::fs::read_dir(folder).map_or(0, Iterator::count);
        assert!(left.iter().all(|folder| files(&folder.path()) == 0), "left behind: {left:?}");
        let run =
            std::fs::read_dir(self.path().join("share")).expect("the share").flatten().next().expect("its folder");
        for name in logs.iter().copied().chain(["master.log"]) {
            let log = std::fs::read_to_string(run.path().join(name)).expect("a log");
            assert!(!log.is_empty(), "{name} is empty");
        }
        let access = std::fs::read_to_string(run.path().join("master/access.json"));
        let Ok(access) = access else { return };
        let access: serde_json::Value = serde_json::from_str(&access).expect("JSON");
        let asked = howdah().args(["cluster", "--master", access["master"].as_str().expect("an address")]).output();
        assert_eq!(asked.expect("run howdah").status.code(), Some(3), "the master still runs");
    }
}

/// What somebody would run on the cluster: how many workers there are, and a job.
const JOB: &str = r#""$HOWDAH" submit wordcount --input input.txt --output counts --wait >&2 &&
    "$HOWDAH" wait --workers 1 --output json | tr -d '\n'"#;

#[test]
fn a_slurm_job_counts_words_on_a_worker_for_each_node_and_leaves_nothing_running() {
    let place = Place::new(&[("srun", SRUN), ("squeue", SQUEUE), ("scancel", SCANCEL)]);
    let slurm = [("SLURM_JOB_ID", "12"), ("SLURM_JOB_NUM_NODES", "2")];
    let output = place.run("slurm/howdah.sbatch", &["bash", "-c", JOB], &slurm);
    place.check(&output, &["worker-0.log", "worker-1.log"]);
    let log = std::fs::read_to_string(place.path().join("share/howdah-12/worker-0.log")).expect("a log");
    assert!(log.contains("worker stopped"), "it was killed: {log}");
    // The job's end is the command's.
    let failed = place.run("slurm/howdah.sbatch", &["bash", "-c", "exit 9"], &[("SLURM_JOB_ID", "13"), slurm[1]]);
    assert_eq!(failed.status.code(), Some(9), "{}", String::from_utf8_lossy(&failed.stderr));
}

#[test]
fn hyperqueues_tasks_become_workers_for_the_time_of_a_command() {
    let place = Place::new(&[("hq", HQ)]);
    let output = place.run("hyperqueue/howdah.sh", &["2", "bash", "-c", JOB], &[]);
    place.check(&output, &["worker-1.log", "worker-2.log"]);
}
