//! Word count, exactly as a user would write it: words are what whitespace leaves, as in Hadoop's example.
//!
//! A sum may be formed in any order, so the library's folding combiner applies. `wordcount.combiner` chooses others
//! for comparison: `reducer` sorts first and sums then, as Hadoop does, `none` sends every single word.

use howdah_task::{Application, Fold, MapOutput, Properties, ReduceOutput, Result, Values, text};

use crate::built_in::BuiltIn;
use crate::request::{JobPlan, PlanError, Planner};

const COMBINER: &str = "wordcount.combiner";

pub(crate) const APP: BuiltIn = BuiltIn {
    name: "wordcount",
    about: "count the words of text files",
    usage: "[--combiner fold|reducer|none]",
    plan,
    stages: &[("wordcount", application)],
};

fn map(line: &[u8], out: &mut MapOutput) -> Result {
    for word in text::words(line) {
        out.emit_long(word, 1)?;
    }
    Ok(())
}

fn sum(word: &[u8], counts: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
    let sum = counts.sum()?;
    out.emit_long(word, sum)
}

fn application(properties: &Properties) -> Result<Application> {
    match properties.get(COMBINER).unwrap_or("fold") {
        "fold" => Ok(Application::lines(map).fold(Fold::Sum)),
        "reducer" => Ok(Application::lines(map).combiner(|| sum).reduce(sum)),
        "none" => Ok(Application::lines(map).reduce(sum)),
        other => Err(format!("property `{COMBINER}`: `{other}` is not fold, reducer or none").into()),
    }
}

fn plan(planner: &mut Planner<'_>) -> Result<Vec<JobPlan>, PlanError> {
    let combiner = planner.set::<String>(&["--combiner"], COMBINER, "fold, reducer or none")?;
    if let Some(other) = combiner.filter(|name| !["fold", "reducer", "none"].contains(&name.as_str())) {
        return Err(planner.not("--combiner", &other, "fold, reducer or none"));
    }
    Ok(vec![planner.files_job("wordcount", 1)?])
}
