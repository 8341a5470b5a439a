//! What a comparison says: one table for people, everything for programs.

use howdah_json::Listing;
use howdah_planning::compare::{Contender, Estimate, Run, estimate};
use serde_json::{Map, Value, json};

use super::args::CompareArgs;
use crate::output::table::Grid;
use crate::output::{Screen, Style};
use crate::units;

/// A figure of a replay: its name for programs and people, how it is written, and where it is found.
struct Figure {
    key: &'static str,
    column: &'static str,
    write: fn(f64) -> String,
    of: fn(&Run) -> Option<f64>,
}

const FIGURES: [Figure; 8] = [
    Figure {
        key: "makespan_s",
        column: ">makespan",
        write: units::seconds,
        of: |run| Some(run.report.makespan.as_secs_f64()),
    },
    Figure {
        key: "mean_completion_s",
        column: ">mean completion",
        write: units::seconds,
        of: |run| Some(run.summary.completion?.mean_s),
    },
    Figure {
        key: "median_completion_s",
        column: ">median",
        write: units::seconds,
        of: |run| Some(run.summary.completion?.median_s),
    },
    Figure {
        key: "p95_completion_s",
        column: ">95 %",
        write: units::seconds,
        of: |run| Some(run.summary.completion?.p95_s),
    },
    Figure {
        key: "mean_slowdown",
        column: ">mean slowdown",
        write: two,
        of: |run| Some(run.summary.slowdown.as_ref()?.mean),
    },
    Figure {
        key: "median_slowdown",
        column: ">median slowdown",
        write: two,
        of: |run| Some(run.summary.slowdown.as_ref()?.median),
    },
    Figure {
        key: "p95_slowdown",
        column: ">95 % slowdown",
        write: two,
        of: |run| Some(run.summary.slowdown.as_ref()?.p95),
    },
    Figure {
        key: "deadlines_missed",
        column: ">late",
        write: |value| format!("{value:.1}"),
        of: |run| (run.summary.with_deadline > 0).then_some(run.summary.deadlines_missed as f64),
    },
];

/// The figure by whose change contenders are told apart: mean completion.
const DECIDING: usize = 1;

fn two(value: f64) -> String {
    format!("{value:.2}")
}

/// The runs in figures, by contender.
pub(super) struct Found<'a> {
    args: &'a CompareArgs,
    contenders: &'a [Contender<'a>],
    runs: Vec<Vec<&'a Run>>,
}

impl<'a> Found<'a> {
    pub(super) fn new(args: &'a CompareArgs, contenders: &'a [Contender<'a>], runs: &'a [Run]) -> Found<'a> {
        let of = |contender: usize| runs.iter().filter(|run| run.contender == contender).collect();
        Found { args, contenders, runs: (0..contenders.len()).map(of).collect() }
    }

    fn estimate(&self, contender: usize, figure: &Figure) -> Option<Estimate> {
        let values: Option<Vec<f64>> = self.runs[contender].iter().map(|run| (figure.of)(run)).collect();
        estimate(&values?)
    }

    /// By which share mean completion changes against the first contender, seed by seed.
    fn change(&self, contender: usize) -> Option<Estimate> {
        let of = FIGURES[DECIDING].of;
        let pairs = self.runs[0].iter().zip(&self.runs[contender]);
        let changes: Option<Vec<f64>> = pairs
            .map(|(first, run)| {
                let base = of(first).filter(|base| *base > 0.0)?;
                Some(of(run)? / base - 1.0)
            })
            .collect();
        estimate(&changes?)
    }

    pub(super) fn page(&self, screen: &Screen) -> String {
        let shown: Vec<&Figure> = FIGURES
            .iter()
            .filter(|figure| (0..self.runs.len()).any(|at| self.estimate(at, figure).is_some()))
            .collect();
        let mut columns = vec!["scheduler"];
        columns.extend(shown.iter().map(|figure| figure.column));
        let against = format!(">completion against {}", self.args.scheduler[0].label);
        columns.push(&against);
        let mut grid = Grid::new(&columns).leaving(&[
            "mean slowdown",
            "median",
            "median slowdown",
            "late",
            "95 %",
            "95 % slowdown",
        ]);
        for (at, one) in self.args.scheduler.iter().enumerate() {
            let mut row = vec![one.label.clone()];
            row.extend(shown.iter().map(|figure| cell(self.estimate(at, figure), figure.write)));
            let change = if at == 0 { None } else { self.change(at) };
            row.push(cell(change, |share| format!("{:+.1} %", 100.0 * share)));
            grid.row(row);
            match change {
                Some(change) if is_sure(&change) => {
                    grid.style(columns.len() - 1, if change.mean < 0.0 { Style::Good } else { Style::Bad });
                }
                _ => {}
            }
        }
        let jobs = units::counted(self.contenders[0].trace.jobs.len() as u64, "job");
        let said = match self.args.repeats {
            1 => format!("{jobs}, one replay each"),
            n => format!("{jobs}, {n} replays each; ± is the 95 % confidence interval of the mean over the seeds"),
        };
        format!("{}\n\n{}", grid.render(screen), screen.paint(Style::Dim, said))
    }

    /// Schema `howdah/compare/v1`; lengths are seconds.
    pub(super) fn json(&self) -> Listing<Value> {
        let one = |at: usize| {
            let figures: Map<String, Value> =
                FIGURES.iter().map(|figure| (figure.key.to_owned(), interval(self.estimate(at, figure)))).collect();
            let runs: Vec<Value> = self.runs[at]
                .iter()
                .map(|run| {
                    let values = FIGURES.iter().map(|figure| (figure.key.to_owned(), json!((figure.of)(run))));
                    let mut values: Map<String, Value> = values.collect();
                    values.insert("seed".to_owned(), json!(run.seed));
                    values.insert("jobs_unfinished".to_owned(), json!(run.summary.jobs.unfinished));
                    values.insert("decisions_digest".to_owned(), json!(run.report.decisions_digest));
                    Value::Object(values)
                })
                .collect();
            let options = &self.contenders[at].options;
            json!({ "label": self.args.scheduler[at].label, "scheduler": options.scheduler,
                "scheduler_params": options.scheduler_params, "figures": figures,
                "completion_change": interval(if at == 0 { None } else { self.change(at) }), "runs": runs })
        };
        let body = json!({
            "jobs": self.contenders[0].trace.jobs.len(),
            "repeats": self.args.repeats,
            "seed": self.args.load.seed,
            "confidence": 0.95,
            "schedulers": (0..self.contenders.len()).map(one).collect::<Vec<_>>(),
        });
        Listing::new("compare", body)
    }
}

/// Whether the interval leaves zero out.
fn is_sure(change: &Estimate) -> bool {
    change.half_width.is_some_and(|half| change.mean.abs() > half)
}

fn cell(value: Option<Estimate>, write: impl Fn(f64) -> String) -> String {
    match value {
        None => "-".to_owned(),
        Some(Estimate { mean, half_width: None }) => write(mean),
        Some(Estimate { mean, half_width: Some(half) }) => {
            format!("{} ± {}", write(mean), write(half).trim_start_matches('+'))
        }
    }
}

fn interval(value: Option<Estimate>) -> Value {
    value.map_or(Value::Null, |value| json!({ "mean": value.mean, "half_width": value.half_width }))
}
