//! `what-if`: the present course beside another one.

pub(crate) mod args;

use std::collections::BTreeMap;

use howdah_json::{ForecastView, JobView, Listing, Made};
use howdah_master::policies;
use howdah_proto::v1::{HypotheticalJob, PredictChanges, SetSchedulerRequest};
use serde_json::json;

use crate::args::Format;
use crate::config::Context;
use crate::define::params;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::table::Grid;
use crate::predict::view::{id, left, made_sentence};
use crate::predict::{look, no_forecast};
use crate::units;
use crate::what_if::args::WhatIfArgs;

/// `howdah what-if`
pub(crate) async fn what_if(context: &Context, args: &WhatIfArgs) -> Outcome {
    let config = context.client(&args.look.cluster, args.look.format.output)?;
    let screen = Screen::new(config.color);
    let answer = look(context, &args.look, Some(changes(args)?)).await?;
    let view = |forecast: &Option<_>| forecast.as_ref().map(ForecastView::from).ok_or_else(no_forecast);
    let (present, changed) = (view(&answer.present)?, view(&answer.changed)?);
    match config.output {
        Format::Json => {
            let body = json!({ "present": present, "changed": changed, "made": Made::from(&answer) });
            screen.json(&Listing::new("what-if", body))?;
        }
        Format::Table => {
            screen.line(table(&screen, &present, &changed))?;
            screen.line(made_sentence(&Made::from(&answer)))?;
        }
    }
    Ok(Exit::Done)
}

fn changes(args: &WhatIfArgs) -> Outcome<PredictChanges> {
    let nothing = args.scheduler.is_none() && args.workers == 0 && args.submit.is_none() && args.kill.is_empty();
    if nothing {
        return Err(Failure::usage("nothing is different: expected --scheduler, --workers, --submit or --kill"));
    }
    let scheduler = args.scheduler.as_ref().map(|name| -> Outcome<SetSchedulerRequest> {
        let params = policies::with_files(name, &params(&args.define)?);
        let params = params.map_err(|error| Failure::usage(error.to_string()))?;
        Ok(SetSchedulerRequest { name: name.clone(), params: params.into_iter().collect() })
    });
    let submit = args.submit.as_ref().map(|app| HypotheticalJob {
        name: args.name.clone().unwrap_or_else(|| app.clone()),
        application: app.clone(),
        user: String::new(),
        queue: args.queue.clone().unwrap_or_default(),
        priority: String::new(),
        n_maps: args.maps.unwrap_or(0),
        n_reduces: args.reduces,
        bytes_per_map: args.split_size.unwrap_or(0),
    });
    Ok(PredictChanges {
        scheduler: scheduler.transpose()?,
        workers: args.workers,
        submit: submit.into_iter().collect(),
        kill: args.kill.clone(),
        enter: Vec::new(),
    })
}

fn table(screen: &Screen, present: &ForecastView, changed: &ForecastView) -> String {
    let before: BTreeMap<&str, &JobView> =
        present.jobs.iter().filter_map(|job| Some((job.job.as_deref()?, job))).collect();
    let mut grid = Grid::new(&["job", "name", ">ends in", ">then in", ">later by"]);
    for job in &changed.jobs {
        let known = job.job.as_deref().and_then(|id| before.get(id));
        let name = if job.seen { job.name.clone() } else { format!("{} ?", job.name) };
        let now = known.map_or_else(|| "-".to_owned(), |job| left(job));
        let by = known.and_then(|known| difference(known.left_s, job.left_s));
        grid.row([id(job), name, now, left(job), by.unwrap_or_default()]);
    }
    let gone = present.jobs.iter().filter(|job| changed.jobs.iter().all(|other| other.job != job.job));
    for job in gone {
        grid.row([id(job), job.name.clone(), left(job), "gone".to_owned(), String::new()]);
    }
    let all = |forecast: &ForecastView| forecast.makespan_s.map_or_else(|| "beyond".to_owned(), units::seconds);
    let by = difference(present.makespan_s, changed.makespan_s).unwrap_or_default();
    grid.row(["all".to_owned(), String::new(), all(present), all(changed), by]);
    grid.render(screen)
}

fn difference(before: Option<f64>, after: Option<f64>) -> Option<String> {
    let by = after? - before?;
    let sign = if by < 0.0 { "-" } else { "+" };
    Some(if by.abs() < 0.001 { "0".to_owned() } else { format!("{sign}{}", units::seconds(by.abs())) })
}
