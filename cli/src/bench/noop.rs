//! 10,000 attempts that do nothing, against a bare loop of `/bin/true`.

use super::cluster::{NOOP_SLOTS, Ran, Shape, run_noops};
use super::measure::{median, run_part};
use super::report::{Bar, Report, Row};
use super::setting::Bench;
use crate::failure::Outcome;
use crate::units;

/// Ways of running attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Process,
    Cgroup,
    Reuse,
}

impl Way {
    const ALL: [Way; 3] = [Way::Process, Way::Cgroup, Way::Reuse];

    fn name(self) -> &'static str {
        match self {
            Way::Process => "a process per attempt",
            Way::Cgroup => "a process and a cgroup per attempt",
            Way::Reuse => "processes reused",
        }
    }

    fn bar(self) -> Bar {
        match self {
            Way::Process => Bar::AtLeast(0.6),
            Way::Cgroup => Bar::AtLeast(0.45),
            Way::Reuse => Bar::AtLeast(2.0),
        }
    }
}

pub(crate) async fn run(bench: &Bench<'_>) -> Outcome<Report> {
    let n: u32 = bench.size(10_000, 1_000);
    let mut base = Vec::new();
    let mut ours: [Vec<f64>; 3] = Default::default();
    let mut notes = vec![format!(
        "2 workers with {NOOP_SLOTS} map slots each; the logs of every attempt are written; the rate is over the whole job, from submission to its end"
    )];
    for turn in 0..bench.repeats() {
        let used = run_part("baseline-spawn", &[n.to_string()])?;
        base.push(f64::from(n) / used.wall.as_secs_f64());
        let mut said = format!("turn {}: baseline {:.0}/s", turn + 1, f64::from(n) / used.wall.as_secs_f64());
        for (index, way) in Way::ALL.into_iter().enumerate() {
            if way == Way::Cgroup && !may_make_cgroups() {
                continue;
            }
            let ran = one(bench, way, n).await?;
            let rate = f64::from(n) / ran.seconds();
            said += &format!(", {} {rate:.0}/s", way.name());
            ours[index].push(rate);
        }
        bench.tell(said);
    }
    if ours[1].is_empty() {
        notes.push("control groups cannot be made on this machine, so that row is missing".to_owned());
    }
    let rows = Way::ALL.into_iter().zip(&ours).filter(|(_, rates)| !rates.is_empty()).map(|(way, rates)| Row {
        measure: way.name().to_owned(),
        unit: "1/s",
        howdah: median(rates),
        baseline: Some(median(&base)),
        bar: Some(way.bar()),
    });
    Ok(Report {
        name: "noop",
        title: format!("{} attempts that do nothing", units::count(u64::from(n))),
        baseline: "/bin/true spawned and reaped, two at a time, by a bare loop (cli/src/bench/baseline_spawn.rs)",
        rows: rows.collect(),
        notes,
        repeats: bench.repeats(),
        quick: bench.quick,
    })
}

async fn one(bench: &Bench<'_>, way: Way, n: u32) -> Outcome<Ran> {
    let mut shape = Shape::two(NOOP_SLOTS, 1);
    if way == Way::Cgroup {
        shape = shape.with("HOWDAH_WORKER_CGROUPS", "true");
    }
    run_noops(&shape, &bench.place("noop-cluster"), n, way == Way::Reuse).await
}

/// Whether this process may make groups where workers would: below its own, in the unified hierarchy.
fn may_make_cgroups() -> bool {
    let Ok(text) = std::fs::read_to_string("/proc/self/cgroup") else { return false };
    let Some(own) = text.lines().find_map(|line| line.strip_prefix("0::")) else { return false };
    let path = std::path::Path::new("/sys/fs/cgroup").join(own.trim_start_matches('/'));
    let probe = path.join(format!("howdah-probe-{}", std::process::id()));
    std::fs::create_dir(&probe).and_then(|()| std::fs::remove_dir(&probe)).is_ok()
}
