//! `predict score`: forecasts at intervals over recorded runs, beside what then happened.

mod follow;
mod judged;
mod view;

use howdah_json::Listing;
use howdah_planning::prediction::TaskHistory;

use crate::args::{ClusterArgs, Format};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{Screen, note};
use crate::predict::args::ScoreArgs;
use follow::{Period, follow};
use judged::{Scores, parts};

/// `howdah predict score`
pub(super) fn score(context: &Context, args: &ScoreArgs) -> Outcome {
    let config = context.client(&ClusterArgs::default(), args.format.output)?;
    let screen = Screen::new(config.color);
    let period = Period::of(args)?;
    let history = match &args.train {
        Some(train) => follow(train, TaskHistory::default(), args, Period::default())?.run.history,
        None => TaskHistory::default(),
    };
    let mut judged = Vec::new();
    for (number, dir) in args.dir.iter().enumerate() {
        let found = parts(number, dir, follow(dir, history.clone(), args, period)?)?;
        if found.is_empty() {
            note(format!("run `{}`: nothing was forecast in it then", dir.display()));
        }
        judged.extend(found);
    }
    if judged.is_empty() && (args.from.is_some() || args.to.is_some()) {
        return Err(Failure::usage("--from, --to: nothing was forecast then, expected a part of a run with jobs"));
    }
    let scores = Scores::of(&judged);
    match config.output {
        Format::Json => screen.json(&Listing::new("prediction-score", scores))?,
        Format::Table => screen.line(view::text(&screen, &scores))?,
    }
    Ok(Exit::Done)
}
