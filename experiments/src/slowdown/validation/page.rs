//! The page, the tables and the figure of `slowdown-validation`.

use std::path::PathBuf;

use anyhow::Result;

use super::found::{AloneLine, Found, Percentiles, Repeat, error};
use crate::framework::{About, Bars, Check, FIGURE_ONLY, Lab, Page, Series, Table, percent};

/// Table II: kind, and run times in the authors' simulator and on their cluster, in seconds.
const TABLE_TWO: [(&str, f64, f64); 8] = [
    ("grep-2", 36.10, 43.26),
    ("sort-4", 32.70, 39.97),
    ("wordcount-4", 42.04, 49.73),
    ("grep-50", 42.83, 53.18),
    ("wordcount-100", 86.80, 93.62),
    ("sort-200", 149.92, 156.89),
    ("grep-400", 233.63, 239.21),
    ("wordcount-600", 579.73, 589.02),
];

const NEAR: &str = "Nearly every slot is taken again in the instant in which the end of its attempt is reported, so a \
simulation from a run's own profile launches nearly every attempt within a millisecond of the run. What is left: while \
an answer is on its way to a worker, its other free slots cannot be given. That takes a millisecond or two, and ten or \
more while sixty processes start at once on a few cores; no profile holds it, so work that comes just then starts \
earlier in the simulation. Events that were milliseconds apart may then change places: under COMP, a job that comes \
between two departures is compared with another one; under FBQ, a job that is moved on is so before or behind another. \
Each repeat, and the jobs whose slowdown differs by more than a tenth:";

/// Writes everything; the page comes first.
pub(super) fn write(
    lab: &Lab<'_>,
    about: &About,
    shrink: u64,
    found: &[Found],
    alone: &[AloneLine],
    checks: &[Check],
) -> Result<Vec<PathBuf>> {
    let mut files = vec![
        lab.write("slowdown-validation.csv", &job_table(found).csv())?,
        lab.write("slowdown-validation-alone.csv", &alone_table(alone, shrink).csv())?,
        lab.write("slowdown-validation.svg", &chart(found).svg()?)?,
    ];
    let mut page = Page::new(about, lab.quick);
    page.paragraph(&format!(
        "10 workers of 6 + 2 slots, Poisson arrivals at a load of 0.7 of all slots, {} jobs of Table II whose tasks \
         sleep one {shrink}th of their times; limits are one {shrink}th of the paper's 160 s (FBQ, SITA) and 120 s \
         (TAGS), partition 1 has 30 %. *Simulated* is from the run's own profile, at its own arrivals, and is judged; \
         *as asked* is from the times that the tasks were told to sleep, which is what the paper's simulator knew, and \
         also lacks the start of processes. A slowdown is the completion time over the time alone, simulated from the \
         same profile.",
        found.first().and_then(|one| one.repeats.first()).map_or(0, |one| one.jobs.len())
    ));
    page.checks(checks);
    page.heading("Figure 3: slowdowns");
    page.paragraph(
        "Means over the repeats, each with arrivals of its own; \"the averages over three repetitions\" (§V-A).",
    );
    page.table(&summary(found));
    page.paragraph(NEAR);
    page.table(&each_repeat(found));
    page.table(&apart(found));
    page.paragraph(
        "The paper shows its slowdowns in the figure only; its text states a relative error below 1 % for both.",
    );
    page.image("slowdown-validation.svg", "median and 95th percentile of the slowdown, live and simulated");
    page.heading("Table II: jobs alone");
    page.paragraph(&format!(
        "Run times from the first task's start to the end, ours multiplied by {shrink}. What the paper's cluster takes \
         longer than its simulator is setting up and cleaning up."
    ));
    page.table(&alone_table(alone, shrink));
    files.insert(0, lab.write("slowdown-validation.md", page.text())?);
    Ok(files)
}

