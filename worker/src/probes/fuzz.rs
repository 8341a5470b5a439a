//! Nothing that a probe prints, and nothing in the probes' file, makes a worker panic or say what is no attribute.

use std::collections::BTreeMap;

use howdah_core::job::requirement::{MAX_ATTRIBUTE_VALUE_BYTES, MAX_ATTRIBUTES, is_attribute_name, is_attribute_value};
use howdah_fuzz::{Readings, cases, changed, changes};
use proptest::prelude::*;

use super::file::Source;
use super::run::{last_line, value_in};

static READINGS: Readings = Readings::of("probes");

const SAID: &str = "  Tesla K40 ß  \nmore of it\n";
const FILE: &str = "# of this rack\ngpu = \"nvidia-smi -L | wc -l\"\nssd = 'test -e /dev/nvme0 && echo yes'\nrack = \"\"\"echo r2\"\"\"\n";

#[test]
fn the_good_ones_are_taken() {
    assert_eq!(value_in(SAID.as_bytes()).expect("a value"), "Tesla K40 ß");
    assert_eq!(last_line(SAID.as_bytes()), ": more of it");
}

proptest! {
    #![proptest_config(cases(1))]

    #[test]
    fn what_a_probe_prints_is_an_attributes_value_or_none_and_its_last_words_are_one_line(
        noise in prop::option::weighted(0.3, prop::collection::vec(any::<u8>(), 0..600)),
        changes in changes(),
    ) {
        let bytes = noise.unwrap_or_else(|| changed(SAID.as_bytes(), &changes));
        if let Ok(value) = value_in(&bytes) {
            prop_assert!(is_attribute_value(&value) && value.len() <= MAX_ATTRIBUTE_VALUE_BYTES, "{:?}", value);
        }
        let said = last_line(&bytes);
        prop_assert!(!said.chars().any(char::is_control) && said.chars().count() < 300, "{:?}", said);
        READINGS.add(2);
    }

    #[test]
    fn a_changed_file_has_good_probes_or_is_refused_on_one_line(changes in changes(), named: bool) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("probes.toml");
        std::fs::write(&path, changed(FILE.as_bytes(), &changes)).expect("write");
        let source = Source { fixed: BTreeMap::new(), commands: BTreeMap::new(), path, named };
        match source.look() {
            Ok(commands) => {
                prop_assert!(commands.len() <= MAX_ATTRIBUTES);
                for (name, command) in commands {
                    prop_assert!(is_attribute_name(&name) && !command.trim().is_empty(), "{name:?} = {command:?}");
                }
            }
            Err(error) => prop_assert!(!error.to_string().trim_end().contains('\n'), "{}", error),
        }
        READINGS.add(1);
    }
}
