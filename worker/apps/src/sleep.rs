//! Tasks that take a given time and do nothing: for load, for scale, and for comparing predicted times with
//! measured ones.
//!
//! Hadoop's names: `sleep.job.map.sleep.time` and `sleep.job.reduce.sleep.time` are the times of each map and
//! reduce, in milliseconds without a unit. `sleep.job.map.times` and `sleep.job.reduce.times` give each task its own, separated by commas; tasks
//! beyond the list start it again. A task of 0 ms does nothing at all.

use std::time::{Duration, Instant};

use howdah_core::job::TaskKind;
use howdah_core::job::quantity::Millis;
use howdah_task::{Application, Context, MapOutput, Mapper, Properties, ReduceOutput, Reducer, Result, Values};

use crate::built_in::BuiltIn;
use crate::request::{JobPlan, PlanError, Planner};

const MAP_TIME: &str = "sleep.job.map.sleep.time";
const REDUCE_TIME: &str = "sleep.job.reduce.sleep.time";
const MAP_TIMES: &str = "sleep.job.map.times";
const REDUCE_TIMES: &str = "sleep.job.reduce.times";
const EXPECTED: &str = "a number of milliseconds, or a time such as 2s";

/// How long to sleep before saying so.
const BEAT: Duration = Duration::from_millis(500);

pub(crate) const APP: BuiltIn = BuiltIn {
    name: "sleep",
    about: "sleep in every task",
    usage: "[-m MAPS] [-r REDUCES] [-mt TIME] [-rt TIME] [--map-times TIME,…] [--reduce-times TIME,…]",
    plan,
    stages: &[("sleep", application)],
};

fn plan(planner: &mut Planner<'_>) -> Result<Vec<JobPlan>, PlanError> {
    planner.set::<Millis>(&["-mt", "--map-time"], MAP_TIME, EXPECTED)?;
    planner.set::<Millis>(&["-rt", "--reduce-time"], REDUCE_TIME, EXPECTED)?;
    for (name, property) in [("--map-times", MAP_TIMES), ("--reduce-times", REDUCE_TIMES)] {
        if let Some(list) = planner.set::<String>(&[name], property, EXPECTED)? {
            parse(&list)
                .ok_or_else(|| planner.not(name, &list, "times separated by commas, milliseconds without a unit"))?;
        }
    }
    // A list of times says how many tasks there are, unless that is said too.
    let length = |property| planner.properties.get(property).and_then(|list| parse(list)).map(|list| list.len() as u32);
    let (map_times, reduce_times) = (length(MAP_TIMES), length(REDUCE_TIMES));
    let asked: Option<u32> = planner.option(&["-r"], "a number of reduces")?;
    let n_reduces = asked.map_or_else(|| planner.reduces(reduce_times.unwrap_or(0)), Ok)?;
    let n_maps = planner.maps(map_times.unwrap_or(1))?;
    Ok(vec![planner.outputless_job("sleep", n_maps, n_reduces)])
}

fn parse(list: &str) -> Option<Vec<Millis>> {
    list.split(',').map(|time| time.parse().ok()).collect()
}

fn application(_: &Properties) -> Result<Application> {
    Ok(Application::new(|| Sleeper).reducer(|| Sleeper))
}

struct Sleeper;

impl Mapper for Sleeper {
    fn map(&mut self, _: &[u8], _: &[u8], out: &mut MapOutput) -> Result {
        sleep(out.context())
    }
}

impl Reducer for Sleeper {
    fn reduce(&mut self, _: &[u8], _: &mut Values<'_>, _: &mut ReduceOutput) -> Result {
        Ok(())
    }

    /// The maps send nothing, so this is where a reduce has its only turn.
    fn close(&mut self, out: &mut ReduceOutput) -> Result {
        sleep(out.context())
    }
}

/// The time of this task.
fn time_of(context: &Context) -> Result<Duration> {
    let (one, each) = match context.kind() {
        TaskKind::Map => (MAP_TIME, MAP_TIMES),
        TaskKind::Reduce => (REDUCE_TIME, REDUCE_TIMES),
    };
    let Millis(ms) = match context.properties().get(each) {
        Some(list) => {
            let times = parse(list).ok_or_else(|| format!("property `{each}`: `{list}` is not {EXPECTED}, …"))?;
            times[context.task_index() as usize % times.len()]
        }
        None => context.properties().parse_or(&[one], Millis(0), EXPECTED)?,
    };
    Ok(Duration::from_millis(ms))
}

fn sleep(context: &Context) -> Result {
    let total = time_of(context)?;
    let started = Instant::now();
    loop {
        let elapsed = started.elapsed();
        if elapsed >= total {
            return Ok(());
        }
        context.set_progress(elapsed.as_secs_f64() / total.as_secs_f64())?;
        std::thread::sleep((total - elapsed).min(BEAT));
    }
}
