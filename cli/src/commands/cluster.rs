//! `cluster`, `queue list`, `worker list`, `worker drain`.

use std::collections::BTreeMap;

use howdah_proto::v1::{DrainWorkerRequest, GetClusterRequest, ListQueuesRequest, ListWorkersRequest};
use serde_json::json;

use crate::args::Format;
use crate::args::cluster::ClusterCommand;
use crate::args::daemon::{DrainArgs, WorkerListArgs};
use crate::client::Client;
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::output::table::Grid;
use crate::output::{Screen, Style, note};
use crate::units;
use crate::views::Listing;
use crate::views::cluster::{Cluster, Queue, Vitals, Worker};
use crate::views::job::{clock, now_ms, state_style};

/// Of a scheduler's notes, on a card.
const NOTES: usize = 3;

/// `howdah cluster`
pub(crate) async fn show(context: &Context, args: &ClusterCommand) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = Screen::new(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.rpc.get_cluster(GetClusterRequest {}).await?.into_inner();
    let cluster = Cluster::new(client.address(), &answer);
    match config.output {
        Format::Json => screen.json(&Listing::new("cluster", cluster))?,
        Format::Table => screen.line(card(&screen, &cluster))?,
    }
    Ok(Exit::Done)
}

fn card(screen: &Screen, c: &Cluster) -> String {
    let trouble = |n: u32, word: &str| (n > 0).then(|| screen.paint(Style::Warn, format!(", {n} {word}")));
    let mut workers = format!("{} live", c.live_workers);
    let others = [(c.draining_workers, "draining"), (c.blacklisted_workers, "blacklisted"), (c.lost_workers, "lost")];
    workers.extend(others.into_iter().filter_map(|(n, word)| trouble(n, word)));
    let started = c.started_ms_epoch.map_or("-".to_owned(), |ms| {
        format!("{}, up {}", clock(ms), units::seconds(now_ms().saturating_sub(ms) as f64 / 1e3))
    });
    let mut rows = vec![
        ("master", format!("{} (howdah {})", screen.paint(Style::Bold, &c.master), c.version)),
        ("cluster", c.cluster_id.to_string()),
        ("started", started),
        ("scheduler", c.scheduler.clone()),
        ("parameters", parameters(&c.scheduler_params)),
        ("speculation", c.second_attempts.line()),
        ("workers", workers),
        ("map slots", format!("{} of {} busy", c.maps_running, c.map_slots)),
        ("reduce slots", format!("{} of {} busy", c.reduces_running, c.reduce_slots)),
        ("jobs", format!("{} running, {} waiting, {} done", c.jobs_running, c.jobs_prep, c.jobs_done)),
        ("heartbeat", heartbeat(c.interval_ms)),
    ];
    rows.extend(c.speculation.line().map(|line| ("copies", line)));
    // The last ones; `--output json` and the master's log have more.
    let from = c.notes.len().saturating_sub(NOTES);
    rows.extend(c.notes[from..].iter().map(|note| ("noted", format!("{} {}", clock(note.at_ms_epoch), note.text))));
    rows.extend(c.warnings.iter().map(|warning| ("warning", screen.paint(Style::Warn, warning))));
    let line = |(name, value): &(&str, String)| format!("{} {value}", screen.paint(Style::Dim, format!("{name:>12}")));
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// As they would be typed.
fn parameters(given: &BTreeMap<String, String>) -> String {
    if given.is_empty() {
        return "defaults".to_owned();
    }
    let pairs =
        given.iter().map(|(key, value)| format!("{key}={}", value.split_whitespace().collect::<Vec<_>>().join(" ")));
    pairs.collect::<Vec<_>>().join("  ")
}

fn heartbeat(interval_ms: u32) -> String {
    if interval_ms == 0 { "-".to_owned() } else { format!("every {}", units::seconds(f64::from(interval_ms) / 1e3)) }
}

/// `howdah queue list`
pub(crate) async fn list_queues(context: &Context, args: &ClusterCommand) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = Screen::new(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.rpc.list_queues(ListQueuesRequest {}).await?.into_inner();
    let queues: Vec<Queue> = answer.queues.iter().map(Queue::from).collect();
    match config.output {
        Format::Json => {
            screen.json(&Listing::new("queues", json!({ "queues": queues, "warnings": answer.warnings })))?;
        }
        Format::Table => {
            let shared = queues.iter().any(|queue| queue.share.is_some());
            let plain = ["queue", ">waiting", ">running"];
            let slots = [">maps", ">due", ">reduces", ">due", ">weight"];
            let columns = if shared { [plain.as_slice(), &slots].concat() } else { plain.to_vec() };
            let mut grid = Grid::new(&columns);
            for queue in queues {
                let mut row = vec![queue.name, queue.waiting_jobs.to_string(), queue.running_jobs.to_string()];
                if let Some(s) = queue.share {
                    row.extend([s.running_maps.to_string(), format!("{:.1}", s.share_maps)]);
                    row.extend([s.running_reduces.to_string(), format!("{:.1}", s.share_reduces)]);
                    row.push(s.weight.to_string());
                }
                grid.row(row);
            }
            screen.line(grid.render(&screen))?;
            answer.warnings.iter().for_each(|warning| note(format!("warning: {warning}")));
        }
    }
    Ok(Exit::Done)
}

/// `howdah worker list`
pub(crate) async fn list_workers(context: &Context, args: &WorkerListArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = Screen::new(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.rpc.list_workers(ListWorkersRequest {}).await?.into_inner();
    let workers: Vec<Worker> = answer.workers.iter().map(Worker::from).collect();
    match config.output {
        Format::Json => screen.json(&Listing::new("workers", json!({ "workers": workers })))?,
        Format::Table if workers.is_empty() => {
            screen.line("no worker has registered yet")?;
            note(format!("help: `howdah worker --master {} --dir DIR` starts one", client.address()));
        }
        Format::Table => {
            screen.line(worker_table(&workers, now_ms(), args.wide).render(&screen))?;
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
    }
    let told = workers.iter().any(|w| !w.attributes.is_empty());
    if told {
        columns.push("attributes");
    }
    let mut grid = Grid::new(&columns);
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
        }
        if told {
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

/// `howdah worker drain`
pub(crate) async fn drain(context: &Context, args: &DrainArgs) -> Outcome {
    let config = context.client(&args.cluster, None)?;
    let screen = Screen::new(config.color);
    let mut client = Client::connect(&config).await?;
    let request = DrainWorkerRequest { worker: args.worker.clone(), drain: !args.undo };
    client.rpc.drain_worker(request).await?;
    let said = if args.undo { "takes tasks again" } else { "gets no more tasks; what it runs may end" };
    screen.line(format!("{} {said}", args.worker))?;
    Ok(Exit::Done)
}
