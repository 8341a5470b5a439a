//! `randomtextwriter`: text of random words that follow Zipf's law, each map writing its share.

use std::rc::Rc;

use howdah_core::job::quantity::Bytes;
use howdah_task::{Application, MapOutput, Properties, Result};

use crate::built_in::BuiltIn;
use crate::request::{JobPlan, PlanError, Planner};
use crate::share::share;
use crate::text::ZipfText;

/// Hadoop's name.
const BYTES: &str = "test.randomtextwrite.total_bytes";
const WORDS: &str = "randomtextwriter.words";
const EXPONENT: &str = "randomtextwriter.exponent";
const SEED: &str = "randomtextwriter.seed";

/// Bytes without any other wish.
const DEFAULT_BYTES: u64 = 64 << 20;
/// Lines between two reports of progress.
const BEAT: u64 = 1024;

pub(crate) const APP: BuiltIn = BuiltIn {
    name: "randomtextwriter",
    about: "write text of random words with Zipf's frequencies",
    usage: "[--bytes 1g] [--words 200000] [--exponent 1.0] [--seed N] [-m MAPS]",
    plan,
    stages: &[("randomtextwriter", application)],
};

fn plan(planner: &mut Planner<'_>) -> Result<Vec<JobPlan>, PlanError> {
    planner.set::<Bytes>(&["--bytes"], BYTES, "a number of bytes such as 64MiB")?;
    let words = planner.set::<u32>(&["--words"], WORDS, "a number of words")?.unwrap_or(1);
    let exponent = planner.set::<f64>(&["--exponent"], EXPONENT, "a number")?.unwrap_or(1.0);
    planner.set::<u64>(&["--seed"], SEED, "a number")?;
    ZipfText::check(words, exponent).map_err(|error| planner.refuse("text", error))?;
    Ok(vec![planner.generated_job("randomtextwriter", 2)?])
}

fn application(properties: &Properties) -> Result<Application> {
    let Bytes(bytes) = properties.parse_or(&[BYTES], Bytes(DEFAULT_BYTES), "a number of bytes")?;
    let words = properties.parse_or(&[WORDS], 200_000, "a number of words")?;
    let exponent = properties.parse_or(&[EXPONENT], 1.0, "a number")?;
    let text = Rc::new(ZipfText::new(words, exponent, properties.parse_or(&[SEED], 0, "a number")?)?);
    Ok(Application::lines(move |_: &[u8], out: &mut MapOutput| write(&text, bytes, out)))
}

fn write(text: &ZipfText, bytes: u64, out: &mut MapOutput) -> Result {
    let context = out.context().clone();
    let mine = share(bytes, context.task_index(), context.n_maps());
    let wanted = mine.end - mine.start;
    let mut random = text.random(u64::from(context.task_index()));
    let (mut line, mut written, mut lines) = (Vec::new(), 0, 0_u64);
    while written < wanted {
        line.clear();
        text.line(&mut random, &mut line);
        out.emit_key(&line[..line.len() - 1])?;
        written += line.len() as u64;
        lines += 1;
        if lines.is_multiple_of(BEAT) {
            context.set_progress(written as f64 / wanted as f64)?;
        }
    }
    Ok(())
}
