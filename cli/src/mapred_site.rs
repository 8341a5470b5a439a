//! `--mapred-site FILE`: Hadoop's own configuration in place of a scheduler's name and parameters.
//!
//! What is typed or configured here overrides what the file says. The schedulers' own files are where Hadoop has
//! them: where the file names one, or beside it.

use std::fs;
use std::path::Path;

use howdah_core::schedulers::SchedulerError;
use howdah_core::schedulers::mapred_site::MapredSite;
use howdah_core::schedulers::registry::Params;
use howdah_master::policies::ALLOCATION_FILE;

use crate::failure::{Failure, Outcome};
use crate::local::cannot;
use crate::output::note;

/// What Hadoop's keys of the Fair scheduler begin with; here they need not.
const FAIR: &str = "mapred.fairscheduler.";

/// A file that was read.
#[derive(Debug, Default)]
pub(crate) struct Site {
    /// As typed; empty if none was.
    path: String,
    read: MapredSite,
}

impl Site {
    /// Reads the file, if one was named, and says how much of it means nothing here. `asked` is the scheduler that was
    /// chosen otherwise.
    ///
    /// # Errors
    /// Names the file, the line, the key and what was expected.
    pub(crate) fn read(path: Option<&Path>, asked: Option<&str>) -> Outcome<Site> {
        let Some(path) = path else { return Ok(Site::default()) };
        let text = fs::read_to_string(path).map_err(|error| cannot("read", path, &error))?;
        let shown = path.display().to_string();
        let mut read =
            MapredSite::read(&text, asked).map_err(|problem| Failure::usage(format!("{shown}: {problem}")))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let scheduler = asked.or(read.scheduler).unwrap_or_default();
        if let Some(named) = read.params.get_mut(ALLOCATION_FILE) {
            // `Deviation:` Hadoop wants an absolute path.
            *named = folder.join(&*named).display().to_string();
        } else if scheduler == "capacity" && read.has_capacities {
            read.params.insert(ALLOCATION_FILE.to_owned(), shown.clone());
        } else if let Some(beside) = beside(scheduler).map(|name| folder.join(name)).filter(|path| path.is_file()) {
            read.params.insert(ALLOCATION_FILE.to_owned(), beside.display().to_string());
        }
        if read.n_ignored > 0 {
            let about =
                if scheduler.is_empty() { "a scheduler".to_owned() } else { format!("scheduler `{scheduler}`") };
            let (ignored, all) = (read.n_ignored, read.n_properties);
            note(format!("note: {shown}: ignored what is not about {about}: {ignored} of {all} properties"));
        }
        Ok(Site { path: shown, read })
    }

    /// The scheduler that the file puts in charge.
    pub(crate) fn scheduler(&self) -> Option<&str> {
        self.read.scheduler
    }

    /// The queues that there are; empty if the file does not say.
    pub(crate) fn queue_names(&self) -> &[String] {
        &self.read.queue_names
    }

    /// The file's parameters with others over them.
    pub(crate) fn under(&self, given: Params) -> Params {
        let mut all = self.read.params.clone();
        for (key, value) in given {
            all.remove(key.strip_prefix(FAIR).unwrap_or(&key));
            all.insert(key, value);
        }
        all
    }

    /// An error about a parameter, with its place if it is the file's.
    pub(crate) fn blame(&self, error: &SchedulerError) -> Failure {
        let said = Failure::usage(error.to_string());
        let (key, problem) = match error {
            SchedulerError::BadParameter { key, value, expected, .. } => (key, format!("`{value}` is not {expected}")),
            SchedulerError::UnknownParameter { scheduler, key, .. } => {
                (key, format!("scheduler `{scheduler}` has no such parameter in this dialect"))
            }
            _ => return said,
        };
        let Some((name, line)) = self.read.places.get(key) else { return said };
        Failure::usage(format!("{}: line {line}: `{name}`: {problem}", self.path))
    }
}

