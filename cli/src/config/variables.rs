//! `HOWDAH_*` variables that set nothing: most likely misspelt.

use howdah_core::schedulers::nearest::nearest;

use super::Settings;
use crate::output::note;

/// Variables that mean something without being a setting.
const OTHERS: [&str; 6] =
    ["HOWDAH_CONFIG", "HOWDAH_LOG", "HOWDAH_LOG_FORMAT", "HOWDAH_LOG_DIR", "HOWDAH_ATTEMPT", "HOWDAH_TEST_MARK"];

/// Warns of all that look like settings and are none.
pub(super) fn warn_of_others(sections: &[Settings]) {
    for (name, meant) in others(sections) {
        let advice = meant.map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
        note(format!("warning: the variable {name} is set and is no setting{advice}"));
    }
}

/// Warns of those that most likely mean a setting of a section. Others stand for themselves: what starts containers sets some
/// by the names of services (`HOWDAH_MASTER_SERVICE_HOST`).
pub(crate) fn warn_of_misspelt(settings: &Settings) {
    for (name, meant) in others(std::slice::from_ref(settings)) {
        if let Some(meant) = meant {
            note(format!("warning: the variable {name} is set and is no setting; did you mean {meant}?"));
        }
    }
}

/// Variables that are set and are none of these sections' settings, each with the one that it is most likely to mean.
fn others(sections: &[Settings]) -> impl Iterator<Item = (String, Option<String>)> {
    let known: Vec<String> = sections.iter().flat_map(Settings::variables).collect();
    let set = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let ours = set.filter(|name| name.starts_with("HOWDAH_") && !OTHERS.contains(&name.as_str()));
    ours.filter(move |name| !known.contains(name)).map(move |name| {
        let meant = sections.iter().find_map(|settings| meant(settings, &name));
        (name, meant)
    })
}

/// The variable of a section that another one, with the same beginning, is most likely to mean.
fn meant(settings: &Settings, name: &str) -> Option<String> {
    let beginning = format!("HOWDAH_{}_", settings.section.name().to_ascii_uppercase());
    let key = name.strip_prefix(&beginning)?;
    let known = settings.variables();
    let keys = known.iter().filter_map(|known| known.strip_prefix(&beginning));
    Some(format!("{beginning}{}", nearest(key, keys)?))
}

#[cfg(test)]
mod tests {
    use super::super::Section;
    use super::*;

    #[test]
    fn a_slip_finds_its_variable_and_those_of_services_find_none() {
        let worker = Settings::defaults::<howdah_worker::WorkerConfig>(Section::Worker).unwrap();
        let master = Settings::defaults::<howdah_master::MasterConfig>(Section::Master).unwrap();
        assert_eq!(meant(&worker, "HOWDAH_WORKER_MAPSLOTS").as_deref(), Some("HOWDAH_WORKER_MAP_SLOTS"));
        assert_eq!(meant(&master, "HOWDAH_MASTER_LISTN").as_deref(), Some("HOWDAH_MASTER_LISTEN"));
        assert_eq!(meant(&master, "HOWDAH_WORKER_MAPSLOTS"), None);
        for of_services in ["SERVICE_HOST", "SERVICE_PORT", "PORT", "PORT_9001_TCP", "PORT_9001_TCP_ADDR"] {
            assert_eq!(meant(&master, &format!("HOWDAH_MASTER_{of_services}")), None, "{of_services}");
        }
    }
}
