//! Words of `hadoop jar`: Hadoop's generic options, and options with one dash that take a value or none.

use std::collections::BTreeMap;
use std::path::Path;

use howdah_core::schedulers::hadoop_xml;

use super::log4j;
use super::paths::FileSystem;
use super::site::Site;
use crate::failure::{Failure, Outcome};
use crate::local::cannot;

/// What the generic options said. They may stand anywhere, as clients mix them with others.
#[derive(Debug, Default)]
pub(super) struct Generic {
    /// The files' properties, then those of `-conf` and `-D`, later ones over earlier ones.
    pub(super) properties: BTreeMap<String, String>,
    /// `-files` and `-archives`, with their `#name`.
    pub(super) files: Vec<String>,
    pub(super) archives: Vec<String>,
    /// All other words.
    pub(super) rest: Vec<String>,
}

/// Takes the generic options out of `words`; `-fs` and `-jt` change the site. `value_of` says which other options take
/// a value, which may look like a generic option.
pub(super) fn generic(site: &mut Site, words: &[&str], value_of: &[&str]) -> Outcome<Generic> {
    let mut generic = Generic { properties: site.job_properties(), ..Generic::default() };
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| Failure::usage(format!("{word}: expected a value after it")));
        match word {
            "-D" => define(&mut generic.properties, value()?)?,
            "-conf" => {
                let path = Path::new(value()?);
                let text = std::fs::read_to_string(path).map_err(|error| cannot("read", path, &error))?;
                let read = hadoop_xml::properties(&text)
                    .map_err(|problem| Failure::usage(format!("{}: {problem}", path.display())))?;
                generic.properties.extend(read.into_iter().map(|property| (property.name, property.value)));
            }
            "-fs" => {
                let (default, root) = (value()?, site.properties.get(super::site::FS_ROOT).map(Into::into));
                let user = crate::caller::user();
                site.file_system = FileSystem::new(default, root, &user)
                    .map_err(|problem| Failure::usage(format!("-fs {default}: {problem}")))?;
            }
            "-jt" => site.master = Some(value()?.to_owned()),
            "-files" => generic.files.extend(value()?.split(',').map(str::to_owned)),
            "-archives" => generic.archives.extend(value()?.split(',').map(str::to_owned)),
            "-libjars" => {
                return Err(Failure::usage(format!(
                    "-libjars {}: not supported here: Java classes do not run",
                    value()?
                )));
            }
            _ if word.strip_prefix("-D").is_some_and(|pair| pair.contains('=')) => {
                define(&mut generic.properties, &word[2..])?;
            }
            _ => {
                generic.rest.push(word.to_owned());
                if value_of.contains(&word) {
                    generic.rest.push(value()?.to_owned());
                }
            }
        }
    }
    Ok(generic)
}

fn define(properties: &mut BTreeMap<String, String>, pair: &str) -> Outcome<()> {
    let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.trim().is_empty()) else {
        return Err(Failure::usage(format!("-D {pair}: expected KEY=VALUE")));
    };
    properties.insert(key.trim().to_owned(), value.to_owned());
    Ok(())
}

/// The first of these properties, the present name first; a deprecated one is named in the log.
pub(super) fn property<'a>(properties: &'a BTreeMap<String, String>, names: [&str; 2]) -> Option<&'a str> {
    let (name, value) = names.iter().find_map(|name| Some((*name, properties.get(*name)?)))?;
    if name == names[1] {
        log4j::info("Configuration.deprecation", format!("{name} is deprecated. Instead, use {}", names[0]));
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::super::site::FS_ROOT;
    use super::*;

    fn site() -> Site {
        let properties = BTreeMap::from([(FS_ROOT.to_owned(), "/r".to_owned()), ("a".to_owned(), "0".to_owned())]);
        let file_system = FileSystem::new("hdfs:///", Some("/r".into()), "u").expect("a root");
        Site { home: None, properties, file_system, master: None }
    }

    #[test]
    fn generic_options_are_taken_from_anywhere_and_values_are_left_alone() {
        let mut site = site();
        let words = ["-files", "x,y#z", "-mapper", "-D", "-Da=1", "-input", "i", "-D", "b= c=d", "-jt", "h:1"];
        let generic = generic(&mut site, &words, &["-mapper", "-input"]).expect("good");
        assert_eq!(generic.rest, ["-mapper", "-D", "-input", "i"]);
        assert_eq!(generic.files, ["x", "y#z"]);
        assert_eq!((generic.properties["a"].as_str(), generic.properties["b"].as_str()), ("1", " c=d"));
        assert_eq!(site.master.as_deref(), Some("h:1"));
    }

    #[test]
    fn what_is_missing_or_not_supported_is_named() {
        let said = |words: &[&str]| generic(&mut site(), words, &[]).expect_err("bad").to_string();
        assert!(said(&["-libjars", "a.jar"]).contains("-libjars a.jar: not supported here"));
        assert!(said(&["-D", "=x"]).contains("expected KEY=VALUE"));
        assert!(said(&["-D"]).contains("-D: expected a value"));
    }
}
