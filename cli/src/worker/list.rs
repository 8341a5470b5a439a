//! `worker list`: the workers with their slots, load and state.

use howdah_json::{Shape, Vitals, Worker, Workers};
use howdah_proto::v1::ListWorkersRequest;

use super::args::WorkerListArgs;
use crate::args::Format;
use crate::client::Client;
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::job::view::{at_master, state_style};
use crate::output::table::Grid;
use crate::output::{Style, note};
use crate::units;

/// `howdah worker list`
pub(crate) async fn list_workers(context: &Context, args: &WorkerListArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.rpc.list_workers(ListWorkersRequest { all: args.all }).await?.into_inner();
    let workers: Vec<Worker> = answer.workers.iter().map(Worker::from).collect();
    match config.output {
        Format::Json => screen.json(&Workers { workers }.listing())?,
        Format::Table if workers.is_empty() => {
            screen.line("no worker has registered yet")?;
            note(format!("help: `howdah worker --master {} --dir DIR` starts one", client.address()));
        }
        Format::Table => {
            screen.line(worker_table(&workers, at_master(answer.now_ms_epoch), context.is_wide()).render(&screen))?;
            for worker in &workers {
                for problem in &worker.problems {
                    screen.line(screen.paint(Style::Warn, format!("{}: {problem}", worker.name)))?;
                }
            }
            for (worker, probe, warning) in warnings(&workers) {
                let what = if SETTINGS.contains(&probe) { "setting" } else { "probe" };
                screen.line(screen.paint(Style::Warn, format!("{worker}: {what} {probe}: {warning}")))?;
            }
        }
    }
    Ok(Exit::Done)
}

/// Under these names stand warnings of what is no probe: of the probes' file, and of the script that vitals come from.
const SETTINGS: [&str; 2] = ["probes_file", "vitals_script"];

/// What is wrong with the workers' probes, by worker.
fn warnings(workers: &[Worker]) -> impl Iterator<Item = (&str, &str, &str)> {
    workers.iter().flat_map(|w| {
        w.probe_warnings.iter().map(|(probe, warning)| (w.name.as_str(), probe.as_str(), warning.as_str()))
    })
}

fn worker_table(workers: &[Worker], now_ms: u64, wide: bool) -> Grid {
    let mut columns = vec![
        "worker",
        "state",
        "host",
        "rack",
        ">maps",
        ">reduces",
        ">load",
        ">foreign",
        ">cpu",
        ">GHz",
        ">free memory",
        ">seen",
    ];
    if wide {
        columns.extend([">load averages", ">disks read, written", ">received, sent", ">want of cpu, memory, disk"]);
        columns.extend(["version", "build"]);
    }
    let prefetch = |w: &Worker| w.vitals.as_ref().and_then(|vitals| vitals.details.prefetch);
    let prefetches = wide && workers.iter().any(|w| prefetch(w).is_some());
    if prefetches {
        columns.push(">read ahead: hits, misses, wasted");
    }
    let with_attributes = workers.iter().any(|w| !w.attributes.is_empty());
    if with_attributes {
        columns.push("attributes");
    }
    let mut grid = Grid::new(&columns).leaving(&["rack", "GHz", "foreign", "host", "free memory", "load", "cpu"]);
    let mut by_name: Vec<&Worker> = workers.iter().collect();
    // worker-10 after worker-9.
    by_name.sort_by_key(|w| (w.name.len(), &w.name));
    for w in by_name {
        let vitals = w.vitals.as_ref();
        let seen = w.last_heartbeat_ms_epoch.map(|ms| units::seconds(now_ms.saturating_sub(ms) as f64 / 1e3));
        let mut row = vec![
            w.name.clone(),
            w.state.clone(),
            w.host.clone(),
            w.rack.clone(),
            format!("{}/{}", w.maps_running, w.map_slots),
            format!("{}/{}", w.reduces_running, w.reduce_slots),
            vitals.map_or("-".to_owned(), |v| format!("{:.2}", v.run_queue)),
            vitals.map_or("-".to_owned(), |v| format!("{:.2}", v.foreign_load)),
            vitals.map_or("-".to_owned(), |v| units::percent(v.cpu_use)),
            vitals.map_or("-".to_owned(), frequency),
            vitals.map_or("-".to_owned(), |v| units::bytes(v.memory_free_kib.saturating_mul(1024))),
            seen.map_or("-".to_owned(), |ago| format!("{ago} ago")),
        ];
        if wide {
            row.extend(vitals.map_or_else(|| ["-"; 4].map(str::to_owned), wide_cells));
            row.extend([w.version.clone(), w.build.clone()]);
        }
        if prefetches {
            row.push(prefetch(w).map_or("-".to_owned(), |costs| {
                format!("{}, {}, {}", costs.hits, costs.misses, units::bytes(costs.wasted_bytes))
            }));
        }
        if with_attributes {
            row.push(w.attributes.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" "));
        }
        grid.row(row);
        if let Some(style) = state_style(&w.state) {
            grid.style(1, style);
        }
    }
    grid
}

/// What `--wide` adds to a worker's row.
fn wide_cells(v: &Vitals) -> [String; 4] {
    let d = &v.details;
    let pair = |one: u64, other: u64| format!("{}/s, {}/s", units::bytes(one), units::bytes(other));
    let pressure = |share: Option<f64>| share.map_or("-".to_owned(), units::percent);
    [
        format!("{:.2} {:.2} {:.2}", v.load1, v.load5, v.load15),
        pair(d.disk_read_per_s, d.disk_written_per_s),
        pair(d.net_received_per_s, d.net_sent_per_s),
        [d.pressure_cpu, d.pressure_memory, d.pressure_io].map(pressure).join(", "),
    ]
}

/// The highest frequency in GHz, as idle cores are slower and say nothing by it, with the effective one before it where a
/// limit, a quota or many slots make that another.
pub(super) fn frequency(v: &Vitals) -> String {
    let ghz = |khz: u32| format!("{:.2}", f64::from(khz) / 1e6);
    match (v.effective_khz.map(ghz), v.max_khz.or(v.cpu_khz).map(ghz)) {
        (Some(effective), Some(nominal)) if effective != nominal => format!("{effective} of {nominal}"),
        (_, nominal) => nominal.unwrap_or_else(|| "-".to_owned()),
    }
}
