//! Decides the demo's run again: `howdah validate` as a process of its own, which sees the recorded inputs alone.

use std::path::Path;

use serde_json::Value;

use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::progress::spinner;
use crate::units;

/// Runs the replay; the sentence says what held, or what did not.
pub(crate) async fn compare(screen: &Screen, dir: &Path) -> Outcome<Result<String, String>> {
    let shown = spinner(screen, "deciding the run again from its recorded inputs");
    let exe = std::env::current_exe().map_err(|error| Failure::broke(format!("find this program: {error}")))?;
    let mut command = tokio::process::Command::new(exe);
    command.args(["validate", "--output", "json", "--dir"]).arg(dir.join("cluster")).kill_on_drop(true);
    command.stdin(std::process::Stdio::null()).env_remove("HOWDAH_CONFIG");
    let output = command.output().await;
    shown.finish_and_clear();
    let output = output.map_err(|error| Failure::broke(format!("cannot start the replay: {error}")))?;
    let Ok(report) = serde_json::from_slice::<Value>(&output.stdout) else {
        let said = String::from_utf8_lossy(&output.stderr);
        return Ok(Err(format!(
            "replay: {}",
            said.lines().next().unwrap_or("it said nothing").trim_start_matches("error: ")
        )));
    };
    Ok(judge(&report))
}

fn judge(report: &Value) -> Result<String, String> {
    let number = |name: &str| report["decisions"][name].as_u64().unwrap_or(0);
    let (compared, identical) = (number("compared"), number("identical"));
    if compared == 0 {
        return Err("replay: nothing was compared".to_owned());
    }
    if compared != identical {
        let at = &report["decisions"]["first_difference"];
        return Err(format!(
            "replay: {} of {} effects differ, first in batch {}",
            units::count(compared - identical),
            units::count(compared),
            at["batch"]
        ));
    }
    Ok(format!(
        "replay: a fresh core in another process got the {} recorded inputs; of its {} effects {} are identical",
        units::count(number("inputs")),
        units::count(compared),
        units::count(identical),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_full_and_identical_comparison_holds() {
        let report =
            |compared: u64, identical: u64| json!({"decisions": {"compared": compared, "identical": identical}});
        assert!(judge(&report(5, 5)).is_ok());
        assert!(judge(&report(5, 4)).is_err());
        assert!(judge(&report(0, 0)).is_err());
        assert!(judge(&json!({})).is_err());
    }
}
