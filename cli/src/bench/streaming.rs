//! Streaming over 1 GiB: `cat` as mapper and reducer, against what does the same without a cluster, `cat | sort`.
//!
//! Both sort the same lines by their bytes; the outputs are compared line by line. CPU time is that of everything that
//! took part: attempts, the commands that they fed, and the daemons.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;

use howdah_apps::PlanRequest;

use super::cluster::{Shape, run_measured, stop};
use super::measure::{beside, median, run_command};
use super::report::{Bar, Report, Row};
use super::setting::Bench;
use super::wordcount::make_text;
use crate::failure::{Failure, Outcome};
use crate::units;

const BASELINE: &str = r#"cat "$1" | LC_ALL=C sort > "$2""#;

pub(crate) async fn run(bench: &Bench<'_>) -> Outcome<Report> {
    let bytes = bench.size(1 << 30, 64 << 20);
    let input = bench.dir.join("streaming.txt");
    let text = input.clone();
    beside(move || make_text(&text, bytes)).await?;
    let cluster = Shape::two(1, 1).start(&bench.dir.join("streaming-cluster")).await?;
    let mut client = cluster.client().await?;
    let (mut ours_cpu, mut ours_wall, mut base_cpu, mut base_wall) = (vec![], vec![], vec![], vec![]);
    for turn in 0..bench.repeats() {
        let expected = bench.dir.join("streaming-baseline.txt");
        let mut baseline = Command::new("sh");
        baseline.args(["-c", BASELINE, "sh"]).args([&input, &expected]).env("TMPDIR", &bench.dir);
        let base = beside(move || run_command(&mut baseline, "cat | sort")).await?;
        base_cpu.push(base.cpu.as_secs_f64());
        base_wall.push(base.wall.as_secs_f64());

        let output = bench.dir.join(format!("streaming-output-{turn}"));
        let request = PlanRequest {
            inputs: vec![input.display().to_string()],
            output: Some(output.display().to_string()),
            n_reduces: Some(2),
            args: ["--mapper", "cat", "--reducer", "cat"].map(str::to_owned).to_vec(),
            ..PlanRequest::default()
        };
        let measured = run_measured(&cluster, &mut client, "streaming", &request).await?;
        ours_cpu.push(measured.cpu_s());
        ours_wall.push(measured.ran.seconds());
        let (sorted, parts) = (expected.clone(), output.clone());
        beside(move || compare(&sorted, &parts)).await?;
        bench.tell(format!(
            "turn {}: howdah {:.2} CPU s ({:.2} of them daemons) in {:.2} s, cat | sort {:.2} CPU s in {:.2} s; same lines",
            turn + 1,
            measured.cpu_s(),
            measured.daemons_s,
            measured.ran.seconds(),
            base.cpu.as_secs_f64(),
            base.wall.as_secs_f64()
        ));
        std::fs::remove_dir_all(&output)?;
        std::fs::remove_file(&expected)?;
    }
    stop(cluster).await?;
    std::fs::remove_file(&input)?;
    let row = |measure: &str, ours: &[f64], base: &[f64], most| Row {
        measure: measure.to_owned(),
        unit: "s",
        howdah: median(ours),
        baseline: Some(median(base)),
        bar: Some(Bar::AtMost(most)),
    };
    Ok(Report {
        name: "streaming",
        title: format!("Streaming over {}, `cat` as mapper and reducer", units::bytes(bytes)),
        baseline: "`cat FILE | LC_ALL=C sort` over the same file, with as many threads as sort likes",
        rows: vec![row("CPU time", &ours_cpu, &base_cpu, 1.2), row("time", &ours_wall, &base_wall, 1.0)],
        notes: vec![
            "howdah's CPU time is that of all attempts, their commands and the daemons over the run".to_owned(),
            "2 workers with 1 map slot and 1 reduce slot each, 2 reduces; outputs compared line by line".to_owned(),
        ],
        repeats: bench.repeats(),
        quick: bench.quick,
    })
}

/// The parts merged must be the baseline's file, but for the tab that ends a key without value.
fn compare(expected: &Path, output: &Path) -> Outcome<()> {
    let mut parts = Vec::new();
    for entry in std::fs::read_dir(output)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"part-")) {
            let mut lines = Lines(BufReader::with_capacity(1 << 20, File::open(&path)?));
            let first = lines.next()?;
            parts.push((first, lines));
        }
    }
    let mut expected = Lines(BufReader::with_capacity(1 << 20, File::open(expected)?));
    let mut number = 0_u64;
    loop {
        let wanted = expected.next()?;
        let smallest = parts.iter_mut().filter(|(line, _)| line.is_some()).min_by(|(a, _), (b, _)| a.cmp(b));
        let found = match smallest {
            Some((line, lines)) => std::mem::replace(line, lines.next()?),
            None => None,
        };
        let found = found.map(|line| line.strip_suffix(b"\t").map(<[u8]>::to_vec).unwrap_or(line));
        number += 1;
        if found != wanted {
            return Err(Failure::failed(format!("line {number} of the output differs from sort's")));
        }
        if found.is_none() {
            return Ok(());
        }
    }
}

/// Lines without their end.
struct Lines(BufReader<File>);

impl Lines {
    fn next(&mut self) -> Outcome<Option<Vec<u8>>> {
        let mut line = Vec::new();
        if self.0.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_compared_with_the_sorted_file_line_by_line() {
        let dir = tempfile::tempdir().expect("a directory");
        let (expected, output) = (dir.path().join("sorted"), dir.path().join("out"));
        std::fs::create_dir(&output).expect("made");
        std::fs::write(&expected, "a\na b\nb\nc\n").expect("written");
        std::fs::write(output.join("_SUCCESS"), "").expect("written");
        std::fs::write(output.join("part-r-00000"), "a\t\nc\t\n").expect("written");
        std::fs::write(output.join("part-r-00001"), "a b\t\nb\t\n").expect("written");
        compare(&expected, &output).expect("the same");
        for other in ["a b\t\n", "a b\t\nb\t\nd\t\n", "a b\t\nx\t\n", "b\t\na b\t\n"] {
            std::fs::write(output.join("part-r-00001"), other).expect("written");
            assert!(compare(&expected, &output).is_err(), "{other}");
        }
    }
}
