//! `worker`: from flags and settings to a running worker; and, with a subcommand, what concerns all workers.

mod admin;
pub(crate) mod args;
mod drain;
mod list;
mod vitals;

use self::args::WorkerArgs;
use crate::config::{Context, Flag, Section, warn_of_misspelt};
use crate::daemon::{check_root, run};
use crate::failure::{Failure, Outcome};
use crate::log::Destination;

pub(crate) use admin::{enable, remove};
pub(crate) use drain::drain;
pub(crate) use list::list_workers;
pub(crate) use vitals::show as vitals;

/// `howdah worker`
pub(crate) fn worker(context: &Context, args: &WorkerArgs) -> Outcome {
    let by_cores = if args.slots_by_cores { Some(slots_by_cores()?) } else { None };
    let flags = vec![
        Flag::new("--master", "master", &args.master),
        Flag::new("--dir", "dir", &args.dir),
        Flag::new("--name", "name", &args.name),
        Flag::new("--map-slots", "map_slots", &args.map_slots),
        Flag::new("--reduce-slots", "reduce_slots", &args.reduce_slots),
        Flag::new("--slots-by-cores", "map_slots", &by_cores.map(|[maps, _]| maps)),
        Flag::new("--slots-by-cores", "reduce_slots", &by_cores.map(|[_, reduces]| reduces)),
        Flag::new("--listen", "listen", &args.listen),
        Flag::new("--advertise", "advertise", &args.advertise),
        Flag::new("--as-root", "as_root", &args.as_root.then_some(true)),
        Flag::new("--rack", "rack", &args.rack),
        Flag::new("--host", "host", &args.host),
        Flag::new("--cpu-quota", "cpu_quota", &args.cpu_quota),
        Flag::new("--vitals-source", "vitals_source", &args.vitals_source),
    ];
    let (config, settings) = context.settings::<howdah_worker::WorkerConfig>(Section::Worker, flags)?;
    warn_of_misspelt(&settings);
    config.check().map_err(|error| {
        Failure::usage(error.to_string()).help("`howdah config show --worker` prints every setting")
    })?;
    check_root("worker", config.serves_others(), config.as_root)?;
    let log = Destination::of(context, &config.dir)?;
    run(args.leash, &log, |stop| howdah_worker::run(config, stop))
}

/// Maps and reduces for the cores that this process may use, as its control group and its affinity have them.
fn slots_by_cores() -> Outcome<[usize; 2]> {
    let cores = std::thread::available_parallelism();
    let cores = cores.map_err(|error| Failure::broke(format!("count the cores: {error}")))?.get();
    Ok([cores, (cores / 2).max(1)])
}
