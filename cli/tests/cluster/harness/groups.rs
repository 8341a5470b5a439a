//! Whether this user may make control groups.

use std::sync::OnceLock;
use std::time::Duration;

use super::{Finished, Scene, howdah};
use crate::permitted::not_tested;

/// Whether a test that needs control groups has to end, as a worker with a quota does not start here; that is said, with what
/// was to be tested.
#[track_caller]
pub(crate) fn lacks_groups(what: &str) -> bool {
    static PROBLEM: OnceLock<Option<String>> = OnceLock::new();
    let problem = PROBLEM.get_or_init(|| {
        let scene = Scene::new();
        let cluster = |words: &[&str]| {
            Finished::of(howdah(&scene.mark).args(words).arg("--dir").arg(scene.folder.path()), PATIENCE)
        };
        let up = cluster(&["up", "--workers", "1", "--cpu-quota", "0.5"]);
        if up.code == Some(0) {
            cluster(&["down"]).expect_code(0);
            return None;
        }
        let line = up.stderr.lines().next().unwrap_or_default();
        let (_, reason) = line.split_once("create control group ").unwrap_or_else(|| panic!("{}", up.stderr));
        Some(reason.to_owned())
    });
    if let Some(reason) = problem {
        not_tested(&format!("{what}: no control group can be made, {reason}; root may, or who has one delegated"));
    }
    problem.is_some()
}

const PATIENCE: Duration = Duration::from_secs(120);
