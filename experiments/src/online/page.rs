//! Tables, figures and the page of each.

use std::path::PathBuf;

use anyhow::Result;
use howdah_core::time::Span;
use howdah_planning::prediction::{TaskError, WindowScore};

use super::limits::Knows;
use super::score::score_of;
use super::under::{Online, Under, WINDOWS};
use super::world::SCATTER;
use super::{by_progress, by_scatter};
use crate::framework::{About, Check, Curve, FIGURE_ONLY, Lab, Page, Plot, Table, percent};

/// Writes everything, the page first.
pub(super) fn write(
    of: Online,
    lab: &Lab<'_>,
    about: &About,
    runs: &[Under],
    checks: &[Check],
) -> Result<Vec<PathBuf>> {
    let mut page = Page::new(about, lab.quick);
    page.paragraph(&format!(
        "In replay: 3 workers of 2 map and 2 reduce slots, heartbeats every 3 s, reduces after all maps, no speculation; \
         {}. The workload runs twice, first to learn from. Each task takes a start and a time per MiB of its input and \
         scatters around that line by a normal draw of {} of its time. The paper's inputs and times are not stated; these \
         are ours, chosen so that ten word counts take about the paper's 900 s.",
        match of {
            Online::Tasks => "10 grep jobs, each a search and then a sort, and 10 word count jobs submitted together",
            _ => "10 word count jobs submitted together",
        },
        percent(SCATTER)
    ));
    let (tables, plots) = match of {
        Online::Tasks => tasks(&mut page, runs),
        Online::Jobs => jobs(&mut page, runs),
        Online::Starts => starts(&mut page, runs, lab)?,
    };
    let mut files = Vec::new();
    for (name, plot) in plots {
        let file = format!("{}-{name}.svg", about.name);
        page.image(&file, &plot.title);
        files.push(lab.write(&file, &plot.svg()?)?);
    }
    page.checks(checks);
    files.push(lab.write(&format!("{}.csv", about.name), &tables.csv())?);
    files.insert(0, lab.write(&format!("{}.md", about.name), page.text())?);
    Ok(files)
}

type Written = (Table, Vec<(String, Plot)>);

fn tasks(page: &mut Page, runs: &[Under]) -> Written {
    page.heading("Errors of task times");
    let mut table = Table::new(&["scheduler", "tasks", "n", "within 5 %", "within 10 %", "95 % within", "the paper"]);
    for run in runs {
        for kind in ["map", "reduce"] {
            let score = score_of(&run.judged.tasks, kind);
            let paper = match kind {
                "map" => "75 % within 5 %, 95 % within 10 %",
                _ => "95 % within 10 %; one task of 3 s predicted as 7.8 s",
            };
            table.row([
                run.policy.to_owned(),
                format!("{kind}s"),
                score.n.to_string(),
                percent(score.within_5_percent),
                percent(score.within_10_percent),
                format!("{:.1} %", score.p95_percent),
                paper.to_owned(),
            ]);
        }
    }
    page.table(&table);
    let mut rows = Table::new(&["scheduler", "order", "family", "part", "predicted_s", "actual_s", "error_percent"]);
    let mut plots = Vec::new();
    for run in runs {
        for (task, order) in run.judged.tasks.iter().zip(0_u32..) {
            rows.row([
                run.policy.to_owned(),
                order.to_string(),
                task.family.clone(),
                task.part.to_owned(),
                format!("{:.3}", task.predicted_s),
                format!("{:.3}", task.actual_s),
                format!("{:.2}", task.percent()),
            ]);
        }
        let curve =
            |family: &str| Curve { name: family.to_owned(), points: points(&run.judged.tasks, family), joined: false };
        let curves = ["grep-search", "grep-sort", "wordcount"].map(curve).to_vec();
        let title = format!("Errors of map times under {}, in order of their ends", run.policy);
        plots.push((run.policy.to_lowercase(), plot(title, "map", "error in %", curves)));
    }
    page.paragraph(&format!("Single errors in the paper's Figures 3 and 4: {FIGURE_ONLY}."));
    (rows, plots)
}

fn points(tasks: &[TaskError], family: &str) -> Vec<(f64, f64)> {
    let maps = tasks.iter().filter(|task| task.part == "map").zip(0_u32..);
    maps.filter(|(task, _)| task.family == family).map(|(task, order)| (f64::from(order), task.percent())).collect()
}

