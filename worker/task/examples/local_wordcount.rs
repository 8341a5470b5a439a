//! Measures word count in one process: the whole data path, without a cluster.
//!
//! `local_wordcount TEXT OUTPUT [split MiB] [reduces] [fold|combiner|plain|lines] [key=value]…` prints wall and CPU seconds,
//! peak memory and the counters to standard error.

use std::process::ExitCode;
use std::time::Instant;

use howdah_task::local::LocalJob;
use howdah_task::{Application, Fold, MapOutput, ReduceOutput, Result, Values, text};

fn count(line: &[u8], out: &mut MapOutput) -> Result {
    for word in text::words(line) {
        out.emit_long(word, 1)?;
    }
    Ok(())
}

fn sum(key: &[u8], values: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
    let sum = values.sum()?;
    out.emit_long(key, sum)
}

/// The input's lines, sorted: everything travels.
fn lines(line: &[u8], values: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
    while values.next()?.is_some() {
        out.emit_key(line)?;
    }
    Ok(())
}

fn application(way: &str) -> Application {
    match way {
        "combiner" => Application::lines(count).combiner(|| sum).reduce(sum),
        "plain" => Application::lines(count).reduce(sum),
        "lines" => Application::lines(|line, out| out.emit_key(line)).reduce(lines),
        _ => Application::lines(count).fold(Fold::Sum),
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [input, output, rest @ ..] = &args[..] else {
        eprintln!("usage: local_wordcount TEXT OUTPUT [split MiB] [reduces] [fold|combiner|plain|lines] [key=value]…");
        return ExitCode::from(2);
    };
    let number = |at: usize, default: u64| rest.get(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let way = rest.get(2).cloned().unwrap_or_default();
    let mut job = LocalJob::new(output, move |_, _| Ok(application(&way)))
        .input(input)
        .split_size(number(0, 128) << 20)
        .n_reduces(number(1, 2) as u32);
    for (key, value) in rest.iter().filter_map(|arg| arg.split_once('=')) {
        job = job.property(key, value);
    }
    let start = Instant::now();
    match job.run() {
        Ok(done) => {
            let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
            let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
            eprintln!("{:.2} s wall; {peak}\n{:#?}", start.elapsed().as_secs_f64(), done.counters);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("failed: {error}");
            ExitCode::FAILURE
        }
    }
}
