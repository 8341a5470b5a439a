//! What the client learns from `core-site.xml`, `hdfs-site.xml` and `mapred-site.xml` of `HADOOP_CONF_DIR`.
//!
//! The default file system of an installation is a directory: `hdfs:///a` is the file `a` in it (`howdah.fs.root`).
//! Everything else that a file says is a property of the jobs that are submitted, under `-D`. Deprecated names of the few
//! keys that are read here are known.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use howdah_apps::JobPlan;
use howdah_core::schedulers::hadoop_xml;
use howdah_webhdfs::RemotePath;

use super::paths::FileSystem;
use crate::args::{ClusterArgs, GlobalArgs};
use crate::client::Client;
use crate::config::Context;
use crate::failure::{Failure, Outcome};
use crate::local::cannot;

/// Where the installed scripts say that they are.
pub(super) const HOME: &str = "HOWDAH_HADOOP_HOME";
/// The directory that stands for `hdfs:///`.
pub(super) const FS_ROOT: &str = "howdah.fs.root";
/// The directory given to `howdah up`, whose access.json names the master.
pub(super) const CLUSTER_DIR: &str = "howdah.cluster.dir";
/// Hadoop's key for the master's address.
pub(super) const MASTER: &str = "mapred.job.tracker";
/// In the order in which Hadoop reads them: later ones win.
pub(super) const FILES: [&str; 4] = ["core-site.xml", "hdfs-site.xml", "mapred-site.xml", "yarn-site.xml"];
/// Names of the default file system, the present one last.
pub(super) const DEFAULT_FS: [&str; 2] = ["fs.default.name", "fs.defaultFS"];

/// The configuration of one call.
#[derive(Clone, Debug)]
pub(super) struct Site {
    /// The installation, if a script of one called.
    pub(super) home: Option<PathBuf>,
    /// All properties of the files.
    pub(super) properties: BTreeMap<String, String>,
    pub(super) file_system: FileSystem,
    /// `-jt host:port`, which overrides everything else.
    pub(super) master: Option<String>,
}