fn jobs(page: &mut Page, runs: &[Under]) -> Written {
    page.heading("Errors of jobs' ends");
    let columns = [
        "scheduler",
        "ends reported",
        "forecasts",
        "run's length",
        "mean error",
        "worst",
        "within the predicted interval",
        "the paper",
    ];
    let mut table = Table::new(&columns);
    for run in runs {
        let paper = match run.policy {
            "FCFS" => "within 10 s of 900 s (1.1 %)",
            _ => "within 40 s of 900 s (4.4 %)",
        };
        let score = &run.score;
        table.row([
            run.policy.to_owned(),
            run.reporting.name().to_owned(),
            score.forecasts.to_string(),
            format!("{:.0} s", score.length_s),
            format!("{:.2} %", score.job_error_percent),
            format!("{:.2} %", score.job_error_max_percent),
            percent(score.job_within_interval),
            paper.to_owned(),
        ]);
    }
    page.table(&table);
    page.paragraph(
        "Errors are shares of the run's length, as the paper states its own. A line that stays level predicted its job's end \
         from the start.",
    );
    let mut rows =
        Table::new(&["scheduler", "ends_reported", "job", "at_s", "predicted_s", "actual_s", "within_interval"]);
    let mut plots = Vec::new();
    for run in runs {
        let mut curves: Vec<Curve> = Vec::new();
        for error in &run.judged.jobs {
            let predicted = error.predicted_s.map_or_else(String::new, |s| format!("{s:.3}"));
            rows.row([
                run.policy.to_owned(),
                run.reporting.name().to_owned(),
                error.job.to_string(),
                format!("{:.3}", error.at_s),
                predicted,
                format!("{:.3}", error.actual_s),
                error.within_interval.to_string(),
            ]);
            let name = format!("job {}", error.job);
            let point = (error.at_s, error.predicted_s.unwrap_or(f64::NAN));
            match curves.iter_mut().find(|curve| curve.name == name) {
                Some(curve) => curve.points.push(point),
                None => curves.push(Curve { name, points: vec![point], joined: true }),
            }
        }
        let title = format!(
            "Ends of jobs as they were predicted under {}, ends of tasks reported {}",
            run.policy,
            run.reporting.name()
        );
        plots.push((file_part(run), plot(title, "time of the forecast in s", "predicted end in s", curves)));
    }
    (rows, plots)
}

