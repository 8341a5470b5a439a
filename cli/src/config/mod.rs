//! Settings: files, variables, flags, defaults, and where each effective value came from.
//!
//! A flag beats a `HOWDAH_*` variable, a variable beats the files, a file beats the default; of the files, the one that was
//! named beats the user's, which beats the machine's. Every section is a
//! serde struct that refuses unknown fields; the layers are merged as JSON values and only the sum becomes the
//! struct, so that a new field of a daemon needs no code here.

pub(crate) mod args;
mod file;
mod layers;
mod quantities;
mod section;
mod show_command;
mod variables;

pub(crate) use file::ConfigFile;
pub(crate) use layers::{Settings, Source, show};
pub(crate) use section::{Flag, Section};
pub(crate) use show_command::show as show_settings;
pub(crate) use variables::warn_of_misspelt;

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::args::{ClusterArgs, Colour, Format, GlobalArgs};
use crate::failure::Outcome;
use crate::output::Screen;

/// Settings of the commands that talk to a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ClientConfig {
    /// Address of the master, host:port.
    pub(crate) master: Option<String>,
    /// Directory whose access.json has the address, when `master` is not set.
    pub(crate) dir: Option<PathBuf>,
    /// Form of listings.
    pub(crate) output: Format,
    /// When to colour.
    pub(crate) color: Colour,
    /// How long to try to reach the master.
    pub(crate) connect_timeout_ms: u64,
}

impl Default for ClientConfig {
    fn default() -> ClientConfig {
        ClientConfig { master: None, dir: None, output: Format::Table, color: Colour::Auto, connect_timeout_ms: 5_000 }
    }
}

/// What was typed for everything, and the files.
#[derive(Debug)]
pub(crate) struct Context {
    /// The machine's, the user's and the one that was named, as far as they exist; later ones override earlier ones.
    files: Vec<ConfigFile>,
    /// Whether the last of them was named.
    named: bool,
    color: Option<Colour>,
    wide: bool,
}

impl Context {
    /// Reads the files that are found, and the one that `--config` or `HOWDAH_CONFIG` names, if any.
    pub(crate) fn new(global: &GlobalArgs) -> Outcome<Context> {
        let named = global.config.clone().or_else(|| std::env::var_os("HOWDAH_CONFIG").map(PathBuf::from));
        let named = named.filter(|path| !path.as_os_str().is_empty());
        let mut paths = found(|name| std::env::var_os(name));
        paths.extend(named.clone());
        let files = paths.iter().map(|path| ConfigFile::read(path)).collect::<Outcome<_>>()?;
        Ok(Context { files, named: named.is_some(), color: global.color, wide: global.wide })
    }

    /// The effective settings of a section (a variable that is set to nothing is not set): defaults from `T`, then the file, the variables and these flags.
    pub(crate) fn settings<T>(&self, section: Section, flags: Vec<Flag>) -> Outcome<(T, Settings)>
    where
        T: Default + Serialize + DeserializeOwned,
    {
        let mut settings = Settings::defaults::<T>(section)?;
        self.files.iter().try_for_each(|file| settings.add_file::<T>(file))?;
        settings.add_variables::<T>(|name| std::env::var(name).ok().filter(|text| !text.is_empty()))?;
        settings.add_flags::<T>(flags)?;
        if section == Section::Master {
            settings.add_profile();
        }
        Ok((settings.build::<T>()?, settings))
    }

    /// The client's settings with the flags of a listing.
    pub(crate) fn client(&self, cluster: &ClusterArgs, output: Option<Format>) -> Outcome<ClientConfig> {
        Ok(self.client_settings(cluster, output)?.0)
    }

    /// As [`Context::client`], with the sources.
    pub(crate) fn client_settings(
        &self,
        cluster: &ClusterArgs,
        output: Option<Format>,
    ) -> Outcome<(ClientConfig, Settings)> {
        let flags = vec![
            Flag::new("--master", "master", &cluster.master),
            Flag::new("--dir", "dir", &cluster.dir),
            Flag::new("--output", "output", &output),
            Flag::new("--color", "color", &self.color),
        ];
        let (mut config, settings) = self.settings::<ClientConfig>(Section::Client, flags)?;
        if cluster.dir.is_some() {
            // A typed directory is nearer than an address from anywhere else.
            config.master = None;
        }
        Ok((config, settings))
    }

    /// The colour wish alone, for commands that need no cluster.
    pub(crate) fn colour(&self) -> Outcome<Colour> {
        Ok(self.client(&ClusterArgs::default(), None)?.color)
    }

    /// Standard output with these colours, and with whole tables where they were asked for.
    pub(crate) fn screen(&self, colour: Colour) -> Screen {
        Screen::new(colour).wide(self.wide)
    }

    /// Whether everything was asked for, however wide.
    pub(crate) fn is_wide(&self) -> bool {
        self.wide
    }

    /// The file, if one was named. Others find the other files themselves.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.files.last().filter(|_| self.named).and_then(ConfigFile::path)
    }

    /// All files that were read.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().filter_map(ConfigFile::path)
    }
}

/// The machine's file and the user's, as far as they are there.
fn found(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Vec<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let of_user = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
    let of_user = of_user.map(|folder| folder.join("howdah/config.toml"));
    let paths = [Some(PathBuf::from("/etc/howdah/howdah.toml")), of_user];
    paths.into_iter().flatten().filter(|path| path.is_file()).collect()
}

#[cfg(test)]
mod tests;
