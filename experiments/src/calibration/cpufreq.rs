//! The frequencies of the cores, set through the kernel's cpufreq files and put back.
//!
//! Both limits of every policy (`scaling_min_freq`, `scaling_max_freq`) are set to one frequency: under any governor the
//! cores then have no other, and nothing but these two files is to be put back. Needs root, and a machine whose cores
//! change their frequency, which most virtual machines do not. The folder is a parameter, so that a made-up tree can
//! stand in for `/sys/devices/system/cpu`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

/// Where the kernel has its cores.
pub const CORES: &str = "/sys/devices/system/cpu";
/// A frequency that was set and is off by more is not the one that was asked for: hardware rounds to steps of 100 MHz.
const NEAR: f64 = 0.05;

/// All cores, and what they had before. Put back when dropped.
#[derive(Debug)]
pub struct Cpufreq {
    policies: Vec<Policy>,
    /// In kHz, ascending, where the hardware has a list.
    listed: Vec<u64>,
    lowest: u64,
    highest: u64,
    changed: bool,
}

/// Cores that change together.
#[derive(Debug)]
struct Policy {
    dir: PathBuf,
    /// Lower and upper limit before, in kHz.
    former: [u64; 2],
}

impl Cpufreq {
    /// Finds the cores below `root` and whether their frequencies may be set; changes nothing.
    ///
    /// # Errors
    /// Says in a line why they cannot be set.
    pub fn open(root: &Path) -> Result<Cpufreq> {
        let dirs = policies(root);
        if dirs.is_empty() {
            bail!(
                "no core has frequencies to choose from (no `{}/cpu*/cpufreq`), as on most virtual machines",
                root.display()
            );
        }
        let mut cpufreq =
            Cpufreq { policies: Vec::new(), listed: Vec::new(), lowest: 0, highest: u64::MAX, changed: false };
        for (n, dir) in dirs.into_iter().enumerate() {
            let list = listed(&dir);
            cpufreq.listed.retain(|khz| list.contains(khz));
            if n == 0 {
                cpufreq.listed = list;
            }
            cpufreq.lowest = cpufreq.lowest.max(number(&dir, "cpuinfo_min_freq")?);
            cpufreq.highest = cpufreq.highest.min(number(&dir, "cpuinfo_max_freq")?);
            let former = [number(&dir, "scaling_min_freq")?, number(&dir, "scaling_max_freq")?];
            // The same value, so that nothing changes but the knowledge that it can be.
            write(&dir, "scaling_max_freq", former[1])?;
            cpufreq.policies.push(Policy { dir, former });
        }
        let (lowest, highest) = (cpufreq.lowest, cpufreq.highest);
        if lowest >= highest {
            bail!("the cores have one frequency in common, {highest} kHz, and there is nothing to choose");
        }
        Ok(cpufreq)
    }

    /// What comes nearest to these shares of the highest frequency, in kHz, descending, each once.
    pub fn nearest(&self, shares: &[f64]) -> Vec<u64> {
        let near = |share: f64| {
            let wanted = ((self.highest as f64 * share) as u64).clamp(self.lowest, self.highest);
            self.listed.iter().copied().min_by_key(|khz| khz.abs_diff(wanted)).unwrap_or(wanted)
        };
        let mut found: Vec<u64> = shares.iter().map(|&share| near(share)).collect();
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.dedup();
        found
    }

    /// Holds all cores at a frequency, and returns the one that the kernel made of it, in kHz.
    ///
    /// # Errors
    /// When a file cannot be written, or the kernel keeps another frequency.
    pub fn pin(&mut self, khz: u64) -> Result<u64> {
        self.changed = true;
        let mut kept = khz;
        for policy in &self.policies {
            policy.limit([khz, khz])?;
            kept = number(&policy.dir, "scaling_max_freq")?;
            if kept.abs_diff(khz) as f64 > khz as f64 * NEAR {
                bail!("`{}`: found {kept} kHz after writing {khz}, expected it to be kept", policy.dir.display());
            }
        }
        Ok(kept)
    }