fn starts(page: &mut Page, runs: &[Under], lab: &Lab<'_>) -> Result<Written> {
    page.heading("Starts of tasks within a window after each forecast");
    let columns = [
        "scheduler",
        "ends reported",
        "window",
        "starts",
        "mean error",
        "within 1 s",
        "2 s",
        "5 s",
        "10 s",
        "2 s anywhere",
        "the paper",
    ];
    let mut table = Table::new(&columns);
    for run in runs {
        for window in &run.score.windows {
            let paper = match (run.policy, window.window_s) {
                ("FCFS", _) => "mean error below 2 s",
                (_, 30) => "nearly 80 % within 2 s; mean error up to 70 s",
                _ => FIGURE_ONLY,
            };
            table.row([
                run.policy.to_owned(),
                run.reporting.name().to_owned(),
                format!("{} s", window.window_s),
                window.starts.to_string(),
                format!("{:.2} s", window.mean_error_s),
                percent(window.within_1s),
                percent(window.within_2s),
                percent(window.within_5s),
                percent(window.within_10s),
                percent(window.anywhere_2s),
                paper.to_owned(),
            ]);
        }
    }
    page.table(&table);
    page.paragraph(
        "A map counts as predicted only if it ran on the predicted worker; the last share leaves that out. Under FCFS \
         the next map in order goes to whichever slot is free first, so that two tasks that end in another order than predicted, \
         by milliseconds, send two maps elsewhere. Under Fair a job takes the slot again that its own task has left. Ends that are \
         reported with heartbeats are predicted one heartbeat wrong, 3 s, or not at all; those rows are not judged, as workers of \
         a live cluster here tell ends at once.",
    );
    at_best(page, runs);
    by_progress::write(lab, page)?;
    by_scatter::write(lab, page)?;
    let columns = ["scheduler", "ends_reported", "window_s", "forecast", "starts", "mean_error_s"];
    let shares = ["within_1s", "within_2s", "within_5s", "within_10s"];
    let mut rows = Table::new(&[&columns[..], &shares].concat());
    let mut plots = Vec::new();
    for run in runs {
        let scores: [Vec<WindowScore>; 2] = WINDOWS
            .map(|window| run.judged.starts(window).iter().map(|errors| WindowScore::of(window, errors)).collect());
        let mut curves = Vec::new();
        for (window, scores) in WINDOWS.into_iter().zip(&scores) {
            let name = format!("{} s", seconds(window));
            let points = scores.iter().zip(0_u32..).map(|(score, at)| (f64::from(at), score.mean_error_s));
            curves.push(Curve { name, points: points.collect(), joined: true });
            for (score, forecast) in scores.iter().zip(0_u32..) {
                let head = [
                    run.policy.to_owned(),
                    run.reporting.name().to_owned(),
                    seconds(window).to_string(),
                    forecast.to_string(),
                    score.starts.to_string(),
                    format!("{:.3}", score.mean_error_s),
                ];
                rows.row(head.into_iter().chain(shares_of(score).map(|share| format!("{share:.4}"))));
            }
        }
        let title =
            format!("Mean error of starts under {}, ends of tasks reported {}", run.policy, run.reporting.name());
        plots.push((file_part(run), plot(title, "forecast", "mean error in s", curves)));
        let (window, scores) = (WINDOWS[0], &scores[0]);
        let curve = |(within, name): (usize, &str)| {
            let points =
                scores.iter().zip(0_u32..).map(|(score, at)| (f64::from(at), 100.0 * shares_of(score)[within]));
            Curve { name: name.to_owned(), points: points.collect(), joined: true }
        };
        let curves = ["1 s", "2 s", "5 s", "10 s"].into_iter().enumerate().map(curve).collect();
        let title = format!(
            "Starts in {} s predicted within, under {}, ends of tasks reported {}",
            seconds(window),
            run.policy,
            run.reporting.name()
        );
        plots.push((format!("{}-within", file_part(run)), plot(title, "forecast", "percent", curves)));
    }
    Ok((rows, plots))
}

/// Within 1, 2, 5 and 10 s.
fn shares_of(score: &WindowScore) -> [f64; 4] {
    [score.within_1s, score.within_2s, score.within_5s, score.within_10s]
}

/// Starts as they could be predicted at best, beside ours.
fn at_best(page: &mut Page, runs: &[Under]) {
    page.heading("How well starts could be predicted at all");
    let columns = ["scheduler", "who predicts knows", "starts", "mean error", "within 2 s", "2 s anywhere"];
    let mut table = Table::new(&columns);
    for run in runs {
        let Some(limits) = &run.limits else { continue };
        let ours = std::iter::once(("what the first run taught (ours)", &run.score.windows[0]));
        for (knows, window) in ours.chain(Knows::ALL.map(Knows::name).into_iter().zip(limits)) {
            table.row([
                run.policy.to_owned(),
                knows.to_owned(),
                window.starts.to_string(),
                format!("{:.2} s", window.mean_error_s),
                percent(window.within_2s),
                percent(window.anywhere_2s),
            ]);
        }
    }
    page.table(&table);
    page.paragraph(
        "The same forecasts, 30 s ahead, by those who know more. With every task's own time all starts are right, so that \
         the simulation itself loses nothing: neither heartbeats nor the order of ties. With the exact lines nothing is left to \
         learn, as how far a task lies from its line is drawn when it runs; and a task's likeliest worker, over many drawn futures, is \
         what scores most under that, on average over runs. In one run either may be ahead by a few starts in a hundred; what is \
         missing between the two and all starts, no predictor from input sizes can have. Who also knew when each running task will end, more \
         than any progress report can tell, would still miss what starts behind tasks that have not begun.",
    );
}

/// What tells one run's figure from another's.
fn file_part(run: &Under) -> String {
    format!("{}-{}", run.policy, run.reporting.name()).to_lowercase().replace(' ', "-")
}

fn seconds(span: Span) -> u64 {
    span.as_us() / 1_000_000
}

fn plot(title: String, x_label: &str, y_label: &str, curves: Vec<Curve>) -> Plot {
    Plot {
        title,
        x_label: x_label.to_owned(),
        y_label: y_label.to_owned(),
        x_log: false,
        y_log: false,
        curves,
        across: Vec::new(),
    }
}
