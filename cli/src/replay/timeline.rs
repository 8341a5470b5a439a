//! What the timeline of a replay shows and says.

use howdah_charts::timeline::{JobBar, Lanes, Timeline};
use howdah_core::replay::{AttemptRecord, View};

use super::replayed::{Replayed, job_id};
use crate::replay::args::{LaneChoice, ReplayArgs};
use crate::units::{count, counted, seconds};

/// As asked for.
pub(super) fn lanes(args: &ReplayArgs) -> Lanes {
    match args.answer.lanes {
        LaneChoice::Slot => Lanes::Slot,
        LaneChoice::Job => Lanes::Job,
    }
}

pub(super) fn timeline(args: &ReplayArgs, replayed: &Replayed<'_>, attempts: Vec<AttemptRecord>) -> Timeline {
    let Replayed { trace, report, options, summary, .. } = replayed;
    let bars = report.jobs.iter().map(|job| {
        let template = &trace.jobs[job.template as usize];
        JobBar {
            id: job_id(template, job.template),
            name: template.name.clone(),
            submit: job.submit,
            start: job.start,
            maps_done: job.maps_done,
            finish: job.finish,
        }
    });
    let [maps, reduces] = report.slots.map(|slots| count(slots.into()));
    let (workers, slots) = match &options.view {
        View::Slots { .. } => (Vec::new(), format!("{maps} map and {reduces} reduce slots")),
        View::Workers(view) => {
            let names: Vec<String> = view.workers.iter().map(|worker| worker.name.clone()).collect();
            let n = counted(names.len() as u64, "worker");
            (names, format!("{n} with {maps} map and {reduces} reduce slots in all"))
        }
    };
    let file = args
        .trace
        .file_name()
        .map_or_else(|| crate::trace_file::name_of(&args.trace), |name| name.to_string_lossy().into_owned());
    let [map, reduce] = summary.utilisation.map(|part| part * 100.0);
    Timeline {
        title: format!("Replay of {file} under {}", options.scheduler),
        subtitle: format!(
            "{}, {slots}, busy {map:.0} % and {reduce:.0} %; makespan {}",
            counted(report.jobs.len() as u64, "job"),
            seconds(report.makespan.as_secs_f64()),
        ),
        jobs: bars.collect(),
        attempts,
        slots: report.slots,
        workers,
    }
}
