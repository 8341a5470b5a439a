//! `worker vitals`: one worker's measurements, now and over the last minutes.

use howdah_json::{Listing, PastVitals, Vitals, Worker};
use howdah_proto::v1::{GetWorkerVitalsRequest, WorkerInfo};
use serde_json::json;

use super::args::WorkerVitalsArgs;
use super::list::frequency;
use crate::args::Format;
use crate::client::Client;
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::table::Grid;
use crate::output::{Screen, Style};
use crate::units;

/// Heights of a sparkline.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// `howdah worker vitals`
pub(crate) async fn show(context: &Context, args: &WorkerVitalsArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let request = GetWorkerVitalsRequest { worker: args.worker.clone() };
    let answer = client.rpc.get_worker_vitals(request).await?.into_inner();
    let past: Vec<PastVitals> = answer.past.iter().map(PastVitals::from).collect();
    let worker = Worker::from(&answer.worker.unwrap_or_else(WorkerInfo::default));
    match config.output {
        Format::Json => screen.json(&Listing::new("worker-vitals", json!({ "worker": worker, "past": past })))?,
        Format::Table => {
            let Some(vitals) = &worker.vitals else {
                return Err(Failure::broke(format!("worker `{}` has not said what it measures yet", args.worker)));
            };
            screen.line(card(&screen, vitals))?;
            if !past.is_empty() {
                screen.line(format!("\n{}", history(&past).render(&screen)))?;
            }
        }
    }
    Ok(Exit::Done)
}

