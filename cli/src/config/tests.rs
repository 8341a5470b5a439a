//! Layers, sources and the errors of a configuration file.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::*;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Sample {
    listen: String,
    slots: u32,
    rule: Rule,
    inner: Inner,
    params: std::collections::BTreeMap<String, String>,
    master: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum Rule {
    Fixed { ms: u64 },
    Adaptive { least_ms: u64 },
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Inner {
    expiry_ms: u64,
}

impl Default for Sample {
    fn default() -> Sample {
        Sample {
            listen: "127.0.0.1:0".to_owned(),
            slots: 2,
            rule: Rule::Fixed { ms: 300 },
            inner: Inner { expiry_ms: 600_000 },
            params: Default::default(),
            master: None,
        }
    }
}

fn file(text: &str) -> ConfigFile {
    ConfigFile::parse(Path::new("h.toml"), text).expect("a good file")
}

fn layered(text: &str, variables: &[(&str, &str)], flags: Vec<Flag>) -> Outcome<(Sample, Settings)> {
    let mut settings = Settings::defaults::<Sample>(Section::Worker)?;
    settings.add_file::<Sample>(&file(text))?;
    settings.add_variables::<Sample>(|name| {
        variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    })?;
    settings.add_flags::<Sample>(flags)?;
    Ok((settings.build()?, settings))
}

fn complaint(text: &str, variables: &[(&str, &str)]) -> String {
    layered(text, variables, Vec::new()).expect_err("must not fit").to_string()
}

#[test]
fn a_flag_beats_a_variable_beats_the_file_beats_the_default() {
    let text = "[worker]\nslots = 3\nlisten = \"a:1\"\n";
    let (sample, settings) =
        layered(text, &[("HOWDAH_WORKER_SLOTS", "4")], vec![Flag::new("--slots", "slots", &Some(5u32))]).expect("fits");
    assert_eq!(sample.slots, 5);
    assert_eq!(sample.listen, "a:1");
    assert_eq!(sample.inner.expiry_ms, 600_000);
    assert_eq!(settings.values["slots"].source, Source::Flag("--slots"));
    assert_eq!(settings.values["listen"].source, Source::File("h.toml:3".to_owned()));
    assert_eq!(settings.values["inner.expiry_ms"].source, Source::Default);
    let (sample, settings) = layered(text, &[("HOWDAH_WORKER_SLOTS", "4")], Vec::new()).expect("fits");
    assert_eq!(sample.slots, 4);
    assert_eq!(settings.values["slots"].source, Source::Variable("HOWDAH_WORKER_SLOTS".to_owned()));
}

#[test]
fn a_tagged_choice_is_replaced_as_a_whole() {
    let (sample, _) =
        layered("[worker]\nrule = { kind = \"adaptive\", least_ms = 20 }\n", &[], Vec::new()).expect("fits");
    assert_eq!(sample.rule, Rule::Adaptive { least_ms: 20 });
    let (sample, _) = layered("", &[("HOWDAH_WORKER_RULE", "{ kind = \"fixed\", ms = 7 }")], Vec::new()).expect("fits");
    assert_eq!(sample.rule, Rule::Fixed { ms: 7 });
}

#[test]
fn nested_tables_and_free_tables_are_merged() {
    let text = "[worker.inner]\nexpiry_ms = 5\n[worker.params]\npools = \"2\"\n";
    let (sample, settings) = layered(text, &[], Vec::new()).expect("fits");
    assert_eq!(sample.inner.expiry_ms, 5);
    assert_eq!(sample.params["pools"], "2");
    assert_eq!(settings.values["params"].value, json!({"pools": "2"}));
}

#[test]
fn a_worker_takes_the_clients_variable_for_the_master() {
    let (sample, settings) = layered("", &[("HOWDAH_MASTER", "m:1")], Vec::new()).expect("fits");
    assert_eq!(sample.master.as_deref(), Some("m:1"));
    assert_eq!(settings.values["master"].source, Source::Variable("HOWDAH_MASTER".to_owned()));
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_its_likely_meaning() {
    let text = complaint("[worker]\n\nslot = 3\n", &[]);
    assert_eq!(text, "error: h.toml:3: unknown key `worker.slot`\nhelp: did you mean `slots`?");
    let text = complaint("[worker.inner]\nexpiri_ms = 3\n", &[]);
    assert!(text.starts_with("error: h.toml:2: unknown key `worker.inner.expiri_ms`"), "{text}");
}

#[test]
fn a_value_of_the_wrong_kind_is_named_with_its_line_and_expectation() {
    let text = complaint("[worker]\nslots = \"many\"\n", &[]);
    assert!(text.starts_with("error: h.toml:2: `worker.slots` = \"many\": invalid type: string"), "{text}");
    assert!(text.contains("expected u32"), "{text}");
}

#[test]
fn a_bad_variable_is_blamed_by_name() {
    let text = complaint("", &[("HOWDAH_WORKER_SLOTS", "many")]);
    assert!(text.starts_with("error: variable HOWDAH_WORKER_SLOTS=\"many\": invalid type"), "{text}");
}

#[test]
fn unknown_sections_and_broken_toml_are_named_with_their_line() {
    let parse = |text| ConfigFile::parse(Path::new("h.toml"), text).expect_err("bad").to_string();
    assert_eq!(
        parse("\n[slave]\n"),
        "error: h.toml:2: unknown section `slave`, expected [master], [worker], [client] or [log]"
    );
    assert!(parse("[master]\nlisten = \n").starts_with("error: h.toml:2: "));
    assert_eq!(parse("master = 1"), "error: h.toml:1: `master` is a value, expected a section [master]");
}

#[test]
fn a_typed_directory_beats_an_address_from_elsewhere() {
    let context = Context { files: vec![file("[client]\nmaster = \"m:1\"\n")], named: true, color: None, wide: false };
    let typed = ClusterArgs { master: None, dir: Some("c".into()) };
    let client = context.client(&typed, None).expect("fits");
    assert_eq!((client.master, client.dir), (None, Some("c".into())));
}

#[test]
fn a_profile_changes_defaults_and_nothing_that_was_said() {
    use howdah_master::MasterConfig;
    let expiry = |text: &str| {
        let file = ConfigFile::parse(Path::new("h.toml"), text).expect("it parses");
        let mut settings = Settings::defaults::<MasterConfig>(Section::Master).expect("defaults");
        settings.add_file::<MasterConfig>(&file).expect("it fits");
        settings.add_profile();
        settings.build::<MasterConfig>().expect("it builds").cluster.expiry_ms
    };
    assert_eq!(expiry(""), 30_000);
    assert_eq!(expiry("[master]\nprofile = \"hadoop-1.2.1\"\n"), 600_000);
    assert_eq!(expiry("[master]\nprofile = \"hadoop-1.2.1\"\n[master.cluster]\nexpiry_ms = 5000\n"), 5_000);
}

#[test]
fn the_users_file_is_found_without_a_flag() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".config/howdah");
    let of_home = |name: &str| (name == "HOME").then(|| home.path().as_os_str().to_owned());
    assert!(found(of_home).iter().all(|path| !path.starts_with(home.path())));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), "[client]\n").unwrap();
    assert_eq!(found(of_home).last(), Some(&folder.join("config.toml")));
    let elsewhere = |name: &str| (name == "XDG_CONFIG_HOME").then(|| folder.parent().unwrap().as_os_str().to_owned());
    assert_eq!(found(elsewhere).last(), Some(&folder.join("config.toml")));
    assert!(found(|_| Some("relative".into())).iter().all(|path| path.is_absolute()));
}

#[test]
fn a_later_file_stands_over_an_earlier_one() {
    let mut settings = Settings::defaults::<Sample>(Section::Worker).unwrap();
    settings.add_file::<Sample>(&file("[worker]\nslots = 3\nlisten = \"a:1\"\n")).unwrap();
    settings.add_file::<Sample>(&file("[worker]\nslots = 4\n")).unwrap();
    let sample: Sample = settings.build().unwrap();
    assert_eq!((sample.slots, sample.listen.as_str()), (4, "a:1"));
}