impl Site {
    /// Reads the files of `HADOOP_CONF_DIR`, or of the installation that called.
    ///
    /// # Errors
    /// Names the file that cannot be read, or the property that is missing.
    pub(super) fn read() -> Outcome<Site> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = variable(HOME);
        let conf = variable("HADOOP_CONF_DIR").or_else(|| home.as_ref().map(|home| home.join("etc/hadoop")));
        let Some(conf) = conf else {
            return Err(Failure::usage("which configuration? neither HADOOP_CONF_DIR nor an installation names one")
                .help("`howdah hadoop install DIR` makes DIR/bin/hadoop, which knows its own"));
        };
        Site::of(&conf, home, &crate::caller::user())
    }

    /// Reads the files of this directory.
    pub(super) fn of(conf: &Path, home: Option<PathBuf>, user: &str) -> Outcome<Site> {
        let mut properties = BTreeMap::new();
        for path in FILES.iter().map(|name| conf.join(name)).filter(|path| path.is_file()) {
            let text = std::fs::read_to_string(&path).map_err(|error| cannot("read", &path, &error))?;
            let read = hadoop_xml::properties(&text)
                .map_err(|problem| Failure::usage(format!("{}: {problem}", path.display())))?;
            properties.extend(read.into_iter().map(|property| (property.name, property.value)));
        }
        let default = DEFAULT_FS.iter().rev().find_map(|key| properties.get(*key)).map_or("hdfs:///", String::as_str);
        let root = properties.get(FS_ROOT).map(PathBuf::from);
        let file_system = FileSystem::new(default, root, user).map_err(|problem| {
            Failure::usage(format!("{}: {problem}", conf.display()))
                .help(format!("`howdah hadoop install` writes `{FS_ROOT}` into core-site.xml"))
        })?;
        Ok(Site { home, properties, file_system, master: None })
    }

    /// The properties that go with every job: all but those that only this command needs.
    pub(super) fn job_properties(&self) -> BTreeMap<String, String> {
        let own = |key: &str| [CLUSTER_DIR, MASTER].contains(&key);
        self.properties.iter().filter(|(key, _)| !own(key)).map(|(k, v)| (k.clone(), v.clone())).collect()
    }

    /// A job without the store's keys of the site's files, which are of no use to one whose files lie in no bucket, and everybody
    /// sees a job's properties. With files in a bucket it keeps them: the master has keys of its own, and refuses others by name.
    pub(super) fn without_keys(&self, mut plan: JobPlan) -> JobPlan {
        let paths = plan.inputs.iter().chain(&plan.output);
        if !paths.filter_map(|path| path.parse::<RemotePath>().ok()).any(|path| path.is_object()) {
            let of_site = |key: &str, value: &str| self.properties.get(key).is_some_and(|own| own == value);
            plan.properties.retain(|key, value| !(howdah_s3::is_secret(key) && of_site(key, value)));
        }
        plan
    }

    /// Connects to the master: of `-jt`, else of the environment, else of the files.
    pub(super) async fn connect(&self) -> Outcome<Client> {
        let context = Context::new(&GlobalArgs::default())?;
        let named =
            ["HOWDAH_MASTER", "HOWDAH_DIR"].iter().any(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty()));
        let mut cluster = ClusterArgs { master: self.master.clone(), dir: None };
        if cluster.master.is_none() && !named {
            cluster.dir = self.properties.get(CLUSTER_DIR).map(PathBuf::from);
            cluster.master = self.properties.get(MASTER).filter(|_| cluster.dir.is_none()).cloned();
        }
        Client::connect(&context.client(&cluster, None)?).await
    }

    /// Where copies of failed attempts' logs go: clients look there.
    pub(super) fn log_dir(&self) -> Option<PathBuf> {
        let named = std::env::var_os("HADOOP_LOG_DIR").filter(|value| !value.is_empty()).map(PathBuf::from);
        named.or_else(|| Some(self.home.as_ref()?.join("logs")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_files_win_and_deprecated_names_are_known() {
        let dir = tempfile::tempdir().expect("a folder");
        let write = |name: &str, properties: &[(&str, &str)]| {
            let text: String = properties
                .iter()
                .map(|(key, value)| format!("<property><name>{key}</name><value>{value}</value></property>"))
                .collect();
            std::fs::write(dir.path().join(name), format!("<configuration>{text}</configuration>")).expect("a file");
        };
        write("core-site.xml", &[("fs.default.name", "file:///"), ("io.sort.mb", "10"), (CLUSTER_DIR, "c")]);
        write("mapred-site.xml", &[("io.sort.mb", "20")]);
        let site = Site::of(dir.path(), None, "u").expect("a site");
        assert_eq!(site.file_system.local("/x").expect("a path"), Path::new("/x"));
        assert_eq!(site.job_properties().get("io.sort.mb").map(String::as_str), Some("20"));
        assert!(!site.job_properties().contains_key(CLUSTER_DIR));
        write("core-site.xml", &[("fs.defaultFS", "hdfs://nn:8020")]);
        let said = Site::of(dir.path(), None, "u").expect_err("no root").to_string();
        assert!(said.contains("`howdah.fs.root`"), "{said}");
        std::fs::write(dir.path().join("core-site.xml"), "<!DOCTYPE x [<!ENTITY a \"b\">]><configuration/>")
            .expect("a file");
        let said = Site::of(dir.path(), None, "u").expect_err("entities").to_string();
        assert!(said.contains("document type is not allowed"), "{said}");
    }

    #[test]
    fn a_stores_keys_stay_here_unless_the_job_has_files_in_a_bucket() {
        let dir = tempfile::tempdir().expect("a folder");
        let property =
            |key: &str, value: &str| format!("<property><name>{key}</name><value>{value}</value></property>");
        let text = property("fs.s3a.access.key", "who")
            + &property("fs.s3a.bucket.logs.secret.key", "psst")
            + &property("fs.s3a.endpoint", "s3.example")
            + &property("fs.defaultFS", "file:///");
        std::fs::write(dir.path().join("core-site.xml"), format!("<configuration>{text}</configuration>"))
            .expect("a file");
        let site = Site::of(dir.path(), None, "u").expect("a site");
        let keys = |inputs: &[&str], output: &str, given: Option<&str>| {
            let mut properties = site.job_properties();
            properties.extend(given.map(|value| ("fs.s3a.access.key".to_owned(), value.to_owned())));
            let request = howdah_apps::PlanRequest {
                inputs: inputs.iter().map(|&input| input.to_owned()).collect(),
                output: Some(output.to_owned()),
                n_reduces: None,
                properties,
                args: Vec::new(),
            };
            let plan = howdah_apps::plan("wordcount", &request).expect("a plan").pop().expect("a job");
            let plan = site.without_keys(plan);
            plan.properties.into_keys().filter(|key| key.starts_with("fs.s3a.")).collect::<Vec<_>>()
        };
        assert_eq!(keys(&["/in"], "/out", None), ["fs.s3a.endpoint"]);
        assert_eq!(keys(&["/in"], "/out", Some("given")), ["fs.s3a.access.key", "fs.s3a.endpoint"]);
        assert_eq!(keys(&["s3a://logs/in"], "/out", None).len(), 3);
        assert_eq!(keys(&["/in"], "s3://logs/out", None).len(), 3);
    }
}

#[cfg(test)]
mod fuzz {
    use howdah_fuzz::{Readings, cases, changed, changes};
    use proptest::prelude::*;

    use super::super::options;
    use super::*;

    static READINGS: Readings = Readings::of("sites of Hadoop");

    const CORE: &str = "<?xml version=\"1.0\"?>\n<configuration>\n <property><name>fs.default.name</name>\
        <value>hdfs:///</value></property>\n <property><name>howdah.fs.root</name><value>/srv/share</value></property>\n\
        <property><name>io.sort.mb</name><value>100</value><final>true</final></property>\n</configuration>\n";

    proptest! {
        #![proptest_config(cases(1))]

        #[test]
        fn changed_files_are_properties_and_a_file_system_or_are_refused_by_name(
            which in 0..FILES.len(),
            changes in changes(),
        ) {
            let dir = tempfile::tempdir().expect("a folder");
            for name in FILES {
                std::fs::write(dir.path().join(name), CORE).expect("a file");
            }
            let path = dir.path().join(FILES[which]);
            std::fs::write(&path, changed(CORE.as_bytes(), &changes)).expect("a file");
            let words = ["-conf", path.to_str().expect("a plain path"), "in", "out"];
            let taken = match Site::of(dir.path(), None, "u") {
                Ok(mut site) => {
                    prop_assert!(site.properties.keys().all(|key| !key.is_empty() && key.trim() == key));
                    let _ = site.file_system.local("/x");
                    options::generic(&mut site, &words, &[]).map(drop)
                }
                Err(failure) => Err(failure),
            };
            if let Err(failure) = taken {
                let said = failure.to_string();
                prop_assert!(said.contains(&*dir.path().to_string_lossy()), "{}", said);
            }
            READINGS.add(2);
        }
    }
}