fn card(screen: &Screen, v: &Vitals) -> String {
    let pressure = |share: Option<f64>| share.map_or("-".to_owned(), units::percent);
    let cores: Vec<String> = v.core_use.iter().map(|&share| units::percent(share)).collect();
    let rows = [
        ("source", v.source.clone().unwrap_or_else(|| "-".to_owned())),
        ("load", format!("{:.2}, {:.2}, {:.2} over 1, 5 and 15 minutes", v.load1, v.load5, v.load15)),
        ("run queue", format!("{:.2}, of it foreign {:.2}", v.run_queue, v.foreign_load)),
        ("cores", format!("{} of {}, {} used", v.cpus, v.n_cpus, units::percent(v.cpu_use))),
        ("each core", cores.join(", ")),
        ("GHz", frequency(v)),
        ("memory", format!("{} of {} free", kib(v.memory_free_kib), kib(v.memory_total_kib))),
        ("disk", format!("{} free", kib(v.disk_free_kib))),
        ("disks", format!("{} read, {} written", rate(v.details.disk_read_per_s), rate(v.details.disk_written_per_s))),
        (
            "network",
            format!("{} received, {} sent", rate(v.details.net_received_per_s), rate(v.details.net_sent_per_s)),
        ),
        (
            "pressure",
            format!(
                "cpu {}, memory {}, disk {}",
                pressure(v.details.pressure_cpu),
                pressure(v.details.pressure_memory),
                pressure(v.details.pressure_io)
            ),
        ),
    ];
    let line = |(name, value): &(&str, String)| format!("{} {value}", screen.paint(Style::Dim, format!("{name:>12}")));
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn rate(n: u64) -> String {
    format!("{}/s", units::bytes(n))
}

fn kib(n: u64) -> String {
    units::bytes(n.saturating_mul(1_024))
}

/// A row for each value, oldest sample first.
fn history(past: &[PastVitals]) -> Grid {
    let seconds = match (past.first(), past.last()) {
        (Some(first), Some(last)) => last.at_ms_epoch.saturating_sub(first.at_ms_epoch) as f64 / 1e3,
        _ => 0.0,
    };
    let title = format!("the last {}", units::seconds(seconds));
    let mut grid = Grid::new(&["", &title, ">least", ">mean", ">most"]);
    // A value that the kernel does not give has no row.
    let mut row = |name: &str, of: &dyn Fn(&PastVitals) -> Option<f64>, write: &dyn Fn(f64) -> String| {
        let values: Vec<f64> = past.iter().filter_map(of).collect();
        if values.is_empty() {
            return;
        }
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        grid.row([name.to_owned(), sparkline(&values), write(least), write(mean), write(most)]);
    };
    let tasks = |value: f64| format!("{value:.2}");
    let bytes = |value: f64| units::bytes(value as u64);
    let rate = |value: f64| rate(value as u64);
    row("run queue", &|v| Some(v.run_queue), &tasks);
    row("foreign", &|v| Some(v.foreign_load), &tasks);
    row("load, 1 min", &|v| Some(v.load1), &tasks);
    row("load, 5 min", &|v| Some(v.load5), &tasks);
    row("load, 15 min", &|v| Some(v.load15), &tasks);
    row("attempts", &|v| Some(f64::from(v.running)), &|value| format!("{value:.1}"));
    row("use", &|v| Some(v.cpu_use), &units::percent);
    row("effective", &|v| Some(f64::from(v.effective_khz?) / 1e6), &|value| format!("{value:.2} GHz"));
    row("free memory", &|v| Some(v.memory_free_kib as f64 * 1024.0), &bytes);
    row("free disk", &|v| Some(v.disk_free_kib as f64 * 1024.0), &bytes);
    row("disk read", &|v| Some(v.details.disk_read_per_s as f64), &rate);
    row("disk written", &|v| Some(v.details.disk_written_per_s as f64), &rate);
    row("received", &|v| Some(v.details.net_received_per_s as f64), &rate);
    row("sent", &|v| Some(v.details.net_sent_per_s as f64), &rate);
    row("want of cpu", &|v| v.details.pressure_cpu, &units::percent);
    row("of memory", &|v| v.details.pressure_memory, &units::percent);
    row("of disk", &|v| v.details.pressure_io, &units::percent);
    grid
}

/// From nothing to the largest value.
fn sparkline(values: &[f64]) -> String {
    let most = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let height = |value: &f64| ((value / most * 7.0).round() as usize).min(7);
    values.iter().map(|value| BARS[height(value)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Colour;
    use howdah_json::Details;

    #[test]
    fn a_sparkline_goes_from_nothing_to_the_largest_value() {
        assert_eq!(sparkline(&[0.0, 1.0, 2.0, 4.0]), "▁▃▅█");
        assert_eq!(sparkline(&[0.0, 0.0]), "▁▁");
        assert_eq!(sparkline(&[]), "");
    }

    #[test]
    fn the_history_has_least_mean_and_most() {
        let sample = |at_s: u64, foreign_load| PastVitals {
            at_ms_epoch: at_s * 1_000,
            running: 1,
            load1: 0.25,
            load5: 0.5,
            load15: 0.75,
            run_queue: foreign_load + 1.0,
            foreign_load,
            cpu_use: 0.5,
            cpu_khz: Some(2_600_000),
            effective_khz: Some(1_300_000),
            memory_free_kib: 1,
            disk_free_kib: 2,
            details: Details {
                disk_read_per_s: 1 << 10,
                disk_written_per_s: 2 << 10,
                net_received_per_s: 3 << 10,
                net_sent_per_s: 4 << 10,
                pressure_cpu: Some(0.125),
                pressure_memory: None,
                pressure_io: Some(0.25),
                prefetch: None,
            },
        };
        let text = history(&[sample(10, 0.0), sample(15, 3.0)]).render(&Screen::new(Colour::Never));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("the last 5.00 s"), "{text}");
        assert_eq!(lines[2].split_whitespace().collect::<Vec<_>>(), ["foreign", "▁█", "0.00", "1.50", "3.00"]);
        let last = |name: &str| {
            let line = lines.iter().find(|line| line.trim_start().starts_with(name));
            line.map(|line| line.split("  ").filter(|cell| !cell.is_empty()).last().unwrap_or("").trim().to_owned())
        };
        for (name, most) in [
            ("load, 1 min", "0.25"),
            ("load, 5 min", "0.50"),
            ("load, 15 min", "0.75"),
            ("effective", "1.30 GHz"),
            ("free memory", "1.0 KiB"),
            ("free disk", "2.0 KiB"),
            ("disk read", "1.0 KiB/s"),
            ("disk written", "2.0 KiB/s"),
            ("received", "3.0 KiB/s"),
            ("sent", "4.0 KiB/s"),
            ("want of cpu", "12 %"),
            ("of disk", "25 %"),
        ] {
            assert_eq!(last(name).as_deref(), Some(most), "{name} in {text}");
        }
        assert_eq!(last("of memory"), None, "the kernel does not give it");
    }
}
