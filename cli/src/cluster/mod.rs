//! `cluster`: the cluster on one screen, and its files of earlier days.

pub(crate) mod args;
mod clean;

use std::collections::BTreeMap;

use howdah_json::{Cluster, Shape, SpeculationPolicy};
use howdah_proto::v1::GetClusterRequest;

use crate::args::Format;
use crate::client::Client;
use crate::cluster::args::{ClusterAction, ClusterCommand};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::job::view::{at_master, clock, speculation_line};
use crate::output::escape::one_line;
use crate::output::{Screen, Style};
use crate::units;

/// Of a scheduler's notes, on a card.
const NOTES: usize = 3;

/// `howdah cluster`
pub(crate) async fn show(context: &Context, args: &ClusterCommand) -> Outcome {
    if let Some(ClusterAction::Clean(args)) = &args.command {
        return clean::clean(context, args);
    }
    let args = &args.look;
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.rpc.get_cluster(GetClusterRequest {}).await?.into_inner();
    let cluster = Cluster::new(client.address(), &answer);
    match config.output {
        Format::Json => screen.json(&cluster.listing())?,
        Format::Table => screen.line(card(&screen, &cluster, at_master(answer.now_ms_epoch)))?,
    }
    Ok(Exit::Done)
}

fn card(screen: &Screen, c: &Cluster, now_ms: u64) -> String {
    let trouble = |n: u32, word: &str| (n > 0).then(|| screen.paint(Style::Warn, format!(", {n} {word}")));
    let mut workers = format!("{} live", c.live_workers);
    let others = [
        (c.silent_workers, "silent"),
        (c.draining_workers, "draining"),
        (c.blacklisted_workers, "blacklisted"),
        (c.lost_workers, "lost"),
    ];
    workers.extend(others.into_iter().filter_map(|(n, word)| trouble(n, word)));
    let started = c.started_ms_epoch.map_or("-".to_owned(), |ms| {
        format!("{}, up {}", clock(ms), units::seconds(now_ms.saturating_sub(ms) as f64 / 1e3))
    });
    let mut rows = vec![
        ("master", format!("{} (howdah {})", screen.paint(Style::Bold, &c.master), c.version)),
        ("cluster", c.cluster_id.to_string()),
        ("started", started),
        ("scheduler", c.scheduler.clone()),
        ("parameters", parameters(&c.scheduler_params)),
        ("speculation", policy_line(&c.second_attempts)),
        ("workers", workers),
        ("map slots", format!("{} of {} busy", c.maps_running, c.map_slots)),
        ("reduce slots", format!("{} of {} busy", c.reduces_running, c.reduce_slots)),
        ("jobs", format!("{} running, {} waiting, {} done", c.jobs_running, c.jobs_prep, c.jobs_done)),
        ("heartbeat", heartbeat(c.interval_ms)),
    ];
    rows.extend(speculation_line(&c.speculation).map(|line| ("copies", line)));
    // The last ones; `--output json` and the master's log have more.
    let from = c.notes.len().saturating_sub(NOTES);
    rows.extend(c.notes[from..].iter().map(|note| ("noted", format!("{} {}", clock(note.at_ms_epoch), note.text))));
    rows.extend(c.warnings.iter().map(|warning| ("warning", screen.paint(Style::Warn, warning))));
    let line = |(name, value): &(&str, String)| {
        format!("{} {}", screen.paint(Style::Dim, format!("{name:>12}")), one_line(value))
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// When a task that runs gets a speculative attempt, for people.
pub(crate) fn policy_line(policy: &SpeculationPolicy) -> String {
    if policy.rule == "none" || policy.rule.is_empty() {
        return "none".to_owned();
    }
    let cap = match policy.cap.as_str() {
        "none" => "no cap".to_owned(),
        cap => format!("at most {cap} at a time"),
    };
    format!("{}, {cap}{}", policy.rule, if policy.dry_run { ", dry run: only noted" } else { "" })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_for_speculative_attempts_is_one_line() {
        let policy = |rule: &str, cap: &str, dry_run| {
            policy_line(&SpeculationPolicy { rule: rule.to_owned(), cap: cap.to_owned(), dry_run })
        };
        assert_eq!(policy("late", "10%", true), "late, at most 10% at a time, dry run: only noted");
        assert_eq!(policy("hadoop", "none", false), "hadoop, no cap");
        assert_eq!(policy("", "", false), "none");
    }
}
