//! `predict`: when jobs will end, live or at a moment of a recorded run.

pub(crate) mod args;
pub(crate) mod looked;
mod recorded;
mod score;
mod timeline;
pub(crate) mod view;

use std::collections::BTreeMap;
use std::time::Duration;

use howdah_json::{ForecastView, JobView, Prediction, Shape};
use howdah_proto::v1::{PredictChanges, PredictRequest};

use crate::args::Format;
use crate::client::Client;
use crate::config::{ClientConfig, Context};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{Screen, note};
use crate::predict::args::{LookArgs, PredictArgs, PredictCommand};
use crate::predict::looked::{Looked, named_jobs};
use crate::trace_file;
use crate::units;

/// How long a command that shows more than forecasts waits for one.
const PATIENCE: Duration = Duration::from_secs(2);

/// `howdah predict`
pub(crate) async fn predict(context: &Context, args: &PredictArgs) -> Outcome {
    if let Some(PredictCommand::Score(score)) = &args.command {
        return score::score(context, score);
    }
    let config = context.client(&args.look.cluster, args.look.format.output)?;
    let screen = Screen::new(config.color);
    let looked = look(&config, &args.look, None).await?;
    let prediction = Prediction { forecast: looked.present()?, made: looked.made() };
    if let Some(path) = &args.svg {
        let svg = timeline::draw(&prediction.forecast);
        trace_file::write_file(path, |out| out.write_all(svg.as_bytes()))?;
        note(format!("{}: a timeline", path.display()));
    }
    match config.output {
        Format::Json => screen.json(&prediction.listing())?,
        Format::Table => {
            screen.line(view::table(&screen, &prediction.forecast))?;
            screen.line(view::made_sentence(&prediction.made))?;
        }
    }
    Ok(Exit::Done)
}

/// Forecasts from where the flags say, with these changes.
pub(crate) async fn look(config: &ClientConfig, args: &LookArgs, changes: Option<PredictChanges>) -> Outcome<Looked> {
    if let Some(at) = args.at {
        let dir = config.dir.as_deref().ok_or_else(|| {
            Failure::usage("--at looks at a recorded run, and no directory was named")
                .help("name it with --dir DIR or HOWDAH_DIR")
        })?;
        return recorded::look(dir, at, args, changes);
    }
    let mut client = Client::connect(config).await?;
    let mut changes = changes;
    for job in changes.iter_mut().flat_map(named_jobs) {
        *job = client.job_id(job).await?;
    }
    let request = PredictRequest {
        horizon_ms: units::millis(args.horizon).max(1),
        starts: args.starts,
        model: args.model.map_or_else(String::new, |model| model.to_string()),
        changes,
    };
    Ok(Looked { answer: client.rpc.predict(request).await?.into_inner(), ends: BTreeMap::new() })
}

/// When a job will end, if the master can tell soon; a master of an earlier version cannot.
pub(crate) async fn of_job(client: &mut Client, job: &str) -> Option<JobView> {
    let request = PredictRequest::default();
    let answer = tokio::time::timeout(PATIENCE, client.rpc.predict(request)).await.ok()?.ok()?.into_inner();
    let forecast = ForecastView::from(answer.present.as_ref()?);
    forecast.jobs.into_iter().find(|end| end.job.as_deref() == Some(job))
}
