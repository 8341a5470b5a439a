//! `config show`: every effective setting and where it comes from.

use howdah_json::Listing;
use serde_json::{Map, Value, json};

use crate::args::{ClusterArgs, Format};
use crate::config::args::ConfigShowArgs;
use crate::config::variables::warn_of_others;
use crate::config::{ClientConfig, Context, Section, Settings, Source};
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::log::LogConfig;
use crate::output::table::Grid;
use crate::output::{Screen, Style};

/// `howdah config show`
pub(crate) fn show(context: &Context, args: &ConfigShowArgs) -> Outcome {
    let (client, client_settings) = context.client_settings(&ClusterArgs::default(), args.format.output)?;
    let all = !(args.master || args.worker || args.client || args.log);
    let mut shown = Vec::new();
    // Every section is read, so that a fault in any of them is reported.
    let (_, master) = context.settings::<howdah_master::MasterConfig>(Section::Master, Vec::new())?;
    let (_, worker) = context.settings::<howdah_worker::WorkerConfig>(Section::Worker, Vec::new())?;
    let (_, log) = context.settings::<LogConfig>(Section::Log, Vec::new())?;
    let sections = [master, worker, client_settings, log];
    for (wanted, settings) in [args.master, args.worker, args.client, args.log].into_iter().zip(&sections) {
        if wanted || all {
            shown.push(settings);
        }
    }
    let screen = context.screen(client.color);
    print(&screen, &client, context, &shown)?;
    if client.output == Format::Table {
        warn_of_others(&sections);
    }
    Ok(Exit::Done)
}

fn print(screen: &Screen, client: &ClientConfig, context: &Context, shown: &[&Settings]) -> Outcome<()> {
    if client.output == Format::Json {
        let file = context.path().map(|path| path.display().to_string());
        let files: Vec<String> = context.paths().map(|path| path.display().to_string()).collect();
        screen.json(&Listing::new("config", json!({ "file": file, "files": files, "sections": sections(shown) })))?;
        return Ok(());
    }
    let mut grid = Grid::new(&["setting", "value", "from"]);
    for settings in shown {
        for (key, setting) in &settings.values {
            let value = crate::config::show(&setting.value);
            grid.row([format!("{}.{key}", settings.section.name()), value, setting.source.to_string()]);
            grid.style(2, if setting.source == Source::Default { Style::Dim } else { Style::Accent });
        }
    }
    screen.line(grid.render(screen))?;
    Ok(())
}

fn sections(shown: &[&Settings]) -> Value {
    let mut sections = Map::new();
    for settings in shown {
        let values = settings.values.iter().map(|(key, setting)| {
            let (kind, place) = match &setting.source {
                Source::Default => ("default", None),
                Source::File(place) => ("file", Some(place.as_str())),
                Source::Variable(name) => ("variable", Some(name.as_str())),
                Source::Flag(name) => ("flag", Some(*name)),
            };
            (key.clone(), json!({ "value": setting.value, "source": kind, "from": place }))
        });
        sections.insert(settings.section.name().to_owned(), Value::Object(values.collect()));
    }
    Value::Object(sections)
}
