//! Decides the demo's run again and simulates it: `howdah validate` as a process of its own, which sees the record
//! alone.

use std::path::Path;

use serde_json::Value;

use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::progress::spinner;
use crate::units;

/// What the record showed.
#[derive(Debug)]
pub(crate) struct Replayed {
    /// Whether the decisions were the same: what held, or what did not.
    pub(crate) decisions: Result<String, String>,
    /// Measured and simulated completion times; empty when nothing could be simulated.
    pub(crate) times: Vec<[String; 5]>,
    /// Whether it could: a sentence about the errors, or why not.
    pub(crate) simulated: Result<String, String>,
}

/// Runs the replay and the simulation.
pub(crate) async fn compare(screen: &Screen, dir: &Path) -> Outcome<Replayed> {
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
        let said = said.lines().next().unwrap_or("it said nothing").trim_start_matches("error: ").to_owned();
        let decisions = Err(format!("replay: {said}"));
        return Ok(Replayed { decisions, times: Vec::new(), simulated: Err(format!("simulation: {said}")) });
    };
    Ok(Replayed { decisions: judge(&report), times: times(&report), simulated: simulated(&report) })
}

/// A row per job and one for the whole run.
fn times(report: &Value) -> Vec<[String; 5]> {
    let row = |id: &str, name: &str, time: &Value| {
        let number = |field: &str| time[field].as_f64();
        let (measured, simulated, error) = (number("measured_s")?, number("simulated_s")?, number("error")?);
        Some([
            id.to_owned(),
            name.to_owned(),
            units::seconds(measured),
            units::seconds(simulated),
            format!("{:.2} %", error * 100.0),
        ])
    };
    let jobs = report["jobs"].as_array().map_or(&[][..], |jobs| jobs).iter();
    let text = |job: &Value, field: &str| job[field].as_str().unwrap_or_default().to_owned();
    let mut rows: Vec<_> = jobs.filter_map(|job| row(&text(job, "id"), &text(job, "name"), job)).collect();
    rows.extend(row("both, first to last", "", &report["makespan"]));
    rows
}

fn simulated(report: &Value) -> Result<String, String> {
    let (Some(mean), Some(max)) = (report["mean_error"].as_f64(), report["max_error"].as_f64()) else {
        let why = report["not_simulated"].as_str().unwrap_or("it gave no times");
        return Err(format!("simulation: {why}"));
    };
    Ok(format!(
        "simulation: the run's own profile on a simulated cluster; completion times are {:.2} % off on average, \
         {:.2} % at most",
        mean * 100.0,
        max * 100.0
    ))
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
    fn each_job_and_the_whole_run_have_their_times() {
        let report = json!({
            "jobs": [{"id": "job_1", "name": "wordcount", "measured_s": 2.0, "simulated_s": 2.1, "error": 0.05}],
            "makespan": {"measured_s": 4.0, "simulated_s": 3.9, "error": 0.025},
            "mean_error": 0.05,
            "max_error": 0.05,
        });
        let rows = times(&report);
        assert_eq!(rows[0], ["job_1", "wordcount", "2.00 s", "2.10 s", "5.00 %"]);
        assert_eq!(rows[1][2..], ["4.00 s", "3.90 s", "2.50 %"]);
        assert!(simulated(&report).is_ok_and(|said| said.contains("5.00 % off on average, 5.00 % at most")));
    }

    #[test]
    fn a_run_that_cannot_be_simulated_says_why() {
        let report = json!({"jobs": [], "makespan": null, "mean_error": null, "not_simulated": "no job succeeded"});
        assert_eq!(times(&report), [[""; 5]; 0]);
        assert_eq!(simulated(&report), Err("simulation: no job succeeded".to_owned()));
    }

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
