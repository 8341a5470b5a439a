//! Scores for people: a row for each run and scheduler where there are several, and the figures of all together.

use howdah_planning::prediction::RunScore;

use super::judged::Scores;
use crate::output::Screen;
use crate::output::table::Grid;
use crate::units;

/// Everything that is said.
pub(super) fn text(screen: &Screen, scores: &Scores) -> String {
    let figures = figures(screen, &scores.score);
    if scores.runs.len() > 1 { format!("{}\n\n{figures}", rows(screen, scores)) } else { figures }
}

/// A row for each run under each of its schedulers, then for each scheduler over all runs, then for all.
fn rows(screen: &Screen, scores: &Scores) -> String {
    let mut grid = Grid::new(&[
        "run",
        "scheduler",
        ">forecasts",
        ">tasks",
        ">within 10 %",
        ">starts in 30 s",
        ">in 60 s",
        ">job ends",
        ">worst",
        ">in intervals",
    ])
    .leaving(&["worst", "in 60 s", "forecasts"]);
    let mut row = |run: &str, scheduler: &str, score: &RunScore| {
        let starts = |index: usize| score.windows.get(index).map_or(0.0, |window| window.within_2s);
        grid.row([
            run.to_owned(),
            scheduler.to_owned(),
            units::count(score.forecasts),
            units::count(score.tasks.n),
            units::percent(score.tasks.within_10_percent),
            units::percent(starts(0)),
            units::percent(starts(1)),
            error(score.job_error_percent),
            error(score.job_error_max_percent),
            units::percent(score.job_within_interval),
        ]);
    };
    scores.runs.iter().for_each(|one| row(&one.run, &one.scheduler, &one.score));
    // Of one run its own rows say it; of one scheduler the last one does.
    if (2..scores.runs.len()).contains(&scores.schedulers.len()) {
        scores.schedulers.iter().for_each(|one| row("all", &one.scheduler, &one.score));
    }
    row("all", "", &scores.score);
    grid.render(screen)
}

fn error(percent: f64) -> String {
    format!("{percent:.1} %")
}

/// One score in full.
fn figures(screen: &Screen, score: &RunScore) -> String {
    let mut grid = Grid::new(&["what", ">n", ">mean error", ">within", "of"]);
    let tasks = &score.tasks;
    grid.row([
        "task times".to_owned(),
        tasks.n.to_string(),
        error(tasks.mean_percent),
        units::percent(tasks.within_10_percent),
        format!("10 %; 95 % within {:.1} %", tasks.p95_percent),
    ]);
    let stated = units::percent(score.stated);
    grid.row([
        "their intervals".to_owned(),
        tasks.n.to_string(),
        String::new(),
        units::percent(score.tasks_within_interval),
        format!("stated {stated}; {:.1} % of the time wide", score.tasks_interval_percent),
    ]);
    for window in &score.windows {
        grid.row([
            format!("starts in {} s", window.window_s),
            window.starts.to_string(),
            units::seconds(window.mean_error_s),
            units::percent(window.within_2s),
            "2 s, maps on the right worker".to_owned(),
        ]);
    }
    grid.row([
        "job ends".to_owned(),
        score.forecasts.to_string(),
        error(score.job_error_percent),
        String::new(),
        format!("worst {:.1} % of the run's {}", score.job_error_max_percent, units::seconds(score.length_s)),
    ]);
    grid.row([
        "their intervals".to_owned(),
        score.forecasts.to_string(),
        String::new(),
        units::percent(score.job_within_interval),
        format!("stated {stated}; {} wide", units::seconds(score.job_interval_s)),
    ]);
    let unseen = match score.unseen_tasks {
        0 => String::new(),
        n => format!("\n\n{} were the first of their class and are in no figure", units::counted(n, "task")),
    };
    grid.render(screen) + &unseen
}
