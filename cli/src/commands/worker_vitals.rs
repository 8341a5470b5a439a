//! `worker vitals`: one worker's measurements, now and over the last minutes.

use howdah_proto::v1::{GetWorkerVitalsRequest, WorkerInfo};
use serde_json::json;

use super::cluster::frequency;
use crate::args::Format;
use crate::args::daemon::WorkerVitalsArgs;
use crate::client::Client;
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::table::Grid;
use crate::output::{Screen, Style};
use crate::units;
use crate::views::Listing;
use crate::views::cluster::{PastVitals, Vitals, Worker};

/// Heights of a sparkline.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// `howdah worker vitals`
pub(crate) async fn show(context: &Context, args: &WorkerVitalsArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = Screen::new(config.color);
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
    let rate = |n: u64| format!("{}/s", units::bytes(n));
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
        ("disks", format!("{} read, {} written", rate(v.disk_read_per_s), rate(v.disk_written_per_s))),
        ("network", format!("{} received, {} sent", rate(v.net_received_per_s), rate(v.net_sent_per_s))),
        (
            "pressure",
            format!(
                "cpu {}, memory {}, disk {}",
                pressure(v.pressure_cpu),
                pressure(v.pressure_memory),
                pressure(v.pressure_io)
            ),
        ),
    ];
    let line = |(name, value): &(&str, String)| format!("{} {value}", screen.paint(Style::Dim, format!("{name:>12}")));
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
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
    let mut row = |name: &str, of: fn(&PastVitals) -> f64, write: fn(f64) -> String| {
        let values: Vec<f64> = past.iter().map(of).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        grid.row([name.to_owned(), sparkline(&values), write(least), write(mean), write(most)]);
    };
    row("run queue", |v| v.run_queue, |value| format!("{value:.2}"));
    row("foreign", |v| v.foreign_load, |value| format!("{value:.2}"));
    row("attempts", |v| f64::from(v.running), |value| format!("{value:.1}"));
    row("use", |v| v.cpu_use, units::percent);
    row("effective", |v| f64::from(v.effective_khz.unwrap_or(0)) / 1e6, |value| format!("{value:.2} GHz"));
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
            run_queue: foreign_load + 1.0,
            foreign_load,
            cpu_use: 0.5,
            cpu_khz: Some(2_600_000),
            effective_khz: Some(1_300_000),
            memory_free_kib: 1,
        };
        let text = history(&[sample(10, 0.0), sample(15, 3.0)]).render(&Screen::new(Colour::Never));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("the last 5.00 s"), "{text}");
        assert_eq!(lines[2].split_whitespace().collect::<Vec<_>>(), ["foreign", "▁█", "0.00", "1.50", "3.00"]);
        assert_eq!(lines[4].split_whitespace().last(), Some("%"));
    }
}