    /// Puts everything back; the first failure is reported when the rest has been tried as well.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn restore(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.changed) {
            return Ok(());
        }
        let put_back: Vec<Result<()>> = self.policies.iter().map(|policy| policy.limit(policy.former)).collect();
        put_back.into_iter().collect::<Result<()>>().context("put the cores' frequencies back")
    }
}

impl Drop for Cpufreq {
    fn drop(&mut self) {
        // Who wants to know of failures has called it.
        let _ = self.restore();
    }
}

impl Policy {
    /// Lower and upper limit, in the order in which the lower one is never above the upper one.
    fn limit(&self, [low, high]: [u64; 2]) -> Result<()> {
        if high >= number(&self.dir, "scaling_max_freq")? {
            write(&self.dir, "scaling_max_freq", high)?;
            write(&self.dir, "scaling_min_freq", low)
        } else {
            write(&self.dir, "scaling_min_freq", low)?;
            write(&self.dir, "scaling_max_freq", high)
        }
    }
}

/// The folders of all cores' policies, each once: cores that change together share one.
fn policies(root: &Path) -> Vec<PathBuf> {
    let is_core =
        |name: &str| name.strip_prefix("cpu").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let cores = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_core));
    let mut dirs: Vec<PathBuf> = cores.filter_map(|core| fs::canonicalize(core.path().join("cpufreq")).ok()).collect();
    dirs.sort();
    dirs.dedup();
    dirs
}

/// `scaling_available_frequencies`, which only some drivers have; ascending.
fn listed(dir: &Path) -> Vec<u64> {
    let text = fs::read_to_string(dir.join("scaling_available_frequencies")).unwrap_or_default();
    let mut list: Vec<u64> = text.split_ascii_whitespace().filter_map(|khz| khz.parse().ok()).collect();
    list.sort_unstable();
    list
}

fn number(dir: &Path, name: &str) -> Result<u64> {
    let path = dir.join(name);
    let text = fs::read_to_string(&path).map_err(|error| anyhow!("read `{}`: {error}", path.display()))?;
    let found = text.trim();
    found.parse().map_err(|_| anyhow!("read `{}`: found `{found}`, expected a number of kHz", path.display()))
}

fn write(dir: &Path, name: &str, khz: u64) -> Result<()> {
    let path = dir.join(name);
    // Not created where it is missing: that would be no file of the kernel's.
    let opened = fs::OpenOptions::new().write(true).truncate(true).open(&path);
    let written = opened.and_then(|mut file| std::io::Write::write_all(&mut file, khz.to_string().as_bytes()));
    written.map_err(|error| anyhow!("write {khz} to `{}`: {error}", path.display()))
}