fn summary(found: &[Found]) -> Table {
    let mut table = Table::new(&[
        "policy",
        "figure",
        ">live",
        ">simulated",
        ">error",
        ">as asked",
        ">error",
        "paper's error",
        ">decisions",
        ">identical",
    ]);
    for one in found {
        let [live, own, asked] = one.means();
        let (compared, identical) = one.decisions();
        let rows =
            [("median", live.median, own.median, asked.median), ("95th percentile", live.p95, own.p95, asked.p95)];
        for (figure, live, own, asked) in rows {
            table.row([
                one.policy.name.to_uppercase(),
                figure.to_owned(),
                format!("{live:.3}"),
                format!("{own:.3}"),
                percent(error(own, live)),
                format!("{asked:.3}"),
                percent(error(asked, live)),
                "below 1 %".to_owned(),
                compared.to_string(),
                identical.to_string(),
            ]);
        }
    }
    table
}

fn each_repeat(found: &[Found]) -> Table {
    let columns = [
        "policy",
        ">repeat",
        ">median, live",
        ">simulated",
        ">error",
        ">95th percentile, live",
        ">simulated",
        ">error",
    ];
    let mut table = Table::new(&columns);
    for (one, n, repeat) in repeats(found) {
        let (live, simulated) = (repeat.live, repeat.simulated[0]);
        let pair = |simulated: f64, live: f64| {
            [format!("{live:.3}"), format!("{simulated:.3}"), percent(error(simulated, live))]
        };
        let mut row = vec![one.policy.name.to_uppercase(), n.to_string()];
        row.extend(pair(simulated.median, live.median));
        row.extend(pair(simulated.p95, live.p95));
        table.row(row);
    }
    table
}

fn apart(found: &[Found]) -> Table {
    let mut table = Table::new(&["policy", ">repeat", "job", ">live", ">simulated"]);
    for (one, n, repeat) in repeats(found) {
        for job in repeat.jobs.iter().filter(|job| error(job.simulated, job.live) > 0.1) {
            let (live, simulated) = (format!("{:.3}", job.live), format!("{:.3}", job.simulated));
            table.row([one.policy.name.to_uppercase(), n.to_string(), job.name.clone(), live, simulated]);
        }
    }
    table
}

/// Policy, number from 1, repeat.
fn repeats(found: &[Found]) -> impl Iterator<Item = (&Found, usize, &Repeat)> {
    found.iter().flat_map(|one| one.repeats.iter().zip(1..).map(move |(repeat, n)| (one, n, repeat)))
}

fn alone_table(alone: &[AloneLine], shrink: u64) -> Table {
    let mut table = Table::new(&[
        "job",
        ">maps",
        ">reduces",
        ">live, s",
        ">simulated, s",
        ">paper live (DAS), s",
        ">paper simulated (SIM), s",
    ]);
    for line in alone {
        let paper = TABLE_TWO.iter().find(|row| row.0 == line.kind);
        let stated =
            |of: fn(&(&str, f64, f64)) -> f64| paper.map_or(FIGURE_ONLY.to_owned(), |row| format!("{:.2}", of(row)));
        table.row([
            line.kind.clone(),
            line.maps.to_string(),
            line.reduces.to_string(),
            format!("{:.2}", line.live_s * shrink as f64),
            format!("{:.2}", line.simulated_s * shrink as f64),
            stated(|row| row.2),
            stated(|row| row.1),
        ]);
    }
    table
}

fn job_table(found: &[Found]) -> Table {
    let mut table = Table::new(&["policy", "repeat", "job", "slowdown_live", "slowdown_simulated"]);
    for (one, n, repeat) in repeats(found) {
        for job in &repeat.jobs {
            let (live, simulated) = (format!("{:.6}", job.live), format!("{:.6}", job.simulated));
            table.row([one.policy.name.clone(), n.to_string(), job.name.clone(), live, simulated]);
        }
    }
    table
}

fn chart(found: &[Found]) -> Bars {
    let means: Vec<[Percentiles; 3]> = found.iter().map(Found::means).collect();
    let series = |name: &str, of: fn(&[Percentiles; 3]) -> f64| Series::new(name, means.iter().map(of).collect());
    Bars {
        title: "Slowdown, live and simulated".to_owned(),
        y_label: "slowdown".to_owned(),
        groups: found.iter().map(|one| one.policy.name.to_uppercase()).collect(),
        series: vec![
            series("median, live", |[live, ..]| live.median),
            series("median, simulated", |[_, own, _]| own.median),
            series("95th, live", |[live, ..]| live.p95),
            series("95th, simulated", |[_, own, _]| own.p95),
        ],
    }
}