/// The file that Hadoop looks for beside its site where none is named.
fn beside(scheduler: &str) -> Option<&'static str> {
    match scheduler {
        "fair" | "load-aware" => Some("fair-scheduler.xml"),
        "capacity" => Some("capacity-scheduler.xml"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use howdah_master::policies;

    use super::*;

    fn site(folder: &Path, properties: &[(&str, &str)]) -> std::path::PathBuf {
        let property =
            |(name, value): &(&str, &str)| format!("<property><name>{name}</name><value>{value}</value></property>\n");
        let path = folder.join("mapred-site.xml");
        let list = properties.iter().map(property).collect::<String>();
        fs::write(&path, format!("<configuration>\n{list}</configuration>")).expect("written");
        path
    }

    const CLASS: &str = "mapred.jobtracker.taskScheduler";

    #[test]
    fn files_are_where_hadoop_has_them_and_what_is_typed_stands_over_the_site() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = |name: &str| dir.path().join(name).display().to_string();
        let of = |properties: &[(&str, &str)]| Site::read(Some(&site(dir.path(), properties)), None).expect("it reads");
        let fair = (CLASS, "org.apache.hadoop.mapred.FairScheduler");
        assert!(of(&[fair]).under(Params::new()).is_empty(), "no file beside it");
        fs::write(dir.path().join("fair-scheduler.xml"), "<allocations/>").expect("written");
        fs::write(dir.path().join("capacity-scheduler.xml"), "<configuration/>").expect("written");
        assert_eq!(of(&[fair]).under(Params::new())["allocation.file"], file("fair-scheduler.xml"));
        let named = of(&[fair, ("mapred.fairscheduler.allocation.file", "pools.xml")]);
        assert_eq!(named.under(Params::new())["allocation.file"], file("pools.xml"));
        let capacity = (CLASS, "org.apache.hadoop.mapred.CapacityTaskScheduler");
        assert_eq!(of(&[capacity]).under(Params::new())["allocation.file"], file("capacity-scheduler.xml"));
        let own = of(&[capacity, ("mapred.capacity-scheduler.queue.default.capacity", "100")]);
        assert_eq!(own.under(Params::new())["allocation.file"], file("mapred-site.xml"));
        let preempts = of(&[fair, ("mapred.fairscheduler.preemption", "true")]);
        let typed = Params::from([("mapred.fairscheduler.preemption".to_owned(), "false".to_owned())]);
        let all = preempts.under(typed);
        assert_eq!((all.get("preemption"), all["mapred.fairscheduler.preemption"].as_str()), (None, "false"));
    }

    #[test]
    fn a_wrong_value_is_named_with_file_line_and_key() {
        let dir = tempfile::tempdir().expect("a folder");
        let said = |pairs: &[(&str, &str)], asked: Option<&str>, more: &[(&str, &str)]| {
            let path = site(dir.path(), pairs);
            let site = Site::read(Some(&path), asked).expect("it reads");
            let more = more.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
            let error = policies::make("fair", &site.under(more)).err().expect("it is wrong");
            site.blame(&error).to_string().replace(&path.display().to_string(), "S")
        };
        let wrong = [("io.sort.mb", "100"), ("mapred.fairscheduler.update.interval", "soon")];
        assert_eq!(
            said(&wrong, Some("fair"), &[]),
            "error: S: line 3: `mapred.fairscheduler.update.interval`: `soon` is not a number of milliseconds, or a time such as 15s"
        );
        let newer = [("mapred.fairscheduler.preemption", "true")];
        assert_eq!(
            said(&newer, Some("fair"), &[("dialect", "0.20.2")]),
            "error: S: line 2: `mapred.fairscheduler.preemption`: scheduler `fair` has no such parameter in this dialect"
        );
        assert_eq!(
            said(&[], Some("fair"), &[("preemption", "maybe")]),
            "error: scheduler `fair`: parameter `preemption`: `maybe` is not true or false"
        );
    }
}
