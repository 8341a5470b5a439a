//! Words of `hadoop jar`: Hadoop's generic options, and options with one dash that take a value or none.

use std::collections::BTreeMap;
use std::path::Path;

use howdah_core::schedulers::hadoop_xml;

use super::log4j;
use super::paths::FileSystem;
use super::site::{DEFAULT_FS, Site};
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

impl Generic {
    /// Refuses files where nothing runs that they could go to.
    ///
    /// # Errors
    /// Names the option.
    pub(super) fn without_files(self, of: &str) -> Outcome<Generic> {
        let given = [("-files", &self.files), ("-archives", &self.archives)];
        if let Some((option, list)) = given.into_iter().find(|(_, list)| !list.is_empty()) {
            return Err(Failure::usage(format!("{of}: {option} {}: not supported here", list.join(","))));
        }
        Ok(self)
    }
}

/// How many of the first words are generic options with their values: of `hadoop fs`, whose verbs have options of their own.
pub(super) fn leading(words: &[&str]) -> usize {
    let mut n = 0;
    while let Some(word) = words.get(n) {
        n += match *word {
            "-D" | "-conf" | "-fs" | "-jt" | "-files" | "-archives" | "-libjars" => 2,
            word if word.strip_prefix("-D").is_some_and(|pair| pair.contains('=')) => 1,
            _ => break,
        };
    }
    n.min(words.len())
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
            "-fs" => set_default(site, "-fs ", value()?)?,
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
    // Of files, Hadoop takes the default file system of `-D` as it does that of `-fs`.
    let defined = DEFAULT_FS.iter().find_map(|key| {
        let of_site = site.properties.get(*key);
        generic.properties.get(*key).filter(|value| of_site != Some(*value)).map(|value| (*key, value.clone()))
    });
    if let Some((key, value)) = defined {
        set_default(site, &format!("-D {key}="), &value)?;
    }
    Ok(generic)
}

/// Another default file system, as `option` says.
fn set_default(site: &mut Site, option: &str, default: &str) -> Outcome<()> {
    let root = site.properties.get(super::site::FS_ROOT).map(Into::into);
    site.file_system = FileSystem::new(default, root, &crate::caller::user())
        .map_err(|problem| Failure::usage(format!("{option}{default}: {problem}")))?;
    Ok(())
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
    fn generic_options_before_a_verb_are_told_from_the_verbs_own() {
        assert_eq!(leading(&["-D", "a=b", "-Dc=d", "-fs", "file:///", "-ls", "-D"]), 5);
        assert_eq!(leading(&["-ls", "-D", "a=b"]), 0);
        assert_eq!(leading(&["-D"]), 1);
        let mut site = site();
        generic(&mut site, &["-D", "fs.defaultFS=file:///"], &[]).expect("good");
        assert_eq!(site.file_system.local("/x").expect("a path"), Path::new("/x"));
    }

    #[test]
    fn files_are_refused_where_they_go_nowhere() {
        let with = |words: &[&str]| generic(&mut site(), words, &[]).expect("good").without_files("pi");
        assert_eq!(with(&["-D", "a=b"]).expect("no files").properties["a"], "b");
        let said = with(&["-archives", "a.tgz,b.zip"]).expect_err("refused").to_string();
        assert!(said.contains("pi: -archives a.tgz,b.zip: not supported here"), "{said}");
    }

    #[test]
    fn what_is_missing_or_not_supported_is_named() {
        let said = |words: &[&str]| generic(&mut site(), words, &[]).expect_err("bad").to_string();
        assert!(said(&["-libjars", "a.jar"]).contains("-libjars a.jar: not supported here"));
        assert!(said(&["-D", "=x"]).contains("expected KEY=VALUE"));
        assert!(said(&["-D"]).contains("-D: expected a value"));
    }
}
