//! `config show`: every effective setting and where it comes from.

use howdah_json::Listing;
use serde_json::{Map, Value, json};

use crate::args::{ClusterArgs, Format};
use crate::config::args::ConfigShowArgs;
use crate::config::{ClientConfig, Context, Section, Settings, Source};
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::log::LogConfig;
use crate::output::table::Grid;
use crate::output::{Screen, Style, note};

/// Variables that mean something without being a setting.
const OTHERS: [&str; 6] =
    ["HOWDAH_CONFIG", "HOWDAH_LOG", "HOWDAH_LOG_FORMAT", "HOWDAH_LOG_DIR", "HOWDAH_ATTEMPT", "HOWDAH_TEST_MARK"];

/// `howdah config show`
pub(crate) fn show(context: &Context, args: &ConfigShowArgs) -> Outcome {
    let (client, client_settings) = context.client_settings(&ClusterArgs::default(), args.format.output)?;
    let all = !(args.master || args.worker || args.client || args.log);
    let mut shown = Vec::new();
    // Every section is read, so that a fault in any of them is reported.
    let (_, master) = context.settings::<howdah_master::MasterConfig>(Section::Master, Vec::new())?;
    let (_, worker) = context.settings::<howdah_worker::WorkerConfig>(Section::Worker, Vec::new())?;
    let (_, log) = context.settings::<LogConfig>(Section::Log, Vec::new())?;
    let sections = [(args.master, master), (args.worker, worker), (args.client, client_settings), (args.log, log)];
    for (wanted, settings) in sections {
        if wanted || all {
            shown.push(settings);
        }
    }
    let screen = context.screen(client.color);
    print(&screen, &client, context, &shown)?;
    Ok(Exit::Done)
}

fn print(screen: &Screen, client: &ClientConfig, context: &Context, shown: &[Settings]) -> Outcome<()> {
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
    for name in meaningless(context)? {
        note(format!("warning: the variable {name} is set and is no setting"));
    }
    Ok(())
}

fn sections(shown: &[Settings]) -> Value {
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

/// Variables that look like settings and are none: most likely misspelt.
fn meaningless(context: &Context) -> Outcome<Vec<String>> {
    let (_, client) = context.client_settings(&ClusterArgs::default(), None)?;
    let (_, master) = context.settings::<howdah_master::MasterConfig>(Section::Master, Vec::new())?;
    let (_, worker) = context.settings::<howdah_worker::WorkerConfig>(Section::Worker, Vec::new())?;
    let (_, log) = context.settings::<LogConfig>(Section::Log, Vec::new())?;
    let known: Vec<String> = [client, master, worker, log].iter().flat_map(Settings::variables).collect();
    let set = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let ours = set.filter(|name| name.starts_with("HOWDAH_") && !OTHERS.contains(&name.as_str()));
    Ok(ours.filter(|name| !known.contains(name)).collect())
}
