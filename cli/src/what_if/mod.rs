//! `what-if`: the present course beside another one.

pub(crate) mod args;
mod changes;
mod view;

use howdah_json::Listing;
use serde_json::json;

use crate::args::Format;
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::output::Screen;
use crate::predict::look;
use crate::predict::view::made_sentence;
use crate::what_if::args::WhatIfArgs;

/// `howdah what-if`
pub(crate) async fn what_if(context: &Context, args: &WhatIfArgs) -> Outcome {
    let config = context.client(&args.look.cluster, args.look.format.output)?;
    let screen = Screen::new(config.color);
    let looked = look(&config, &args.look, Some(changes::changes(args)?)).await?;
    let (present, changed, made) = (looked.present()?, looked.changed()?, looked.made());
    match config.output {
        Format::Json => {
            let body = json!({ "present": present, "changed": changed, "made": made });
            screen.json(&Listing::new("what-if", body))?;
        }
        Format::Table => {
            screen.line(view::table(&screen, &present, &changed))?;
            screen.line(made_sentence(&made))?;
        }
    }
    Ok(Exit::Done)
}
