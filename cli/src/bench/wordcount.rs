//! Word count over 1 GiB: CPU time of everything that took part, and the largest process.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use howdah_apps::PlanRequest;
use howdah_apps::text::ZipfText;

use super::cluster::{Shape, daemons_peak_kib, run_measured, stop};
use super::measure::{beside, median, run_part};
use super::report::{Bar, Report, Row};
use super::setting::Bench;
use crate::failure::{Failure, Outcome};
use crate::units;

const DISTINCT: u32 = 200_000;

pub(crate) async fn run(bench: &Bench<'_>) -> Outcome<Report> {
    let bytes = bench.size(1 << 30, 64 << 20);
    let input = bench.dir.join("wordcount.txt");
    let text = input.clone();
    let words = beside(move || make_text(&text, bytes)).await?;
    bench.tell(format!(
        "{} of text, {}, {} distinct at most",
        units::bytes(bytes),
        units::counted(words, "word"),
        units::count(u64::from(DISTINCT))
    ));
    let cluster = Shape::two(1, 1).start(&bench.dir.join("wordcount-cluster")).await?;
    let mut client = cluster.client().await?;
    let (mut ours_cpu, mut ours_wall, mut base_cpu, mut base_wall) = (vec![], vec![], vec![], vec![]);
    let (mut peak, mut base_peak) = (0, 0);
    for turn in 0..bench.repeats() {
        let expected = bench.dir.join("wordcount-baseline.txt");
        let paths = [&input, &expected].map(|path| path.display().to_string());
        let base = beside(move || run_part("baseline-wordcount", &paths)).await?;
        base_cpu.push(base.cpu.as_secs_f64());
        base_wall.push(base.wall.as_secs_f64());
        base_peak = base_peak.max(base.peak_kib);

        let output = bench.dir.join(format!("wordcount-output-{turn}"));
        let request = PlanRequest {
            inputs: vec![input.display().to_string()],
            output: Some(output.display().to_string()),
            n_reduces: Some(2),
            ..PlanRequest::default()
        };
        let measured = run_measured(&cluster, &mut client, "wordcount", &request).await?;
        ours_cpu.push(measured.cpu_s());
        ours_wall.push(measured.ran.seconds());
        peak = peak.max(measured.ran.spent.peak_memory_kib).max(daemons_peak_kib(&cluster));
        let (counted, parts) = (expected.clone(), output.clone());
        beside(move || compare(&counted, &parts)).await?;
        bench.tell(format!(
            "turn {}: howdah {:.2} CPU s ({:.2} of them daemons) in {:.2} s, baseline {:.2} CPU s in {:.2} s; same counts",
            turn + 1,
            measured.cpu_s(),
            measured.daemons_s,
            measured.ran.seconds(),
            base.cpu.as_secs_f64(),
            base.wall.as_secs_f64()
        ));
        std::fs::remove_dir_all(&output)?;
    }
    stop(cluster).await?;
    std::fs::remove_file(&input)?;
    let row = |measure: &str, unit, ours: f64, base: f64, bar| Row {
        measure: measure.to_owned(),
        unit,
        howdah: ours,
        baseline: Some(base),
        bar,
    };
    let mut memory = row("peak memory of any process", "MiB", peak as f64 / 1024.0, 0.0, Some(Bar::AtMost(512.0)));
    memory.baseline = None;
    Ok(Report {
        name: "wordcount",
        title: format!("Word count over {} ({} million words)", units::bytes(bytes), words / 1_000_000),
        baseline: "hand-written, two threads, memory-mapped, hashbrown with foldhash (cli/src/bench/baseline_wordcount.rs)",
        rows: vec![
            row("CPU time", "s", median(&ours_cpu), median(&base_cpu), Some(Bar::AtMost(1.5))),
            row("time", "s", median(&ours_wall), median(&base_wall), None),
            memory,
        ],
        notes: vec![
            "howdah's CPU time is that of all attempts and of the daemons over the run".to_owned(),
            "2 workers with 1 map slot and 1 reduce slot each, 2 reduces; outputs compared word by word".to_owned(),
            format!("the baseline's peak memory, its mapping of the file included, was {} MiB", base_peak / 1024),
        ],
        repeats: bench.repeats(),
        quick: bench.quick,
    })
}

pub(super) fn make_text(path: &Path, bytes: u64) -> Outcome<u64> {
    let text = ZipfText::new(DISTINCT, 1.0, 1).map_err(|error| Failure::broke(error.to_string()))?;
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let written = text.write(0, bytes, &mut out, |_| Ok(()))?;
    out.flush()?;
    Ok(written.words)
}

/// The parts together, in order of words, are the baseline's file.
fn compare(expected: &Path, output: &Path) -> Outcome<()> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(output)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"part-")) {
            let text = std::fs::read(&path)?;
            found.extend(text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec));
        }
    }
    // By word: a tab sorts before every letter, so whole lines sort alike.
    found.sort_unstable();
    let expected = std::fs::read(expected)?;
    let same =
        expected.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).eq(found.iter().map(Vec::as_slice));
    if same { Ok(()) } else { Err(Failure::failed("the counts differ from the baseline's")) }
}