/// Made-up trees of files, which stand in for the kernel's.
#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Two cores of one policy and one of its own, from 800 to 2268 MHz.
    pub(crate) fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a directory");
        for (policy, cores) in [("policy0", &["cpu0", "cpu1"][..]), ("policy2", &["cpu2"])] {
            let dir = root.path().join("cpufreq").join(policy);
            fs::create_dir_all(&dir).expect("made");
            for (name, text) in [
                ("scaling_available_frequencies", "2268000 1770000 1416000 800000 \n"),
                ("scaling_min_freq", "800000\n"),
                ("scaling_max_freq", "2268000\n"),
                ("cpuinfo_min_freq", "800000\n"),
                ("cpuinfo_max_freq", "2268000\n"),
                ("scaling_governor", "ondemand\n"),
            ] {
                fs::write(dir.join(name), text).expect("written");
            }
            for core in cores {
                fs::create_dir(root.path().join(core)).expect("made");
                std::os::unix::fs::symlink(&dir, root.path().join(core).join("cpufreq")).expect("linked");
            }
        }
        fs::create_dir(root.path().join("cpuidle")).expect("made");
        root
    }

    fn limits(root: &Path) -> Vec<[u64; 2]> {
        let of =
            |dir: PathBuf| ["scaling_min_freq", "scaling_max_freq"].map(|name| number(&dir, name).expect("a number"));
        policies(root).into_iter().map(of).collect()
    }

    #[test]
    fn every_policy_is_held_at_a_frequency_and_put_back() {
        let root = tree();
        // Not at the hardware's own limits, as an administrator may have it.
        let low = root.path().join("cpufreq/policy2/scaling_max_freq");
        fs::write(&low, "1770000\n").expect("written");
        let mut cpufreq = Cpufreq::open(root.path()).expect("cores that can be set");
        assert_eq!(cpufreq.nearest(&[1.0, 0.6, 0.61, 0.1]), [2_268_000, 1_416_000, 800_000]);
        for khz in [1_416_000, 2_268_000, 800_000] {
            assert_eq!(cpufreq.pin(khz).expect("written"), khz);
            assert_eq!(limits(root.path()), [[khz, khz]; 2]);
        }
        cpufreq.restore().expect("written");
        let former = [[800_000, 2_268_000], [800_000, 1_770_000]];
        assert_eq!(limits(root.path()), former);
        cpufreq.pin(1_416_000).expect("written");
        drop(cpufreq);
        assert_eq!(limits(root.path()), former, "also without a word");
    }

    #[test]
    fn what_was_set_is_put_back_after_an_error_too() {
        let root = tree();
        let mut cpufreq = Cpufreq::open(root.path()).expect("cores that can be set");
        let stubborn = root.path().join("cpufreq/policy2/scaling_min_freq");
        fs::remove_file(&stubborn).expect("removed");
        let error = cpufreq.pin(1_416_000).expect_err("a file is gone").to_string();
        assert!(
            error.starts_with("write 1416000 to `") && error.contains("policy2/scaling_min_freq`: No such"),
            "{error}"
        );
        fs::write(&stubborn, "800000").expect("written");
        cpufreq.restore().expect("written");
        assert_eq!(limits(root.path()), [[800_000, 2_268_000]; 2]);
    }

    #[test]
    fn cores_without_a_list_take_any_frequency_between_their_limits() {
        let root = tree();
        for policy in ["policy0", "policy2"] {
            fs::remove_file(root.path().join("cpufreq").join(policy).join("scaling_available_frequencies"))
                .expect("removed");
        }
        let cpufreq = Cpufreq::open(root.path()).expect("cores that can be set");
        assert_eq!(cpufreq.nearest(&[0.5, 1.0, 0.2]), [2_268_000, 1_134_000, 800_000]);
    }

    #[test]
    fn why_frequencies_cannot_be_set_is_one_line() {
        let said = |root: &Path| format!("{:#}", Cpufreq::open(root).expect_err("nothing to set"));
        let empty = tempfile::tempdir().expect("a directory");
        assert!(said(empty.path()).starts_with("no core has frequencies to choose from"), "{}", said(empty.path()));
        let root = tree();
        let max = root.path().join("cpufreq/policy0/scaling_max_freq");
        fs::write(&max, "fast\n").expect("written");
        assert!(said(root.path()).contains("found `fast`, expected a number of kHz"), "{}", said(root.path()));
        // A folder reads as little as it writes, even for root.
        fs::remove_file(&max).expect("removed");
        fs::create_dir(&max).expect("made");
        assert!(said(root.path()).starts_with("read `"), "{}", said(root.path()));
        let root = tree();
        for policy in ["policy0", "policy2"] {
            fs::write(root.path().join("cpufreq").join(policy).join("cpuinfo_min_freq"), "2268000").expect("written");
        }
        assert!(said(root.path()).contains("one frequency in common, 2268000 kHz"), "{}", said(root.path()));
        assert!(!said(root.path()).contains('\n'));
    }
}
